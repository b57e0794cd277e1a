package savedmodel

import (
	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/notpublic"
)

// Internal returns the functions of this package that only packages of this module use, since only
// these can make a key.
func Internal(notpublic.Key) internalAPI { return internalAPI{} }

type internalAPI struct{}

// DecodeGraph returns a graph of the caller's own, with the functions of the library
// that only and from select as [graph.Options] does.
func (internalAPI) DecodeGraph(g *MetaGraph, only, from []string) (*graph.Graph, error) {
	return g.decodeGraph(only, from)
}

// Survey looks at the names of the graph's nodes and functions; runs reports whether an
// op has a kernel.
func (internalAPI) Survey(g *MetaGraph, runs func(op string) bool) (*graph.Survey, error) {
	return graphInternals.NewSurvey(g.graphDef, runs)
}

// Unchanged returns [ErrChanged] if the graph's file has been written over since it was
// opened.
func (internalAPI) Unchanged(g *MetaGraph) error {
	return g.model.held.unchanged()
}

// Stored returns the keys of the variables' values in the model's checkpoint, and the
// objects whose values only ops of the graph can restore.
func (internalAPI) Stored(g *MetaGraph, view *checkpoint.View) (keys map[*Object]string, byOp map[*Object]bool) {
	return g.matchCheckpoint(view)
}

// OwnSignatures returns the signatures that [MetaGraph].Signatures leaves out.
func (internalAPI) OwnSignatures(g *MetaGraph) []*SignatureDef {
	return g.internal
}

// Saver returns the tensor that takes the checkpoint's prefix and the op that restores;
// "" if there are none.
func (internalAPI) Saver(g *MetaGraph) (filename, restore string) {
	if d := g.proto.SaverDef; d != nil {
		return d.FilenameTensorName, d.RestoreOpName
	}
	return "", ""
}

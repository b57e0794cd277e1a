package savedmodel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/pb"
)

// ReadGraphDef reads a file that holds a GraphDef, such as a frozen graph: binary or, if
// its name ends in .pbtxt, text. The result has one MetaGraph with the graph and nothing
// else: no signatures, no objects, no variables. Nothing is run. A file that holds a
// SavedModel is a [*FormatError].
func ReadGraphDef(ctx context.Context, fsys fs.FS, name string, opts *ReadOptions) (*SavedModel, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	m := &SavedModel{File: name, fsys: fsys, opts: opts, graphOnly: true}
	var s pb.Source
	var err error
	if strings.HasSuffix(name, ".pbtxt") {
		s, err = m.readGraphText()
	} else {
		s, err = m.openBinary()
	}
	if err != nil {
		return nil, err
	}
	if err := m.checkGraphDef(s); err != nil {
		return nil, &FormatError{name, err}
	}
	m.MetaGraphs = []*MetaGraph{{model: m, proto: new(pb.MetaGraphDef), constants: maxConstants, graphDef: s}}
	return m, nil
}

// UnmarshalGraphDefText decodes like [ReadGraphDef], for the contents of a text
// file.
func UnmarshalGraphDefText(b []byte, opts *ReadOptions) (*SavedModel, error) {
	const name = "graph.pbtxt"
	return ReadGraphDef(context.Background(), oneFile{name, b}, name, opts)
}

// checkGraphDef refuses a message that is a SavedModel, whose first field is a number.
func (m *SavedModel) checkGraphDef(s pb.Source) error {
	if s.Len() == 0 {
		return errors.New("the file is empty")
	}
	first, err := s.Slice(0, 1).Read()
	if err == nil && first[0] == 1<<3 {
		err = errors.New("it is a SavedModel, not a GraphDef (want the directory of the SavedModel, in which the file is called " + GraphFile + ")")
	}
	return err
}

// readGraphText reads a GraphDef in text form and encodes it, so that all later reads are of one form.
func (m *SavedModel) readGraphText() (pb.Source, error) {
	b, most, err := readFile(m.fsys, m.File, m.opts)
	if err != nil {
		return pb.Source{}, err
	}
	m.most = most
	if need := int64(len(b)) * textFactor; need > most {
		if need = int64(bytes.Count(b, []byte("{"))+bytes.Count(b, []byte("<"))) * maxMessage; need > most {
			return pb.Source{}, &LimitError{m.File, need, most}
		}
	}
	var p pb.GraphDef
	if err := pb.UnmarshalText(b, &p); err != nil {
		return pb.Source{}, &FormatError{m.File, err}
	}
	return pb.InMemory(p.Marshal()), nil
}

// IsGraphDef reports whether the file was read by [ReadGraphDef]: a graph alone.
func (m *SavedModel) IsGraphDef() bool { return m.graphOnly }

// Endpoints returns the possible feeds and fetches of a graph without
// signatures: its placeholders, and the outputs of nodes that no other node
// uses. They have the names of nodes, "x", or, if it isn't the first output of
// its node, "y:1". Constants and operations without outputs are left out.
func (g *MetaGraph) Endpoints() (feeds, fetches []TensorInfo, err error) {
	gr, err := g.Graph()
	if err != nil {
		return nil, nil, err
	}
	used := map[*graph.Node]bool{}
	for _, n := range gr.Nodes() {
		for _, in := range n.In {
			used[in.Node] = true
		}
		for _, c := range n.Control {
			used[c] = true
		}
	}
	info := func(o graph.Output) TensorInfo {
		f := o.Fact()
		t := TensorInfo{Name: o.String(), Tensor: fmt.Sprintf("%s:%d", o.Node.Name, o.Index), DType: f.DType, Shape: f.Shape}
		if s, ok := o.Node.Attrs.Shape("shape"); ok && isPlaceholder(o.Node) {
			t.Shape = s
		}
		return t
	}
	for _, n := range gr.Nodes() {
		switch {
		case isPlaceholder(n) && len(n.Out) == 1:
			feeds = append(feeds, info(n.Output(0)))
		case !used[n] && n.Op != "Const":
			for i := range n.Out {
				fetches = append(fetches, info(n.Output(i)))
			}
		}
	}
	return feeds, fetches, nil
}

func isPlaceholder(n *graph.Node) bool {
	return n.Op == "Placeholder" || n.Op == "PlaceholderV2" || n.Op == "PlaceholderWithDefault"
}

package tensorfile

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/internal/pb"
)

// VariableNames returns the names that the model's writer gave to the variables of a
// SavedModel, by the names of their tensors: "sequential/d1/kernel" for "variables/0".
// Exports of Keras 3 number their variables; these names identify them. If two
// variables have one name, the map has it for the first. It is empty for other files,
// and for SavedModels without an object graph.
func (s *File) VariableNames(ctx context.Context) map[string]string {
	s.namesOnce.Do(func() {
		if s.Kind != SavedModel {
			return
		}
		saved := s.savedObjects()
		stored, err := s.Graph(ctx)
		if saved == nil || err != nil || stored == nil {
			return // the tensors' own names are left
		}
		s.names = s.matchNames(saved, stored)
	})
	return s.names
}

// matchNames walks the model's object graph and the checkpoint's in parallel.
func (s *File) matchNames(saved *pb.SavedObjectGraph, stored *pb.TrackableObjectGraph) map[string]string {
	if len(saved.Nodes) == 0 || len(stored.Nodes) == 0 {
		return nil
	}
	out, taken := map[string]string{}, map[string]bool{}
	twin := make([]int32, len(saved.Nodes)) // by saved node: the stored one; 0 if there is none, and for the root
	queue := []int32{0}
	for ; len(queue) > 0; queue = queue[1:] {
		x := saved.Nodes[queue[0]]
		y := stored.Nodes[twin[queue[0]]]
		if v := x.Variable; v != nil && v.Name != "" {
			name := strings.TrimSuffix(v.Name, ":0")
			for _, a := range y.Attributes {
				if s.Has(a.CheckpointKey) && !taken[name] {
					out[a.CheckpointKey], taken[name] = name, true
				}
			}
		}
		children := make(map[string]int32, len(y.Children))
		for _, c := range y.Children {
			children[c.LocalName] = c.NodeId
		}
		for _, c := range x.Children {
			to, ok := children[c.LocalName]
			if !ok || c.NodeId <= 0 || int(c.NodeId) >= len(saved.Nodes) || twin[c.NodeId] != 0 || to <= 0 || int(to) >= len(stored.Nodes) {
				continue
			}
			twin[c.NodeId] = to
			queue = append(queue, c.NodeId)
		}
	}
	return out
}

// Numbers of the fields that lead to a SavedModel's object graph.
const (
	fieldMetaGraphs = 2
	fieldObjectDef  = 7
)

// savedObjects reads the object graph of the SavedModel that the file belongs to. It is nil if there
// is none or it can't be read: the names of variables are a help, and no verb fails without them.
// Models in chunks or as text (.cpb, .pbtxt) have no such names.
func (s *File) savedObjects() *pb.SavedObjectGraph {
	dir := s.opts.FS
	if dir == nil {
		dir = os.DirFS(filepath.Dir(filepath.Dir(s.Prefix)))
	} else if sub, err := fs.Sub(dir, path.Dir(path.Dir(s.Prefix))); err == nil {
		dir = sub
	}
	f, err := dir.Open("saved_model.pb")
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	source := pb.Source{}
	if at, ok := f.(io.ReaderAt); ok {
		source = pb.InFile(at, info.Size())
	} else if b, err := io.ReadAll(io.LimitReader(f, s.opts.memory(info.Size()))); err == nil {
		source = pb.InMemory(b)
	}
	for _, number := range []protowire.Number{fieldMetaGraphs, fieldObjectDef} {
		var part pb.Source
		_, err := source.Split(func(p *pb.Parts) error {
			if part.Len() == 0 { // the first MetaGraph
				part = p.Part
			}
			return nil
		}, number)
		if err != nil || part.Len() == 0 {
			return nil
		}
		source = part
	}
	most := s.opts.memory(info.Size())
	if source.Len() > most {
		return nil
	}
	b, err := source.Read()
	if err != nil {
		return nil
	}
	g := &pb.SavedObjectGraph{}
	if pb.Memory(g, b) > most || g.Unmarshal(b) != nil {
		return nil
	}
	return g
}

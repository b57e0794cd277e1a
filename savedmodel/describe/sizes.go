package describe

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/savedmodel"
)

// ObjectSize is the size of an object in a SavedModel.
type ObjectSize struct {
	// Path leads from the root to the object; "" for parts that belong to no
	// object.
	Path string `json:"path"`
	// Kind is the object's kind, or the part of the graph that belongs to none.
	Kind string `json:"kind"`
	// Name is the name of the variable, the asset's file, or of the function's first trace.
	Name string `json:"name,omitempty"`
	// Bytes is the size of the values, of the file, or of the encoded functions.
	Bytes int64 `json:"bytes"`
	// Note explains an object to which no edge leads, or lists other parts that
	// are counted with the object.
	Note string `json:"note,omitempty"`
}

// Sizes lists the sizes of a model's objects, the largest first. A function's
// size is that of its traces and of the functions that they call. A function
// that several call counts with the first. fsys is the model's directory.
func Sizes(ctx context.Context, fsys fs.FS, g *savedmodel.MetaGraph) ([]ObjectSize, error) {
	all, err := g.Graph()
	if err != nil {
		return nil, err
	}
	s := &sizer{library: all.Library, counted: map[*graph.Function]bool{}}
	paths := g.Paths()
	users := reasons(g, paths)
	for _, o := range g.Objects {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		row := ObjectSize{Path: paths[o.ID], Kind: o.Kind.String()}
		if o.ID == 0 {
			row.Path = "(root)"
		}
		switch {
		case o.Kind == savedmodel.VariableObject:
			row.Name = o.Variable.Name
			row.Bytes = bytesOf(graph.Fact{DType: o.Variable.DType, Shape: o.Variable.Shape})
		case o.Kind == savedmodel.AssetObject:
			row.Name = o.Asset.Path()
			info, err := fs.Stat(fsys, row.Name)
			if err != nil {
				row.Note = "the file is missing"
				break
			}
			row.Bytes = info.Size()
		case o.Kind == savedmodel.ConstantObject:
			row.Name = o.Constant
			if n := all.Lookup(o.Constant); n != nil && n.Attrs.Tensor("value") != nil {
				row.Bytes = n.Attrs.Tensor("value").NumBytes()
				s.constants += row.Bytes
			}
		case o.Function != nil:
			if row.Bytes, row.Note, err = s.functions(o.Function); err != nil {
				return nil, err
			}
			if len(o.Function.Concrete) > 0 {
				row.Name = o.Function.Concrete[0].Name
			}
		default:
			continue // user objects and resources have no bytes of their own: those are below them
		}
		if row.Path == "" {
			row.Path = fmt.Sprintf("object %d", o.ID)
			row.Note = strings.TrimPrefix(users[o.ID]+", "+row.Note, ", ")
			row.Note = strings.TrimSuffix(row.Note, ", ")
		}
		s.rows = append(s.rows, row)
	}
	if err := s.rest(all); err != nil {
		return nil, err
	}
	slices.SortStableFunc(s.rows, func(a, b ObjectSize) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return s.rows, nil
}

// sizer adds up the sizes of functions.
type sizer struct {
	library *graph.Library
	counted map[*graph.Function]bool // functions that some row has
	rows    []ObjectSize

	constants int64 // bytes of constants that are objects
}

// functions returns the size of a function's traces with the functions that
// they call.
func (s *sizer) functions(f *savedmodel.FunctionInfo) (total int64, note string, err error) {
	callees := 0
	for _, c := range f.Concrete {
		fn := s.library.Lookup(c.Name)
		if fn == nil || s.counted[fn] {
			continue
		}
		s.counted[fn] = true
		n, err := s.size(fn)
		if err != nil {
			return 0, "", err
		}
		total += n
		for _, x := range fn.Graph.Reachable() {
			if s.counted[x] {
				continue
			}
			s.counted[x] = true
			n, err := s.size(x)
			if err != nil {
				return 0, "", err
			}
			total += n
			callees++
		}
	}
	var notes []string
	if n := len(f.Concrete); n > 1 {
		notes = append(notes, fmt.Sprintf("%d traces", n))
	}
	if callees > 0 {
		notes = append(notes, fmt.Sprintf("with %d functions that it calls", callees))
	}
	return total, strings.Join(notes, ", "), nil
}

// size returns the size of a function's encoding.
func (s *sizer) size(f *graph.Function) (int64, error) {
	p, err := graphInternals.FunctionProto(f, s.library)
	if err != nil {
		return 0, err
	}
	return int64(len(p.Marshal())), nil
}

// rest adds the parts that belong to no object: functions that only sessions
// use, and the nodes of the main graph.
func (s *sizer) rest(all *graph.Graph) error {
	if all.Library != nil {
		row := ObjectSize{Kind: "functions"}
		n := 0
		for _, f := range all.Library.Functions() {
			if s.counted[f] {
				continue
			}
			size, err := s.size(f)
			if err != nil {
				return err
			}
			row.Bytes += size
			n++
		}
		if n > 0 {
			row.Note = fmt.Sprintf("%d functions that no object has: gradients, those of sessions", n)
			s.rows = append(s.rows, row)
		}
	}
	row := ObjectSize{Kind: "nodes", Note: fmt.Sprintf("%d nodes of the main graph, without the constants above", all.Len())}
	p, err := graphInternals.GraphProto(all, nil)
	if err != nil {
		return err
	}
	p.Library = nil
	row.Bytes = max(0, int64(len(p.Marshal()))-s.constants)
	s.rows = append(s.rows, row)
	return nil
}

// bytesOf returns the size of a tensor; 0 if it is unknown.
func bytesOf(f graph.Fact) int64 {
	if !f.Shape.Known() || !f.DType.Fixed() {
		return 0
	}
	n := int64(f.DType.Size())
	for _, d := range f.Shape.Dims() {
		n *= int64(d)
	}
	return n
}

// reasons explains the objects to which no edge leads.
func reasons(g *savedmodel.MetaGraph, paths map[int]string) map[int]string {
	out := map[int]string{}
	for _, o := range g.Objects {
		for _, pair := range o.Savers {
			out[pair.Save.ID], out[pair.Restore.ID] = "saves "+paths[o.ID], "restores "+paths[o.ID]
		}
		if o.Function == nil || paths[o.ID] == "" {
			continue
		}
		for _, c := range o.Function.Concrete {
			for _, x := range c.Captures {
				if x != nil && out[x.ID] == "" {
					out[x.ID] = "captured by " + paths[o.ID]
				}
			}
		}
	}
	return out
}

package run

import (
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// Functions accept and return values made of lists, tuples and dicts. Their
// types are [graph.Structure]s. In Go, arguments and results have these types:
//
//	None              nil
//	bool, str         bool, string
//	int, float        int, float64
//	list              List, []any
//	tuple             Tuple
//	dict              map[string]any
//	namedtuple        *NamedTuple, or a map[string]any
//	tf.TensorShape    tensor.Shape, graph.PartialShape
//	tf.DType          tensor.DType
//	a tensor          *tensor.Tensor
//	a variable        *trackable.Variable
//	a composite       Composite

// List is a Python list.
type List []any

// Tuple is a Python tuple.
type Tuple []any

// NamedTuple is a Python namedtuple.
type NamedTuple struct {
	Name   string
	Keys   []string
	Values []any
}

// Composite is the tensors of a composite value, in TensorFlow's order: a
// sparse tensor's indices, values and dense shape; a ragged tensor's flat values
// and row splits, the outermost first.
type Composite []*tensor.Tensor

// maxStructure bounds the depth of the values of calls, so that a value that contains itself ends. The
// number may change; TensorFlow fails by Python's limit on recursion.
const maxStructure = 64

// plain returns the Go value of a structure without tensors, such as a default.
// Tensors and composites in it are returned as structures.
func plain(s *graph.Structure) any {
	if s.IsNone() {
		return nil
	}
	switch s.Kind {
	case graph.StaticStructure:
		return s.Value
	case graph.ListStructure:
		return List(plainAll(s))
	case graph.TupleStructure:
		return Tuple(plainAll(s))
	case graph.NamedStructure:
		return &NamedTuple{s.Name, s.Keys, plainAll(s)}
	case graph.DictStructure:
		out := make(map[string]any, len(s.Keys))
		for i, k := range s.Keys {
			out[k] = plain(s.Elems[i])
		}
		return out
	}
	return s
}

func plainAll(s *graph.Structure) []any {
	out := make([]any, len(s.Elems))
	for i, e := range s.Elems {
		out[i] = plain(e)
	}
	return out
}

// callOf returns the structure of a call: a pair of the arguments by place and those
// by name.
func callOf(args []*graph.Structure, names []string, kwargs []*graph.Structure) *graph.Structure {
	return graph.TupleOf(graph.TupleOf(args...), graph.DictOf(names, kwargs))
}

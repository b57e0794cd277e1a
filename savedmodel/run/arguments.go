package run

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Function.Call binds arguments by these rules, which are those of TensorFlow's
// function_deserialization.py (_call_concrete_function, _concrete_function_callable_with). They must
// stay. The Go types for Python's values are Cairn's own, and callers depend on them.

// accepts reports whether the trace accepts the arguments, and returns the
// tensors among them in order. If convert is true, other values become tensors
// wherever the trace wants tensors.
func accepts(c *savedmodel.ConcreteFunction, args []any, kwargs map[string]any, convert bool) ([]engine.Value, bool) {
	d := describer{convert: convert}
	if len(args) != len(c.Args()) || len(kwargs) != len(c.In.Elems[1].Elems) {
		return nil, false
	}
	in := d.call(args, kwargs, c.In)
	return d.in, c.In.Accepts(in)
}

// describer describes the values of a call as traces do, and collects their tensors
// in order.
type describer struct {
	convert bool           // numbers and lists become tensors where a trace wants them
	in      []engine.Value // the tensors and handles so far, in the order of the trace's arguments
}

// call describes a call's arguments. like is the structure that a trace
// accepts, or nil.
func (d *describer) call(args []any, kwargs map[string]any, like *graph.Structure) *graph.Structure {
	byPlace, byName := element(like, 0), element(like, 1)
	var elems, named []*graph.Structure
	for i, v := range args {
		elems = append(elems, d.describe(v, element(byPlace, i), 0))
	}
	keys := slices.Sorted(maps.Keys(kwargs))
	for _, k := range keys {
		named = append(named, d.describe(kwargs[k], byName.Lookup(k), 0))
	}
	return callOf(elems, keys, named)
}

func element(s *graph.Structure, i int) *graph.Structure {
	if s == nil || i >= len(s.Elems) {
		return nil
	}
	return s.Elems[i]
}

// describe returns the structure of a value. like is the structure that a trace
// wants in its place, or nil if it is not known. It decides the class of a
// composite, whether a variable is passed as a handle or as its value, and
// whether a map is a named tuple. If convert is set, it also decides whether a
// number or a list becomes a tensor.
func (d *describer) describe(v any, like *graph.Structure, depth int) *graph.Structure {
	if depth > maxStructure {
		return graph.StaticOf("something that nests too deep")
	}
	if s, ok := v.(*graph.Structure); ok {
		if s.Kind == graph.TensorStructure || s.Kind == graph.CompositeStructure {
			d.in = append(d.in, make([]engine.Value, len(s.Flatten()))...)
			return s
		}
		v = plain(s)
	}
	switch x := v.(type) {
	case nil:
		return graph.StaticOf(nil)
	case *tensor.Tensor:
		return d.tensor(x, like)
	case *trackable.Variable:
		return d.variable(x, like)
	case Composite:
		return d.composite(x, like)
	}
	if d.convert && like != nil && like.Kind == graph.TensorStructure {
		if t, ok := toTensor(v, like.Fact.DType); ok {
			return d.tensor(t, like)
		}
	}
	switch x := v.(type) {
	case List:
		return graph.ListOf(d.all(x, like, depth)...)
	case []any:
		return graph.ListOf(d.all(x, like, depth)...)
	case Tuple:
		return graph.TupleOf(d.all(x, like, depth)...)
	case *NamedTuple:
		return graph.NamedOf(x.Name, x.Keys, d.all(x.Values, like, depth))
	case map[string]any:
		return d.dict(x, like, depth)
	}
	return staticValue(v)
}

func (d *describer) all(list []any, like *graph.Structure, depth int) []*graph.Structure {
	out := make([]*graph.Structure, len(list))
	for i, v := range list {
		out[i] = d.describe(v, element(like, i), depth+1)
	}
	return out
}

// dict describes a map: as a named tuple if like is one with the same fields,
// else as a dict.
func (d *describer) dict(m map[string]any, like *graph.Structure, depth int) *graph.Structure {
	keys := slices.Sorted(maps.Keys(m))
	named := like != nil && like.Kind == graph.NamedStructure && len(like.Keys) == len(m)
	if named {
		for _, k := range like.Keys {
			_, has := m[k]
			named = named && has
		}
		if named {
			keys = like.Keys
		}
	}
	var elems []*graph.Structure
	for _, k := range keys {
		elems = append(elems, d.describe(m[k], like.Lookup(k), depth+1))
	}
	if named {
		return graph.NamedOf(like.Name, keys, elems)
	}
	return graph.DictOf(keys, elems)
}

// tensor describes a tensor; if the trace was made for a constant in its place, as that constant.
func (d *describer) tensor(t *tensor.Tensor, like *graph.Structure) *graph.Structure {
	if t == nil {
		return graph.StaticOf(nil)
	}
	if like != nil && like.Kind == graph.StaticStructure {
		return &graph.Structure{Kind: graph.StaticStructure, Value: t, NumPy: like.NumPy}
	}
	d.in = append(d.in, engine.ValueOf(t))
	return graph.TensorOf("", factOf(t))
}

func factOf(t *tensor.Tensor) graph.Fact {
	return graph.Fact{DType: t.DType(), Shape: graph.Whole(t.Shape())}
}

// variable describes a variable: its handle if like is one, else its value.
func (d *describer) variable(v *trackable.Variable, like *graph.Structure) *graph.Structure {
	if like != nil && (like.Kind == graph.TensorStructure && like.Fact.DType == tensor.Resource ||
		like.Kind == graph.CompositeStructure && like.Composite.Class == graph.VariableComposite) {
		d.in = append(d.in, engine.HandleOf(v))
		return like
	}
	return d.tensor(v.Load(), like)
}

// composite describes tensors as a value of the class that is wanted.
func (d *describer) composite(c Composite, like *graph.Structure) *graph.Structure {
	x := &graph.Composite{ClassName: "composite", Tensors: len(c), Facts: make([]graph.Fact, len(c))}
	if like != nil && like.Kind == graph.CompositeStructure {
		x.Class, x.ClassName, x.State = like.Composite.Class, like.Composite.ClassName, like.Composite.State
		if n, known := like.Composite.Count(); !known || n == len(c) {
			x.Tensors = like.Composite.Tensors
		}
	}
	for i, t := range c {
		if t == nil {
			return graph.StaticOf(fmt.Sprintf("a composite whose tensor %d is nil", i))
		}
		x.Facts[i] = factOf(t)
		d.in = append(d.in, engine.ValueOf(t))
	}
	if x.Class == graph.SparseComposite && len(c) == 3 && c[2].DType() == tensor.Int64 && len(c[2].Shape()) == 1 {
		var dims []int
		for _, n := range tensor.Values[int64](c[2]) {
			dims = append(dims, int(n))
		}
		x.State = graph.TupleOf(graph.StaticOf(graph.ShapeOf(dims...)), graph.StaticOf(c[1].DType()))
	}
	return &graph.Structure{Kind: graph.CompositeStructure, Composite: x}
}

// staticValue returns the structure of a plain value.
func staticValue(v any) *graph.Structure {
	switch x := v.(type) {
	case int:
		return graph.StaticOf(int64(x))
	case int32:
		return graph.StaticOf(int64(x))
	case float32:
		return graph.StaticOf(float64(x))
	case tensor.Shape:
		return graph.StaticOf(graph.Whole(x))
	}
	return graph.StaticOf(v)
}

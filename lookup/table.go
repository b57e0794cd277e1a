package lookup

import (
	"context"
	"fmt"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Table is implemented by all tables.
type Table interface {
	trackable.Trackable
	graph.Capturable
	// KeyDType and ValueDType return the types of keys and values.
	KeyDType() tensor.DType
	ValueDType() tensor.DType
	// Lookup returns the values of keys, a tensor of any shape. A key that the table
	// does not contain has the default value.
	Lookup(s *ops.Scope, keys ops.Input) *ops.Value
	// Size returns the number of keys, an int64 scalar.
	Size(s *ops.Scope) *ops.Value
}

// table is the part that all tables have in common.
type table struct {
	*savedmodel.TrackableResource `cairn:"-"`

	key, value tensor.DType
	def        *tensor.Tensor
}

// KeyDType returns the type of the keys.
func (t *table) KeyDType() tensor.DType { return t.key }

// ValueDType returns the type of the values.
func (t *table) ValueDType() tensor.DType { return t.value }

// lookup returns the values of keys in the table that the handle refers to.
func (t *table) lookup(s *ops.Scope, handle, keys ops.Input) *ops.Value {
	k, ok := t.keys(s, "Lookup", keys)
	if !ok {
		return k
	}
	return raw.LookupTableFindV2(s, handle, k, t.def)
}

// keys returns keys as a value of the table's type.
func (t *table) keys(s *ops.Scope, op string, keys ops.Input) (*ops.Value, bool) {
	return typed(s, op, "keys", keys, t.key)
}

// typed returns an input as a value of a type.
func typed(s *ops.Scope, op, what string, in ops.Input, want tensor.DType) (*ops.Value, bool) {
	if want == tensor.Int64 {
		in = int64s(in)
	}
	v := ops.Const(s, in)
	if s.Err() != nil {
		return v, false
	}
	if v.DType() != want {
		return s.Fail(op, fmt.Errorf("the %s have the wrong type (got %v, want %v)", what, v.DType(), want)), false
	}
	return v, true
}

// functions are the bodies of the functions that make and fill a table.
type functions struct {
	create     func(s *ops.Scope) *ops.Value
	initialize func(s *ops.Scope) // nil for a table that begins empty
}

// none is the argument of functions that take none.
type none struct{}

// make sets the resource of a table. edges are those before the functions. The names of the functions
// are TensorFlow's, whose loader calls them.
func (t *table) make(f functions, edges []trackable.Edge, opts *savedmodel.ResourceOptions) {
	one := func(s *ops.Scope) *ops.Value { return ops.Const(s, int32(1)) }
	for _, x := range []struct {
		name string
		body func(s *ops.Scope) *ops.Value
	}{
		{"_create_resource", f.create},
		{"_initialize", func(s *ops.Scope) *ops.Value {
			if f.initialize != nil {
				f.initialize(s)
			}
			return one(s)
		}},
		{"_destroy_resource", one},
	} {
		fn := function.New(func(s *ops.Scope, _ none) *ops.Value { return x.body(s) }, nil)
		edges = append(edges, trackable.Edge{Name: x.name, Child: fn})
	}
	opts.Run = ops.NewRunner(kernel.All())
	t.TrackableResource = savedmodel.NewResource(edges, opts)
}

// trace traces the functions of a table, which may capture it.
func (t *table) trace() error {
	for _, e := range t.Edges() {
		if fn, ok := e.Child.(*function.Func[none, *ops.Value]); ok {
			if _, err := fn.Trace(none{}); err != nil {
				return fmt.Errorf("lookup: trace %s: %w", e.Name, err)
			}
		}
	}
	return nil
}

// tensorOf returns a tensor, or a Go value as one. An int is an int64, as ids are.
func tensorOf(v any) (*tensor.Tensor, error) {
	if t, ok := v.(*tensor.Tensor); ok && t != nil {
		return t, nil
	}
	s := function.Eager(context.Background())
	t, err := ops.Const(s, int64s(v)).Tensor()
	if first := s.Close(); first != nil {
		return nil, first
	}
	return t, err
}

// int64s returns Go's ints as int64, and all else as it is.
func int64s(v any) any {
	switch x := v.(type) {
	case int:
		return int64(x)
	case []int:
		list := make([]int64, len(x))
		for i, n := range x {
			list[i] = int64(n)
		}
		return list
	}
	return v
}

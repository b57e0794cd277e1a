package layers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/ops"
)

// TFOpLambda applies a public function of TensorFlow, such as "math.multiply". tf_keras
// makes one for each function that is called on symbolic tensors; its class is private
// (layers/core/tf_op_layer.py). The inputs are the
// function's first argument; the others are arguments of the call, by TensorFlow's names.
type TFOpLambda struct {
	base.Layer
	// Function is the function's name below tf. It is required.
	Function string
}

// AutomaticName returns "tf." and the function's name.
func (l *TFOpLambda) AutomaticName() (stem string, first int) { return "tf." + l.Function, 0 }

// BuildConfig returns the shape of the first argument, that of a scalar for a number.
func (l *TFOpLambda) BuildConfig() config.Fields { return functionBuildConfig(&l.Layer) }

// KeepsInputTypes marks a layer that casts no inputs.
func (l *TFOpLambda) KeepsInputTypes() {}

// FirstArgument returns the name of the function's first argument, and whether it is a list.
// ok is false if the function is unknown.
func (l *TFOpLambda) FirstArgument() (name string, list, ok bool) {
	f, ok := functionNamed(l.Function)
	if !ok {
		return "", false, false
	}
	return f.params[0], f.list, true
}

// Call returns the function of x.
func (l *TFOpLambda) Call(s *ops.Scope, x ops.Input) *ops.Value { return l.Run(s, l, x, nil) }

// ComputeAll returns the function of the inputs and the call's arguments.
func (l *TFOpLambda) ComputeAll(s *ops.Scope, c *base.Invocation) []*ops.Value {
	return applyFunction(s, l.Function, c)
}

// SlicingOpLambda, of the same file of tf_keras, applies a function that takes slices: "__operators__.getitem", whose
// argument "slice_spec" has an index, null for a new dimension, "..." or an object with
// start, stop and step for each dimension.
type SlicingOpLambda struct {
	base.Layer
	// Function is the function's name below tf. It is required.
	Function string
}

// AutomaticName returns "tf." and the function's name.
func (l *SlicingOpLambda) AutomaticName() (stem string, first int) { return "tf." + l.Function, 0 }

// BuildConfig returns the shape of the first argument, that of a scalar for a number.
func (l *SlicingOpLambda) BuildConfig() config.Fields { return functionBuildConfig(&l.Layer) }

// KeepsInputTypes marks a layer that casts no inputs.
func (l *SlicingOpLambda) KeepsInputTypes() {}

// FirstArgument returns the name of the function's first argument, and whether it is a list.
// ok is false if the function is unknown.
func (l *SlicingOpLambda) FirstArgument() (name string, list, ok bool) {
	return (&TFOpLambda{Function: l.Function}).FirstArgument()
}

// Call returns the function of x.
func (l *SlicingOpLambda) Call(s *ops.Scope, x ops.Input) *ops.Value { return l.Run(s, l, x, nil) }

// ComputeAll returns the function of the inputs and the call's arguments.
func (l *SlicingOpLambda) ComputeAll(s *ops.Scope, c *base.Invocation) []*ops.Value {
	return applyFunction(s, l.Function, c)
}

func functionBuildConfig(l *base.Layer) config.Fields {
	if shapes := l.BuiltShapes(); shapes != nil && len(shapes) == 0 {
		return config.Fields{{Name: "input_shape", Value: base.Shape{}}}
	}
	return l.BuildConfig()
}

// functionNamed returns the function of a name. Those of TensorFlow 1's names have the same
// arguments, and deprecated ones that are None.
func functionNamed(name string) (tensorFlowFunction, bool) {
	for _, known := range []string{name, strings.TrimPrefix(name, "compat.v1.")} {
		for _, table := range []map[string]tensorFlowFunction{tensorFlowFunctions(), furtherFunctions()} {
			if f, ok := table[known]; ok {
				return f, true
			}
		}
	}
	return tensorFlowFunction{}, false
}

// applyFunction calls a function of TensorFlow.
func applyFunction(s *ops.Scope, name string, c *base.Invocation) []*ops.Value {
	fail := func(err error) []*ops.Value { return []*ops.Value{s.Fail("tf."+name, err)} }
	f, ok := functionNamed(name)
	if !ok {
		return fail(fmt.Errorf("the function isn't known; a layer of a registered class can compute it"))
	}
	a := &functionArgs{s: s, function: name, values: map[string]any{}}
	for _, key := range slices.Sorted(maps.Keys(c.Args)) {
		switch v := c.Args[key]; {
		case key == "name", v == nil: // of the op, or None
		case !slices.Contains(f.params, key):
			return fail(fmt.Errorf("unknown argument %q (known: %q)", key, f.params))
		default:
			a.values[key] = v
		}
	}
	if len(c.Inputs) > 0 {
		if _, ok := a.values[f.params[0]]; ok {
			return fail(fmt.Errorf("the argument %q is given twice", f.params[0]))
		}
		if f.list {
			a.values[f.params[0]] = c.Inputs
		} else if len(c.Inputs) > 1 {
			return fail(fmt.Errorf("got %d inputs, want 1", len(c.Inputs)))
		} else {
			a.values[f.params[0]] = c.Inputs[0]
		}
	}
	return f.call(s, a)
}

package layers

import (
	"fmt"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/ops"
)

// Lambda applies a function to its inputs. It drops masks, as in tf_keras. A config names
// the function; config.Function makes a name known. Bytecode of Python in a config is an
// error, since it isn't run.
type Lambda struct {
	base.Layer
	// Function is the function. It is required.
	Function *LambdaFunction
	// FunctionType is "function".
	FunctionType string `keras:",default=function"`
	// Module is the Python module of the function. It is kept, and does nothing.
	Module *string
	// OutputShape is stored, and does nothing: the function determines the shape.
	// Default: none.
	OutputShape base.Shape
	// OutputShapeType is "raw".
	OutputShapeType string `keras:",default=raw"`
	// OutputShapeModule is kept, and does nothing.
	OutputShapeModule *string
	// Arguments are further arguments of the function. Default: none.
	Arguments map[string]any
}

// LambdaFunction is the function of a [Lambda].
type LambdaFunction struct {
	// Compute returns the outputs for a call. args are the layer's Arguments.
	Compute func(s *ops.Scope, c *base.Invocation, args map[string]any) []*ops.Value
}

// LambdaOf returns a function of one input and one output without further arguments.
func LambdaOf(f func(s *ops.Scope, x *ops.Value) *ops.Value) *LambdaFunction {
	return &LambdaFunction{Compute: func(s *ops.Scope, c *base.Invocation, args map[string]any) []*ops.Value {
		if len(c.Inputs) != 1 || len(args) > 0 {
			return []*ops.Value{s.Fail("Lambda", fmt.Errorf("got %d inputs and %d arguments, want 1 input and no argument", len(c.Inputs), len(args)))}
		}
		return []*ops.Value{f(s, c.Inputs[0])}
	}}
}

// LambdaOfTraced returns a traced function, such as one of a loaded SavedModel.
func LambdaOfTraced(f *graph.Concrete) *LambdaFunction {
	return &LambdaFunction{Compute: func(s *ops.Scope, c *base.Invocation, args map[string]any) []*ops.Value {
		if len(args) > 0 {
			return []*ops.Value{s.Fail("Lambda", fmt.Errorf("got %d arguments, want none for a traced function", len(args)))}
		}
		in := make([]ops.Input, len(c.Inputs))
		for i, x := range c.Inputs {
			in[i] = x
		}
		return function.Apply(s, f, in...)
	}}
}

// CompleteConfig sets the arguments, which tf_keras always stores.
func (l *Lambda) CompleteConfig() {
	if l.Arguments == nil {
		l.Arguments = map[string]any{}
	}
}

// DecodeConfig reads the config. It refuses bytecode.
func (l *Lambda) DecodeConfig(d *config.Decoder, fields map[string]any) error {
	for _, f := range []struct{ key, want string }{{"function_type", "function"}, {"output_shape_type", "raw"}, {"mask_type", ""}} {
		if got, ok := fields[f.key]; ok && got != f.want {
			return fmt.Errorf("%s: got %v, which is Python code and isn't run; make a Lambda with a Go function", f.key, got)
		}
	}
	return d.Fields("Lambda", l, fields)
}

// Call returns the function of x.
func (l *Lambda) Call(s *ops.Scope, x ops.Input) *ops.Value { return l.Run(s, l, x, nil) }

// ComputeAll returns the function of the inputs.
func (l *Lambda) ComputeAll(s *ops.Scope, c *base.Invocation) []*ops.Value {
	if err := c.CheckArgs(); err != nil {
		return []*ops.Value{s.Fail("Lambda", err)}
	}
	if l.Function == nil || l.Function.Compute == nil {
		return []*ops.Value{s.Fail("Lambda", fmt.Errorf("there is no function"))}
	}
	return l.Function.Compute(s, c, l.Arguments)
}

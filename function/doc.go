// Package function turns Go functions over values into calls that can fail in one
// place.
//
// A [Func] wraps a function that takes a scope and a value, or a struct of values,
// and returns a value or a struct of values:
//
//	step := function.New(t.step)       // func(s *ops.Scope, ex Example) *ops.Value
//	loss, err := step.Call(ctx, ex)    // err: the first op that failed, or a panic
//
// Call runs the function's ops one by one, inside trackable.Step, so that a
// checkpoint never sees half a step. The function's results belong to the caller;
// other values end with the call, and their memory serves the next one.
//
// A function can be traced as well, by [Func.Trace] or with the mode [Traced]: its
// ops are recorded once as a graph of TensorFlow's, which is compiled to a plan and
// runs whenever a call's input has the types and shapes of the trace.
//
// [Eager] returns a scope without a function, for scripts and tests. [Saver] is a
// checkpoint saver written in ops.
package function

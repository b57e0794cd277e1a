// Package grad differentiates: a [Tape] records the ops of a scope and works backwards through them.
//
//	loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
//		return ops.Mean(s, ops.Square(s, ops.Sub(s, predict(s, x), y)))
//	})
//	optimizer.Apply(s, tape.Gradient(loss, variables))
//
// The ops of the function on its scope are recorded. Trainable variables are watched by default; anything
// else by Options.Watch or [Tape.Watch]. [Record] is the form without a function, whose recording scope is
// another variable than s.
//
// Gradients are computed on s by ops, so a tape around s records them: that is how second derivatives are
// taken.
//
//	watch := &grad.Options{Watch: []*ops.Value{x}}
//	dy, second := grad.Of(s, func(s *ops.Scope) *ops.Value {
//		y, first := grad.Of(s, func(s *ops.Scope) *ops.Value { return ops.Mul(s, x, ops.Square(s, x)) }, watch)
//		return first.GradientOf(y, x)[0]
//	}, watch)
//	d2y := second.GradientOf(dy, x)[0]
//
// The gradient of a call of functions (PartitionedCall, If, Case, While) is a call of their backward
// functions, which are made once. A tape makes the call run forward functions that return the values that
// those need.
//
// Each op has one [Rule], keyed by the op's name. [All] returns the built-in rules; [Rules.With] adds the
// caller's. A [Custom] is a function with a custom gradient. In traced functions it has a name, as in
// TensorFlow. If a node of a loaded graph names its gradient, the rules of [Rules.With] are searched for
// that name, and the library with which the function was loaded. [Rules.WithLibrary] adds a library.
// [Library] returns functions with the gradients of their Customs, in the form in which files store them.
//
// The gradient with regard to a table of which only rows are looked up is an [ops.IndexedSlices], as in
// TensorFlow: [ops.Value.IndexedSlices] returns the slices to callers that support them, such as the
// optimizers of package keras. Any op takes the gradient as it takes other values; the whole tensor is then
// made, once. So does a rule that computes with the gradient, while one that passes it on keeps the slices.
// The sum of slices is all slices, that of slices and a tensor is a tensor.
package grad

// Package grad differentiates: a [Tape] records the ops of a scope and works
// backwards through them.
//
//	rec, tape := grad.Record(s)
//	loss := ops.Mean(rec, ops.Square(rec, ops.Sub(rec, predict(rec, x), y)))
//	optimizer.Apply(s, tape.Gradient(loss, variables))
//
// Ops emitted on rec are recorded, those on s are not. Trainable variables are
// watched by themselves; anything else by [Tape.Watch].
//
// Gradients are computed on s by ops, so a tape around s records them: that is
// how second derivatives are taken.
//
//	outer, second := grad.Record(s)
//	second.Watch(x)
//	inner, first := grad.Record(outer)
//	first.Watch(x)
//	y := ops.Mul(inner, x, ops.Mul(inner, x, x))
//	dy := first.GradientOf(y, x)[0]
//	d2y := second.GradientOf(dy, x)[0]
//
// Each op has one [Rule], keyed by the op's name; [All] holds the built-in ones
// and [Rules.With] adds a user's. Gradients are always dense, that of Gather
// with regard to its table included, where TensorFlow makes IndexedSlices.
package grad

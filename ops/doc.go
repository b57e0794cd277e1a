// Package ops is TensorFlow's ops as Go functions.
//
// Every function takes a [Scope] first and its inputs after it, and makes a [Value]:
//
//	h := ops.Relu(s, ops.BiasAdd(s, ops.MatMul(s, x, w), b))
//
// An [Input] is anything that has a value: a *Value, a *tensor.Tensor, a *trackable.Variable or a
// struct that embeds one, a Go number, a slice of numbers. A Go number takes the other operand's
// element type, so that ops.Mul(s, x, 2) works for every numeric x.
//
// # Errors
//
// Ops return no error. The Scope keeps the first failure, with the op, its inputs' types and shapes
// and the line of the caller. Later ops do nothing, and the error is returned once: by function's
// Func.Call, or by [Scope.Err]. A nil input is such a failure.
//
// # Ops that have no function here
//
// Each function emits an op of TensorFlow's vocabulary: a name, attributes and inputs. [Scope.Emit]
// does that for any name that the scope's kernels know, a user's own included. Package raw has a
// typed function for each op.
//
// # For front ends and gradients
//
// Programs get their Scope from package function and their gradients from package grad. [NewScope]
// and [NewTrace] are for other front ends; [Recorder], [Rewriter], [Scope.WithRecorder],
// [Scope.EndRecording], [SetSlot] and [Slot] for other tapes.
//
// # Options
//
// Functions with optional settings take a pointer to a struct of them last, which may be left out:
// ops.MatMul(s, a, b), or ops.MatMul(s, a, b, &ops.MatMulOptions{TransposeB: true}).
//
// # Goroutines
//
// A Scope belongs to one goroutine. Values may be read from many.
package ops

package grad_test

import (
	"fmt"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
	"github.com/cairnml/cairn/tensor"
)

type listProgram = func(s *ops.Scope, x *ops.Value) *ops.Value

func i32s(v ...int32) *tensor.Tensor     { return tensor.Vector(v...) }
func f32s(v ...float32) *tensor.Tensor   { return tensor.Vector(v...) }
func anyShape() *tensor.Tensor           { return tensor.Scalar[int32](-1) }
func i32(n int32) *tensor.Tensor         { return tensor.Scalar(n) }
func f32(x float32) *tensor.Tensor       { return tensor.Scalar(x) }
func matrixOf(v ...int32) *tensor.Tensor { return tensor.Must(tensor.New(v, len(v), 1)) }
func emptyList(s *ops.Scope, shape *tensor.Tensor, most int32) *ops.Value {
	return raw.EmptyTensorList(s, shape, i32(most), tensor.Float32)
}
func reserveOf(s *ops.Scope, shape *tensor.Tensor, n int32) *ops.Value {
	return raw.TensorListReserve(s, shape, i32(n), tensor.Float32)
}
func pushAll(s *ops.Scope, l *ops.Value, xs ...ops.Input) *ops.Value {
	for _, x := range xs {
		l = raw.TensorListPushBack(s, l, x)
	}
	return l
}
func stackOf(s *ops.Scope, l *ops.Value, shape *tensor.Tensor) *ops.Value {
	return raw.TensorListStack(s, l, shape, tensor.Float32, nil)
}
func gatherOf(s *ops.Scope, l *ops.Value, shape *tensor.Tensor, at ...int32) *ops.Value {
	return raw.TensorListGather(s, l, i32s(at...), shape, tensor.Float32)
}
func item0(s *ops.Scope, l *ops.Value, i int32, shape *tensor.Tensor) *ops.Value {
	return raw.TensorListGetItem(s, l, i32(i), shape, tensor.Float32)
}

func aList(s *ops.Scope, xs ...ops.Input) *ops.Value {
	return pushAll(s, emptyList(s, i32s(), -1), xs...)
}

var grows = &raw.TensorListSetItemOptions{ResizeIfIndexOutOfBounds: true}

// TestListsRefuseWhatTensorFlowsRefuse: each is an error, eagerly and traced.
func TestListsRefuseWhatTensorFlowsRefuse(t *testing.T) {
	scalars := i32s()
	for name, f := range map[string]listProgram{
		"push to a full list": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return stackOf(s, pushAll(s, emptyList(s, scalars, 1), x, x), scalars)
		},
		"pop of an empty list": func(s *ops.Scope, x *ops.Value) *ops.Value {
			_, e := raw.TensorListPopBack(s, emptyList(s, scalars, -1), scalars, tensor.Float32)
			return e
		},
		"reserve by a vector": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return stackOf(s, raw.TensorListReserve(s, i32s(2, 3), i32s(1, 1), tensor.Float32), i32s(2, 3))
		},
		"reserve of -1 elements": func(s *ops.Scope, x *ops.Value) *ops.Value { return stackOf(s, reserveOf(s, scalars, -1), scalars) },
		"pop of what has no shape": func(s *ops.Scope, x *ops.Value) *ops.Value {
			_, e := raw.TensorListPopBack(s, reserveOf(s, anyShape(), 3), anyShape(), tensor.Float32)
			return e
		},
		"pop of another shape": func(s *ops.Scope, x *ops.Value) *ops.Value {
			_, e := raw.TensorListPopBack(s, reserveOf(s, i32s(-1, 2), 3), i32s(1, 3), tensor.Float32)
			return e
		},
		"stack of two ranks": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return stackOf(s, pushAll(s, emptyList(s, anyShape(), -1), x, f32s(3, 4)), anyShape())
		},
		"stack of two shapes": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return stackOf(s, pushAll(s, emptyList(s, i32s(-1), -1), f32s(1), f32s(3, 4)), i32s(-1))
		},
		"stack of none of [?,2]": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return stackOf(s, emptyList(s, i32s(-1, 2), -1), i32s(-1, 2))
		},
		"stack of none of any": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return stackOf(s, emptyList(s, anyShape(), -1), anyShape())
		},
		"stack of reserved": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return stackOf(s, reserveOf(s, anyShape(), 3), anyShape())
		},
		"stack to another shape": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return stackOf(s, pushAll(s, emptyList(s, scalars, -1), x), i32s(2))
		},
		"gather of two ranks": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return gatherOf(s, pushAll(s, emptyList(s, anyShape(), -1), x, f32s(3, 4)), anyShape(), 0, 1)
		},
		"gather of two shapes": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return gatherOf(s, pushAll(s, emptyList(s, i32s(-1), -1), f32s(1), f32s(3, 4)), i32s(-1), 0, 1)
		},
		"gather of none of [?,2]": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return gatherOf(s, emptyList(s, i32s(-1, 2), -1), i32s(-1, 2))
		},
		"gather of none of any": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return gatherOf(s, emptyList(s, anyShape(), -1), anyShape())
		},
		"gather of reserved": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return gatherOf(s, reserveOf(s, anyShape(), 3), anyShape(), 0)
		},
		"gather of -1":          func(s *ops.Scope, x *ops.Value) *ops.Value { return gatherOf(s, reserveOf(s, scalars, 3), scalars, -1) },
		"gather beyond the end": func(s *ops.Scope, x *ops.Value) *ops.Value { return gatherOf(s, reserveOf(s, scalars, 3), scalars, 3) },
		"item -1":               func(s *ops.Scope, x *ops.Value) *ops.Value { return item0(s, reserveOf(s, scalars, 3), -1, scalars) },
		"item beyond the end":   func(s *ops.Scope, x *ops.Value) *ops.Value { return item0(s, reserveOf(s, scalars, 3), 3, scalars) },
		"item of no shape": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return item0(s, reserveOf(s, anyShape(), 3), 0, anyShape())
		},
		"set beyond the end": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return stackOf(s, raw.TensorListSetItem(s, reserveOf(s, scalars, 3), i32(3), x, nil), scalars)
		},
		"set of another shape": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return stackOf(s, raw.TensorListSetItem(s, reserveOf(s, scalars, 3), i32(0), f32s(1, 2), nil), scalars)
		},
		"scatter to a matrix's shape": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return stackOf(s, raw.TensorListScatter(s, f32s(1, 2), i32s(1, 3), matrixOf(1)), scalars)
		},
		"scatter V2 to a matrix's shape": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return stackOf(s, raw.TensorListScatterV2(s, f32s(1, 2), i32s(1, 3), matrixOf(1), i32(2)), scalars)
		},
		"scatter beyond the end": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return stackOf(s, raw.TensorListScatterV2(s, f32s(1, 2), i32s(1, 3), scalars, i32(3)), scalars)
		},
		"scatter of -2 elements": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return stackOf(s, raw.TensorListScatterV2(s, f32s(1, 2), i32s(1, 3), scalars, i32(-2)), scalars)
		},
		"scatter of too few rows": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return stackOf(s, raw.TensorListScatter(s, f32s(1, 2), i32s(1, 0, 2), scalars), scalars)
		},
		"scatter to -1": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return stackOf(s, raw.TensorListScatter(s, f32s(1, 2), i32s(-1, -2), scalars), scalars)
		},
		"scatter of a vector's elements": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return stackOf(s, raw.TensorListScatterV2(s, f32s(2), i32s(0), scalars, i32s(1, 1)), scalars)
		},
		"list of a matrix's shape": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return stackOf(s, raw.TensorListFromTensor(s, f32s(1, 2), matrixOf(1)), scalars)
		},
		"list of other elements": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return stackOf(s, raw.TensorListFromTensor(s, f32s(1, 2), i32s(2)), i32s(2))
		},
		"set -1 of a list that grows": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return stackOf(s, raw.TensorListSetItem(s, emptyList(s, scalars, 5), i32(-1), x, grows), scalars)
		},
		"set of an empty list": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return stackOf(s, raw.TensorListSetItem(s, emptyList(s, scalars, 3), i32(0), x, nil), scalars)
		},
		"sum of lists of two lengths": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return stackOf(s, raw.AddN(s, []ops.Input{reserveOf(s, scalars, 2), reserveOf(s, scalars, 3)}), scalars)
		},
		"sum of lists of two shapes": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return stackOf(s, raw.AddN(s, []ops.Input{reserveOf(s, scalars, 3), reserveOf(s, i32s(2), 3)}), anyShape())
		},
		"joined lists, of two and of one": func(s *ops.Scope, x *ops.Value) *ops.Value {
			l := aList(s, x)
			return stackOf(s, raw.TensorListConcatLists(s, raw.Pack(s, []ops.Input{l, l}, nil), l, tensor.Float32), scalars)
		},
		"joined lists of two shapes": func(s *ops.Scope, x *ops.Value) *ops.Value {
			l := aList(s, x)
			v := raw.TensorListFromTensor(s, ops.Reshape(s, x, 1, 1), i32s(1))
			return stackOf(s, ops.Unstack(s, raw.TensorListConcatLists(s, raw.Pack(s, []ops.Input{l, l}, nil), raw.Pack(s, []ops.Input{v, v}, nil), tensor.Float32), 2)[0], anyShape())
		},
		"joined lists of two types": func(s *ops.Scope, x *ops.Value) *ops.Value {
			l := aList(s, x)
			v := raw.TensorListFromTensor(s, i32s(1), scalars)
			return stackOf(s, ops.Unstack(s, raw.TensorListConcatLists(s, raw.Pack(s, []ops.Input{l, l}, nil), raw.Pack(s, []ops.Input{v, v}, nil), tensor.Float32), 2)[0], anyShape())
		},
		"push of none to two": func(s *ops.Scope, x *ops.Value) *ops.Value {
			l := aList(s, x)
			return stackOf(s, ops.Unstack(s, raw.TensorListPushBackBatch(s, raw.Pack(s, []ops.Input{l, l}, nil), f32s()), 2)[0], scalars)
		},
		"push of vectors to two": func(s *ops.Scope, x *ops.Value) *ops.Value {
			l := aList(s, x)
			return stackOf(s, ops.Unstack(s, raw.TensorListPushBackBatch(s, raw.Pack(s, []ops.Input{l, l}, nil), tensor.Must(tensor.New([]float32{1, 2}, 2, 1))), 2)[0], scalars)
		},
		"push of ints to two": func(s *ops.Scope, x *ops.Value) *ops.Value {
			l := aList(s, x)
			return stackOf(s, ops.Unstack(s, raw.TensorListPushBackBatch(s, raw.Pack(s, []ops.Input{l, l}, nil), i32s(1, 2)), 2)[0], scalars)
		},
		"item of another shape": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return item0(s, reserveOf(s, i32s(-1, 2), 3), 0, i32s(1, 3))
		},
		"cumsum along axis -3": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return raw.Cumsum(s, ops.Reshape(s, x, 1, 1), i32(-3), nil)
		},
		"cumsum along axis 2": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return raw.Cumsum(s, ops.Reshape(s, x, 1, 1), i32(2), nil)
		},
		"cumsum along axes": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return raw.Cumsum(s, ops.Reshape(s, x, 1, 1), i32s(0), nil)
		},
		"map over a scalar": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return ops.Map(s, x, func(s *ops.Scope, x *ops.Value) *ops.Value { return x })
		},
		"map over none": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return ops.Map(s, []*ops.Value{}, func(s *ops.Scope, x []*ops.Value) *ops.Value { return ops.Const(s, 1) })
		},
		"list of a scalar": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return stackOf(s, raw.TensorListFromTensor(s, x, scalars), scalars)
		},
	} {
		for _, mode := range []function.Mode{function.Eagerly, function.Traced} {
			if out, err := function.New(f, &function.Options{Mode: mode}).Call(t.Context(), ops.ValueOf(f32(1))); err == nil {
				t.Errorf("%s, mode %v: %v", name, mode, out)
			}
		}
	}
}

// TestListsGiveWhatTensorFlowsGive: values and gradients with regard to the argument, which is 5.
func TestListsGiveWhatTensorFlowsGive(t *testing.T) {
	scalars := i32s()
	for name, c := range map[string]struct {
		f    listProgram
		want string // the value, and the gradient
	}{
		"pop": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			l, e := raw.TensorListPopBack(s, pushAll(s, emptyList(s, scalars, 2), x), scalars, tensor.Float32)
			return ops.Add(s, e, ops.Sum(s, stackOf(s, l, scalars)))
		}, "5 1"},
		"pop of reserved": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			_, e := raw.TensorListPopBack(s, reserveOf(s, i32s(-1, 3), 3), i32s(4, 3), tensor.Float32)
			return ops.Add(s, ops.Cast(s, ops.Size(s, e), tensor.Float32), x)
		}, "17 1"},
		"item among others of other shapes": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			return ops.Sum(s, item0(s, pushAll(s, emptyList(s, anyShape(), -1), x, ops.Stack(s, []*ops.Value{x, x, x})), 1, anyShape()))
		}, "15 3"},
		"item that isn't x": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			return ops.Sum(s, item0(s, pushAll(s, emptyList(s, anyShape(), -1), x, f32s(10, 20)), 1, anyShape()))
		}, "30 0"},
		"stack with a shape from an element": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			l := raw.TensorListSetItem(s, reserveOf(s, anyShape(), 3), i32(1), ops.Stack(s, []*ops.Value{x, x}), nil)
			y := stackOf(s, l, anyShape())
			return ops.Add(s, ops.Sum(s, y), ops.Cast(s, ops.Size(s, y), tensor.Float32))
		}, "16 2"},
		"stack of reserved": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			return ops.Add(s, x, ops.Sum(s, stackOf(s, reserveOf(s, anyShape(), 3), scalars)))
		}, "5 1"},
		"gather": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			return ops.Square(s, ops.Sum(s, gatherOf(s, pushAll(s, emptyList(s, scalars, -1), x, f32(2)), scalars, 1, 0)))
		}, "49 14"},
		"gather twice": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			return ops.Sum(s, ops.Square(s, gatherOf(s, pushAll(s, emptyList(s, scalars, -1), f32(2), x), scalars, 1, 1)))
		}, "50 20"},
		"gather of what was set": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			l := raw.TensorListSetItem(s, raw.TensorListFromTensor(s, f32s(1, 2, 3), scalars), i32(1), x, nil)
			return ops.Sum(s, ops.Square(s, gatherOf(s, l, scalars, 1)))
		}, "25 10"},
		"gather with a shape from an element": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			l := raw.TensorListSetItem(s, reserveOf(s, anyShape(), 3), i32(1), ops.Stack(s, []*ops.Value{x, x}), nil)
			return ops.Sum(s, gatherOf(s, l, anyShape(), 1, 2))
		}, "10 2"},
		"scatter's size": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			return ops.Mul(s, x, ops.Cast(s, raw.TensorListLength(s, raw.TensorListScatter(s, f32s(1, 2), i32s(1, 3), scalars)), tensor.Float32))
		}, "20 4"},
		"scatter's size, given": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			return ops.Mul(s, x, ops.Cast(s, raw.TensorListLength(s, raw.TensorListScatterV2(s, f32s(1, 2), i32s(1, 3), scalars, i32(5))), tensor.Float32))
		}, "25 5"},
		"scatter": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			l := raw.TensorListScatter(s, ops.Stack(s, []*ops.Value{x, ops.Const(s, float32(2))}), i32s(1, 0), scalars)
			return ops.Add(s, ops.Square(s, item0(s, l, 0, scalars)), ops.Square(s, item0(s, l, 1, scalars)))
		}, "29 10"},
		"scatter, read in part": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			l := raw.TensorListScatter(s, ops.Stack(s, []*ops.Value{ops.Const(s, float32(1)), x}), i32s(1, 0), scalars)
			return ops.Square(s, item0(s, l, 0, scalars))
		}, "25 10"},
		"scatter into a list": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			l := raw.TensorListScatter(s, f32s(1), i32s(0), scalars)
			l = raw.TensorListScatterIntoExistingList(s, l, ops.Stack(s, []*ops.Value{x, x}), i32s(1, 2))
			return ops.Sum(s, ops.Mul(s, stackOf(s, l, scalars), f32s(1, 2, 3)))
		}, "26 5"},
		"set and get": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			return item0(s, raw.TensorListSetItem(s, reserveOf(s, scalars, 3), i32(1), ops.Mul(s, x, float32(2)), nil), 1, scalars)
		}, "10 2"},
		"get what wasn't set": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			l := raw.TensorListSetItem(s, reserveOf(s, scalars, 3), i32(0), x, nil)
			return ops.Add(s, item0(s, l, 1, scalars), item0(s, l, 0, scalars))
		}, "5 1"},
		"set of a list that grows": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			l := raw.TensorListSetItem(s, emptyList(s, scalars, -1), i32(0), ops.Mul(s, x, float32(2)), grows)
			return ops.Sum(s, stackOf(s, raw.TensorListSetItem(s, l, i32(1), f32(1), grows), scalars))
		}, "11 2"},
		"elements of other shapes": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			l, e := raw.TensorListPopBack(s, pushAll(s, emptyList(s, anyShape(), -1), x, f32s(1, 2)), anyShape(), tensor.Float32)
			_, d := raw.TensorListPopBack(s, l, anyShape(), tensor.Float32)
			return ops.Add(s, ops.Sum(s, e), ops.Sum(s, d))
		}, "8 1"},
		"a list of another type where it is empty": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			l := raw.EmptyTensorList(s, scalars, i32(-1), tensor.Int32)
			for range 2 {
				old := l
				l = ops.If(s, ops.Equal(s, raw.TensorListLength(s, old), 0), func(s *ops.Scope) *ops.Value { return emptyList(s, scalars, -1) },
					func(s *ops.Scope) *ops.Value { return ops.Identity(s, old) })
				l = raw.TensorListPushBack(s, l, x)
			}
			return ops.Sum(s, stackOf(s, l, scalars))
		}, "10 2"},
		"set and get, over what was there": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			l := raw.TensorListSetItem(s, aList(s, x, x), i32(0), f32(3), nil)
			return ops.Add(s, ops.Square(s, item0(s, l, 0, scalars)), ops.Square(s, item0(s, l, 1, scalars)))
		}, "34 10"},
		"read twice": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			l := raw.TensorListSetItem(s, reserveOf(s, scalars, 1), i32(0), x, nil)
			return ops.Add(s, item0(s, l, 0, scalars), item0(s, l, 0, scalars))
		}, "10 2"},
		"joined lists": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			a, b := aList(s, x, x), aList(s, f32(1))
			l := raw.TensorListConcatLists(s, raw.Pack(s, []ops.Input{a, b}, nil), raw.Pack(s, []ops.Input{b, a}, nil), tensor.Float32)
			two := ops.Unstack(s, l, 2)
			return ops.Sum(s, ops.Mul(s, ops.StopGradient(s, stackOf(s, two[0], scalars)), ops.StopGradient(s, stackOf(s, two[1], scalars))))
		}, "35 0"},
		"push to two": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			a, b := aList(s, x, x), aList(s, f32(1))
			both := raw.Pack(s, []ops.Input{a, b}, nil)
			more := ops.Unstack(s, raw.TensorListPushBackBatch(s, both, f32s(3, 4)), 2)
			same := ops.Unstack(s, both, 2)
			n := func(l *ops.Value) *ops.Value { return ops.Cast(s, raw.TensorListLength(s, l), tensor.Float32) }
			return ops.StopGradient(s, ops.AddN(s, []*ops.Value{n(more[0]), n(more[1]), n(same[0]), n(same[1]), ops.Sum(s, stackOf(s, more[0], scalars)), ops.Sum(s, stackOf(s, more[1], scalars))}))
		}, "26 0"},
		"zeros like": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			return ops.Add(s, x, ops.Sum(s, stackOf(s, raw.ZerosLike(s, aList(s, x, x)), scalars)))
		}, "5 1"},
		"zeros like what is there in part": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			l := raw.ZerosLike(s, raw.TensorListSetItem(s, reserveOf(s, scalars, 3), i32(2), x, nil))
			return ops.Add(s, x, ops.Sum(s, gatherOf(s, l, scalars, 0, 2)))
		}, "5 1"},
		"sum of lists": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			return ops.Sum(s, ops.Mul(s, stackOf(s, raw.AddN(s, []ops.Input{aList(s, x, f32(2)), aList(s, f32(3), x), aList(s, x, x)}), scalars), f32s(1, 2)))
		}, "37 6"},
		"sum of lists of lists": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			of := func(in ...*ops.Value) *ops.Value {
				l := raw.EmptyTensorList(s, scalars, i32(-1), tensor.Variant)
				for _, v := range in {
					l = raw.TensorListPushBack(s, l, v)
				}
				return l
			}
			sum := raw.AddN(s, []ops.Input{of(aList(s, x, x), aList(s, x)), of(aList(s, f32(1), x), aList(s, f32(2)))})
			inner := raw.TensorListGetItem(s, sum, i32(0), scalars, tensor.Variant)
			return ops.StopGradient(s, ops.Sum(s, stackOf(s, inner, scalars))) // TensorFlow has no gradient of it either
		}, "16 0"},
		"set beyond the room of a list that grows": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			return ops.Sum(s, stackOf(s, raw.TensorListSetItem(s, emptyList(s, scalars, 5), i32(5), x, grows), scalars))
		}, "5 1"},
		"joined elements of a known shape": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			m := ops.Fill(s, x, 2, 2)
			y, _ := raw.TensorListConcatV2(s, pushAll(s, emptyList(s, i32s(2, 2), -1), m, m), i32s(2, 2), tensor.Vector[int64](), tensor.Float32)
			return ops.Sum(s, y)
		}, "40 8"},
		"joined elements of other lengths": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			y, _ := raw.TensorListConcatV2(s, pushAll(s, emptyList(s, i32s(-1, 2), -1), ops.Fill(s, x, 1, 2), ops.Fill(s, x, 2, 2)), i32s(-1, 2), tensor.Vector[int64](), tensor.Float32)
			return ops.Sum(s, y)
		}, "30 6"},
		"map": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			return ops.Sum(s, ops.Map(s, ops.ValueOf(f32s(1, 2, 3)), func(s *ops.Scope, e *ops.Value) *ops.Value { return ops.Mul(s, ops.Square(s, e), x) }))
		}, "70 14"},
		"map over no elements": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			y := ops.Map(s, ops.ValueOf(f32s()), func(s *ops.Scope, e *ops.Value) *ops.Value { return ops.Zeros(s, tensor.Float32, 3, 2) })
			return ops.Add(s, x, ops.Sum(s, ops.Cast(s, ops.Shape(s, y), tensor.Float32)))
		}, "10 1"},
		"map over two, to three": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			y := ops.Map(s, []*ops.Value{ops.ConstOf(s, tensor.Float32, []float32{1, 2}), ops.Stack(s, []*ops.Value{x, x})},
				func(s *ops.Scope, e []*ops.Value) []*ops.Value {
					return []*ops.Value{e[1], ops.Mul(s, e[0], e[1]), e[0]}
				})
			return ops.AddN(s, []*ops.Value{ops.Sum(s, y[0]), ops.Sum(s, y[1]), ops.Sum(s, y[2])})
		}, "28 5"},
		"resized": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			l := raw.TensorListResize(s, pushAll(s, emptyList(s, scalars, -1), x, x), i32(3))
			l = raw.TensorListResize(s, l, i32(1))
			return ops.Sum(s, stackOf(s, l, scalars))
		}, "5 1"},
	} {
		for _, mode := range []function.Mode{function.Eagerly, function.Traced} {
			f := function.New(func(s *ops.Scope, x *ops.Value) []*ops.Value {
				y, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return c.f(s, x) }, &grad.Options{Watch: []*ops.Value{x}})
				return append([]*ops.Value{y}, tape.GradientOf(y, x)...)
			}, &function.Options{Mode: mode})
			out, err := f.Call(t.Context(), ops.ValueOf(f32(5)))
			if err != nil {
				t.Errorf("%s, mode %v: %v", name, mode, err)
				continue
			}
			d := float32(0)
			if out[1] != nil {
				d, err = ops.Item[float32](out[1])
			}
			if y, yerr := ops.Item[float32](out[0]); err != nil || yerr != nil || fmt.Sprint(y, d) != c.want {
				t.Errorf("%s, mode %v: %v, want %s", name, mode, out, c.want)
			}
		}
	}
}

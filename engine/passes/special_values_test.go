package passes_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/engine/internal/enginetest"
	"github.com/cairnml/cairn/engine/passes"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/tensor"
)

// numberTypes are the element types that arithmetic has.
var numberTypes = []tensor.DType{
	tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64,
	tensor.BFloat16, tensor.Float16, tensor.Float32, tensor.Float64, tensor.Complex64, tensor.Complex128,
}

// specialNumbers returns the limits of a type, zero, and its infinities and NaN
// if it has them.
func specialNumbers(t *testing.T, d tensor.DType) *tensor.Tensor {
	t.Helper()
	cast := func(x *tensor.Tensor) *tensor.Tensor { return tensor.Must(tensor.Cast(x, d)) }
	inf, nan := math.Inf(1), math.NaN()
	switch d {
	case tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64:
		bits := 8*d.Size() - 1
		return cast(tensor.Vector[int64](0, 1, -1, 3, -7, 1<<bits-1, -1<<bits, -1<<bits+1, 100))
	case tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64:
		return cast(tensor.Vector[uint64](0, 1, 2, 3, 7, 1<<(8*d.Size()-1)-1, 1<<(8*d.Size()-1), math.MaxUint64>>(64-8*d.Size()), 100))
	case tensor.Complex64, tensor.Complex128:
		negative := math.Copysign(0, -1)
		return cast(tensor.Vector(0, 1, complex(1, 2), complex(0, 1), complex(negative, negative), complex(inf, 1), complex(-3, inf), complex(nan, 0), complex(1, nan)))
	}
	return cast(tensor.Vector(0, math.Copysign(0, -1), 1, -1, inf, -inf, nan, 3, -0.1))
}

// exactly holds values to others bit by bit, except for which NaN one is.
func exactly(t *testing.T, what string, got, want []engine.Value) {
	t.Helper()
	for i := range want {
		g, w := got[i].Tensor, want[i].Tensor
		if g.DType() != w.DType() || !g.Shape().Equal(w.Shape()) {
			t.Fatalf("%s: result %d is %v, want %v", what, i, g, w)
		}
		if bytes.Equal(g.Bytes(), w.Bytes()) {
			continue
		}
		if w.DType().IsInteger() || w.DType() == tensor.Bool {
			t.Fatalf("%s: result %d is %v, want %v", what, i, g, w)
		}
		parts := func(x *tensor.Tensor) []complex128 {
			return tensor.Values[complex128](tensor.Must(tensor.Cast(x, tensor.Complex128)))
		}
		equal := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b }
		a, b := parts(g), parts(w)
		for k := range b {
			if !equal(real(a[k]), real(b[k])) || !equal(imag(a[k]), imag(b[k])) {
				t.Fatalf("%s: result %d is %v at %d, want %v", what, i, a[k], k, b[k])
			}
		}
	}
}

// withAndWithout compares the results of a function with the default passes and
// without passes.
func withAndWithout(t *testing.T, what string, f *graph.Function, args ...engine.Value) {
	t.Helper()
	plain, err := engine.Compile(f, &engine.CompileOptions{Kernels: kernel.All(), Passes: []passes.Pass{}})
	if err != nil {
		t.Fatal(err)
	}
	exactly(t, what, enginetest.Run(t, plan(t, f), nil, args...), enginetest.Run(t, plain, nil, args...))
}

// shaped adds an argument of nine elements.
func (n *network) shaped(d tensor.DType) graph.Output {
	x, err := n.F.AddArg("", graph.Fact{DType: d, Shape: graph.ShapeOf(9)})
	if err != nil {
		n.T.Fatal(err)
	}
	return x
}

// has reports whether an op takes a type and has a kernel for it.
func has(op string, d tensor.DType) bool {
	k := kernel.All().Lookup(op)
	if k == nil {
		return false
	}
	_, _, err := graph.LookupOp(op).Bind(nil, []graph.Fact{{DType: d}, {DType: d}}[:len(graph.LookupOp(op).Inputs)])
	return err == nil && (k.Types["T"] == nil || slices.Contains(k.Types["T"], d))
}

// TestNeutralOperandsKeepEveryValue has each type's limits, zeros, infinities and NaN
// multiplied and divided by 1, added to 0 and cast to their type.
func TestNeutralOperandsKeepEveryValue(t *testing.T) {
	for _, d := range numberTypes {
		for _, op := range []string{"Mul", "RealDiv", "Div", "AddV2", "Add", "Sub", "Maximum", "Minimum", "Pow", "FloorDiv", "TruncateDiv"} {
			if !has(op, d) {
				continue
			}
			for _, number := range []complex128{0, 1, -1, 1 + 2i, complex(math.Copysign(0, -1), 0)} {
				if d.IsInteger() && number == 0 && (op == "Div" || op == "FloorDiv" || op == "TruncateDiv") {
					continue // an error
				}
				if d.IsInteger() && (op == "Pow" && number == -1 || imag(number) != 0) || !d.IsComplex() && imag(number) != 0 {
					continue
				}
				v := tensor.Must(tensor.Cast(tensor.Scalar(number), d))
				switch {
				case d.IsInteger():
					v = tensor.Must(tensor.Cast(tensor.Scalar(int64(real(number))), d))
				case !d.IsComplex():
					v = tensor.Must(tensor.Cast(tensor.Scalar(real(number)), d))
				}
				for _, left := range []bool{false, true} {
					if left && (op == "Div" || op == "RealDiv" || op == "FloorDiv" || op == "TruncateDiv" || op == "Pow") && d.IsInteger() {
						continue // by 0: an error
					}
					n := &network{Builder: enginetest.Build(t, "neutral")}
					x, y := n.shaped(d), n.Value(v)
					if left {
						x, y = y, x
					}
					f := n.Return(n.do(op, x, y))
					withAndWithout(t, fmt.Sprintf("%s of %v and %v, left %v", op, d, number, left), f, engine.ValueOf(specialNumbers(t, d)))
				}
			}
		}
		n := &network{Builder: enginetest.Build(t, "casts")}
		x := n.shaped(d)
		f := n.Return(n.inferred("Cast", graph.Attrs{graph.Type("DstT", d)}, x).Output(0), n.do("Reshape", x, n.Value(tensor.Vector[int32](-1))))
		withAndWithout(t, fmt.Sprintf("casts of %v", d), f, engine.ValueOf(specialNumbers(t, d)))
	}
}

// TestFoldedConstantsEqualCalls compares folded constants with the results of
// the same kernels in a call: integers that wrap, infinities and NaN.
func TestFoldedConstantsEqualCalls(t *testing.T) {
	for _, d := range numberTypes {
		values := specialNumbers(t, d)
		other := tensor.Must(tensor.Cast(tensor.Vector[int64](3, 2, 5, 100, 1, 1, 1, 2, 2), d))
		type folded struct {
			name  string
			build func(n *network, x, y graph.Output) graph.Output
		}
		var cases []folded
		for _, op := range []string{"AddV2", "Sub", "Mul", "Maximum", "Minimum", "FloorDiv", "TruncateDiv", "Div", "RealDiv", "FloorMod", "Mod", "TruncateMod", "Pow", "SquaredDifference", "Less", "GreaterEqual", "Equal", "NotEqual"} {
			if has(op, d) {
				cases = append(cases, folded{op, func(n *network, x, y graph.Output) graph.Output { return n.do(op, x, y) }})
			}
		}
		for _, op := range []string{"Neg", "Abs", "Sign", "Square", "OnesLike", "ZerosLike", "Invert"} {
			if has(op, d) {
				cases = append(cases, folded{op, func(n *network, x, _ graph.Output) graph.Output { return n.do(op, x) }})
			}
		}
		for _, to := range numberTypes {
			cases = append(cases, folded{"Cast to " + to.String(), func(n *network, x, _ graph.Output) graph.Output {
				return n.inferred("Cast", graph.Attrs{graph.Type("DstT", to)}, x).Output(0)
			}})
		}
		first := func(n *network, x graph.Output, i int32) graph.Output {
			return n.do("Reshape", n.do("Slice", x, n.Value(tensor.Vector(i)), n.Value(tensor.Vector[int32](1))), n.Value(tensor.Must(tensor.New([]int32{}, 0))))
		}
		cases = append(cases, folded{"sizes", func(n *network, x, y graph.Output) graph.Output {
			// As a program computes with sizes: inference follows these.
			p := n.Node("Pack", nil, first(n, x, 5), first(n, y, 3), first(n, x, 6)).Output(0)
			return n.do("Mul", n.do("AddV2", p, p), p)
		}}, folded{"products and sums", func(n *network, x, y graph.Output) graph.Output {
			return n.do("AddV2", n.do("Prod", n.do("AddV2", x, y), n.Value(tensor.Scalar[int32](0))), n.do("Sum", x, n.Value(tensor.Scalar[int32](0))))
		}})
		for _, c := range cases {
			called, constant := &network{Builder: enginetest.Build(t, "called")}, &network{Builder: enginetest.Build(t, "constant")}
			x, y := called.shaped(d), called.shaped(d)
			plain, err := engine.Compile(called.Return(c.build(called, x, y)), &engine.CompileOptions{Kernels: kernel.All(), Passes: []passes.Pass{}})
			if err != nil {
				t.Fatal(err)
			}
			want, err := plain.Run(t.Context(), []engine.Value{engine.ValueOf(values), engine.ValueOf(other)}, nil)
			if err != nil {
				t.Fatalf("%s of %v: %v", c.name, d, err)
			}
			f := constant.Return(c.build(constant, constant.Value(values), constant.Value(other)))
			p := plan(t, f)
			exactly(t, fmt.Sprintf("%s of %v", c.name, d), enginetest.Run(t, p, nil), want)
		}
	}
}

// TestAlikeIsNotEqual has nodes that differ in the sign of a zero stay apart.
func TestAlikeIsNotEqual(t *testing.T) {
	negative := math.Copysign(0, -1)
	n := &network{Builder: enginetest.Build(t, "alike")}
	x := n.shaped(tensor.Float32)
	leaky := func(alpha float64) graph.Output {
		return n.inferred("LeakyRelu", graph.Attrs{graph.Float("alpha", alpha)}, x).Output(0)
	}
	zero := func(v float64) graph.Output { return n.do("RealDiv", x, n.number(v)) }
	complexes := func(v complex64) graph.Output {
		return n.do("Mul", n.Value(tensor.Scalar(v)), n.Value(tensor.Scalar[complex64](1i)))
	}
	f := n.Return(leaky(0), leaky(negative), leaky(math.NaN()), zero(0), zero(negative), complexes(0), complexes(complex(float32(negative), 0)), complexes(complex(0, float32(negative))))
	withAndWithout(t, "alike", f, engine.ValueOf(specialNumbers(t, tensor.Float32)))
}

// TestScalesThatAreNoNumbersStay has scores divided by 0 and multiplied by an infinity, with
// zeros among the weights.
func TestScalesThatAreNoNumbersStay(t *testing.T) {
	for _, c := range []struct {
		op     string
		number float64
	}{{"RealDiv", 0}, {"RealDiv", math.Copysign(0, -1)}, {"Mul", math.Inf(1)}, {"Mul", math.NaN()}, {"RealDiv", 0x1p-130}, {"Mul", .5}} {
		n := newNetwork(t, 2, 3)
		w := n.Value(tensor.Must(tensor.New([]float32{1, 0, 2, 0, 0, 3}, 3, 2)))
		f := n.Return(n.do(c.op, n.do("MatMul", n.x, w), n.number(c.number)))
		p, err := engine.Compile(f, &engine.CompileOptions{Kernels: kernel.All(), Passes: passes.Inference(), Invariants: new(engine.Invariants)})
		if err != nil {
			t.Fatal(err)
		}
		plain, err := engine.Compile(f, &engine.CompileOptions{Kernels: kernel.All(), Passes: []passes.Pass{}})
		if err != nil {
			t.Fatal(err)
		}
		x := engine.ValueOf(tensor.Must(tensor.New([]float32{1, -2, 3, 0, 4, 5}, 2, 3)))
		alike(t, fmt.Sprint(c.op, " ", c.number), enginetest.Run(t, p, nil, x), enginetest.Run(t, plain, nil, x), 1e-5)
	}
}

package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

// operands returns four slices of n values, special ones among them.
func operands[T float32 | float64](n int) [4][]T {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	special := []T{0, T(math.Copysign(0, -1)), T(math.Inf(1)), T(math.Inf(-1)), T(math.NaN()), 1e-40}
	var s [4][]T
	for i := range s {
		s[i] = make([]T, n)
		for j := range s[i] {
			s[i][j] = T(r.NormFloat64())
			if r.IntN(8) == 0 {
				s[i][j] = special[r.IntN(len(special))]
			}
		}
	}
	return s
}

func root[T float32 | float64](x T) T { return T(math.Sqrt(float64(x))) }

func testLoops[T float32 | float64](t *testing.T) {
	const x, b1, b2, epsilon = 0.3, 0.1, 0.001, 1e-7
	// Each loop and its expected result for one element; in and out are the
	// operands dst (or v), a (or m), b (or s), and c (or g).
	loops := map[string]struct {
		run  func(s [4][]T) int
		want func(in [4]T) [4]T
	}{
		"Add":           {func(s [4][]T) int { return Add(s[0], s[1], s[2]) }, func(e [4]T) [4]T { e[0] = e[1] + e[2]; return e }},
		"Sub":           {func(s [4][]T) int { return Sub(s[0], s[1], s[2]) }, func(e [4]T) [4]T { e[0] = e[1] - e[2]; return e }},
		"Mul":           {func(s [4][]T) int { return Mul(s[0], s[1], s[2]) }, func(e [4]T) [4]T { e[0] = e[1] * e[2]; return e }},
		"Div":           {func(s [4][]T) int { return Div(s[0], s[1], s[2]) }, func(e [4]T) [4]T { e[0] = e[1] / e[2]; return e }},
		"AddScalar":     {func(s [4][]T) int { return AddScalar(s[0], s[1], T(x)) }, func(e [4]T) [4]T { e[0] = e[1] + T(x); return e }},
		"MulScalar":     {func(s [4][]T) int { return MulScalar(s[0], s[1], T(x)) }, func(e [4]T) [4]T { e[0] = e[1] * T(x); return e }},
		"SubScalar":     {func(s [4][]T) int { return SubScalar(s[0], s[1], T(x)) }, func(e [4]T) [4]T { e[0] = e[1] - T(x); return e }},
		"DivScalar":     {func(s [4][]T) int { return DivScalar(s[0], s[1], T(x)) }, func(e [4]T) [4]T { e[0] = e[1] / T(x); return e }},
		"SubFrom":       {func(s [4][]T) int { return SubFrom(s[0], s[1], T(x)) }, func(e [4]T) [4]T { e[0] = T(x) - e[1]; return e }},
		"DivFrom":       {func(s [4][]T) int { return DivFrom(s[0], s[1], T(x)) }, func(e [4]T) [4]T { e[0] = T(x) / e[1]; return e }},
		"Maximum":       {func(s [4][]T) int { return Maximum(s[0], s[1], s[2]) }, func(e [4]T) [4]T { e[0] = max(e[1], e[2]); return e }},
		"Minimum":       {func(s [4][]T) int { return Minimum(s[0], s[1], s[2]) }, func(e [4]T) [4]T { e[0] = min(e[1], e[2]); return e }},
		"MaximumScalar": {func(s [4][]T) int { return MaximumScalar(s[0], s[1], 0) }, func(e [4]T) [4]T { e[0] = max(e[1], 0); return e }},
		"MinimumScalar": {func(s [4][]T) int { return MinimumScalar(s[0], s[1], 0) }, func(e [4]T) [4]T { e[0] = min(e[1], 0); return e }},
		"SquaredDifference": {func(s [4][]T) int { return SquaredDifference(s[0], s[1], s[2]) }, func(e [4]T) [4]T {
			e[0] = (e[1] - e[2]) * (e[1] - e[2])
			return e
		}},
		"SquaredDifferenceScalar": {func(s [4][]T) int { return SquaredDifferenceScalar(s[0], s[1], T(x)) }, func(e [4]T) [4]T {
			e[0] = (e[1] - T(x)) * (e[1] - T(x))
			return e
		}},
		"Square":   {func(s [4][]T) int { return Square(s[0], s[1]) }, func(e [4]T) [4]T { e[0] = e[1] * e[1]; return e }},
		"Neg":      {func(s [4][]T) int { return Neg(s[0], s[1]) }, func(e [4]T) [4]T { e[0] = -e[1]; return e }},
		"Abs":      {func(s [4][]T) int { return Abs(s[0], s[1]) }, func(e [4]T) [4]T { e[0] = T(math.Abs(float64(e[1]))); return e }},
		"Sqrt":     {func(s [4][]T) int { return Sqrt(s[0], s[1]) }, func(e [4]T) [4]T { e[0] = root(e[1]); return e }},
		"in place": {func(s [4][]T) int { return Add(s[0], s[0], s[1]) }, func(e [4]T) [4]T { e[0] += e[1]; return e }},
		"Relu": {func(s [4][]T) int { return Relu(s[0], s[1]) }, func(e [4]T) [4]T {
			if e[0] = e[1]; e[1] < 0 {
				e[0] = 0
			}
			return e
		}},
		"ReluGrad": {func(s [4][]T) int { return ReluGrad(s[0], s[1], s[2]) }, func(e [4]T) [4]T {
			if e[0] = e[1] * 0; e[2] > 0 {
				e[0] = e[1]
			}
			return e
		}},
		"Descend": {func(s [4][]T) int { return Descend(s[0], s[1], T(x)) }, func(e [4]T) [4]T {
			e[0] -= T(e[1] * T(x))
			return e
		}},
		"Adam": {func(s [4][]T) int { return Adam(s[0], s[1], s[2], s[3], T(x), T(b1), T(b2), T(epsilon)) }, func(e [4]T) [4]T {
			e[1] += T((e[3] - e[1]) * T(b1))
			e[2] += T((T(e[3]*e[3]) - e[2]) * T(b2))
			e[0] -= T(e[1]*T(x)) / (root(e[2]) + T(epsilon))
			return e
		}},
	}
	for name, l := range loops {
		for _, n := range []int{0, 1, 3, 4, 7, 8, 9, 31, 64, 1000, 40_001} {
			in, out := operands[T](n), operands[T](n)
			done := l.run(out)
			if done > n || n-done > 8 && done != 0 {
				t.Fatalf("%s: did %d of %d", name, done, n)
			}
			for i := range n {
				want := [4]T{in[0][i], in[1][i], in[2][i], in[3][i]}
				if i < done {
					want = l.want(want)
				}
				for k := range want {
					got := out[k][i]
					same := got == want[k] && math.Signbit(float64(got)) == math.Signbit(float64(want[k])) || got != got && want[k] != want[k]
					if !same {
						t.Fatalf("%s of %d: element %d of operand %d is %g, want %g", name, n, i, k, got, want[k])
					}
				}
			}
		}
	}
}

func TestLoopsAreThePlainOnes(t *testing.T) {
	t.Run("float32", testLoops[float32])
	t.Run("float64", testLoops[float64])
}

func TestOtherTypesAreLeftAlone(t *testing.T) {
	a := make([]int32, 64)
	if n := Add(a, a, a); n != 0 {
		t.Errorf("did %d int32", n)
	}
	type mine float32
	if n := Relu(make([]mine, 64), make([]mine, 64)); n != 0 {
		t.Errorf("did %d of a named type", n)
	}
}

// ordinary returns four slices without special values: subnormal ones are slow.
func ordinary(n int) [4][]float32 {
	var s [4][]float32
	for i := range s {
		s[i] = make([]float32, n)
		for j := range s[i] {
			s[i][j] = float32(j%97+1) / 97
		}
	}
	return s
}

func BenchmarkAdam(b *testing.B) {
	s := ordinary(64 << 10)
	b.SetBytes(int64(len(s[0]) * 4))
	for b.Loop() {
		Adam(s[0], s[1], s[2], s[3], 1e-3, 0.1, 0.001, 1e-7)
	}
}

func BenchmarkAdd(b *testing.B) {
	s := ordinary(64 << 10)
	b.SetBytes(int64(len(s[0]) * 4))
	for b.Loop() {
		Add(s[0], s[1], s[2])
	}
}

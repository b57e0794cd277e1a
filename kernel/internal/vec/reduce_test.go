package vec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestReductionsOfRowsAreThePlainOnes compares the functions on vectors with
// the loops, with NaN and zeros of both signs at every position.
func TestReductionsOfRowsAreThePlainOnes(t *testing.T) {
	t.Run("float32", testReductions[float32])
	t.Run("float64", testReductions[float64])
}

func testReductions[T Float](t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	zero, nan := T(0), T(math.NaN())
	for _, n := range []int{1, 7, 8, 15, 16, 17, 24, 39, 64, 1000} {
		for kind, fill := range map[string]func(i, at int) T{
			"numbers":    func(int, int) T { return T(r.NormFloat64()) },
			"positive":   func(int, int) T { return T(1 + r.Float64()) },
			"one NaN":    func(i, at int) T { return map[bool]T{true: nan, false: T(r.NormFloat64())}[i == at] },
			"zeros":      func(i, at int) T { return map[bool]T{true: zero, false: -zero * -1}[i == at] },
			"minus zero": func(i, at int) T { return map[bool]T{true: zero, false: T(math.Copysign(0, -1))}[i == at] },
			"infinite":   func(i, at int) T { return T(math.Inf(i - at)) },
		} {
			for _, at := range []int{0, n / 2, n - 1} {
				x := make([]T, n)
				for i := range x {
					x[i] = fill(i, at)
				}
				most, least := x[0], x[0]
				var s [8]T
				for i, v := range x {
					most, least = max(most, v), min(least, v)
					if i < n&^7 {
						s[i%8] += v
					}
				}
				sum := ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]))
				for _, v := range x[n&^7:] {
					sum += v
				}
				for name, e := range map[string][2]T{"MaxOf": {MaxOf(x), most}, "MinOf": {MinOf(x), least}, "Sum": {Sum(x), sum}} {
					if fmt.Sprint(e[0], math.Signbit(float64(e[0])) && e[0] == e[0]) != fmt.Sprint(e[1], math.Signbit(float64(e[1])) && e[1] == e[1]) {
						t.Errorf("%s of %d %s (%d) is %g, want %g", name, n, kind, at, e[0], e[1])
					}
				}
			}
		}
	}
}

// TestSoftmaxOfFloat32 compares rows with sums of float64.
func TestSoftmaxOfFloat32(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{1, 2, 7, 8, 9, 10, 31, 128, 1001} {
		x, got, log, back, labels := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
		for i := range x {
			x[i] = float32(r.NormFloat64() * 4)
		}
		labels[n/2] = 1
		m := MaxOf(x)
		var sum float64
		for _, v := range x {
			sum += math.Exp(float64(v) - float64(m))
		}
		Softmax(got, x)
		LogSoftmax(log, x)
		loss := SparseCrossEntropy(back, x, n/2)
		if again := CrossEntropy(make([]float32, n), x, labels); again != loss {
			t.Errorf("%d classes: the loss is %g, of a label that is spread %g", n, loss, again)
		}
		for i, v := range x {
			p := math.Exp(float64(v)-float64(m)) / sum
			if d := math.Abs(float64(got[i]) - p); d > 3e-7*p {
				t.Fatalf("softmax of %d: element %d is %g, want %g", n, i, got[i], p)
			}
			if d := math.Abs(float64(log[i]) - math.Log(p)); d > 1e-6*(1+math.Abs(math.Log(p))) {
				t.Fatalf("log of softmax of %d: element %d is %g, want %g", n, i, log[i], math.Log(p))
			}
			if d := math.Abs(float64(back[i]) - (p - float64(labels[i]))); d > 3e-7 {
				t.Fatalf("derivative of %d: element %d is %g, want %g", n, i, back[i], p-float64(labels[i]))
			}
		}
		inPlace := append([]float32(nil), x...)
		Softmax(inPlace, inPlace)
		for i := range got {
			if inPlace[i] != got[i] {
				t.Fatalf("softmax in place of %d: element %d is %g, not %g", n, i, inPlace[i], got[i])
			}
		}
	}
}

package vec

import (
	"math"
	"testing"

	"github.com/cairnml/cairn/kernel/internal/simd"
)

// TestFastFunctionsAreClose compares the functions of float32 with their
// values, in units in the last place of the result or, if summands cancel, of
// the argument.
func TestFastFunctionsAreClose(t *testing.T) {
	var x []float32
	for i := -40_000; i <= 40_000; i++ {
		x = append(x, float32(i)/400, float32(i)*float32(i)*float32(i)*1e-13, float32(i)/7e3)
	}
	y := make([]float32, len(x))
	for _, f := range []struct {
		name string
		fast func(dst, x []float32)
		is   func(x float64) float64
		rel  float64 // of the result
		abs  float64 // of the argument
	}{
		{"exp", FastExp, math.Exp, 3e-7, 0},
		{"sigmoid", FastSigmoid, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, 4e-7, 0},
		{"swish", FastSwish, func(x float64) float64 { return x / (1 + math.Exp(-x)) }, 4e-7, 0},
		{"tanh", FastTanh, math.Tanh, 5e-7, 0},
		{"erf", FastErf, math.Erf, 5e-7, 0},
		{"gelu", Gelu, func(x float64) float64 { return x / 2 * math.Erfc(-x*math.Sqrt2/2) }, 3e-7, 2e-7},
		{"tanh's gelu", GeluTanh, func(x float64) float64 {
			return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
		}, 3e-7, 4e-7},
	} {
		f.fast(y, x)
		for i, got := range y {
			want := f.is(float64(x[i]))
			if want > math.MaxFloat32 {
				want = math.Inf(1)
			}
			if d := math.Abs(float64(got) - want); !(d <= f.rel*math.Abs(want)+f.abs*math.Abs(float64(x[i]))+1e-36 || float64(got) == want) {
				t.Fatalf("%s(%g) is %g, want %g", f.name, x[i], got, want)
			}
		}
	}
}

func TestFastFunctionsAtTheEdges(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, f := range []struct {
		name string
		fast func(dst, x []float32)
		x, y float32
	}{
		{"exp", FastExp, inf, inf}, {"exp", FastExp, -inf, 0}, {"exp", FastExp, nan, nan}, {"exp", FastExp, 0, 1},
		{"sigmoid", FastSigmoid, inf, 1}, {"sigmoid", FastSigmoid, -inf, 0}, {"sigmoid", FastSigmoid, nan, nan},
		{"swish", FastSwish, nan, nan}, {"swish", FastSwish, inf, inf},
		{"tanh", FastTanh, inf, 1}, {"tanh", FastTanh, -inf, -1}, {"tanh", FastTanh, nan, nan}, {"tanh", FastTanh, 0, 0}, {"tanh", FastTanh, 50, 1},
		{"erf", FastErf, inf, 1}, {"erf", FastErf, -inf, -1}, {"erf", FastErf, nan, nan}, {"erf", FastErf, -9, -1},
		{"gelu", Gelu, inf, inf}, {"gelu", Gelu, nan, nan}, {"gelu", Gelu, -1e30, 0}, {"gelu", Gelu, 1e30, 1e30},
		{"tanh's gelu", GeluTanh, inf, inf}, {"tanh's gelu", GeluTanh, nan, nan}, {"tanh's gelu", GeluTanh, -1e9, 0},
	} {
		y := make([]float32, 1)
		f.fast(y, []float32{f.x})
		if y[0] != f.y && !(y[0] != y[0] && f.y != f.y) {
			t.Errorf("%s(%g) is %g, want %g", f.name, f.x, y[0], f.y)
		}
	}
}

// TestFastFunctionsDontDependOnPlaces computes slices whole and in pieces.
func TestFastFunctionsDontDependOnPlaces(t *testing.T) {
	x := make([]float32, 1000)
	for i := range x {
		x[i] = float32(i%97)/9 - 5
	}
	for name, f := range map[string]func(dst, x []float32){
		"exp": FastExp, "sigmoid": FastSigmoid, "swish": FastSwish, "tanh": FastTanh, "erf": FastErf, "gelu": Gelu, "tanh's gelu": GeluTanh,
	} {
		whole, parts := make([]float32, len(x)), append([]float32(nil), x...)
		f(whole, x)
		for at, n := 0, 1; at < len(x); at, n = at+n, n%37+1 {
			part := parts[at:min(at+n, len(x))]
			f(part, part)
		}
		for i := range x {
			if whole[i] != parts[i] {
				t.Fatalf("%s(%g) is %g as a part, %g in the whole", name, x[i], parts[i], whole[i])
			}
		}
	}
}

func TestFastSoftmax(t *testing.T) {
	for n := 1; n < 300; n += 1 + n/5 {
		x, y, want := make([]float32, n), make([]float32, n), make([]float32, n)
		for i := range x {
			x[i] = float32(math.Sin(float64(i*i))) * 20
			if i%11 == 5 {
				x[i] = -1e9
			}
		}
		FastSoftmax(y, x)
		Softmax(want, x)
		for i := range y {
			if d := math.Abs(float64(y[i] - want[i])); d > 4e-6*float64(want[i]) {
				t.Fatalf("element %d of %d is %g, want %g", i, n, y[i], want[i])
			}
		}
	}
}

// TestFastSoftmaxHasTheBitsOfItsParts compares the function for a whole row
// with its steps one by one.
func TestFastSoftmaxHasTheBitsOfItsParts(t *testing.T) {
	for n := 16; n < 400; n += 16 {
		for _, odd := range []float32{0, float32(math.NaN()), float32(math.Inf(-1)), float32(math.Inf(1)), 1000} {
			x, y, want := make([]float32, n), make([]float32, n), make([]float32, n)
			for i := range x {
				x[i] = float32(math.Sin(float64(i*i))) * 20
			}
			if odd != 0 {
				x[n*2/3] = odd
			}
			var s [16]float32
			if !simd.FastExpSum(want, x, MaxOf(x), &s) {
				t.Skip("this CPU has no such function")
			}
			for k := len(s) / 2; k > 0; k /= 2 {
				for i := range k {
					s[i] += s[i+k]
				}
			}
			MulVS(want, want, 1/s[0])
			FastSoftmax(y, x)
			for i := range y {
				if math.Float32bits(y[i]) != math.Float32bits(want[i]) && (y[i] == y[i] || want[i] == want[i]) {
					t.Fatalf("element %d of %d with %g is %g, want %g", i, n, odd, y[i], want[i])
				}
			}
		}
	}
}

func TestLayerNorm(t *testing.T) {
	for n := 1; n < 200; n += 1 + n/3 {
		x, y, gamma, beta := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
		var mean, variance float64
		for i := range x {
			x[i], gamma[i], beta[i] = float32(5+3*math.Sin(float64(i*i))), float32(i%5)-1, float32(i%3)
			mean += float64(x[i]) / float64(n)
		}
		for _, v := range x {
			variance += (float64(v) - mean) * (float64(v) - mean) / float64(n)
		}
		LayerNorm(y, x, gamma, beta, 1e-3)
		for i := range y {
			want := (float64(x[i])-mean)/math.Sqrt(variance+1e-3)*float64(gamma[i]) + float64(beta[i])
			if math.Abs(float64(y[i])-want) > 1e-5 {
				t.Fatalf("element %d of %d is %g, want %g", i, n, y[i], want)
			}
		}
	}
}

// TestLayerNormAtOnce compares the function for a whole row with its steps one
// by one.
func TestLayerNormAtOnce(t *testing.T) {
	for n := 16; n < 600; n += 16 {
		for _, odd := range []float32{1, 0, 1e-30, 1e30, float32(math.Inf(1)), float32(math.NaN())} {
			x, y, want, gamma, beta := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
			for i := range x {
				x[i], gamma[i], beta[i] = float32(math.Sin(float64(i*i+n))), float32(math.Cos(float64(i))), float32(i%3)
			}
			x[n/2] *= odd
			layerNorm(want, x, gamma, beta, 1e-3)
			LayerNorm(y, x, gamma, beta, 1e-3)
			LayerNorm(x, x, gamma, beta, 1e-3)
			for i := range y {
				if y, z, want := math.Float32bits(y[i]), math.Float32bits(x[i]), math.Float32bits(want[i]); (y != want || z != want) && odd == odd && odd < 2e30 {
					t.Fatalf("element %d of %d with %g is %x, in place %x, want %x", i, n, odd, y, z, want)
				}
				if (y[i] == y[i]) != (want[i] == want[i]) {
					t.Fatalf("element %d of %d with %g is %g, want %g", i, n, odd, y[i], want[i])
				}
			}
		}
	}
}

package vec

import (
	"math"
	"testing"
)

// samples returns float32s from all over the range of bits, and the odd ones.
func samples(step uint32) []float32 {
	var out []float32
	for b := uint64(0); b < 1<<32; b += uint64(step) {
		out = append(out, math.Float32frombits(uint32(b)))
	}
	for _, x := range []float64{0, 1, 2, 0.25, 0.5, math.Sqrt2, math.Sqrt2 / 2, math.Ln2, math.Ln2 / 2, 11, 10.05, 20, 30, 87.3, 88.7, 88.73, 103.9, 104, 128,
		math.MaxFloat32, math.SmallestNonzeroFloat32, 0x1p-126, 0x1p-149, 0x1p-24, 0x1p-25, math.Inf(1), math.NaN()} {
		f := float32(x)
		for _, y := range []float32{f, math.Nextafter32(f, 0), math.Nextafter32(f, float32(math.Inf(1)))} {
			out = append(out, y, -y)
		}
	}
	return out
}

// functions are the functions of float32: by slices, of one number, and as
// package math has them.
var functions = []struct {
	name  string
	slice func(dst, a []float32)
	one   func(float32) float32
	want  func(float64) float64
}{
	{"Exp", Exp[float32], exp32, math.Exp},
	{"Expm1", Expm1[float32], expm1_32, math.Expm1},
	{"Tanh", Tanh[float32], tanh32, math.Tanh},
	{"Sigmoid", Sigmoid[float32], sigmoid32, sigmoid},
	{"Log", Log[float32], log32, math.Log},
	{"Log1p", Log1p[float32], log1p32, math.Log1p},
	{"Softplus", Softplus[float32], softplus32, softplus},
	{"Erf", Erf[float32], erf32, math.Erf},
	{"Erfc", Erfc[float32], erfc32, math.Erfc},
	{"Rsqrt", Rsqrt[float32], rsqrt32, func(x float64) float64 { return 1 / math.Sqrt(x) }},
	{"Elu", Elu[float32], elu32, func(x float64) float64 {
		if x < 0 {
			return math.Expm1(x)
		}
		return x
	}},
	{"Selu", Selu[float32], selu32, func(x float64) float64 {
		if x < 0 {
			return seluScale * seluAlpha * math.Expm1(x)
		}
		return seluScale * x
	}},
}

func TestFunctionsOfFloat32AreRoundedOnce(t *testing.T) {
	for _, f := range functions {
		t.Run(f.name, func(t *testing.T) {
			for _, x := range samples(9973) {
				got, want := f.one(x), f.want(float64(x))
				if same32(got, float32(want)) {
					continue
				}
				// The unit in the last place of want.
				near := float64(float32(want))
				ulp := math.Abs(float64(math.Nextafter32(float32(want), float32(math.Inf(1)))) - near)
				if d := math.Abs(float64(got) - want); !(d <= 0.6*ulp) && !(f.name == "Selu" && d <= 1.1*ulp) { // Selu's scale is a float32
					t.Fatalf("%s(%g) = %g, want %g (%.2f units off)", f.name, x, got, want, d/ulp)
				}
			}
		})
	}
}

func TestVectorsOfFunctionsHaveTheBitsOfPlainGo(t *testing.T) {
	x := samples(3001)
	got := make([]float32, len(x))
	for _, f := range functions {
		f.slice(got, x)
		for i := range x {
			if want := f.one(x[i]); !same32(got[i], want) {
				t.Fatalf("%s(%g) = %g (%#x) in a vector, %g (%#x) in plain Go", f.name, x[i], got[i], math.Float32bits(got[i]), want, math.Float32bits(want))
			}
		}
	}
}

func TestSwishIsTheProductWithTheSigmoid(t *testing.T) {
	x := samples(3001)
	want, got := make([]float32, len(x)), make([]float32, len(x))
	Sigmoid(want, x)
	MulVV(want, x, want)
	Swish(got, x)
	for i := range x {
		if !same32(got[i], want[i]) {
			t.Fatalf("Swish(%g) = %g, want %g", x[i], got[i], want[i])
		}
	}
}

// TestFunctionsHaveTheSameBitsEverywhere compares architectures with one
// another: each checksum is that of all results.
func TestFunctionsHaveTheSameBitsEverywhere(t *testing.T) {
	want := map[string]uint32{
		"Exp": 0x4bbda6c5, "Expm1": 0x3e17cde3, "Tanh": 0x78318cd9, "Sigmoid": 0x146b8755, "Log": 0x712b891c, "Log1p": 0xf696adeb,
		"Softplus": 0x8bf993bc, "Erf": 0xb66fbf5d, "Erfc": 0x2519727, "Rsqrt": 0xa3bd9815, "Elu": 0xe486e487, "Selu": 0xab76acee,
	}
	x := samples(40_009)
	got := make([]float32, len(x))
	for _, f := range functions {
		f.slice(got, x)
		var sum uint32
		for i := range got {
			if got[i] == got[i] {
				sum = sum*31 + math.Float32bits(got[i])
			}
		}
		if sum != want[f.name] {
			t.Errorf("%s: %#x, want %#x", f.name, sum, want[f.name])
		}
	}
}

func same32(a, b float32) bool {
	return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
}

func benchmark32(b *testing.B, f func(dst, a []float32)) {
	x, y := make([]float32, 4096), make([]float32, 4096)
	for i := range x {
		x[i] = float32(i)/512 - 4
	}
	b.SetBytes(4 * 4096)
	for b.Loop() {
		f(y, x)
	}
}

func BenchmarkFunctions(b *testing.B) {
	for _, f := range functions {
		b.Run(f.name, func(b *testing.B) { benchmark32(b, f.slice) })
	}
}

package text

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func TestFixedDigitsAreThoseOfPrintf(t *testing.T) {
	values := []float64{
		0, math.Copysign(0, -1), 0.5, 1.5, 2.5, -0.5, 0.25, 0.75, 0.125, 0.375, 0.0000005, 0.0000015, 0.9999995, 0.99999949999999,
		0.999999999999999999, 9.5, 99.5, 1e-300, 5e-324, 0x1p-1022, 0x1p-64, 0x1p-65, 0x1p-63, 0x1p-75, 0x1p-76, 0x1.8p-64,
		0x1p52, 0x1p53, 0x1p62, 0x1.fffffffffffffp62, 0x1p52 + 0.5, 0x1p51 + 0.5, 0x1p51 + 1.5, 123456.7890625, -1234.5, 1e15 + 0.3, 1e-9, 5e-7,
		0.5 + 0x1p-53, 0.5 - 0x1p-54, 0x1p-1, 0x1p-19, 3 * 0x1p-20,
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		values = append(values, r.NormFloat64(), float64(float32(r.NormFloat64()*1000)), math.Float64frombits(r.Uint64()),
			math.Ldexp(float64(r.IntN(1<<12)), -r.IntN(24)), math.Ldexp(r.Float64(), r.IntN(140)-76))
	}
	for i, x := range values {
		for _, digits := range []int{0, 1, 6, i % (maxFixed + 1), maxFixed} {
			got, ok := appendFixed(nil, x, digits)
			if want := fmt.Sprintf("%.*f", digits, x); ok && string(got) != want || ok != (math.Abs(x) < 0x1p63) {
				t.Fatalf("%v with %d digits: %q, %v, want %q", x, digits, got, ok, want)
			}
		}
	}
	if _, ok := appendFixed(nil, 1, maxFixed+1); ok {
		t.Error("too many digits for 64 bits are written")
	}
}

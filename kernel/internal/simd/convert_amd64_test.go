//go:build !noasm

package simd

import (
	"math"
	"testing"

	"github.com/cairnml/cairn/tensor"
)

// TestConversionsAreTensors compares the assembly with package tensor: for
// every half, and for float32 at and next to each half and each middle between
// two.
func TestConversionsAreTensors(t *testing.T) {
	halves := make([]uint16, 1<<16)
	for i := range halves {
		halves[i] = uint16(i)
	}
	for to, h := range map[Rounding]struct {
		float  func(uint16) float32
		narrow func(float32) uint16
	}{
		ToFloat16:  {func(v uint16) float32 { return tensor.F16(v).Float() }, func(v float32) uint16 { return uint16(tensor.ToF16(v)) }},
		ToBFloat16: {func(v uint16) float32 { return tensor.BF16(v).Float() }, func(v float32) uint16 { return uint16(tensor.ToBF16(v)) }},
	} {
		wide := make([]float32, 1<<16)
		if n := Widen(wide, halves, to); n == 0 {
			t.Skip("this CPU has no assembly for them")
		}
		for i, v := range wide {
			if math.Float32bits(v) != math.Float32bits(h.float(uint16(i))) {
				t.Fatalf("rounding %d: half %#x is %v, want %v", to, i, v, h.float(uint16(i)))
			}
		}
		for low := range uint32(8) {
			for _, low := range []uint32{low, low << 10, 0x7fff - low, 0x8000 + low, 0xfff - low, 0x1000 + low, 0x2fff + low, 0xffff - low} {
				x, got := make([]float32, 1<<16), make([]uint16, 1<<16)
				for i := range x {
					x[i] = math.Float32frombits(uint32(i)<<16 | low)
				}
				Narrow(got, x, to)
				for i, v := range x {
					if got[i] != h.narrow(v) {
						t.Fatalf("rounding %d: %v (%#x) becomes %#x, want %#x", to, v, math.Float32bits(v), got[i], h.narrow(v))
					}
				}
				rounded := append([]float32(nil), x...)
				Round(rounded, to)
				for i, v := range x {
					if want := h.float(h.narrow(v)); v == v && math.Float32bits(rounded[i]) != math.Float32bits(want) {
						t.Fatalf("rounding %d: %v is rounded to %v, want %v", to, v, rounded[i], want)
					}
				}
			}
		}
	}
}

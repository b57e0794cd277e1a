//go:build !noasm

package simd

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

// TestNarrowDepthwiseGivesTheSameBits holds the loops of AVX2 to those of AVX-512, which
// vec's tests hold to the definition.
func TestNarrowDepthwiseGivesTheSameBits(t *testing.T) {
	t.Run("float32", testNarrow[float32])
	t.Run("float64", testNarrow[float64])
}

func testNarrow[T float32 | float64](t *testing.T) {
	if !wide {
		t.Skip("this machine has no AVX-512")
	}
	defer func() { wide = true }()
	r := rand.New(rand.NewPCG(9, 10))
	for _, channels := range []int{4, 8, 16, 20, 24, 40, 64, 72} {
		for _, places := range []int{1, 3, 4, 5, 8} {
			taps := Taps{Rows: 3, Columns: 2, RowStep: channels * (places + 2), ColumnStep: channels, PlaceStep: channels, WeightStep: 2 * channels, Places: places, Channels: channels}
			src, w := make([]T, 3*taps.RowStep), make([]T, 6*channels)
			for _, v := range [][]T{src, w} {
				for i := range v {
					v[i] = T(r.NormFloat64())
				}
			}
			for _, end := range []*Ending[T]{nil, {Bias: w[:channels], Low: -1, High: 1}} {
				want, got := make([]T, places*channels), make([]T, places*channels)
				wide = true
				if n := Depthwise(want, src, w, &taps, end); n != channels {
					t.Fatalf("AVX-512 did %d of %d channels", n, channels)
				}
				wide = false
				n := Depthwise(got, src, w, &taps, end)
				if channels-n >= 8 {
					t.Fatalf("AVX2 did %d of %d channels", n, channels)
				}
				for i := range got {
					if i%channels < n && got[i] != want[i] {
						t.Fatalf("%+v, %v: element %d is %v, want %v", taps, end, i, got[i], want[i])
					}
				}
			}
		}
	}
}

// TestTheAssemblyKnowsTheStrips compares the offsets that the assembly has with
// those of the fields.
func TestTheAssemblyKnowsTheStrips(t *testing.T) {
	for _, s := range []reflect.Type{reflect.TypeFor[strip](), reflect.TypeFor[pooled]()} {
		for i := range s.NumField() {
			if f := s.Field(i); f.Offset != uintptr(8*i) {
				t.Errorf("%v: %s lies at %d, the assembly looks for it at %d", s, f.Name, f.Offset, 8*i)
			}
		}
	}
}

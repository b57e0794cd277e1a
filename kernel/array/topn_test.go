package array

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cairnml/cairn/kernel/internal/vec"
)

func sortsLike[K vec.Real](t *testing.T, row []K) {
	t.Helper()
	want := make([]int, len(row))
	for i := range want {
		want[i] = i
	}
	slices.SortStableFunc(want, func(i, j int) int { return falling(row[i], row[j]) })
	if got := (&topN[K]{step: func(int) {}}).find(row, len(row), true); !slices.Equal(got, want) {
		t.Errorf("%v: %v, want %v", row, got, want)
	}
}

// TestWholeRowsAreSortedStably checks that sorting by keys has the order of
// sorting by comparisons. TensorFlow's order of rows with NaN is in the fixtures.
func TestWholeRowsAreSortedStably(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	special := []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.Inf(-1)), 1e-45, -1e-45, math.MaxFloat32, -math.MaxFloat32}
	floats := append(append([]float32(nil), special...), special...)
	for range 100 {
		floats = append(floats, float32(r.IntN(9)-4), float32(r.NormFloat64()))
	}
	sortsLike(t, floats)
	for len(floats) < 5000 { // sorted digit by digit
		floats = append(floats, float32(r.IntN(99)-49), float32(r.NormFloat64()), floats[r.IntN(len(floats))])
	}
	sortsLike(t, floats)
	words := []uint64{0, 1, math.MaxUint32, 1 << 31, 1<<31 - 1, 127, 128, 255, 32767, 32768}
	for range 100 {
		words = append(words, r.Uint64N(5), r.Uint64())
	}
	sortsLike(t, integers[int32](words))
	for len(words) < 5000 {
		words = append(words, r.Uint64N(5), r.Uint64())
	}
	sortsLike(t, integers[int8](words))
	sortsLike(t, integers[int16](words))
	sortsLike(t, integers[int32](words))
	sortsLike(t, integers[int64](words))
	sortsLike(t, integers[uint8](words))
	sortsLike(t, integers[uint16](words))
	sortsLike(t, integers[uint32](words))
	sortsLike(t, integers[uint64](words))
}

func integers[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](words []uint64) []T {
	out := make([]T, len(words))
	for i, w := range words {
		out[i] = T(w)
	}
	return out
}

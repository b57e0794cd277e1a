package vec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cairnml/cairn/kernel/internal/simd"
)

// TestPoolingGivesTheFirstOfTheLargest compares rows of windows with their
// definition, with ties, zeros of both signs and NaN among the elements.
func TestPoolingGivesTheFirstOfTheLargest(t *testing.T) {
	t.Run("float32", testPooling[float32])
	t.Run("float64", testPooling[float64])
}

func testPooling[T Float](t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	values := []T{0, T(math.Copysign(0, -1)), 1, 2, 2, -1, T(math.NaN()), T(math.Inf(-1))}
	for _, channels := range []int{1, 3, 4, 8, 15, 16, 33, 40_000} {
		for _, taps := range [][]int{{0}, {0, channels, 5 * channels, 6 * channels}, {3 * channels, 2 * channels, 0}, make([]int, 70)} {
			p := &simd.Pool{Taps: taps, Places: 3, Step: 2 * channels, Channels: channels}
			x, dy := make([]T, 11*channels), make([]T, 3*channels)
			for i := range x {
				x[i] = values[r.IntN(len(values))]
			}
			for i := range dy {
				dy[i] = T(r.NormFloat64())
			}
			want, wantGrad := make([]T, len(dy)), make([]T, len(x))
			for i := range dy {
				at := i/channels*p.Step + i%channels
				best := at + taps[0]
				for _, tap := range taps[1:] {
					if x[at+tap] > x[best] {
						best = at + tap
					}
				}
				want[i] = x[best]
				wantGrad[best] += dy[i]
			}
			got, gotGrad := make([]T, len(dy)), make([]T, len(x))
			MaxPool(got, x, p)
			MaxPoolGrad(gotGrad, x, dy, p)
			sameBits(t, fmt.Sprintf("%d channels, %d taps: the largest", channels, len(taps)), got, want)
			sameBits(t, fmt.Sprintf("%d channels, %d taps: the gradient", channels, len(taps)), gotGrad, wantGrad)
		}
	}
}

func sameBits[T Float](t *testing.T, what string, got, want []T) {
	t.Helper()
	for i := range want {
		if math.Float64bits(float64(got[i])) != math.Float64bits(float64(want[i])) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

// TestPoolingRefusesWindowsOutsideOfTheImage holds that no loop of assembly begins there.
func TestPoolingRefusesWindowsOutsideOfTheImage(t *testing.T) {
	for _, p := range []simd.Pool{
		{Taps: []int{8}, Places: 2, Step: 8, Channels: 8},
		{Taps: []int{-1}, Places: 1, Channels: 8},
		{Places: 1, Channels: 8},
		{Taps: []int{0}, Places: 3, Channels: 8},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v is taken", p)
				}
			}()
			MaxPool(make([]float32, 16), make([]float32, 16), &p)
		}()
	}
}

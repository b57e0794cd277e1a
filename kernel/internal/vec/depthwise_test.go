package vec

import (
	"math/rand/v2"
	"testing"

	"github.com/cairnml/cairn/kernel/internal/simd"
)

// TestDepthwiseSumsTapByTap holds rows of depthwise convolutions to their
// definition, bit for bit, for counts of channels and places around those of
// whole vectors and blocks.
func TestDepthwiseSumsTapByTap(t *testing.T) {
	t.Run("float32", testDepthwise[float32])
	t.Run("float64", testDepthwise[float64])
}

func testDepthwise[T float32 | float64](t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, channels := range []int{1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 48, 63, 64, 96, 100} {
		for _, places := range []int{1, 2, 3, 4, 5, 9} {
			for _, size := range [][2]int{{1, 1}, {3, 3}, {2, 5}, {7, 1}} {
				taps := simd.Taps{Rows: size[0], Columns: size[1], Channels: channels, Places: places,
					ColumnStep: channels * (1 + r.IntN(2)), PlaceStep: channels * (1 + r.IntN(2)), WeightStep: channels * (size[1] + r.IntN(2))}
				taps.RowStep = (places-1)*taps.PlaceStep + size[1]*taps.ColumnStep
				src, w := make([]T, taps.RowStep*size[0]+channels), make([]T, taps.WeightStep*size[0])
				for _, v := range [][]T{src, w} {
					for i := range v {
						v[i] = T(r.NormFloat64())
					}
				}
				dst := make([]T, places*channels+1)
				dst[len(dst)-1] = 42
				var end *simd.Ending[T]
				if r.IntN(2) == 0 {
					end = &simd.Ending[T]{Bias: src[:channels], Low: -1, High: 2}
				}
				Depthwise(dst, src, w, &taps, end)
				for i, got := range dst[:places*channels] {
					p, c := i/channels, i%channels
					var want T
					for row := range size[0] {
						for k := range size[1] {
							want += T(w[row*taps.WeightStep+k*channels+c] * src[p*taps.PlaceStep+row*taps.RowStep+k*taps.ColumnStep+c])
						}
					}
					if end != nil {
						want = min(max(want+end.Bias[c], end.Low), end.High)
					}
					if got != want {
						t.Fatalf("%+v: place %d, channel %d: %v, want %v", taps, p, c, got, want)
					}
				}
				if dst[len(dst)-1] != 42 {
					t.Fatalf("%+v: wrote behind the last place", taps)
				}
			}
		}
	}
}

package layers

import (
	"math"
	"testing"

	"github.com/cairnml/cairn/tensor"
)

func TestConnectionsAreTheSumOfTheSpans(t *testing.T) {
	for _, padding := range []string{"valid", "same"} {
		for _, c := range []struct{ in, size, stride int }{
			{1, 1, 1}, {5, 2, 1}, {7, 3, 2}, {9, 4, 3}, {6, 6, 1}, {4, 9, 1}, {10, 7, 5}, {3, 1, 8},
			{50000, 3, 1}, {50000, 40000, 1}, {60000, 20000, 2}, {1000000, 5, 1},
		} {
			l := &local{window: window{size: []int{c.size}, strides: []int{c.stride}, dilation: []int{1}, padding: padding}, in: tensor.Shape{c.in}}
			n := l.outputSize(0, c.in)
			if n <= 0 {
				continue
			}
			var want int64
			for at := range n {
				first, last := l.span(0, at)
				want += int64(last - first)
			}
			if got := l.connections(0, n); int64(got) != min(want, math.MaxInt) {
				t.Errorf("%s, %+v: %d connections, want %d", padding, c, got, want)
			}
		}
	}
}

func TestConnectionsThatNoIntHolds(t *testing.T) {
	l := &local{window: window{size: []int{math.MaxInt32}, strides: []int{1}, padding: "same"}, in: tensor.Shape{math.MaxInt32}}
	// The spans hold about three quarters of the square of the size.
	if got, least := int64(l.connections(0, math.MaxInt32)), min(int64(3)<<60-1<<40, math.MaxInt); got < least {
		t.Errorf("%d connections, want at least %d", got, least)
	}
}

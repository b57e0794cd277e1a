package callbacks

import (
	"math"
	"testing"

	"github.com/cairnml/cairn/tensor"
)

// TestNumbersAreThoseOfPython compares texts with Python's str.
func TestNumbersAreThoseOfPython(t *testing.T) {
	for x, want := range map[float64]string{0: "0.0", 1: "1.0", 0.25: "0.25", 1e16: "1e+16", 1e-5: "1e-05", math.Inf(1): "inf", math.Inf(-1): "-inf"} {
		if got := pythonFloat(x); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := pythonFloat(math.NaN()); got != "nan" {
		t.Errorf("got %q, want nan", got)
	}
}

// TestBucketsOfTheLargestNumbers counts numbers whose difference is beyond float64.
func TestBucketsOfTheLargestNumbers(t *testing.T) {
	rows := tensor.Values[float64](buckets([]float64{-math.MaxFloat64, 0, math.MaxFloat64}))
	if n := len(rows); rows[2] != 1 || rows[n-1] != 1 || rows[n-2] != math.MaxFloat64 {
		t.Errorf("the first bucket is %v, the last one %v", rows[:3], rows[n-3:])
	}
}

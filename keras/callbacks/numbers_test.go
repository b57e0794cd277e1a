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
	for i, x := range rows {
		if math.IsInf(x, 0) || math.IsNaN(x) {
			t.Errorf("bucket %d has the number %v", i/3, x)
		}
	}
}

// TestBucketsAreThoseOfTensorBoard counts numbers near the edges of buckets.
func TestBucketsAreThoseOfTensorBoard(t *testing.T) {
	var values []float64
	for i := 1; i <= 31; i++ {
		values = append(values, float64(i)/10)
	}
	least, most := values[0], values[30]
	width := (most - least) / 30
	want := make([]float64, 30)
	for _, x := range values {
		want[min(int((x-least)/width), 29)]++
	}
	for i, n := range want {
		if got := tensor.Values[float64](buckets(values))[3*i+2]; got != n {
			t.Errorf("bucket %d has %v values, want %v", i, got, n)
		}
	}
	if rows := tensor.Values[float64](buckets([]float64{100, 160})); rows[1] != 102 {
		t.Errorf("the first bucket ends at %v, want 102", rows[1])
	}
}

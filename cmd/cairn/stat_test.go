package main

import (
	"bytes"
	"math"
	"testing"

	"github.com/cairnml/cairn/cmd/cairn/internal/plot"
	"github.com/cairnml/cairn/inspect"
	"github.com/cairnml/cairn/tensor"
)

// TestHistogramsOfExtremeValuesAreDrawn checks values whose range or bins have no
// finite or normal width.
func TestHistogramsOfExtremeValuesAreDrawn(t *testing.T) {
	for _, v := range [][]float64{{1, 2, 3}, {5, 5}, {0}, {-1e300, 1e300}, {math.MaxFloat64, -math.MaxFloat64}, {math.NaN()}, {1e-320, 2e-320}, {1e300, math.Nextafter(1e300, 2e300)}} {
		h := inspect.Hist("", tensor.Must(tensor.New(v, len(v))), 10)
		var b bytes.Buffer
		if err := plot.Histograms(&b, "x.svg", []plot.Histogram{{Low: h.Low, BinWidth: h.BinWidth, Counts: h.Counts}}); err != nil {
			t.Errorf("%v: %v", v, err)
		}
	}
}

// TestHistogramsNameTheirEnds checks the line with the least and the largest value.
func TestHistogramsNameTheirEnds(t *testing.T) {
	for want, v := range map[string][]float32{
		"float32 [3], -1.5 to 2":          {-1.5, 2, 0},
		"float32 [3], 1 to 1, 1 NaN":      {1, float32(math.NaN()), 1},
		"float32 [3], 0 to 0, 2 infinite": {0, float32(math.Inf(1)), float32(math.Inf(-1))},
		"float32 [1], 1 NaN":              {float32(math.NaN())},
	} {
		if got := histogramNote(inspect.StatOf("x", tensor.Vector(v...))); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}

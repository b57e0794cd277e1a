package special

import (
	"math"
	"testing"
)

// The values are TensorFlow's.
func TestEdgesAreTensorFlows(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	g := Gamma{Digamma: func(float64) float64 { return nan }} // no edge needs it
	for _, c := range []struct {
		name string
		f    func(x, y float64) float64
		x, y float64
		want float64
	}{
		{"Zeta", Zeta, 2, 0, inf},
		{"Zeta", Zeta, 3, 0, nan},
		{"Zeta", Zeta, 2, -1, inf},
		{"Zeta", Zeta, 3, -1, nan},
		{"Zeta", Zeta, 5, -2, nan},
		{"Zeta", Zeta, 2.5, -1, nan},
		{"Zeta", Zeta, 1, 0, inf},
		{"Zeta", Zeta, inf, 0, inf},
		{"Polygamma", Polygamma, 1, 0, inf},
		{"Polygamma", Polygamma, 2, 0, nan},
		{"Polygamma", Polygamma, 2, -1, nan},
		{"Polygamma", Polygamma, 3, 0, inf},
		{"IgammaGradA", g.LowerByA, 0, 0, 0},
		{"IgammaGradA", g.LowerByA, -1, 0, 0},
		{"IgammaGradA", g.LowerByA, nan, 0, 0},
		{"IgammaGradA", g.LowerByA, 0, 1, nan},
		{"RandomGammaGrad", g.SampleByA, 0, 0, 0},
		{"RandomGammaGrad", g.SampleByA, -1, 0, 0},
		{"RandomGammaGrad", g.SampleByA, -1, 1, nan},
	} {
		if got := c.f(c.x, c.y); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%s(%v, %v) = %v, want %v", c.name, c.x, c.y, got, c.want)
		}
	}
}

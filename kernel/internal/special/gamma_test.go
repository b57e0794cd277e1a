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
		{"Zeta", Zeta, inf, -3, inf},
		{"Zeta", Zeta, inf, 0.9999999, inf},
		{"Zeta", Zeta, inf, 1, 1},
		{"Zeta", Zeta, inf, 1.0000001, 0},
		{"Zeta", Zeta, inf, 20, 0},
		{"Zeta", Zeta, inf, inf, 0},
		{"Zeta", Zeta, inf, -inf, inf},
		{"Zeta", Zeta, inf, nan, nan},
		{"Zeta", Zeta, inf, -2.5, inf},
		{"Zeta", Zeta, inf, -1e5 + 0.5, inf},
		{"Zeta", Zeta, inf, -1e15 + 0.5, inf}, // a sum would have 1e15 terms
		{"Polygamma", Polygamma, inf, -2.5, inf},
		{"Zeta", Zeta, 2, inf, 0},
		{"Zeta", Zeta, 2.5, inf, 0},
		{"Zeta", Zeta, 1, inf, inf},
		{"Polygamma", Polygamma, 1, inf, 0},
		{"Polygamma", Polygamma, inf, 1, inf},
		{"Polygamma", Polygamma, inf, 2.5, nan},
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

// TestZetaFarBelowZeroHasABoundedSum checks values against TensorFlow's, and
// arguments whose sum would have 1e15 terms.
func TestZetaFarBelowZeroHasABoundedSum(t *testing.T) {
	for _, c := range []struct{ x, q, want, within float64 }{
		{3, -1000.5, 4.990013736564302e-07, 1e-14},
		{3, -9999.75, 62.012553365599395, 1e-13},
		{2, -99999.25, 19.739198802153712, 1e-13},
		{5, -3000.125, -32766.58302112142, 1e-10},
		{4, -123456.0625, 65538.24520896537, 1e-10},
		{7, -2000.75, 16376.701057278606, 1e-10},
		{3, -999999.5, 4.992576273736516e-13, 1e-14},
		{3, -1e15 + 0.5, 0, 1e-14},
		{2, -1e15 + 0.5, math.Pi * math.Pi, 1e-13},
	} {
		if got := Zeta(c.x, c.q); math.Abs(got-c.want) > c.within {
			t.Errorf("Zeta(%v, %v) = %v, want %v", c.x, c.q, got, c.want)
		}
		if got, want := Polygamma(c.x-1, c.q), Zeta(c.x, c.q)*math.Gamma(c.x)*math.Pow(-1, c.x); math.Abs(got-want) > 1e-12*math.Abs(want) {
			t.Errorf("Polygamma(%v, %v) = %v, want %v", c.x-1, c.q, got, want)
		}
	}
}

package vec

import (
	"math"
	"testing"
)

// TestFtrlLeavesNothingOfWhatRegularizationTakes: if the linear term is at most
// l1, TensorFlow's weight is 0, even if the divisor is 0.
func TestFtrlLeavesNothingOfWhatRegularizationTakes(t *testing.T) {
	nan := math.NaN()
	v, accum, linear := []float64{1, 1, 1}, []float64{0, -4, 1}, []float64{0, 0, 0}
	Ftrl(v, accum, linear, []float64{0, nan, 2}, 0.5, 0.125, 0, 0, -0.5, false)
	if v[0] != 0 || v[1] != 0 || v[2] == 0 || math.IsNaN(v[2]) {
		t.Errorf("the weights are %v", v)
	}
}

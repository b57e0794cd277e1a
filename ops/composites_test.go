package ops_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

func TestCompositesEqualTensorFlows(t *testing.T) {
	var fixture struct {
		X, Z []float32
		Out  map[string][]float64
	}
	b, err := os.ReadFile("testdata/tf2.21/composites.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &fixture); err != nil {
		t.Fatal(err)
	}
	s := eager()
	x := ops.Const(s, tensor.Must(tensor.New(fixture.X, 2, 4)))
	z := ops.Const(s, tensor.Must(tensor.New(fixture.Z, 2, 4)))
	mean, variance := ops.Moments(s, x, 0)
	for name, got := range map[string]*ops.Value{
		"Gelu": ops.Gelu(s, x), "GeluTanh": ops.GeluTanh(s, x), "Swish": ops.Swish(s, x), "Mish": ops.Mish(s, x),
		"HardSigmoid": ops.HardSigmoid(s, x), "LogSumExp": ops.LogSumExp(s, x, -1),
		"L2Normalize": ops.L2Normalize(s, x, 1e-12, -1), "Norm": ops.Norm(s, x, 0),
		"Mean": mean, "Variance": variance,
		"SigmoidCrossEntropy":       ops.SigmoidCrossEntropy(s, z, x),
		"SoftmaxCrossEntropy":       ops.SoftmaxCrossEntropy(s, ops.Div(s, z, ops.SumKeep(s, z, -1)), x),
		"SparseSoftmaxCrossEntropy": ops.SparseSoftmaxCrossEntropy(s, []int{2, 0}, x),
	} {
		y, err := got.Tensor()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		v, _ := y.Float64s()
		want := fixture.Out[name]
		if len(v) != len(want) {
			t.Errorf("%s: %d elements, want %d", name, len(v), len(want))
			continue
		}
		for i := range v {
			if math.Abs(v[i]-want[i]) > 1e-6*(1+math.Abs(want[i])) {
				t.Errorf("%s: got %v, want %v", name, v, want)
				break
			}
		}
	}
}

package grad_test

import (
	"context"
	"math"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// TestGradientsOfSamplesEqualTensorFlows compares the gradients of random numbers
// by their distributions' parameters with TensorFlow's. Differences can't show
// them, as numbers are proposed until one is accepted. The sums are weighted by
// 1, 2, 3, …
func TestGradientsOfSamplesEqualTensorFlows(t *testing.T) {
	shapes := tensor.Must(tensor.New([]float64{0.3, 1, 2.5, 40}, 4))
	for _, c := range []struct {
		op     string
		attrs  graph.Attrs
		fixed  []ops.Input
		params []*tensor.Tensor
		want   [][]float64
	}{
		{"StatelessRandomGammaV2", nil, []ops.Input{tensor.Vector[int32](2, 4), tensor.Vector[int64](7, -9)}, []*tensor.Tensor{shapes},
			[][]float64{{0.24999447435501831, 13.057809841927668, 12.259092730794169, 11.638630623233524}}},
		{"StatelessRandomGammaV3", nil, []ops.Input{tensor.Vector[int32](2, 4), tensor.Vector[uint64](5), tensor.Vector[uint64](6, 7), int32(1)}, []*tensor.Tensor{shapes},
			[][]float64{{1.0418869092918601, 4.872337253585358, 10.576933497307298, 11.570139017567692}}},
		{"RandomGamma", graph.Attrs{graph.Int("seed", 3), graph.Int("seed2", 4)}, []ops.Input{tensor.Vector[int32](2)}, []*tensor.Tensor{shapes},
			[][]float64{{5.026867043504522, 11.164040011588497, 9.088301235388348, 11.158681395184178}}},
		{"StatelessParameterizedTruncatedNormal", nil, []ops.Input{tensor.Vector[int32](3, 2, 4), tensor.Vector[int64](3, 4)},
			[]*tensor.Tensor{tensor.Must(tensor.New([]float64{0, 3}, 2, 1)), tensor.Vector(1, 2, 0.5, 3), tensor.Vector[float64](-1, 0, 4, -30), tensor.Scalar(8.0)},
			[][]float64{{126, 174}, {70.5062894265702, 0.29340059153243914, 381.0132660120304, -54.59701430103984},
				{6.785803205493576, 32.41295533620108, 67.44494258598422, 1.7358654207046583e-20}, {6.025521273368172}}},
	} {
		gradients := func(s *ops.Scope, params []*ops.Value) []*ops.Value {
			in := c.fixed
			for _, p := range params {
				in = append(in[:len(in):len(in)], p)
			}
			rec, tape := grad.Record(s)
			tape.Watch(params...)
			x := rec.Emit1(c.op, c.attrs, in...)
			weights := ops.Range(rec, 1.0, ops.Cast(rec, ops.Add(rec, ops.Size(rec, x), int32(1)), tensor.Float64), 1.0)
			return tape.GradientOf(ops.Sum(rec, ops.Mul(rec, ops.Reshape(rec, x, -1), weights), 0), params...)
		}
		for _, m := range modes[:4] {
			options := &function.Options{Mode: function.Eagerly}
			if m.traced {
				options.Mode = function.Traced
			}
			f := function.New(gradients, options)
			var params, specs []*ops.Value
			for _, p := range c.params {
				params = append(params, ops.ValueOf(p))
				if m.traced {
					specs = append(specs, m.spec(p))
				}
			}
			if m.traced {
				if _, err := f.Trace(specs); err != nil {
					t.Errorf("%s, %s: %v", c.op, m.name, err)
					continue
				}
			}
			got, err := f.Call(context.Background(), params)
			if err != nil {
				t.Errorf("%s, %s: %v", c.op, m.name, err)
				continue
			}
			for i, g := range got {
				x, err := g.Tensor()
				if err != nil {
					t.Errorf("%s, %s: %v", c.op, m.name, err)
					continue
				}
				for k, v := range tensor.Values[float64](x) {
					if want := c.want[i][k]; !(math.Abs(v-want) <= 1e-12*max(1, math.Abs(want))) {
						t.Errorf("%s, %s: by parameter %d: element %d is %v, want %v", c.op, m.name, i, k, v, want)
					}
				}
			}
		}
	}
}

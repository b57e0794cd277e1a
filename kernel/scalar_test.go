package kernel_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/internal/testkit/opfixture"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/tensor"
)

// stricter has the ops whose kernels refuse some shapes that TensorFlow's kernels accept:
// gradients of functions of one element, whose definitions require equal shapes, ranges and splits
// as matrices, and examples as a scalar. docs/hostile.md lists them.
var stricter = map[string]bool{
	"InvGrad": true, "ReciprocalGrad": true, "RsqrtGrad": true, "SigmoidGrad": true, "SqrtGrad": true, "TanhGrad": true,
	"Dequantize": true, "QuantizeV2": true, "ReduceJoin": true, "StringNGrams": true, "ParseSequenceExample": true,
	"TensorStridedSliceUpdate": true,
}

// TestScalarsAreThoseOfTensorFlow calls ops with an input of one element under other shapes: a
// scalar as a vector or a matrix, and a vector as a scalar. Each kernel accepts the shapes that
// TensorFlow's accepts, with outputs of the same shapes, and refuses the others.
// testdata/tf2.21/gen_scalars.py records TensorFlow's answers.
func TestScalarsAreThoseOfTensorFlow(t *testing.T) {
	b, err := os.ReadFile("testdata/tf2.21/scalars/scalars.json")
	if err != nil {
		t.Fatal(err)
	}
	var calls []struct {
		opfixture.Fixture
		Answers []struct {
			Input int
			Shape []int
			Out   *[][]int // nil: TensorFlow refuses the call
		}
	}
	if err := json.Unmarshal(b, &calls); err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, c := range calls {
		if kernel.All().Lookup(c.Op) == nil {
			continue
		}
		attrs := c.EngineAttrs(t)
		for _, a := range c.Answers {
			in := make([]engine.Value, len(c.In))
			for i, x := range c.In {
				v := x.Tensor(t)
				if i == a.Input {
					v = tensor.Must(v.Reshape(a.Shape...))
				}
				in[i] = engine.ValueOf(v)
			}
			tried++
			name := fmt.Sprintf("%s: input %d of shape %v as %v", c.Op, a.Input, c.In[a.Input].Shape, a.Shape)
			var call engine.Runner
			p, err := kernel.All().PrepareEager(c.Op, attrs, in)
			if err == nil {
				call.Begin(context.Background(), &engine.Env{Instance: new(engine.Instance)})
				for _, v := range in {
					call.Add(v)
				}
				err = call.Run(p)
			}
			switch {
			case err != nil && strings.Contains(err.Error(), "panic"):
				t.Errorf("%s: %v", name, err)
			case err != nil && a.Out != nil:
				if !stricter[c.Op] {
					t.Errorf("%s: %v, TensorFlow accepts it", name, err)
				}
			case err == nil && a.Out == nil:
				t.Errorf("%s: accepted, TensorFlow refuses it", name)
			case err == nil:
				for i, want := range *a.Out {
					if got := call.Results()[i].Tensor; got != nil && !slices.Equal(got.Shape(), want) {
						t.Errorf("%s: output %d has shape %v, want %v", name, i, got.Shape(), want)
					}
				}
			}
		}
	}
	t.Logf("%d calls", tried)
	if tried < 500 {
		t.Errorf("%d calls were tried, want 500 at least", tried)
	}
}

package kernel_test

import (
	"context"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// scatter runs a ResourceScatter op on rows of a variable.
func scatter(op string, v *trackable.Variable, indices, updates *tensor.Tensor) error {
	in := []engine.Value{engine.HandleOf(v), engine.ValueOf(indices), engine.ValueOf(updates)}
	p, err := kernel.All().PrepareEager(op, nil, in)
	if err != nil {
		return err
	}
	var c engine.Runner
	c.Begin(context.Background(), &engine.Env{})
	for _, x := range in {
		c.Add(x)
	}
	return c.Run(p)
}

func TestAScatterThatDividesByZeroChangesNothing(t *testing.T) {
	v := trackable.NewVariable(tensor.Vector[int32](8, 9, 10))
	if err := scatter("ResourceScatterDiv", v, tensor.Vector[int32](0, 2), tensor.Vector[int32](2, 0)); err == nil {
		t.Error("a division by zero went through")
	}
	x, release := v.Borrow()
	defer release()
	if want := tensor.Vector[int32](8, 9, 10); !x.Equal(want) {
		t.Errorf("the variable is %v, want %v", x, want)
	}
}

// TestScattersTakeRepeatedPlaces runs each kind of change twice on the same
// row. The second one changes the result of the first.
func TestScattersTakeRepeatedPlaces(t *testing.T) {
	for op, want := range map[string]float32{
		"Update": 4, "Add": 6 + 2 + 4, "Sub": 6 - 2 - 4, "Mul": 6 * 2 * 4, "Div": 6.0 / 2 / 4, "Min": 2, "Max": 6,
	} {
		for _, d := range []tensor.DType{tensor.Float32, tensor.BFloat16} {
			v := trackable.NewVariable(cast(t, d, 6, 6, 7, 7))
			if err := scatter("ResourceScatter"+op, v, tensor.Vector[int32](0, 0), cast(t, d, 2, 2, 4, 4)); err != nil {
				t.Fatalf("%s of %v: %v", op, d, err)
			}
			x, release := v.Borrow()
			if w := cast(t, d, want, want, 7, 7); !x.Equal(w) {
				t.Errorf("%s of %v gives %v, want %v", op, d, x, w)
			}
			release()
		}
	}
}

// cast returns a matrix of two columns of type d.
func cast(t *testing.T, d tensor.DType, x ...float32) *tensor.Tensor {
	t.Helper()
	if d == tensor.Float32 {
		return tensor.Must(tensor.New(x, len(x)/2, 2))
	}
	out := make([]tensor.BF16, len(x))
	for i, v := range x {
		out[i] = tensor.ToBF16(v)
	}
	return tensor.Must(tensor.New(out, len(x)/2, 2))
}

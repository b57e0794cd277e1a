package run_test

import (
	"testing"

	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
)

// The values that a plan keeps for invariant expressions follow changes of the
// weights, separately in each instance.
func TestCallsSeeVariablesThatWereWritten(t *testing.T) {
	double := func(m *run.Model) {
		t.Helper()
		for _, v := range m.Variables() {
			if v.DType() != tensor.Float32 {
				continue
			}
			err := v.Update(func(b *tensor.Tensor) error {
				for i := range tensor.Values[float32](b) {
					tensor.Values[float32](b)[i] *= 2
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	in := map[string]*tensor.Tensor{"x": tensor.Must(tensor.New([]float32{1, 2, 3}, 1, 3))}
	call := func(m *run.Model) map[string]*tensor.Tensor {
		t.Helper()
		out, err := m.Call(ctx, "serving_default", in)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	var fresh []map[string]*tensor.Tensor // the results of models whose variables were written before the first call
	for n := range 3 {
		m := load(t, "module")
		for range n {
			double(m)
		}
		fresh = append(fresh, call(m))
	}
	a := load(t, "module")
	b, err := a.Instantiate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range fresh {
		for range 3 { // the second call has an instance for its shapes
			for name, y := range call(a) {
				if !y.Equal(want[name]) {
					t.Errorf("after %d writes %q is %v, want %v", n, name, y, want[name])
				}
			}
			for name, y := range call(b) {
				if !y.Equal(fresh[0][name]) {
					t.Errorf("after %d writes to another instance %q is %v, want %v", n, name, y, fresh[0][name])
				}
			}
		}
		double(a)
	}
	if fresh[0]["y"].Equal(fresh[1]["y"]) {
		t.Error("the answers don't depend on the weights")
	}
}

package kerastest

import (
	"bytes"
	"context"
	"math"
	"os"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// NPZ opens an .npz file.
func NPZ(t testing.TB, path string) *tensor.NPZ {
	t.Helper()
	data, err := os.ReadFile(path)
	Must(t, err)
	z, err := tensor.OpenNPZ(bytes.NewReader(data), int64(len(data)), nil)
	Must(t, err)
	return z
}

// Array returns an array of an .npz file.
func Array(t testing.TB, z *tensor.NPZ, name string) *tensor.Tensor {
	t.Helper()
	x, err := z.Read(context.Background(), name)
	Must(t, err)
	return x
}

// Scope returns an eager scope that must end without an error.
func Scope(t testing.TB) *ops.Scope {
	t.Helper()
	s := function.Eager(context.Background())
	t.Cleanup(func() {
		if err := s.Err(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Data returns the tensor of a value.
func Data(t testing.TB, v *ops.Value) *tensor.Tensor {
	t.Helper()
	x, err := v.Tensor()
	Must(t, err)
	return x
}

// Floats returns the elements of a tensor.
func Floats(t testing.TB, x *tensor.Tensor) []float64 {
	t.Helper()
	w, err := tensor.Cast(x, tensor.Float64)
	Must(t, err)
	return tensor.Values[float64](w)
}

// Close compares two tensors. Elements may differ by rel of the larger of the two, or of
// floor if both are smaller.
func Close(t testing.TB, what string, got, want *tensor.Tensor, rel, floor float64) {
	t.Helper()
	if !got.Shape().Equal(want.Shape()) {
		t.Errorf("%s: shape %v, want %v", what, got.Shape(), want.Shape())
		return
	}
	g, w := Floats(t, got), Floats(t, want)
	worst, at := 0.0, -1
	for i := range w {
		if g[i] == w[i] { // infinities too
			continue
		}
		d := math.Abs(g[i]-w[i]) / max(math.Abs(g[i]), math.Abs(w[i]), floor)
		if d > worst || math.IsNaN(d) && !(math.IsNaN(g[i]) && math.IsNaN(w[i])) {
			worst, at = d, i
		}
		if math.IsNaN(d) && at == i {
			break
		}
	}
	if at >= 0 && !(worst <= rel) {
		t.Errorf("%s: element %d is %v, TensorFlow's is %v (relative difference %.2g, allowed %.2g)", what, at, g[at], w[at], worst, rel)
	}
}

package keras

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

const fixtures = "testdata/tf2.21"

// npz opens a fixture file.
func npz(t testing.TB, name string) *tensor.NPZ {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(fixtures, name))
	if err != nil {
		t.Fatal(err)
	}
	z, err := tensor.OpenNPZ(bytes.NewReader(b), int64(len(b)), nil)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func array(t testing.TB, z *tensor.NPZ, name string) *tensor.Tensor {
	t.Helper()
	x, err := z.Read(context.Background(), name)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// scope returns an eager scope that must end without an error.
func scope(t testing.TB) *ops.Scope {
	t.Helper()
	s := function.Eager(context.Background())
	t.Cleanup(func() {
		if err := s.Err(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func data(t testing.TB, v *ops.Value) *tensor.Tensor {
	t.Helper()
	x, err := v.Tensor()
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func floats(t testing.TB, x *tensor.Tensor) []float64 {
	t.Helper()
	w, err := tensor.Cast(x, tensor.Float64)
	if err != nil {
		t.Fatal(err)
	}
	return tensor.Values[float64](w)
}

// near compares with a tolerance that is relative to the larger of the two, or
// to floor where both are smaller.
func near(t testing.TB, what string, got, want *tensor.Tensor, rel, floor float64) {
	t.Helper()
	if !got.Shape().Equal(want.Shape()) {
		t.Errorf("%s: shape %v, want %v", what, got.Shape(), want.Shape())
		return
	}
	g, w := floats(t, got), floats(t, want)
	worst, at := 0.0, -1
	for i := range w {
		scale := max(math.Abs(g[i]), math.Abs(w[i]), floor)
		d := math.Abs(g[i]-w[i]) / scale
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

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func vec(v ...float32) *tensor.Tensor { return tensor.Vector(v...) }

func mat(rows, cols int, v ...float32) *tensor.Tensor {
	x, err := tensor.New(v, rows, cols)
	if err != nil {
		panic(fmt.Sprint("test: ", err))
	}
	return x
}

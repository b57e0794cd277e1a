package optimizers_test

import (
	"path/filepath"
	"testing"

	"github.com/cairnml/cairn/keras/internal/kerastest"
	"github.com/cairnml/cairn/tensor"
)

const fixtures = "../testdata/tf2.21"

var (
	array  = kerastest.Array
	scope  = kerastest.Scope
	data   = kerastest.Data
	floats = kerastest.Floats
	near   = kerastest.Close
	must   = kerastest.Must
)

// npz opens a fixture file.
func npz(t testing.TB, name string) *tensor.NPZ {
	t.Helper()
	return kerastest.NPZ(t, filepath.Join(fixtures, name))
}

func vec(v ...float32) *tensor.Tensor { return tensor.Vector(v...) }

// rowOf returns t[i].
func rowOf(t testing.TB, x *tensor.Tensor, i int) *tensor.Tensor {
	t.Helper()
	n := len(x.Bytes()) / x.Shape()[0]
	r, err := tensor.FromBytes(x.DType(), x.Bytes()[i*n:(i+1)*n], x.Shape()[1:]...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

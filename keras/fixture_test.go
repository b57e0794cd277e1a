package keras

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/cairnml/cairn/keras/internal/kerastest"
	"github.com/cairnml/cairn/tensor"
)

const fixtures = "testdata/tf2.21"

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

func mat(rows, cols int, v ...float32) *tensor.Tensor {
	x, err := tensor.New(v, rows, cols)
	if err != nil {
		panic(fmt.Sprint("test: ", err))
	}
	return x
}

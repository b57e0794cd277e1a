// Package kerastest compares objects with the fixtures that tf_keras has written, for the tests of
// the packages below keras. A tolerance is each caller's argument; none may grow.
package kerastest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// Must ends the test if err is not nil.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Arrays returns the arrays of an .npz file.
func Arrays(t testing.TB, path string) map[string]*tensor.Tensor {
	t.Helper()
	data, err := os.ReadFile(path)
	Must(t, err)
	z, err := tensor.OpenNPZ(bytes.NewReader(data), int64(len(data)), nil)
	Must(t, err)
	arrays := map[string]*tensor.Tensor{}
	for _, name := range z.Names() {
		arrays[name], err = z.Read(t.Context(), name)
		Must(t, err)
	}
	return arrays
}

// JSON reads a file into v.
func JSON(t testing.TB, path string, v any) {
	t.Helper()
	data, err := os.ReadFile(path)
	Must(t, err)
	Must(t, json.Unmarshal(data, v))
}

// Near compares the elements of a value with the wanted ones, which may differ by relative
// of their size, or of 1 for smaller ones. Shapes and types must be equal.
func Near(t testing.TB, name string, got *ops.Value, want *tensor.Tensor, relative float64) {
	t.Helper()
	if got == nil || want == nil {
		t.Errorf("%s: got %v, want %v", name, got, want)
		return
	}
	x, err := got.Tensor()
	Must(t, err)
	if x.DType() != want.DType() || !x.Shape().Equal(want.Shape()) {
		t.Errorf("%s: got %v%v, want %v%v", name, x.DType(), x.Shape(), want.DType(), want.Shape())
		return
	}
	a, err := x.AppendFloat64s(nil, 0, x.Len())
	Must(t, err)
	b, err := want.AppendFloat64s(nil, 0, want.Len())
	Must(t, err)
	for i := range a {
		if !(math.Abs(a[i]-b[i]) <= relative*max(1, math.Abs(b[i]))) && a[i] != b[i] && !(math.IsNaN(a[i]) && math.IsNaN(b[i])) {
			t.Errorf("%s: element %d is %v, want %v (all: %v, want %v)", name, i, a[i], b[i], a, b)
			return
		}
	}
}

// SameJSON compares two JSON values, the order of their keys included.
func SameJSON(t testing.TB, name string, want, got []byte) {
	t.Helper()
	if d := cmp.Diff(flat(t, want), flat(t, got)); d != "" {
		t.Errorf("%s (-tf_keras +ours):\n%s", name, d)
	}
}

// flat returns a JSON value as a list of its paths and values, in order.
func flat(t testing.TB, data []byte) []string {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	var out []string
	var walk func(path string)
	walk = func(path string) {
		tok, err := d.Token()
		Must(t, err)
		switch tok {
		case json.Delim('{'):
			for d.More() {
				key, err := d.Token()
				Must(t, err)
				walk(fmt.Sprintf("%s.%s", path, key))
			}
			_, err = d.Token()
			out = append(out, path+"{}")
		case json.Delim('['):
			for i := 0; d.More(); i++ {
				walk(fmt.Sprintf("%s[%d]", path, i))
			}
			_, err = d.Token()
			out = append(out, path+"[]")
		default:
			out = append(out, fmt.Sprintf("%s = %#v", path, tok))
		}
		Must(t, err)
	}
	walk("")
	return out
}

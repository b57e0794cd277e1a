package kernel_test

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// fixture is a call of an op that TensorFlow has run; testdata/tf2.21's
// generator describes the fields.
type fixture struct {
	Op    string
	Attrs []fixtureAttr
	In    []fixtureTensor
	Out   []fixtureTensor
	Vars  int
	After []fixtureTensor
}

type fixtureAttr struct {
	Name, Kind string
	Value      json.RawMessage
}

type fixtureTensor struct {
	DType string
	Shape []int
	Data  json.RawMessage
}

func load(t testing.TB) map[string][]fixture {
	t.Helper()
	files, err := filepath.Glob("testdata/tf2.21/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	all := map[string][]fixture{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var list []fixture
		if err := json.Unmarshal(b, &list); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		for _, c := range list {
			all[c.Op] = append(all[c.Op], c)
		}
	}
	return all
}

func (f fixtureTensor) tensor(t testing.TB) *tensor.Tensor {
	t.Helper()
	d, err := tensor.ParseDType(f.DType)
	if err != nil {
		t.Fatal(err)
	}
	if d == tensor.String {
		var list []string
		if err := json.Unmarshal(f.Data, &list); err != nil {
			t.Fatal(err)
		}
		for i, s := range list {
			list[i] = string(unbase64(t, s))
		}
		return tensor.Must(tensor.FromStrings(d, list, f.Shape...))
	}
	var s string
	if err := json.Unmarshal(f.Data, &s); err != nil {
		t.Fatal(err)
	}
	b := unbase64(t, s)
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		n := d.Swap()
		for i := 0; i+n <= len(b); i += n {
			for j := range n / 2 {
				b[i+j], b[i+n-1-j] = b[i+n-1-j], b[i+j]
			}
		}
	}
	return tensor.Must(tensor.FromBytes(d, b, f.Shape...))
}

func unbase64(t testing.TB, s string) []byte {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (f fixture) attrs(t testing.TB) engine.Attrs {
	t.Helper()
	var out engine.Attrs
	for _, a := range f.Attrs {
		into := func(v any) {
			if err := json.Unmarshal(a.Value, v); err != nil {
				t.Fatalf("attribute %s: %v", a.Name, err)
			}
		}
		switch a.Kind {
		case "bool":
			var v bool
			into(&v)
			out = append(out, engine.Bool(a.Name, v))
		case "int":
			var v int64
			into(&v)
			out = append(out, engine.Int(a.Name, v))
		case "float":
			var v float64
			into(&v)
			out = append(out, engine.Float(a.Name, v))
		case "string":
			var v string
			into(&v)
			out = append(out, engine.String(a.Name, v))
		case "type":
			var v string
			into(&v)
			d, err := tensor.ParseDType(v)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, engine.Type(a.Name, d))
		case "shape":
			var v []int
			into(&v)
			out = append(out, engine.Shape(a.Name, v))
		case "ints":
			var v []int64
			into(&v)
			out = append(out, engine.Ints(a.Name, v...))
		case "tensor":
			var v fixtureTensor
			into(&v)
			out = append(out, engine.Tensor(a.Name, v.tensor(t)))
		default:
			t.Fatalf("attribute %s is of kind %q", a.Name, a.Kind)
		}
	}
	return out
}

func (f fixture) String() string {
	var in []string
	for _, x := range f.In {
		in = append(in, fmt.Sprintf("%s%v", x.DType, x.Shape))
	}
	var attrs []string
	for _, a := range f.Attrs {
		attrs = append(attrs, a.Name+"="+string(a.Value))
	}
	sort.Strings(attrs)
	return fmt.Sprintf("%s(%s) %s", f.Op, strings.Join(in, ", "), strings.Join(attrs, " "))
}

// epsilons are the distances of 1 to the next larger number.
var epsilons = map[tensor.DType]float64{
	tensor.Float32: 0x1p-23, tensor.Float64: 0x1p-52, tensor.Float16: 0x1p-10, tensor.BFloat16: 0x1p-7,
	tensor.Complex64: 0x1p-23, tensor.Complex128: 0x1p-52,
}

// numbers are a tensor's elements as float64s, two for a complex one.
func numbers(t *tensor.Tensor) []float64 {
	switch t.DType() {
	case tensor.Complex64:
		var out []float64
		for _, z := range tensor.Values[complex64](t) {
			out = append(out, float64(real(z)), float64(imag(z)))
		}
		return out
	case tensor.Complex128:
		var out []float64
		for _, z := range tensor.Values[complex128](t) {
			out = append(out, real(z), imag(z))
		}
		return out
	}
	v, _ := t.Float64s()
	return v
}

func largest(ts []*tensor.Tensor) float64 {
	m := 0.0
	for _, t := range ts {
		if !t.DType().Fixed() {
			continue
		}
		for _, v := range numbers(t) {
			if a := math.Abs(v); a > m && !math.IsInf(a, 0) {
				m = a
			}
		}
	}
	return m
}

// differ says where two tensors are further apart than the class allows; "" if
// nowhere.
func differ(p engine.Precision, got, want *tensor.Tensor, scale float64) string {
	if got.DType() != want.DType() || !got.Shape().Equal(want.Shape()) {
		return fmt.Sprintf("%v%v, want %v%v", got.DType(), got.Shape(), want.DType(), want.Shape())
	}
	if got.Equal(want) {
		return ""
	}
	eps, inexact := epsilons[want.DType()]
	if !inexact {
		return fmt.Sprintf("%v, want %v", got, want)
	}
	g, w := numbers(got), numbers(want)
	for i := range g {
		reference := w[i]
		if want.DType().IsComplex() {
			reference = math.Hypot(w[i&^1], w[i|1]) // a complex number's error counts as a whole
		}
		tol := p.Tolerance(reference, scale, eps)
		switch {
		case math.IsNaN(g[i]) && math.IsNaN(w[i]), g[i] == w[i]:
		case !(math.Abs(g[i]-w[i]) <= tol):
			return fmt.Sprintf("element %d: %v, want %v (off by %.3g, %v allows %.3g)", i, g[i], w[i], math.Abs(g[i]-w[i]), p, tol)
		}
	}
	return ""
}

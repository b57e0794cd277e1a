// Package opfixture reads the calls of ops that TensorFlow has run
// (kernel/testdata/tf2.21) for the tests of kernels and gradients.
package opfixture

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// Fixture is a call of an op that TensorFlow has run; testdata/tf2.21's
// generator describes the fields.
type Fixture struct {
	Op    string
	Attrs []Attr
	In    []Tensor
	Out   []Tensor
	Vars  int
	After []Tensor
}

// Attr is an attribute.
type Attr struct {
	Name, Kind string
	Value      json.RawMessage
}

// Tensor is an input or output.
type Tensor struct {
	DType string
	Shape []int
	Data  json.RawMessage
}

// Load reads the fixtures in a folder, by op.
func Load(t testing.TB, dir string) map[string][]Fixture {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	all := map[string][]Fixture{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var list []Fixture
		if err := json.Unmarshal(b, &list); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		for _, c := range list {
			all[c.Op] = append(all[c.Op], c)
		}
	}
	return all
}

// Tensor is the tensor.
func (f Tensor) Tensor(t testing.TB) *tensor.Tensor {
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

// EngineAttrs are the attributes.
func (f Fixture) EngineAttrs(t testing.TB) graph.Attrs {
	t.Helper()
	var out graph.Attrs
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
			out = append(out, graph.Bool(a.Name, v))
		case "int":
			var v int64
			into(&v)
			out = append(out, graph.Int(a.Name, v))
		case "float":
			var v float64
			into(&v)
			out = append(out, graph.Float(a.Name, v))
		case "string":
			var v string
			into(&v)
			out = append(out, graph.String(a.Name, v))
		case "type":
			var v string
			into(&v)
			d, err := tensor.ParseDType(v)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, graph.Type(a.Name, d))
		case "shape":
			var v []int
			into(&v)
			out = append(out, graph.Shape(a.Name, graph.ShapeOf(v...)))
		case "ints":
			var v []int64
			into(&v)
			out = append(out, graph.Ints(a.Name, v...))
		case "tensor":
			var v Tensor
			into(&v)
			out = append(out, graph.Tensor(a.Name, v.Tensor(t)))
		default:
			t.Fatalf("attribute %s is of kind %q", a.Name, a.Kind)
		}
	}
	return out
}

// String is the call as one line.
func (f Fixture) String() string {
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

// Package opfixture reads the calls of ops that TensorFlow has run
// (kernel/testdata/tf2.21) for the tests of kernels and gradients. Tests of
// many packages use it, and the program interop.
package opfixture

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// Fixture is a call of an op that TensorFlow has run; testdata/tf2.21's
// generator describes the fields. The names of fields are keys of the JSON files, so
// they must stay, as in the other types here.
type Fixture struct {
	Op    string
	Attrs []Attr
	In    []Tensor
	Out   []Tensor
	Vars  int      // the number of inputs, from the first on, that are variables
	After []Tensor // the variables' values after the call
	// Elsewhere means that TensorFlow can't run the call in a plain graph on the
	// CPU whose inputs are arguments: the answer is of an equal call, such as with
	// the channels last.
	Elsewhere bool
	// Undefined are outputs that TensorFlow's kernel leaves as they are.
	Undefined []int
}

// Attr is an attribute. Its kind, such as "ints" or "func", decides the form of its value.
type Attr struct {
	Name, Kind string
	Value      json.RawMessage
}

// Tensor is an input or output.
type Tensor struct {
	DType string
	Shape []int
	Data  json.RawMessage // the little-endian elements in base 64; of strings, a list of them
}

// Load reads the fixtures in a directory, by op.
func Load(t testing.TB, dir string) map[string][]Fixture {
	t.Helper()
	all := map[string][]Fixture{}
	for _, f := range files(t, dir) {
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

// files returns the fixtures of a directory in the order in which their cases are numbered: by
// name, and then those that later.txt lists. A new file is listed there too, so that the
// cases of the others keep their numbers.
func files(t testing.TB, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(list) == 0 {
		t.Fatalf("no fixtures in %s: %v", dir, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "later.txt"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for name := range strings.FieldsSeq(string(text)) {
		f := filepath.Join(dir, name+".json")
		i := slices.Index(list, f)
		if i < 0 {
			t.Fatalf("%s lists %s, and there is no such file", filepath.Join(dir, "later.txt"), name)
		}
		list = append(slices.Delete(list, i, i+1), f)
	}
	return list
}

// Tensor returns the tensor.
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

// unbase64 decodes s. An error ends the test.
func unbase64(t testing.TB, s string) []byte {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// EngineAttrs returns the attributes for a node, without functions.
func (f Fixture) EngineAttrs(t testing.TB) graph.Attrs {
	t.Helper()
	return attrs(t, f.Attrs, nil)
}

// dtype returns the element type of a name. An error ends the test.
func dtype(t testing.TB, name string) tensor.DType {
	t.Helper()
	d, err := tensor.ParseDType(name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// attrs returns the attributes, with functions looked up in functions.
func attrs(t testing.TB, list []Attr, functions map[string]*graph.Function) graph.Attrs {
	t.Helper()
	var out graph.Attrs
	for _, a := range list {
		out = append(out, a.attr(t, functions))
	}
	return out
}

func (a Attr) attr(t testing.TB, functions map[string]*graph.Function) graph.Attr {
	t.Helper()
	switch a.Kind {
	case "bool":
		return graph.Bool(a.Name, value[bool](t, a))
	case "int":
		return graph.Int(a.Name, value[int64](t, a))
	case "float":
		return graph.Float(a.Name, value[float64](t, a))
	case "string":
		return graph.String(a.Name, value[string](t, a))
	case "bytes":
		return graph.String(a.Name, string(unbase64(t, value[string](t, a))))
	case "type":
		return graph.Type(a.Name, dtype(t, value[string](t, a)))
	case "types":
		var list []tensor.DType
		for _, s := range value[[]string](t, a) {
			list = append(list, dtype(t, s))
		}
		return graph.Types(a.Name, list...)
	case "shape":
		return graph.Shape(a.Name, shape(value[*[]int](t, a)))
	case "shapes":
		var list []graph.PartialShape
		for _, s := range value[[]*[]int](t, a) {
			list = append(list, shape(s))
		}
		return graph.Shapes(a.Name, list...)
	case "ints":
		return graph.Ints(a.Name, value[[]int64](t, a)...)
	case "floats":
		return graph.Floats(a.Name, value[[]float64](t, a)...)
	case "strings":
		return graph.Strings(a.Name, value[[]string](t, a)...)
	case "tensor":
		return graph.Tensor(a.Name, value[Tensor](t, a).Tensor(t))
	case "func":
		return graph.Func(a.Name, functions[value[string](t, a)])
	case "funcs":
		var list []graph.Callee
		for _, s := range value[[]string](t, a) {
			list = append(list, graph.Callee{Function: functions[s]})
		}
		return graph.Funcs(a.Name, list...)
	}
	t.Fatalf("attribute %s is of kind %q", a.Name, a.Kind)
	return graph.Attr{}
}

// value decodes an attribute's value. An error ends the test.
func value[T any](t testing.TB, a Attr) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(a.Value, &v); err != nil {
		t.Fatalf("attribute %s: %v", a.Name, err)
	}
	return v
}

// shape returns the shape of dims, of which -1 is an unknown size; nil means unknown rank.
func shape(dims *[]int) graph.PartialShape {
	if dims == nil {
		return graph.UnknownShape
	}
	return graph.ShapeOf(*dims...)
}

// String returns the call as one line.
func (f Fixture) String() string {
	var in []string
	for _, x := range f.In {
		in = append(in, fmt.Sprintf("%s%v", x.DType, x.Shape))
	}
	var attrs []string
	for _, a := range f.Attrs {
		value := string(a.Value)
		if a.Kind == "bytes" {
			value = fmt.Sprint(len(value), " bytes")
		}
		attrs = append(attrs, a.Name+"="+value)
	}
	sort.Strings(attrs)
	return fmt.Sprintf("%s(%s) %s", f.Op, strings.Join(in, ", "), strings.Join(attrs, " "))
}

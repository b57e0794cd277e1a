package pb

import (
	"bytes"
	"cmp"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/internal/testkit/packed"
)

// fixtures lists TensorFlow's messages by "full name.case".
func fixtures(t testing.TB, suffix string) []string {
	files, err := filepath.Glob("testdata/tf2.21/*" + suffix + ".gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), suffix+".gz")
	}
	return files
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	return packed.Read(t, filepath.Join("testdata/tf2.21", name+".gz"))
}

// newFor returns an empty message for a fixture.
func newFor(t testing.TB, name string) Message {
	full := name[:strings.LastIndexByte(name, '.')]
	m := New(full)
	if m == nil {
		t.Fatalf("no message %s", full)
	}
	return m
}

func TestTensorFlowsMessagesRoundTrip(t *testing.T) {
	for _, name := range fixtures(t, ".pb") {
		t.Run(name, func(t *testing.T) {
			b := fixture(t, name+".pb")
			m := newFor(t, name)
			if err := m.Unmarshal(b); err != nil {
				t.Fatal(err)
			}
			if got := m.Marshal(); !bytes.Equal(got, b) {
				t.Errorf("%d bytes are written as %d others, from byte %d on", len(b), len(got), common(b, got))
			}
			if path := unknown(reflect.ValueOf(m), "m"); path != "" {
				t.Errorf("%s has fields that no .proto file here knows", path)
			}
		})
	}
}

func common(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// unknown returns the path to a message with unknown fields, or "".
func unknown(v reflect.Value, path string) string {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return unknown(v.Elem(), path)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Pointer {
			for i := range v.Len() {
				if p := unknown(v.Index(i), path); p != "" {
					return p
				}
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.Name == "Unknown" && v.Field(i).Len() > 0 {
				return path
			}
			if p := unknown(v.Field(i), path+"."+f.Name); p != "" {
				return p
			}
		}
	}
	return ""
}

// TestMapsAreSortedAsTensorFlowSorts shuffles the maps of TensorFlow's models and
// sorts them again.
func TestMapsAreSortedAsTensorFlowSorts(t *testing.T) {
	for _, name := range []string{"mlp", "lstm", "module", "v1"} {
		b := fixture(t, "tensorflow.SavedModel."+name+".pb")
		var m SavedModel
		if err := m.Unmarshal(b); err != nil {
			t.Fatal(err)
		}
		for _, g := range m.MetaGraphs {
			resort(g.SignatureDef)
			resort(g.CollectionDef)
			def, err := g.GraphDef.Get()
			if err != nil {
				t.Fatal(err)
			}
			*g.GraphDef = LazyOf(def)
			for _, n := range def.Node {
				resort(n.Attr)
			}
			library := def.Library
			if library == nil {
				library = new(FunctionDefLibrary)
			}
			for i := range library.Function {
				f, err := library.Function[i].Get()
				if err != nil {
					t.Fatal(err)
				}
				library.Function[i] = LazyOf(f)
				resort(f.Attr)
				resort(f.ArgAttr)
				resort(f.Ret)
				resort(f.ControlRet)
				resort(f.ResourceArgUniqueId)
				for _, n := range f.NodeDef {
					resort(n.Attr)
				}
			}
			if g.ObjectGraphDef != nil {
				objects, err := g.ObjectGraphDef.Get()
				if err != nil {
					t.Fatal(err)
				}
				resort(objects.ConcreteFunctions)
				*g.ObjectGraphDef = LazyOf(objects)
			}
		}
		if got := m.Marshal(); !bytes.Equal(got, b) {
			t.Errorf("%s: sorted maps are in another order than TensorFlow's from byte %d on", name, common(b, got))
		}
	}
}

func resort[E mapEntry[K, V], K cmp.Ordered, V any](entries []E) {
	slices.Reverse(entries)
	SortEntries(entries)
}

func TestTensorContentIsNotCopied(t *testing.T) {
	content := bytes.Repeat([]byte{1}, 1<<20)
	b := (&TensorProto{TensorContent: content}).Marshal()
	var m TensorProto
	if n := testing.AllocsPerRun(1, func() { _ = m.Unmarshal(b) }); n > 0 || &m.TensorContent[0] != &b[len(b)-len(content)] {
		t.Errorf("decoding a tensor of 1 MiB allocates %v times", n)
	}
}

// BenchmarkGraphDefUnmarshal decodes 4 MB of a real graph's nodes.
func BenchmarkGraphDefUnmarshal(b *testing.B) {
	var m SavedModel
	if err := m.Unmarshal(fixture(b, "tensorflow.SavedModel.lstm.pb")); err != nil {
		b.Fatal(err)
	}
	var g GraphDef
	def, err := m.MetaGraphs[0].GraphDef.Get()
	if err != nil {
		b.Fatal(err)
	}
	for n := 0; n < 4<<20; {
		for _, l := range def.Library.Function {
			f, err := l.Get()
			if err != nil {
				b.Fatal(err)
			}
			g.Node = append(g.Node, f.NodeDef...)
			n += len(l.Encoded())
		}
	}
	raw := g.Marshal()
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		var g GraphDef
		if err := g.Unmarshal(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSavedModelMarshal(b *testing.B) {
	var m SavedModel
	raw := fixture(b, "tensorflow.SavedModel.lstm.pb")
	if err := m.Unmarshal(raw); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		m.Marshal()
	}
}

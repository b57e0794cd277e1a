package hdf5_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/hdf5"
	"github.com/cairnml/cairn/tensor"
)

// numbers returns a tensor of the shape whose elements are 0, 7, 14 and so on.
func numbers(t testing.TB, d tensor.DType, dims ...int) *tensor.Tensor {
	t.Helper()
	n, err := tensor.Shape(dims).NumElements()
	if err != nil {
		t.Fatal(err)
	}
	v := make([]int64, n)
	for i := range v {
		v[i] = int64(i) * 7 % 101
	}
	x, err := tensor.Cast(tensor.Must(tensor.New(v, dims...)), d)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

var numberTypes = []tensor.DType{
	tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64,
	tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64, tensor.Complex64, tensor.Complex128, tensor.Bool, tensor.Float8E5M2,
}

// sample fills a writer with all that it can write, and returns the values by path.
func sample(t testing.TB, w *hdf5.Writer) map[string]*tensor.Tensor {
	t.Helper()
	want := map[string]*tensor.Tensor{}
	set := func(path string, v *tensor.Tensor, o *hdf5.DatasetOptions) {
		t.Helper()
		if _, err := w.Root().Dataset(path, v, o); err != nil {
			t.Fatal(err)
		}
		want["/"+path] = v
	}
	for _, d := range numberTypes {
		set("types/"+d.String(), numbers(t, d, 3, 5), nil)
		set("scalars/"+d.String(), numbers(t, d), nil)
		set("gzip/"+d.String(), numbers(t, d, 30, 7), &hdf5.DatasetOptions{Gzip: 6, Shuffle: true, Fletcher32: true, Chunks: tensor.Shape{8, 4}})
	}
	set("none", numbers(t, tensor.Float32, 0, 3), nil)
	set("none_chunked", numbers(t, tensor.Float32, 0, 3), &hdf5.DatasetOptions{Chunks: tensor.Shape{2, 2}})
	set("chunked", numbers(t, tensor.Int16, 5, 6, 7), &hdf5.DatasetOptions{Chunks: tensor.Shape{2, 4, 3}})
	set("many_chunks", numbers(t, tensor.Int16, 5000), &hdf5.DatasetOptions{Chunks: tensor.Shape{2}})
	set("default_chunks", numbers(t, tensor.Int32, 2, 300_000), &hdf5.DatasetOptions{Gzip: 1})
	text := tensor.Must(tensor.New([]string{"a", "", "häßlich", strings.Repeat("x", 9000)}, 2, 2))
	set("text/utf8", text, nil)
	set("text/fixed", text, &hdf5.DatasetOptions{ValueOptions: hdf5.ValueOptions{Text: hdf5.FixedUTF8}})
	set("text/ascii", tensor.Vector("a", "bc", ""), &hdf5.DatasetOptions{ValueOptions: hdf5.ValueOptions{Text: hdf5.FixedASCII}})
	set("text/gzip", tensor.Vector("a", "bc", ""), &hdf5.DatasetOptions{Chunks: tensor.Shape{2}, Gzip: 9})
	set("text/one", tensor.Scalar("one"), nil)
	for i := range 700 {
		set(fmt.Sprintf("wide/n%03d", i), tensor.Scalar(int32(i)), nil)
	}
	set(strings.Repeat("d/", 40)+"end", tensor.Scalar(int8(1)), nil)
	if _, err := w.Root().DatasetFunc("asked", tensor.Float32, tensor.Shape{4}, func(context.Context) (*tensor.Tensor, error) {
		return tensor.Vector[float32](1, 2, 3, 4), nil
	}, nil); err != nil {
		t.Fatal(err)
	}
	want["/asked"] = tensor.Vector[float32](1, 2, 3, 4)

	g, err := w.Root().Group("attributes")
	if err != nil {
		t.Fatal(err)
	}
	attr := func(name string, v *tensor.Tensor, o *hdf5.ValueOptions) {
		t.Helper()
		if err := g.SetAttribute(name, v, o); err != nil {
			t.Fatal(err)
		}
		want["/attributes@"+name] = v
	}
	for _, d := range numberTypes {
		attr(d.String(), numbers(t, d, 2, 3), nil)
	}
	attr("text", tensor.Scalar("text"), nil)
	attr("bytes", tensor.Scalar("bytes"), &hdf5.ValueOptions{Text: hdf5.VariableASCII})
	attr("names", tensor.Vector("dense", "dense_1"), &hdf5.ValueOptions{Text: hdf5.FixedASCII})
	attr("json", tensor.Scalar(strings.Repeat("{}", 50_000)), nil)
	attr("large", numbers(t, tensor.Float64, 8000), nil)
	attr("häßlich", tensor.Scalar(int64(3)), nil)
	attr("none", numbers(t, tensor.Float64, 0), nil)
	attr("null", nil, nil)
	for i := range 300 {
		attr(fmt.Sprint("a", i), tensor.Scalar(strings.Repeat("y", i)), nil)
	}
	return want
}

func write(t testing.TB, w *hdf5.Writer) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := w.Write(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	var w hdf5.Writer
	want := sample(t, &w)
	b := write(t, &w)
	if path := os.Getenv("CAIRN_HDF5_SAMPLE"); path != "" { // for a look with h5py
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var lines []string
	groups := map[string]bool{}
	for path, v := range want {
		if v == nil {
			lines = append(lines, line(path, "null", "", nil))
			continue
		}
		lines = append(lines, line(path, v.DType().String(), shapeText(v.Shape()), content(v)))
		for dir := path; strings.LastIndexByte(dir, '/') > 0; {
			dir = dir[:strings.LastIndexByte(dir, '/')]
			groups[dir] = true
		}
	}
	groups["/attributes"] = true
	for g := range groups {
		lines = append(lines, g+" group")
	}
	slices.Sort(lines)
	for i, d := range differences(listing(t, open(t, b)), lines) {
		if i == 20 {
			t.Fatal("and more")
		}
		t.Error(d)
	}
	if !bytes.Equal(b, write(t, &w)) {
		t.Error("the same content gives other bytes")
	}
}

func TestAnEmptyFile(t *testing.T) {
	var w hdf5.Writer
	f := open(t, write(t, &w))
	if l, err := f.Root().Links(); err != nil || len(l) > 0 {
		t.Error(l, err)
	}
}

func TestOpaqueElements(t *testing.T) {
	var w hdf5.Writer
	v := tensor.Vector(tensor.ToBF16(1), tensor.ToBF16(-2))
	if _, err := w.Root().Dataset("x", v, &hdf5.DatasetOptions{ValueOptions: hdf5.ValueOptions{Opaque: true}}); err != nil {
		t.Fatal(err)
	}
	d, err := open(t, write(t, &w)).Root().Dataset("x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Read(t.Context()); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
	b, err := d.ReadRaw(t.Context())
	if err != nil || string(b) != "\x80\x3f\x00\xc0" || d.Type().Class != hdf5.Opaque || d.Type().Size != 2 {
		t.Errorf("% x, %v, %v", b, d.Type(), err)
	}
}

// TestWhatCannotBeWritten expects an error when it is handed over, or of Write.
func TestWhatCannotBeWritten(t *testing.T) {
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		do   func(g *hdf5.GroupWriter) error
		want string
	}{
		"an empty path":      {func(g *hdf5.GroupWriter) error { return second(g.Dataset("", tensor.Scalar(1.0), nil)) }, "it has no name"},
		"a dot":              {func(g *hdf5.GroupWriter) error { return second(g.Group("a/./b")) }, "not a valid name"},
		"a path that exists": {func(g *hdf5.GroupWriter) error { return second(g.Dataset("x", tensor.Scalar(1.0), nil)) }, "the path is taken"},
		"a group over data":  {func(g *hdf5.GroupWriter) error { return second(g.Group("x/y")) }, "a dataset has this path"},
		"a NUL":              {func(g *hdf5.GroupWriter) error { return second(g.Dataset("t", tensor.Scalar("a\x00"), nil)) }, "NUL"},
		"not UTF-8":          {func(g *hdf5.GroupWriter) error { return second(g.Dataset("t", tensor.Scalar("\xff"), nil)) }, "use VariableASCII"},
		"int4": {func(g *hdf5.GroupWriter) error {
			return second(g.Dataset("t", tensor.Must(tensor.Zeros(tensor.Int4, 2)), nil))
		}, "use the option Opaque"},
		"variants": {func(g *hdf5.GroupWriter) error {
			return second(g.Dataset("t", tensor.Must(tensor.Zeros(tensor.Variant, 2)), nil))
		}, "elements of variant"},
		"chunks of a scalar": {func(g *hdf5.GroupWriter) error {
			return second(g.Dataset("t", tensor.Scalar(1.0), &hdf5.DatasetOptions{Gzip: 1}))
		}, "don't fit the shape"},
		"a level": {func(g *hdf5.GroupWriter) error {
			return second(g.Dataset("t", tensor.Vector(1.0), &hdf5.DatasetOptions{Gzip: 10}))
		}, "want 0 to 9"},
		"chunks of nothing": {func(g *hdf5.GroupWriter) error {
			return second(g.Dataset("t", tensor.Vector(1.0), &hdf5.DatasetOptions{Chunks: tensor.Shape{0}}))
		}, "1 to 2³² bytes"},
		"a large attribute":    {func(g *hdf5.GroupWriter) error { return g.SetAttribute("a", numbers(t, tensor.Int8, 70_000), nil) }, "divide it among several"},
		"an attribute no name": {func(g *hdf5.GroupWriter) error { return g.SetAttribute("", tensor.Scalar(1.0), nil) }, "not a valid name"},
		"another tensor": {func(g *hdf5.GroupWriter) error {
			return second(g.DatasetFunc("t", tensor.Float32, tensor.Shape{2}, func(context.Context) (*tensor.Tensor, error) { return tensor.Vector[float32](1), nil }, nil))
		}, "got float32[1], want float32[2]"},
		"an error": {func(g *hdf5.GroupWriter) error {
			return second(g.DatasetFunc("t", tensor.Float32, nil, func(context.Context) (*tensor.Tensor, error) { return nil, boom }, nil))
		}, "boom"},
	} {
		t.Run(name, func(t *testing.T) {
			var w hdf5.Writer
			if _, err := w.Root().Dataset("x", tensor.Scalar(1.0), nil); err != nil {
				t.Fatal(err)
			}
			err := c.do(w.Root())
			if err == nil {
				err = w.Write(t.Context(), new(bytes.Buffer))
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func second[T any](_ T, err error) error { return err }

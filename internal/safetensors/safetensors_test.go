package safetensors

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/tensor"
)

const fixtures = "testdata/safetensors0.8/"

func open(t testing.TB, raw []byte) *Reader {
	t.Helper()
	f, err := Open(bytes.NewReader(raw), int64(len(raw)), nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestReferenceFilesAreReadAndRewrittenByteForByte(t *testing.T) {
	ctx := context.Background()
	files, err := filepath.Glob(fixtures + "*.safetensors")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f := open(t, raw)
		var b bytes.Buffer
		if err := Write(ctx, &b, slices.Clone(f.Infos()), f.Metadata(), f.Read); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(raw), b.String()); d != "" {
			t.Errorf("%s (-theirs +ours):\n%s", name, d)
		}
	}
}

func TestReadsWhatTheReferenceWrote(t *testing.T) {
	raw, err := os.ReadFile(fixtures + "numpy.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	f := open(t, raw)
	if d := cmp.Diff(map[string]string{"k": "ü\n\"\x01/\u2028<>"}, f.Metadata()); d != "" {
		t.Error(d)
	}
	for name, want := range map[string]*tensor.Tensor{
		"b":                      tensor.Vector[float32](0, 1, 2),
		"c":                      tensor.Scalar(true),
		"h":                      tensor.Vector(tensor.ToF16(1)),
		"e":                      tensor.Must(tensor.Zeros(tensor.Float64, 0, 3)),
		"weird \"name\"\\ é <&>": tensor.Vector[uint64](7),
	} {
		got, err := f.Read(context.Background(), name)
		if err != nil || !got.Equal(want) {
			t.Errorf("%q: %v, %v", name, got, err)
		}
	}
	if _, err := f.Read(context.Background(), "nothing"); err == nil {
		t.Error("a tensor that isn't there was read")
	}
}

func file(header string, data string) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), data...)
}

func TestBrokenFilesAreRefused(t *testing.T) {
	one := `"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}`
	for name, c := range map[string]struct {
		raw  []byte
		says string
	}{
		"empty":              {nil, "shorter"},
		"header beyond file": {[]byte("\xff\x00\x00\x00\x00\x00\x00\x00{}"), "in a file of"},
		"header too long":    {[]byte("\xff\xff\xff\xff\xff\xff\xff\xff{}"), "the most is"},
		"no brace":           {file(` {}`, ""), "begin"},
		"no JSON":            {file(`{"a":`, ""), "JSON"},
		"hole":               {file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, "xx"), "hole"},
		"bytes at the end":   {file(`{`+one+`}`, "xxx"), "after the last"},
		"overlap":            {file(`{`+one+`,"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}`, "xxx"), "overlaps"},
		"same name":          {file(`{`+one+`,`+one+`}`, "xx"), "twice"},
		"beyond":             {file(`{"a":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}}`, "xx"), "data_offsets"},
		"backwards":          {file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[2,1]}}`, "xx"), "data_offsets"},
		"wrong size":         {file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,2]}}`, "xx"), "doesn't take"},
		"overflow":           {file(`{"a":{"dtype":"F64","shape":[2147483647,2147483647,2147483647],"data_offsets":[0,0]}}`, ""), "shape"},
		"negative":           {file(`{"a":{"dtype":"F64","shape":[-1],"data_offsets":[0,0]}}`, ""), "not dtype"},
		"unknown dtype":      {file(`{"a":{"dtype":"Q7","shape":[0],"data_offsets":[0,0]}}`, ""), "not known"},
		"foreign dtype":      {file(`{"a":{"dtype":"F8_E8M0","shape":[0],"data_offsets":[0,0]}}`, ""), "counterpart"},
		"unknown field":      {file(`{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"x":1}}`, ""), "not dtype"},
		"missing field":      {file(`{"a":{"dtype":"U8","shape":[0]}}`, ""), "not dtype"},
		"metadata number":    {file(`{"__metadata__":{"a":1}}`, ""), "no string"},
		"metadata list":      {file(`{"__metadata__":[]}`, ""), "no object"},
		"metadata twice":     {file(`{"__metadata__":{"a":"1","a":"2"}}`, ""), "twice"},
		"text after":         {file(`{} x`, ""), "after the header"},
		"nested":             {file(`{"a":`+strings.Repeat("[", 20000)+strings.Repeat("]", 20000)+`}`, ""), "depth"},
	} {
		_, err := Open(bytes.NewReader(c.raw), int64(len(c.raw)), nil)
		// If int is narrow, large sizes are refused earlier with another message.
		if !errors.Is(err, ErrFormat) || strconv.IntSize == 64 && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	f := open(t, file(`{"a":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]}}`, "\x02"))
	if _, err := f.Read(context.Background(), "a"); !errors.Is(err, ErrFormat) {
		t.Errorf("the boolean 2 gives %v", err)
	}
}

func TestWriteRefusesWhatTheFormatLacks(t *testing.T) {
	read := func(_ context.Context, name string) (*tensor.Tensor, error) {
		if name == "b" {
			return tensor.Vector[float32](1), nil
		}
		return tensor.Vector[uint8](1), nil
	}
	for name, infos := range map[string][]Info{
		"strings":   {{Name: "a", DType: tensor.String, Shape: tensor.Shape{1}}},
		"same name": {{Name: "a", DType: tensor.Uint8, Shape: tensor.Shape{1}}, {Name: "a", DType: tensor.Uint8, Shape: tensor.Shape{1}}},
		"same name, other types": {
			{Name: "a", DType: tensor.Float32, Shape: tensor.Shape{1}}, {Name: "b", DType: tensor.Float32, Shape: tensor.Shape{1}},
			{Name: "a", DType: tensor.Uint8, Shape: tensor.Shape{1}},
		},
		"other shape": {{Name: "a", DType: tensor.Uint8, Shape: tensor.Shape{2}}},
		"no shape":    {{Name: "a", DType: tensor.Uint8, Shape: tensor.Shape{math.MaxInt, math.MaxInt}}},
		"no UTF-8":    {{Name: "\xff", DType: tensor.Uint8, Shape: tensor.Shape{1}}},
		"metadata":    {{Name: "__metadata__", DType: tensor.Uint8, Shape: tensor.Shape{1}}},
		"other type":  {{Name: "a", DType: tensor.Int8, Shape: tensor.Shape{1}}},
	} {
		var b bytes.Buffer
		if err := Write(context.Background(), &b, infos, nil, read); err == nil || b.Len() > 0 && !strings.HasPrefix(name, "other") {
			t.Errorf("%s: %d bytes were written, %v", name, b.Len(), err)
		}
	}
}

func FuzzOpen(f *testing.F) {
	files, _ := filepath.Glob(fixtures + "*.safetensors")
	for _, name := range files {
		if raw, err := os.ReadFile(name); err == nil {
			f.Add(raw)
		}
	}
	f.Add(file(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`, "xx"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := Open(bytes.NewReader(raw), int64(len(raw)), nil)
		if err != nil {
			return
		}
		for _, i := range r.Infos() {
			if _, err := r.Read(context.Background(), i.Name); err != nil && !errors.Is(err, ErrFormat) {
				t.Fatal(err)
			}
		}
		var b bytes.Buffer
		if err := Write(context.Background(), &b, slices.Clone(r.Infos()), r.Metadata(), r.Read); err != nil && !errors.Is(err, ErrFormat) {
			t.Fatalf("what was read can't be written: %v", err)
		}
	})
}

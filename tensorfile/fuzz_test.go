package tensorfile

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/cairnml/cairn/tensor"
)

func FuzzSubscript(f *testing.F) {
	f.Add("0:2,:,-1", 3, 4, 5)
	f.Add("", 0, 1, 2)
	f.Add(" 1 , 2: ", 7, 7, 7)
	f.Fuzz(func(t *testing.T, text string, a, b, c int) {
		shape := tensor.Shape{a & 7, b & 7, c & 7}
		index, err := parseIndex(text, shape)
		if err != nil {
			return
		}
		x, err := tensor.Zeros(tensor.Int8, shape...)
		if err != nil {
			t.Fatal(err)
		}
		y, err := Cut(x, index)
		if err != nil {
			t.Fatal(err)
		}
		n := 1
		for i, p := range index {
			if p.Start < 0 || p.Stop < p.Start || p.Stop > shape[i] {
				t.Fatalf("%q of %v: %+v", text, shape, index)
			}
			n *= p.Stop - p.Start
		}
		if y.Len() != n {
			t.Fatalf("%q of %v: %d elements, want %d", text, shape, y.Len(), n)
		}
	})
}

func FuzzOpenSafetensors(f *testing.F) {
	files, _ := filepath.Glob("../internal/safetensors/testdata/safetensors0.8/*.safetensors")
	for _, name := range files {
		if raw, err := os.ReadFile(name); err == nil {
			f.Add(raw)
		}
	}
	text := `{"__metadata__":{"cairn.checkpoint":"{\"version\":1,\"strings\":{\"s\":{\"dtype\":\"string\",\"shape\":[],\"values\":[\"eA==\"]}},\"types\":{\"a\":\"int4\"},\"shards\":[[\"a\",[\"s\",\"-\"]]]}"},"a":{"dtype":"I8","shape":[2],"data_offsets":[0,2]}}`
	f.Add(append([]byte{byte(len(text)), byte(len(text) >> 8), 0, 0, 0, 0, 0, 0}, text+"\x01\x02"...))
	f.Fuzz(func(t *testing.T, raw []byte) {
		// In memory: files would take more time than all that is tried with them.
		b, err := newSafetensors(bytes.NewReader(raw), int64(len(raw)), int64(len(raw)), &Options{})
		if err != nil {
			return
		}
		s := &File{Path: "x.safetensors", Prefix: "x.safetensors", Kind: Safetensors, b: b}
		for e := range s.Entries().All() {
			x, err := s.Read(t.Context(), e.Name)
			if err == nil && (x.DType() != e.DType || !x.Shape().Equal(e.Shape)) {
				t.Fatalf("%q is listed as %v%v and read as %v%v", e.Name, e.DType, e.Shape, x.DType(), x.Shape())
			}
		}
		s.Graph(t.Context())
	})
}

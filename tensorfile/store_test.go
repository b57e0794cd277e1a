package tensorfile

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cairnml/cairn/internal/safetensors"
	"github.com/cairnml/cairn/tensor"
)

const fixtures = "../cmd/cairn/testdata/tf2.21/"

func TestOpenSaysWhatWasFound(t *testing.T) {
	ctx := context.Background()
	for path, says := range map[string]string{
		fixtures + "guide/ckpt-9":   "ckpt-1",
		fixtures + "bad":            "without a checkpoint file",
		fixtures + "nowhere/x":      "doesn't exist",
		fixtures + "nothing.npz":    "nothing.npz",
		fixtures + "gen_command.py": "no checkpoint",
	} {
		_, err := Open(ctx, path, nil)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", path, err)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the error is not of the family of fs.ErrNotExist: %v", path, err)
		}
	}
	for path, kind := range map[string]Kind{
		fixtures + "guide":                            Checkpoint,
		fixtures + "guide/ckpt-1":                     Checkpoint,
		fixtures + "guide/ckpt-1.index":               Checkpoint,
		fixtures + "guide/ckpt-1.data-00000-of-00001": Checkpoint,
		fixtures + "saved_model":                      SavedModel,
		fixtures + "v1/model.ckpt":                    Checkpoint,
	} {
		s, err := Open(ctx, path, nil)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if s.Kind != kind || s.Entries().Len() == 0 {
			t.Errorf("%s: %v with %d entries", path, s.Kind, s.Entries().Len())
		}
		s.Close()
		s.Close()
	}
}

func TestSubscriptsReadWhatPythonsWould(t *testing.T) {
	s, err := Open(context.Background(), fixtures+"slices/s", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w, err := s.Read(context.Background(), "w") // 4 by 3, counting from 0
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		index := make([]Index, 2)
		for i, n := range []int{4, 3} {
			if rapid.Bool().Draw(rt, "drop") {
				at := rapid.IntRange(0, n-1).Draw(rt, "at")
				index[i] = Index{at, at + 1, true}
			} else {
				lo := rapid.IntRange(0, n).Draw(rt, "lo")
				index[i] = Index{lo, rapid.IntRange(lo, n).Draw(rt, "hi"), false}
			}
		}
		e, err := s.Entry("w")
		if err != nil {
			rt.Fatal(err)
		}
		got, err := s.ReadIndex(context.Background(), e, index)
		if err != nil {
			rt.Fatal(err)
		}
		var want []float32
		for r := index[0].Start; r < index[0].Stop; r++ {
			for c := index[1].Start; c < index[1].Stop; c++ {
				want = append(want, tensor.Values[float32](w)[3*r+c])
			}
		}
		if d := cmp.Diff(want, tensor.Values[float32](got)); d != "" && len(want) > 0 {
			rt.Fatalf("%v (-want +got):\n%s", index, d)
		}
		rank := 2
		for _, x := range index {
			if x.Drop {
				rank--
			}
		}
		if got.Rank() != rank {
			rt.Fatalf("%v: rank %d", index, got.Rank())
		}
		whole, err := Cut(w, index)
		if err != nil || string(whole.Bytes()) != string(got.Bytes()) {
			rt.Fatalf("a cut of the whole tensor differs: %v", err)
		}
	})
}

func TestCarriersComeBackExactly(t *testing.T) {
	for _, d := range tensor.DTypes() {
		as, ok := Carrier(d)
		if !d.Fixed() {
			if ok {
				t.Errorf("%v is carried as %v", d, as)
			}
			continue
		}
		if !ok || !safetensors.Holds(as) {
			t.Errorf("%v is carried as %v", d, as)
			continue
		}
		x, err := tensor.Zeros(d, 16)
		if err != nil {
			t.Fatal(err)
		}
		b := x.Bytes()
		for i := range b {
			b[i] = byte(i * 37)
		}
		switch d { // narrow types have no upper bits, booleans are 0 and 1
		case tensor.Int4, tensor.Uint4, tensor.Float4E2M1FN:
			for i := range b {
				b[i] &= 0xf
			}
		case tensor.Int2, tensor.Uint2:
			for i := range b {
				b[i] &= 3
			}
		case tensor.Bool:
			for i := range b {
				b[i] &= 1
			}
		}
		c, err := Carry(x)
		if err != nil {
			t.Errorf("%v: %v", d, err)
			continue
		}
		y, err := uncarry(c, d)
		if as == d {
			y = c
		}
		if err != nil || !y.Equal(x) {
			t.Errorf("%v came back as %v, %v", d, y, err)
		}
	}
}

func TestCarriedNaNsComeBackExactly(t *testing.T) {
	for _, d := range []tensor.DType{tensor.Float8E4M3B11FNUZ} {
		all, err := tensor.Zeros(d, 256)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 256 {
			all.Bytes()[i] = byte(i)
		}
		c, err := Carry(all)
		if err != nil {
			t.Fatal(err)
		}
		if !math.IsNaN(float64(tensor.Values[float32](c)[128])) {
			t.Error("0x80 is no NaN")
		}
		if y, err := uncarry(c, d); err != nil || !y.Equal(all) {
			t.Errorf("%v: %v", d, err)
		}
	}
}

func TestLyingMetadataIsRefused(t *testing.T) {
	for name, meta := range map[string]string{
		"no JSON":        `{`,
		"version":        `{"version":7}`,
		"unknown type":   `{"version":1,"types":{"a":"float33"}}`,
		"absent tensor":  `{"version":1,"types":{"z":"int4"}}`,
		"wrong carrier":  `{"version":1,"types":{"a":"complex128"}}`,
		"both":           `{"version":1,"strings":{"a":{"dtype":"string","shape":[],"values":["eA=="]}}}`,
		"shape":          `{"version":1,"strings":{"s":{"dtype":"string","shape":[5],"values":["eA=="]}}}`,
		"negative shape": `{"version":1,"strings":{"s":{"dtype":"string","shape":[-1],"values":[]}}}`,
		"number":         `{"version":1,"strings":{"s":{"dtype":"float32","shape":[1],"values":["eA=="]}}}`,
	} {
		path := filepath.Join(t.TempDir(), "x.safetensors")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		err = safetensors.Write(context.Background(), f, []safetensors.Info{{Name: "a", DType: tensor.Uint8, Shape: tensor.Shape{1}}},
			map[string]string{LayoutKey: meta}, func(context.Context, string) (*tensor.Tensor, error) { return tensor.Vector[uint8](1), nil })
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		s, err := Open(context.Background(), path, nil)
		if err != nil {
			continue
		}
		if _, err := s.Read(context.Background(), "a"); err == nil {
			t.Errorf("%s: accepted", name)
		}
		s.Close()
	}
}

func TestFilesAppearWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "sub", "x")
	f, err := CreateFile(path, false)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("abc")
	f.Abort()
	f, err = CreateFile(path, false)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("abc")
	if _, err := os.Stat(path); err == nil {
		t.Error("the file is there before it is whole")
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	f.Abort()
	if b, err := os.ReadFile(path); err != nil || string(b) != "abc" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := CreateFile(path, false); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file was replaced unasked: %v", err)
	}
	list, err := os.ReadDir(filepath.Join(dir, "sub"))
	if err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
}

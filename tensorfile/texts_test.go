package tensorfile

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/cairnml/cairn/internal/safetensors"
	"github.com/cairnml/cairn/tensor"
)

// TestTextsStandAmongTheOthersByName: the entries of a safetensors file are sorted,
// wherever the tensors of its metadata belong among them.
func TestTextsStandAmongTheOthersByName(t *testing.T) {
	for _, texts := range [][]string{nil, {"a"}, {"z"}, {"m"}, {"a", "aa", "m", "mm", "z"}} {
		l := &Layout{Version: 1, Strings: map[string]StringTensor{}}
		want := []string{"b", "k", "n", "y"}
		var infos []safetensors.Info
		for _, name := range want {
			infos = append(infos, safetensors.Info{Name: name, DType: tensor.Int8, Shape: tensor.Shape{1}})
		}
		for _, name := range texts {
			l.Strings[name] = NewStringTensor(tensor.Vector(name, "x"))
			want = append(want, name)
		}
		slices.Sort(want)
		meta, err := l.Text()
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := safetensors.Write(t.Context(), &file, infos, map[string]string{LayoutKey: meta}, func(context.Context, string) (*tensor.Tensor, error) {
			return tensor.Vector(int8(1)), nil
		}); err != nil {
			t.Fatal(err)
		}
		b, err := newSafetensors(bytes.NewReader(file.Bytes()), int64(file.Len()), int64(file.Len()), &Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for e := range b.all() {
			got = append(got, e.Name)
			if is := slices.Contains(texts, e.Name); is != (e.DType == tensor.String) {
				t.Errorf("%s is a %v", e.Name, e.DType)
			}
			if found, ok := b.find(e.Name); !ok || fmt.Sprint(found) != fmt.Sprint(e) {
				t.Errorf("%s is found as %+v", e.Name, found)
			}
		}
		if !slices.Equal(got, want) || b.len() != len(want) {
			t.Errorf("entries %q, want %q", got, want)
		}
		if _, ok := b.find("c"); ok {
			t.Error("an entry is found that isn't there")
		}
	}
}

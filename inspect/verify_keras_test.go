package inspect

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/cairnml/cairn/internal/testkit/packed"
)

func TestVerifyKerasFiles(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name  string
		alter func(b []byte) []byte
		want  string
	}{
		{"keras3_model.keras", func(b []byte) []byte { return b }, ""},
		{"keras2_model.h5", func(b []byte) []byte { return b }, ""},
		{"keras3_model.keras", func(b []byte) []byte { b[bytes.LastIndex(b, []byte("SNOD"))+400] ^= 1; return b }, "the member is damaged: zip: checksum error"},
		{"keras3_model.keras", func(b []byte) []byte { return b[:len(b)/2] }, "the archive can't be read: the end of the zip archive is missing: the file is cut off or damaged"},
		{"keras2_model.h5", func(b []byte) []byte { return b[:20000] }, "the file is cut off (got 20000 bytes, want 48496)"},
		{"keras2_model.h5", func(b []byte) []byte { b[bytes.Index(b, []byte("TREE"))] = 'X'; return b }, "no node of a B-tree of kind 0"},
	} {
		path := filepath.Join(dir, c.name)
		b := packed.Read(t, "../keras/kerasfile/testdata/"+c.name+".gz")
		if err := os.WriteFile(path, c.alter(b), 0o666); err != nil {
			t.Fatal(err)
		}
		_, faults, err := Verify(t.Context(), path, nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		got := ""
		if len(faults) > 0 {
			got = faults[0].What
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

package tensorfile

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairnml/cairn/internal/safetensors"
	"github.com/cairnml/cairn/tensor"
)

// TestFileThatCannotBeReadBackReplacesNothing loses or changes bytes after they
// were written, as a faulty disk does.
func TestFileThatCannotBeReadBackReplacesNothing(t *testing.T) {
	ctx := context.Background()
	x := tensor.Vector[float32](1, 2, 3, 4)
	fill := map[string]func(*Output) error{
		".npz": func(f *Output) error {
			z := tensor.NewNPZWriter(f, nil)
			if err := z.Add("x", x); err != nil {
				return err
			}
			return z.Close()
		},
		".safetensors": func(f *Output) error {
			return safetensors.Write(ctx, f, []safetensors.Info{{Name: "x", DType: x.DType(), Shape: x.Shape()}}, nil,
				func(context.Context, string) (*tensor.Tensor, error) { return x, nil })
		},
	}
	lies := map[string]func(f *os.File) error{
		"none":              func(*os.File) error { return nil },
		"the end is lost":   func(f *os.File) error { i, _ := f.Stat(); return f.Truncate(i.Size() - 1) },
		"all is lost":       func(f *os.File) error { return f.Truncate(0) },
		"the start is lost": func(f *os.File) error { _, err := f.WriteAt(make([]byte, 16), 0); return err },
	}
	for suffix, write := range fill {
		for what, lie := range lies {
			dir := t.TempDir()
			path := filepath.Join(dir, "x"+suffix)
			if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
				t.Fatal(err)
			}
			f, err := CreateFile(path, true)
			if err != nil {
				t.Fatal(err)
			}
			if err := write(f); err != nil {
				t.Fatal(err)
			}
			if err := f.Flush(); err != nil {
				t.Fatal(err)
			}
			tmp, err := os.OpenFile(filepath.Join(dir, f.tmp), os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			if err := lie(tmp); err != nil {
				t.Fatal(err)
			}
			tmp.Close()
			err = f.Commit()
			old, _ := os.ReadFile(path)
			files, _ := os.ReadDir(dir)
			switch {
			case len(files) != 1:
				t.Errorf("%s, %s: %d files lie there", suffix, what, len(files))
			case what == "none":
				if err != nil || string(old) == "old" {
					t.Errorf("%s: %v", suffix, err)
				}
			case err == nil || !strings.Contains(err.Error(), "can't be opened again") || string(old) != "old":
				t.Errorf("%s, %s: %v; the file holds %d bytes", suffix, what, err, len(old))
			}
		}
	}
}

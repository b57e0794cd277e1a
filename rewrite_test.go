package cairn_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn"
	"github.com/cairnml/cairn/convert"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/tensorfile"
	"github.com/cairnml/cairn/vfs"
)

// TestWritingToADirGivesTheSameFiles converts, edits and merges from a file
// system to a directory in memory, between two and within one. It compares the
// files with those that paths produce.
func TestWritingToADirGivesTheSameFiles(t *testing.T) {
	ctx := context.Background()
	dir, mem := files(t)
	edits := convert.Edits{Drop: []*regexp.Regexp{regexp.MustCompile("bias")}, Rename: []convert.Rename{{Match: regexp.MustCompile("^net/kernel"), With: "net/weights"}}}
	for verb, write := range map[string]func(src, dst string, o *convert.Options) (*convert.Result, error){
		"convert": func(src, dst string, o *convert.Options) (*convert.Result, error) {
			return cairn.Convert(ctx, src, dst, o)
		},
		"edit": func(src, dst string, o *convert.Options) (*convert.Result, error) {
			_, w, err := cairn.Edit(ctx, src, dst, edits, o)
			return w, err
		},
		"merge": func(src, dst string, o *convert.Options) (*convert.Result, error) {
			return cairn.Merge(ctx, []string{src}, dst, &convert.MergeOptions{Options: *o})
		},
	} {
		for _, src := range []string{"ckpt", "w.npz", "w.safetensors"} {
			for _, dst := range []string{"sub/new", "sub/new.npz", "sub/new.safetensors"} {
				out := t.TempDir()
				want, err := write(filepath.Join(dir, src), filepath.Join(out, filepath.FromSlash(dst)), &convert.Options{Lossy: true})
				if err != nil {
					if verb == "merge" && strings.Contains(err.Error(), "can't hold") {
						continue
					}
					t.Fatalf("%s %s to %s: %v", verb, src, dst, err)
				}
				within := vfs.MemDir()
				for name, f := range mem {
					if err := within.WriteFile(name, f.Data); err != nil {
						t.Fatal(err)
					}
				}
				apart := vfs.MemDir()
				for place, o := range map[string]*convert.Options{
					"between two": {Source: tensorfile.Options{FS: mem}, Dir: apart}, "within one": {Source: tensorfile.Options{FS: within}, Dir: within}, "from paths": {Dir: vfs.MemDir()},
				} {
					o.Lossy = true
					from := src
					if o.Source.FS == nil {
						from = filepath.Join(dir, src)
					}
					got, err := write(from, dst, o)
					if err != nil {
						t.Errorf("%s %s to %s, %s: %v", verb, src, dst, place, err)
						continue
					}
					if got.Tensors != want.Tensors || got.Bytes != want.Bytes || len(got.Files) != len(want.Files) {
						t.Errorf("%s %s to %s, %s: %+v, want %+v", verb, src, dst, place, got, want)
						continue
					}
					for i, name := range got.Files {
						a, err := fs.ReadFile(o.Dir, name)
						if err != nil {
							t.Fatal(err)
						}
						b, err := os.ReadFile(want.Files[i])
						if err != nil {
							t.Fatal(err)
						}
						if !bytes.Equal(a, b) {
							t.Errorf("%s %s to %s, %s: %s has other bytes", verb, src, dst, place, name)
						}
					}
					left := o.Dir.(*vfs.Mem).Names()
					left = slices.DeleteFunc(left, func(n string) bool { return mem[n] != nil && o.Source.FS != nil || slices.Contains(got.Files, n) })
					if len(left) > 0 {
						t.Errorf("%s %s to %s, %s: left behind %v", verb, src, dst, place, left)
					}
					if _, err := write(from, dst, o); !errors.Is(err, fs.ErrExist) {
						t.Errorf("%s %s to %s, %s, a second time: %v", verb, src, dst, place, err)
					}
					o.Force = true
					if _, err := write(from, dst, o); err != nil {
						t.Errorf("%s %s to %s, %s, by force: %v", verb, src, dst, place, err)
					}
				}
			}
		}
	}
}

// TestSourcesAreNotOverwritten checks paths and a directory of the program's
// own.
func TestSourcesAreNotOverwritten(t *testing.T) {
	ctx := context.Background()
	dir, mem := files(t)
	within := vfs.MemDir()
	for name, f := range mem {
		if err := within.WriteFile(name, f.Data); err != nil {
			t.Fatal(err)
		}
	}
	for _, src := range []string{"ckpt", "w.npz", "w.safetensors"} {
		var overwrite *tensorfile.OverwriteError
		for _, o := range []*convert.Options{{Force: true, Lossy: true}, {Force: true, Lossy: true, Source: tensorfile.Options{FS: within}, Dir: within}} {
			path := src
			if o.Source.FS == nil {
				path = filepath.Join(dir, src)
			}
			if _, err := cairn.Convert(ctx, path, path, o); !errors.As(err, &overwrite) || overwrite.Path != path {
				t.Errorf("%s onto itself: %v", path, err)
			}
		}
	}
}

// TestErrorsHaveTypes checks that errors.As finds the type of each error, and that the
// texts don't name the command's flags.
func TestErrorsHaveTypes(t *testing.T) {
	ctx := context.Background()
	dir, _ := files(t)
	src, dst := filepath.Join(dir, "ckpt"), filepath.Join(dir, "new")
	check := func(err error, as any) {
		t.Helper()
		if err == nil || !errors.As(err, as) || strings.Contains(err.Error(), "--") {
			t.Errorf("%T: %v", as, err)
		}
	}
	_, err := cairn.Convert(ctx, src, dst+".onnx", nil)
	check(err, new(*tensorfile.ForeignError))
	if err := os.WriteFile(filepath.Join(dir, "m.onnx"), []byte("xx"), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err = cairn.List(ctx, filepath.Join(dir, "m.onnx"), nil)
	check(err, new(*tensorfile.ForeignError))
	_, err = cairn.Read(ctx, src, "net/kernal", nil)
	check(err, new(*tensorfile.NotFoundError))
	_, _, err = cairn.Edit(ctx, filepath.FromSlash("cmd/cairn/testdata/tf2.21/keras3/ckpt-1"), dst, convert.Edits{Drop: []*regexp.Regexp{regexp.MustCompile("^optimizer")}}, nil)
	check(err, new(*convert.SharedError))
	_, _, err = cairn.Edit(ctx, src, dst, convert.Edits{Cast: []convert.Cast{{Match: regexp.MustCompile("kernel"), To: tensor.Uint8}}}, nil)
	var cast *convert.CastError
	check(err, &cast)
	if cast != nil && (cast.To != tensor.Uint8 || cast.Lost != 1 || cast.Value != "-1.0") {
		t.Errorf("%+v", cast)
	}
}

package inspect

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/convert"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/tensorfile"
)

// A fault has a message and a cause, once, whether there is a cause or not.
func TestFaultsOfErrors(t *testing.T) {
	gone := &bundle.CorruptError{File: "f", Offset: 7, Name: "x", What: "it can't be read", Err: fs.ErrNotExist}
	bare := &bundle.CorruptError{File: "f", Offset: 7, Name: "x", What: "it is short"}
	for _, c := range []struct {
		err  error
		want []Fault
	}{
		{nil, nil},
		{io.ErrUnexpectedEOF, nil},
		{gone, []Fault{{File: "f", Offset: 7, Tensor: "x", What: "it can't be read: file does not exist", Missing: true}}},
		{errors.Join(bare, io.EOF), []Fault{{File: "f", Offset: 7, Tensor: "x", What: "it is short"}}},
	} {
		if d := cmp.Diff(c.want, faultsOf("g", c.err)); d != "" {
			t.Errorf("%v (-want +got):\n%s", c.err, d)
		}
	}
}

var errDisk = errors.New("the disk has no more to say")

// unreadableFS has files that can't be read from a place on.
type unreadableFS struct {
	fs.FS
	from int64
}

func (f unreadableFS) Open(name string) (fs.File, error) {
	file, err := f.FS.Open(name)
	if g, ok := file.(*os.File); ok && err == nil {
		return &unreadableFile{g, f.from}, nil
	}
	return file, err
}

type unreadableFile struct {
	*os.File
	from int64
}

func (f *unreadableFile) ReadAt(p []byte, at int64) (int, error) {
	if at+int64(len(p)) > f.from {
		return 0, errDisk
	}
	return f.File.ReadAt(p, at)
}

// A tensor that can't be read is its own fault, whatever the reason, and doesn't hide
// those of others.
func TestVerifyOfWhatCantBeRead(t *testing.T) {
	s := write(t, map[string]*tensor.Tensor{"a": tensor.Vector[float32](1, 2), "b": tensor.Vector[float32](3, 4)})
	dir := t.TempDir()
	path := filepath.Join(dir, "x.safetensors")
	if _, err := convert.Convert(t.Context(), s.Prefix, path, &convert.Options{}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	for lost, want := range map[int64][]string{0: nil, 8: {"b"}, 16: {"a", "b"}} {
		_, faults, err := Verify(t.Context(), "x.safetensors", &VerifyOptions{Open: tensorfile.Options{FS: unreadableFS{os.DirFS(dir), info.Size() - lost}}})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range faults {
			got = append(got, f.Tensor)
			if f.Offset < 0 || f.File != "x.safetensors" || !strings.HasSuffix(f.What, errDisk.Error()) {
				t.Errorf("%+v", f)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("without the last %d bytes (-want +got):\n%s", lost, d)
		}
	}
}

// If the metadata of a safetensors file contradict a tensor's array, that is the
// tensor's fault.
func TestVerifyOfContradictingMetadata(t *testing.T) {
	s := write(t, map[string]*tensor.Tensor{"a": tensor.Vector(complex(1, 2)), "b": tensor.Vector[float32](3, 4)})
	path := filepath.Join(t.TempDir(), "x.safetensors")
	if _, err := convert.Convert(t.Context(), s.Prefix, path, &convert.Options{}); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head := 8 + int(binary.LittleEndian.Uint64(raw))
	other := strings.Replace(string(raw[:head]), "complex128", "int32", 1)
	other += strings.Repeat(" ", head-len(other))
	if err := os.WriteFile(path, append([]byte(other), raw[head:]...), 0o666); err != nil {
		t.Fatal(err)
	}
	_, faults, err := Verify(t.Context(), path, nil)
	if err != nil || len(faults) != 1 {
		t.Fatalf("%v, %v", faults, err)
	}
	got := faults[0]
	if !strings.HasSuffix(got.What, "the metadata says int32 of a tensor of float64") {
		t.Errorf("what: %q", got.What)
	}
	got.What = ""
	if d := cmp.Diff(Fault{File: path, Offset: -1, Tensor: "a"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestTypesThatNumpyWidens(t *testing.T) {
	for _, c := range []struct {
		a, b tensor.DType
		want bool
	}{
		{tensor.Float32, tensor.Float32, true}, {tensor.BFloat16, tensor.Float32, true}, {tensor.Int4, tensor.Int8, true},
		{tensor.Float32, tensor.Int32, false}, {tensor.Variant, tensor.Resource, false},
		{tensor.Variant, tensor.Float32, false}, {tensor.Float32, tensor.Variant, false},
	} {
		if got := widens(c.a, c.b); got != c.want {
			t.Errorf("%v and %v: %v", c.a, c.b, got)
		}
	}
}

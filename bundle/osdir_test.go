package bundle

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
)

// symlink makes a symbolic link, where the system has them.
func symlink(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
}

func TestOSDirStaysInsideItsFolder(t *testing.T) {
	top := t.TempDir()
	run, other := filepath.Join(top, "run"), filepath.Join(top, "other")
	for _, d := range []string{run, other} {
		if err := os.Mkdir(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	precious := filepath.Join(other, "precious")
	if err := os.WriteFile(precious, []byte("precious"), 0o666); err != nil {
		t.Fatal(err)
	}
	symlink(t, filepath.Join("..", "other"), filepath.Join(run, "link"))
	symlink(t, other, filepath.Join(run, "absolute"))
	symlink(t, precious, filepath.Join(run, "file"))
	d := OSDir(run)
	f, err := d.Create("mine")
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	for what, op := range map[string]func() error{
		"create":                    func() error { _, err := d.Create("link/new"); return err },
		"create by an absolute one": func() error { _, err := d.Create("absolute/new"); return err },
		"create a folder":           func() error { _, err := d.Create("link/folder/new"); return err },
		"create over a link":        func() error { _, err := d.Create("file"); return err },
		"rename into it":            func() error { return d.Rename("mine", "link/precious") },
		"rename out of it":          func() error { return d.Rename("link/precious", "yours") },
		"remove":                    func() error { return d.Remove("link/precious") },
	} {
		var pe *fs.PathError
		var le *os.LinkError
		if err := op(); err == nil || !errors.As(err, &pe) && !errors.As(err, &le) || !strings.Contains(err.Error(), run) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if b, err := os.ReadFile(precious); string(b) != "precious" {
		t.Errorf("the file outside holds %q, %v", b, err)
	}
	if l, _ := os.ReadDir(other); len(l) != 1 {
		t.Errorf("the folder outside holds %v", l)
	}
	// Reading follows links, and a link itself can be removed.
	if b, err := fs.ReadFile(d, "link/precious"); string(b) != "precious" {
		t.Errorf("%q, %v", b, err)
	}
	if err := d.Remove("file"); err != nil {
		t.Error(err)
	}
	if err := d.Sync(); err != nil {
		t.Error(err)
	}
}

func TestOSDirMakesItsFolderDurably(t *testing.T) {
	top := t.TempDir()
	d := OSDir(filepath.Join(top, "a", "b")).(*osDir)
	f, err := d.Create("c/d/file")
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	var got []string
	for folder := range d.dirty {
		rel, err := filepath.Rel(top, folder)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, filepath.ToSlash(rel))
	}
	slices.Sort(got)
	if want := []string{".", "a", "a/b", "a/b/c", "a/b/c/d"}; !slices.Equal(got, want) {
		t.Errorf("%q are to be synced, want %q", got, want)
	}
	if err := d.Sync(); err != nil || len(d.dirty) > 0 {
		t.Errorf("%v, %v", err, d.dirty)
	}
}

func TestRetriesWhileAFileIsInUse(t *testing.T) {
	busy, other := errors.New("in use"), errors.New("other")
	for _, c := range []struct {
		name  string
		fails int
		err   error
		want  error
		calls int
	}{
		{"at once", 0, busy, nil, 1},
		{"after a while", 3, busy, nil, 4},
		{"another error", 3, other, other, 1},
	} {
		calls, slept := 0, time.Duration(0)
		err := retry(func() error {
			if calls++; calls <= c.fails {
				return c.err
			}
			return nil
		}, func(err error) bool { return err == busy }, func(d time.Duration) { slept += d })
		if err != c.want || calls != c.calls {
			t.Errorf("%s: %v after %d calls", c.name, err, calls)
		}
	}
	slept := time.Duration(0)
	if err := retry(func() error { return busy }, func(error) bool { return true }, func(d time.Duration) { slept += d }); err != busy || slept < retryFor || slept > 2*retryFor {
		t.Errorf("for ever in use: %v after %v", err, slept)
	}
}

func TestReadBackFindsWhatIsMissing(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		spoil func(dir *Mem)
		want  string
	}{
		"a short data file":   {func(dir *Mem) { dir.WriteFile("c.data-00001-of-00002", []byte("short")) }, "the file ends here"},
		"a missing data file": {func(dir *Mem) { dir.Remove("c.data-00000-of-00002") }, "does not exist"},
		"another count": {func(dir *Mem) {
			b, _ := fs.ReadFile(dir, "one.index")
			dir.WriteFile("c.index", b)
		}, "it speaks of 1 data files, 2 were written"},
		"a short index": {func(dir *Mem) {
			b, _ := fs.ReadFile(dir, "c.index")
			dir.WriteFile("c.index", b[:len(b)-1])
		}, "corrupt"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := MemDir()
			write(t, dir, "one", nil, func(w *Writer) { w.Add(ctx, "a", tensor.Scalar(1.0)) })
			write(t, dir, "c", nil, func(w *Writer) {
				w.Add(ctx, "a", tensor.Scalar(1.0))
				w.NextShard()
				w.Add(ctx, "b", tensor.Vector(1.0, 2))
			})
			data := []string{"c.data-00000-of-00002", "c.data-00001-of-00002"}
			if err := readBack(ctx, dir, "c.index", data); err != nil {
				t.Fatal(err)
			}
			c.spoil(dir)
			if err := readBack(ctx, dir, "c.index", data); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// losingDir takes every write for done, and loses some bytes of it.
type losingDir struct{ *Mem }

func (d losingDir) Create(name string) (File, error) {
	f, err := d.Mem.Create(name)
	if strings.Contains(name, ".data-") {
		return losingFile{f}, err
	}
	return f, err
}

type losingFile struct{ File }

func (f losingFile) Write(b []byte) (int, error) {
	_, err := f.File.Write(b[:len(b)-1])
	return len(b), err
}

func TestAWriteThatIsLostFailsTheFinish(t *testing.T) {
	ctx := context.Background()
	mem := MemDir()
	write(t, mem, "c", nil, func(w *Writer) { w.Add(ctx, "old", tensor.Scalar(1.0)) })
	w, err := NewWriter(losingDir{mem}, "c", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Add(ctx, "new", tensor.Scalar(2.0)); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(ctx); !errors.Is(err, ErrCorrupt) {
		t.Errorf("finished with %v", err)
	}
	if err := w.Abort(); err != nil {
		t.Fatal(err)
	}
	if got, err := consume(mem, "c"); err != nil || got["old"] == nil {
		t.Errorf("the bundle that was there: %v, %v", got, err)
	}
}

func TestHugeDimensionHidesNoOtherTensor(t *testing.T) {
	ctx, dir := context.Background(), MemDir()
	huge := &pb.BundleEntryProto{Dtype: pb.DataType(tensor.Int8), Shape: dims(1 << 33), Offset: int64(len(goodData)), Size: 1 << 33}
	for name, b := range rows(goodHeader, goodData, row{"huge", huge.Marshal()}, row{"t", goodEntry().Marshal()})(t) {
		dir.WriteFile(name, b)
	}
	r := mustOpen(t, dir, "ckpt")
	if _, err := r.Read(ctx, "t"); err != nil {
		t.Errorf("the other tensor: %v", err)
	}
	_, err := r.Read(ctx, "huge")
	if err == nil {
		t.Error("the huge one was read")
	} else if strconv.IntSize == 32 && !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("on 32 bits: %v", err)
	}
}

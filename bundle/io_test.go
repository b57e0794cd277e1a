package bundle

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// onlyRead is a file system whose files have neither ReadAt nor Seek.
type onlyRead struct{ fs.FS }

type onlyReadFile struct{ f fs.File }

func (o onlyRead) Open(name string) (fs.File, error) {
	f, err := o.FS.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || info.IsDir() {
		return f, err
	}
	return onlyReadFile{f}, nil
}

func (f onlyReadFile) Stat() (fs.FileInfo, error) { return f.f.Stat() }
func (f onlyReadFile) Read(b []byte) (int, error) { return f.f.Read(b[:min(len(b), 1000)]) }
func (f onlyReadFile) Close() error               { return f.f.Close() }

// onlySeek is one whose files have Seek.
type onlySeek struct{ fs.FS }

type onlySeekFile struct {
	onlyReadFile
	io.Seeker
}

func (o onlySeek) Open(name string) (fs.File, error) {
	f, err := o.FS.Open(name)
	if err != nil {
		return nil, err
	}
	s, ok := f.(io.Seeker)
	if !ok {
		return f, nil
	}
	return onlySeekFile{onlyReadFile{f}, s}, nil
}

func TestFilesWithoutReadAt(t *testing.T) {
	dir := vfs.MemDir()
	ctx := context.Background()
	smallBundle(t, dir, "sub/small")
	write(t, dir, "sub/large", nil, func(w *Writer) {
		w.Add(ctx, "b", grid(t, 3*chunk/8))
		w.Add(ctx, "a", tensor.Vector(strings.Repeat("x", 100000), "y"))
		w.Add(ctx, "c", grid(t, 7))
	})
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	for _, name := range dir.Names() {
		f, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := dir.ReadFile(name)
		f.Write(b)
	}
	z.Close()
	zipped, err := zip.NewReader(bytes.NewReader(packed.Bytes()), int64(packed.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for _, prefix := range []string{"sub/small", "sub/large"} {
		want, err := consume(dir, prefix)
		if err != nil {
			t.Fatal(err)
		}
		for name, fsys := range map[string]fs.FS{"read": onlyRead{dir}, "seek": onlySeek{dir}, "zip": zipped} {
			got, err := consume(fsys, prefix)
			if err != nil || len(got) != len(want) {
				t.Errorf("%s of %s: %v", prefix, name, err)
			}
			for n, w := range want {
				if got[n] != nil && !got[n].Equal(w) {
					t.Errorf("%s of %s: %s differs", prefix, name, n)
				}
			}
			r, err := Open(ctx, fsys, prefix, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range r.Names() { // sorted, so that the reading goes back
				if v, err := r.Read(ctx, n); err != nil || !v.Equal(want[n]) {
					t.Errorf("%s of %s: %s: %v", prefix, name, n, err)
				}
			}
		}
	}
	if _, err := Open(ctx, onlyRead{dir}, "sub/small", &ReaderOptions{MaxIndex: 100}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("an index above the cap: %v", err)
	}
	v1 := onlyRead{os.DirFS(fixtures)}
	if _, err := consume(v1, "v1_sharded/ckpt"); err != nil {
		t.Errorf("version 1: %v", err)
	}
	if _, err := Open(ctx, v1, "v1_sharded/ckpt", &ReaderOptions{MaxIndex: 100}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a table of version 1 above the cap: %v", err)
	}
}

func TestOSDir(t *testing.T) {
	ctx, path := context.Background(), t.TempDir()
	dir := vfs.OSDir(filepath.Join(path, "made", "when needed"))
	smallBundle(t, dir, "sub/ckpt")
	want, err := consume(dir, "sub/ckpt")
	if err != nil {
		t.Fatal(err)
	}
	prefix := filepath.Join(path, "made", "when needed", "sub", "ckpt")
	r, err := OpenFile(ctx, prefix, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Prefix() != prefix {
		t.Errorf("prefix %q, want %q", r.Prefix(), prefix)
	}
	for name, w := range want {
		if v, err := r.Read(ctx, name); err != nil || !v.Equal(w) {
			t.Errorf("%s: %v", name, err)
		}
	}
	t.Chdir(filepath.Dir(prefix))
	if _, err := OpenFile(ctx, "ckpt", nil); err != nil {
		t.Errorf("a relative path without directory: %v", err)
	}
	for _, name := range []string{"../x", "/x", ""} {
		if _, err := dir.Create(name); err == nil {
			t.Errorf("%q was created", name)
		}
	}
	if err := Merge(ctx, dir, "other/ckpt", []string{"sub/ckpt"}, nil); err != nil {
		t.Error(err)
	}
	if _, err := consume(dir, "other/ckpt"); err != nil {
		t.Error(err)
	}
}

// faultDir fails the operation with a given number, and counts them.
type faultDir struct {
	*vfs.Mem
	at, n int
	open  int // files that are not closed
}

var errFault = errors.New("injected fault")

func (d *faultDir) tick() error {
	d.n++
	if d.n == d.at {
		return errFault
	}
	return nil
}

func (d *faultDir) Create(name string) (vfs.File, error) {
	if err := d.tick(); err != nil {
		return nil, err
	}
	f, err := d.Mem.Create(name)
	d.open++
	return &faultFile{f, d}, err
}

func (d *faultDir) Rename(a, b string) error {
	if err := d.tick(); err != nil {
		return err
	}
	return d.Mem.Rename(a, b)
}

func (d *faultDir) Sync() error { return d.tick() }

type faultFile struct {
	vfs.File
	d *faultDir
}

func (f *faultFile) Write(b []byte) (int, error) {
	if err := f.d.tick(); err != nil {
		return 0, err
	}
	return f.File.Write(b)
}

func (f *faultFile) Sync() error { return f.d.tick() }

func (f *faultFile) Close() error {
	f.d.open--
	f.File.Close()
	return f.d.tick()
}

// TestEveryFaultLeavesTheOldBundleAndNoLitter fails each operation of a save in
// turn.
func TestEveryFaultLeavesTheOldBundleAndNoLitter(t *testing.T) {
	ctx := context.Background()
	save := func(dir vfs.Dir, prefix string) (err error) {
		w, err := NewWriter(dir, prefix, nil)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, w.Abort()) }()
		if err := w.Add(ctx, "large", sample(t, tensor.Uint8, 2*direct)); err != nil {
			return err
		}
		if err := w.NextShard(); err != nil {
			return err
		}
		if err := w.Add(ctx, "small", tensor.Vector("a")); err != nil {
			return err
		}
		return w.Finish(ctx)
	}
	for at := 1; ; at++ {
		dir := &faultDir{Mem: vfs.MemDir()}
		if err := save(dir, "old"); err != nil {
			t.Fatal(err)
		}
		old := dir.Names()
		dir.n, dir.at = 0, at
		err := save(dir, "new")
		if dir.open != 0 {
			t.Errorf("operation %d: %d files are still open", at, dir.open)
		}
		if err == nil {
			if at <= dir.n {
				t.Errorf("operation %d: the fault was swallowed", at)
			}
			t.Logf("%d operations were failed", at-1)
			break
		}
		if !errors.Is(err, errFault) {
			t.Errorf("operation %d: %v", at, err)
		}
		if got := dir.Names(); !slices.Equal(got, old) {
			t.Errorf("operation %d leaves %q", at, got)
		}
		if _, err := consume(dir, "old"); err != nil {
			t.Errorf("operation %d: the old bundle: %v", at, err)
		}
		if _, err := consume(dir, "new"); !errors.Is(err, ErrNotFound) {
			t.Errorf("operation %d: the new bundle: %v", at, err)
		}
	}
}

// TestEveryFaultOfAMergeKeepsTheSources fails each operation of a merge in turn.
func TestEveryFaultOfAMergeKeepsTheSources(t *testing.T) {
	ctx := context.Background()
	for _, keep := range []bool{false, true} {
		for at := 1; ; at++ {
			dir := &faultDir{Mem: vfs.MemDir()}
			for _, p := range []string{"a", "b"} {
				write(t, dir, p, nil, func(w *Writer) { w.Add(ctx, p, tensor.Vector(1.0)) })
			}
			dir.n, dir.at = 0, at
			err := Merge(ctx, dir, "out", []string{"a", "b"}, &MergeOptions{KeepSources: keep})
			if err == nil {
				if at <= dir.n {
					t.Errorf("operation %d (keep %v): the fault was swallowed", at, keep)
				}
				break
			}
			if !errors.Is(err, errFault) {
				t.Errorf("operation %d: %v", at, err)
			}
			// Either the sources are as they were, or the merge is done but for
			// its durability.
			_, a := consume(dir, "a")
			_, b := consume(dir, "b")
			_, out := consume(dir, "out")
			if (a != nil || b != nil) && out != nil {
				t.Errorf("operation %d (keep %v): a %v, b %v, out %v; files %q", at, keep, a, b, out, dir.Names())
			}
			for _, name := range dir.Names() {
				if IsTemporary(name) {
					t.Errorf("operation %d (keep %v) leaves %s", at, keep, name)
				}
			}
		}
	}
}

func TestTemporaryNames(t *testing.T) {
	ctx, dir := context.Background(), vfs.MemDir()
	w, err := NewWriter(dir, "x", nil)
	if err != nil {
		t.Fatal(err)
	}
	w.Add(ctx, "v", tensor.Scalar(1.0))
	for _, name := range dir.Names() {
		if !IsTemporary(name) {
			t.Errorf("%s shows before Finish", name)
		}
	}
	if err := w.Abort(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		"ckpt.data-00000-of-00001.tempstate1234567": true, "ckpt.index.tempstate0": true,
		"ckpt.index": false, "ckpt.tempstate": false, "ckpt.tempstateful": false, "ckpt.tempstate1.index": false,
	} {
		if IsTemporary(name) != want {
			t.Errorf("IsTemporary(%q) is %v", name, !want)
		}
	}
}

func TestDataNames(t *testing.T) {
	for _, c := range []struct {
		name          string
		prefix        string
		shard, shards int
		ok            bool
	}{
		{"a/b.data-00003-of-00010", "a/b", 3, 10, true},
		{"x.data-123456-of-999999", "x", 123456, 999999, true},
		{"x.data-00001-of-00001", "", 0, 0, false},
		{"x.data-0-of-1", "", 0, 0, false},
		{"x.data-00000-of-0000a", "", 0, 0, false},
		{"x.data-+0000-of-00001", "", 0, 0, false},
		{"x.index", "", 0, 0, false},
	} {
		p, i, n, ok := ParseDataName(c.name)
		if p != c.prefix || i != c.shard || n != c.shards || ok != c.ok {
			t.Errorf("%s: %q %d %d %v", c.name, p, i, n, ok)
		}
		if ok && DataName(p, i, n) != c.name {
			t.Errorf("%s is written %s", c.name, DataName(p, i, n))
		}
	}
}

func TestProgressOfASave(t *testing.T) {
	var last int64
	dir := vfs.MemDir()
	write(t, dir, "p", &WriterOptions{Progress: func(n int64) {
		if n < last {
			t.Errorf("from %d to %d", last, n)
		}
		last = n
	}}, func(w *Writer) {
		for i := range 3 {
			w.Add(context.Background(), fmt.Sprint(i), grid(t, direct))
		}
	})
	if last != 3*8*direct {
		t.Errorf("ends at %d", last)
	}
}

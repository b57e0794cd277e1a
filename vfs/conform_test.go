package vfs_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cairnml/cairn/internal/testkit/faultfs"
	"github.com/cairnml/cairn/vfs"
)

// dirs are the implementations of vfs.Dir.
var dirs = map[string]func(t *testing.T) vfs.Dir{
	"a directory":            func(t *testing.T) vfs.Dir { return vfs.OSDir(t.TempDir()) },
	"a directory to be made": func(t *testing.T) vfs.Dir { return vfs.OSDir(filepath.Join(t.TempDir(), "a", "b")) },
	"the working directory":  func(t *testing.T) vfs.Dir { t.Chdir(t.TempDir()); return vfs.OSDir("") },
	"memory":                 func(*testing.T) vfs.Dir { return vfs.MemDir() },
	"the tests' disk":        func(*testing.T) vfs.Dir { return faultfs.New() },
}

func put(t *testing.T, d vfs.Dir, name, text string) {
	t.Helper()
	f, err := d.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.WriteString(f, text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil || n != len(text) {
		t.Fatal(n, err)
	}
}

// holds returns the names and contents of the files in a Dir.
func holds(t *testing.T, d vfs.Dir) string {
	t.Helper()
	var out []string
	if err := fs.WalkDir(d, ".", func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := fs.ReadFile(d, p)
		out = append(out, fmt.Sprintf("%s=%s", p, b))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, " ")
}

func TestEveryDirDoesTheSame(t *testing.T) {
	for name, make := range dirs {
		t.Run(name, func(t *testing.T) {
			d := make(t)
			put(t, d, "a", "one")
			put(t, d, "b/c/d", "two")
			put(t, d, "a", "three") // emptied first
			if got, want := holds(t, d), "a=three b/c/d=two"; got != want {
				t.Fatalf("%s, want %s", got, want)
			}
			if _, disk := d.(*faultfs.FS); !disk { // whose files are read at their places only
				if err := fstest.TestFS(d, "a", "b/c/d"); err != nil {
					t.Error(err)
				}
			}
			for what, step := range map[string]error{
				"to a new directory": d.Rename("a", "e/f"),
				"over a file":        d.Rename("b/c/d", "e/f"),
				"a sync":             d.Sync(),
			} {
				if step != nil {
					t.Errorf("%s: %v", what, step)
				}
			}
			if got, want := holds(t, d), "e/f=two"; got != want && got != "e/f=three" {
				t.Errorf("%s, want %s", got, want)
			}
			for what, err := range map[string]error{
				"opening":  second(d.Open("none")),
				"renaming": d.Rename("none", "x"),
				"removing": d.Remove("none"),
			} {
				if !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s what isn't there: %v", what, err)
				}
			}
			for _, bad := range []string{"", "/x", "../x", "x/../y", "x//y", "./x", "x/", "."} {
				for what, err := range map[string]error{
					"creating":    second(d.Create(bad)),
					"renaming":    d.Rename(bad, "x"),
					"renaming to": d.Rename("e/f", bad),
					"removing":    d.Remove(bad),
				} {
					if err == nil {
						t.Errorf("%s %q goes through", what, bad)
					}
				}
				if f, err := d.Open(bad); err == nil && bad != "." {
					f.Close()
					t.Errorf("opening %q goes through", bad)
				}
				if _, err := fs.Stat(d, bad); err == nil && bad != "." {
					t.Errorf("asking for %q goes through", bad)
				}
			}
			if err := errors.Join(d.Remove("e/f"), d.Sync()); err != nil {
				t.Error(err)
			}
			if got := holds(t, d); got != "" {
				t.Errorf("%s is left", got)
			}
		})
	}
}

func second[T any](_ T, err error) error { return err }

// TestFilesAreWrittenAtTheirPlaces, in any order, and not once they are closed.
func TestFilesAreWrittenAtTheirPlaces(t *testing.T) {
	for name, make := range dirs {
		t.Run(name, func(t *testing.T) {
			d := make(t)
			f, err := d.Create("f")
			if err != nil {
				t.Fatal(err)
			}
			_, err1 := f.WriteAt([]byte("defg"), 3)
			_, err2 := f.Write([]byte("ab"))
			_, err3 := f.Write([]byte("c"))
			_, err4 := f.WriteAt([]byte("E"), 4)
			if err := errors.Join(err1, err2, err3, err4, f.Sync(), f.Close()); err != nil {
				t.Fatal(err)
			}
			_, err1 = f.Write([]byte("x"))
			_, err2 = f.WriteAt([]byte("x"), 0)
			if err1 == nil || err2 == nil {
				t.Errorf("written when closed: %v, %v", err1, err2)
			}
			if got := holds(t, d); got != "f=abcdEfg" {
				t.Error(got)
			}
			r, err := d.Open("f")
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			at, ok := r.(io.ReaderAt)
			if !ok {
				t.Fatalf("a %T has no ReadAt", r)
			}
			b := []byte("....")
			if n, err := at.ReadAt(b, 5); n != 2 || err != io.EOF || string(b[:n]) != "fg" {
				t.Errorf("%d bytes, %q, %v", n, b, err)
			}
			if n, err := at.ReadAt(b, 3); n != 4 || string(b) != "dEfg" || err != nil && err != io.EOF {
				t.Errorf("%d bytes, %q, %v", n, b, err)
			}
			if n, err := at.ReadAt(b, 7); n != 0 || err != io.EOF {
				t.Errorf("%d bytes at the end, %v", n, err)
			}
			if n, err := at.ReadAt(b, -1); n != 0 || err == nil || err == io.EOF {
				t.Errorf("%d bytes before the beginning, %v", n, err)
			}
		})
	}
}

// TestMemWriteFileChecksNames as Create does.
func TestMemWriteFileChecksNames(t *testing.T) {
	d := vfs.MemDir()
	if err := d.WriteFile("../x", nil); !errors.Is(err, fs.ErrInvalid) || len(d.Names()) > 0 {
		t.Errorf("%v; it holds %q", err, d.Names())
	}
}

// TestNamesThatCannotBeMadeDurableStayToBeDone until a Sync goes through.
func TestNamesThatCannotBeMadeDurableStayToBeDone(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "js" || runtime.GOOS == "wasip1" {
		t.Skip("a Sync of an OSDir does nothing on this system: it has no call that syncs a directory")
	}
	top := t.TempDir()
	d := vfs.OSDir(top)
	put(t, d, "sub/f", "x")
	sub := filepath.Join(top, "sub")
	if err := errors.Join(os.Rename(sub, sub+"2"), os.Symlink("sub", sub)); err != nil { // a link to itself
		t.Skip(err)
	}
	for range 2 {
		if err := d.Sync(); err == nil {
			t.Error("a directory that can't be opened is durable")
		}
	}
	if err := errors.Join(os.Remove(sub), os.Rename(sub+"2", sub), d.Sync()); err != nil {
		t.Error(err)
	}
}

func TestAppendersContinueFiles(t *testing.T) {
	for name, make := range dirs {
		if name == "the tests' disk" { // which counts operations, and has no append
			continue
		}
		t.Run(name, func(t *testing.T) {
			d := make(t)
			a, ok := d.(vfs.Appender)
			if !ok {
				t.Fatalf("%T is no Appender", d)
			}
			for _, text := range []string{"one", " two"} {
				f, err := a.OpenAppend("below/log")
				if err != nil {
					t.Fatal(err)
				}
				if _, err := io.WriteString(f, text); err != nil {
					t.Fatal(err)
				}
				if err := f.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if got := holds(t, d); got != "below/log=one two" {
				t.Errorf("got %q", got)
			}
		})
	}
}

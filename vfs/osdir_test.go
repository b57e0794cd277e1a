package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// symlink makes a symbolic link, if the system has them.
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
		"create a directory":        func() error { _, err := d.Create("link/folder/new"); return err },
		"create over a link":        func() error { _, err := d.Create("file"); return err },
		"rename into it":            func() error { return d.Rename("mine", "link/precious") },
		"rename out of it":          func() error { return d.Rename("link/precious", "yours") },
		"remove":                    func() error { return d.Remove("link/precious") },
		"exchange in it":            func() error { return d.(FolderExchanger).ExchangeFolders("link/precious", "link/precious") },
		"exchange with it":          func() error { return d.(FolderExchanger).ExchangeFolders("mine", "link/precious") },
		"exchange what is missing":  func() error { return d.(FolderExchanger).ExchangeFolders("mine", "none") },
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
		t.Errorf("the directory outside holds %v", l)
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

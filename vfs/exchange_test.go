package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestExchangeInStepsKeepsBothDirectories: an exchange of two directories in three steps, with a
// directory that a crash left, and one that fails between the steps.
func TestExchangeInStepsKeepsBothDirectories(t *testing.T) {
	for _, c := range []struct {
		name   string
		exists []string
		fails  bool
		want   map[string]string // the directories afterwards, and which of those before each is
	}{
		{"plain", []string{"a", "b"}, false, map[string]string{"a": "b", "b": "a"}},
		{"after crashes", []string{"a", "b", "a.old", "a.old2"}, false, map[string]string{"a": "b", "b": "a", "a.old": "a.old", "a.old2": "a.old2"}},
		{"nothing to exchange with", []string{"b"}, true, map[string]string{"b": "b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range c.exists {
				if err := errors.Join(os.Mkdir(filepath.Join(dir, name), 0o777), os.WriteFile(filepath.Join(dir, name, "was"), []byte(name), 0o666)); err != nil {
					t.Fatal(err)
				}
			}
			root, err := os.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			if err := exchangeInSteps(root, "a", "b"); (err != nil) != c.fails || err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("error %v, want one: %v", err, c.fails)
			}
			l, err := os.ReadDir(dir)
			if err != nil || len(l) != len(c.want) {
				t.Errorf("the directory has %v, %v; want %v", l, err, c.want)
			}
			for name, was := range c.want {
				if b, err := os.ReadFile(filepath.Join(dir, name, "was")); string(b) != was {
					t.Errorf("%s was %q, want %q: %v", name, b, was, err)
				}
			}
		})
	}
}

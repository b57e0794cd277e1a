package imports

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/internal/testkit/sources"
)

// goFolders returns the directories of the repository with Go files, by their paths from the
// root, and "cairn" for the root itself. The directories of nested modules belong to it.
func goFolders(t *testing.T) map[string]bool {
	t.Helper()
	folders := map[string]bool{}
	err := filepath.WalkDir(sources.Root(t), func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(sources.Root(t), p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			hidden := strings.HasPrefix(d.Name(), ".") && rel != "." && rel != ".ci"
			if hidden || d.Name() == "testdata" || d.Name() == "dist" {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") {
			return nil
		}
		dir := path.Dir(rel)
		if dir == "." {
			dir = "cairn"
		}
		folders[dir] = true
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return folders
}

// readFolders returns the directories in the first column of ARCHITECTURE.md's table of promises.
func readFolders(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(sources.Root(t), "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(text), "\n## What a change may not break\n")
	if !ok {
		t.Fatal("ARCHITECTURE.md has no section \"What a change may not break\"")
	}
	table, _, _ = strings.Cut(table, "\n## ")
	var names []string
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 5 { // three, between bars
			continue
		}
		for _, m := range code.FindAllStringSubmatch(cells[1], -1) {
			names = append(names, m[1])
		}
	}
	return names
}

// names reports whether a row's name covers a directory: "a/b" itself, "a/FAMILY"
// the directories in a, and "a/…" every directory below a.
func names(name, dir string) bool {
	if above, ok := strings.CutSuffix(name, "/…"); ok {
		return strings.HasPrefix(dir, above+"/")
	}
	if above, ok := strings.CutSuffix(name, "/FAMILY"); ok {
		return path.Dir(dir) == above && path.Base(dir) != "internal"
	}
	return name == dir
}

func TestNamesOfFolders(t *testing.T) {
	for _, c := range []struct {
		name, dir string
		want      bool
	}{
		{"tensor", "tensor", true},
		{"tensor", "tensorfile", false},
		{"keras", "keras/layers", false},
		{"kernel/FAMILY", "kernel/conv", true},
		{"kernel/FAMILY", "kernel", false},
		{"kernel/FAMILY", "kernel/internal/vec", false},
		{"kernel/internal/…", "kernel/internal/vec/deep", true},
		{"examples/…", "examples", false},
	} {
		if got := names(c.name, c.dir); got != c.want {
			t.Errorf("names(%q, %q) is %v, want %v", c.name, c.dir, got, c.want)
		}
	}
}

// TestEveryFolderHasItsPromise checks that a row of the table of promises names each directory
// with Go files, and that the directories of the rows exist.
func TestEveryFolderHasItsPromise(t *testing.T) {
	folders, rows := goFolders(t), readFolders(t)
	for dir := range folders {
		if !slices.ContainsFunc(rows, func(name string) bool { return names(name, dir) }) {
			t.Errorf("ARCHITECTURE.md's section \"What a change may not break\" has no row for %s", dir)
		}
	}
	seen := map[string]bool{}
	for _, name := range rows {
		if seen[name] {
			t.Errorf("two rows name %s", name)
		}
		seen[name] = true
		found := false
		for dir := range folders {
			found = found || names(name, dir)
		}
		if _, err := os.Stat(filepath.Join(sources.Root(t), name)); !found && err != nil {
			t.Errorf("a row names %s, which doesn't exist", name)
		}
	}
}

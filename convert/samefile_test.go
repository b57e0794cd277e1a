package convert

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairnml/cairn/tensorfile"
)

// copyFixture copies a checkpoint into a directory of the test's.
func copyFixture(t *testing.T, prefix, to string) {
	t.Helper()
	if _, err := Convert(context.Background(), prefix, to, nil); err != nil {
		t.Fatal(err)
	}
}

func TestSourceUnderAnotherNameIsNotWrittenOver(t *testing.T) {
	ctx := context.Background()
	for name, link := range map[string]func(dir string) (dst string, err error){
		"a linked directory": func(dir string) (string, error) {
			return filepath.Join(dir, "link", "c"), os.Symlink("real", filepath.Join(dir, "link"))
		},
		"a linked index": func(dir string) (string, error) {
			return filepath.Join(dir, "d"), os.Symlink(filepath.Join("real", "c.index"), filepath.Join(dir, "d.index"))
		},
		"a hard link to the data": func(dir string) (string, error) {
			const data = ".data-00000-of-00001"
			return filepath.Join(dir, "d"), os.Link(filepath.Join(dir, "real", "c"+data), filepath.Join(dir, "d"+data))
		},
		"a file linked to the index": func(dir string) (string, error) {
			return filepath.Join(dir, "d.npz"), os.Symlink(filepath.Join("real", "c.index"), filepath.Join(dir, "d.npz"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			src := filepath.Join(dir, "real", "c")
			copyFixture(t, fixtures+"guide/ckpt-1", src)
			dst, err := link(dir)
			if err != nil {
				t.Skip(err)
			}
			o := &Options{Force: true, Lossy: true}
			if _, err := Convert(ctx, src, dst, o); err == nil || !strings.Contains(err.Error(), "by another name") {
				t.Errorf("convert: %v", err)
			}
			if _, err := Merge(ctx, []string{src}, dst, &MergeOptions{Options: *o}); err == nil || !strings.Contains(err.Error(), "by another name") {
				t.Errorf("merge: %v", err)
			}
			same(t, fixtures+"guide/ckpt-1", src)
		})
	}
}

func TestAnotherCheckpointMayBeginWithTheSourcesName(t *testing.T) {
	src := filepath.Join(t.TempDir(), "c")
	copyFixture(t, fixtures+"guide/ckpt-1", src)
	for range 2 { // the second time there is one to be replaced
		if _, err := Convert(t.Context(), src, src+"-edited", &Options{Force: true}); err != nil {
			t.Error(err)
		}
	}
	same(t, fixtures+"guide/ckpt-1", src)
	// Files of version 1 that have the source's name are its own.
	v1 := src + "-00000-of-00002"
	if err := os.WriteFile(v1, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Convert(t.Context(), src, v1, &Options{Force: true}); err == nil || !strings.Contains(err.Error(), "a file of "+src) {
		t.Errorf("over %s: %v", v1, err)
	}
}

// TestShardsWithoutElementsStay rewrites a checkpoint that has data files of no
// bytes, in every way that there is.
func TestShardsWithoutElementsStay(t *testing.T) {
	ctx := context.Background()
	const src = "../bundle/testdata/tf2.21/empty_shards/ckpt"
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if _, err := Convert(ctx, src, at("copy"), nil); err != nil {
		t.Fatal(err)
	}
	same(t, src, at("copy"))
	if _, err := Convert(ctx, src, at("x.safetensors"), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := Convert(ctx, at("x.safetensors"), at("back"), nil); err != nil {
		t.Fatal(err)
	}
	same(t, src, at("back"))
	if _, _, err := Edit(ctx, src, at("edited"), Edits{}, nil); err != nil {
		t.Fatal(err)
	}
	same(t, src, at("edited"))
	if _, err := Merge(ctx, []string{src, fixtures + "guide/ckpt-1"}, at("merged"), &MergeOptions{Graph: fixtures + "guide/ckpt-1"}); err != nil {
		t.Fatal(err)
	}
	s, err := tensorfile.Open(ctx, at("merged"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, name := range s.Names() {
		if _, err := s.Read(ctx, name); err != nil {
			t.Error(err)
		}
	}
}

func TestFileIsNotWrittenThroughALinkThatLiesBesideIt(t *testing.T) {
	dir := t.TempDir()
	f, err := tensorfile.CreateFile(filepath.Join(dir, "x"), false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	g, err := tensorfile.CreateFile(filepath.Join(dir, "x"), false)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Abort()
	if l, _ := os.ReadDir(dir); len(l) != 2 {
		t.Errorf("two writers share the file %v", l)
	}
}

package convert

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestLinksOfADestination checks that a directory that the user names is
// followed also if it is, or is below, a link. Files in it are replaced and
// never written through.
func TestLinksOfADestination(t *testing.T) {
	ctx := context.Background()
	const fixture = fixtures + "guide/ckpt-1"
	for verb, write := range map[string]func(src, dst string) error{
		"convert": func(src, dst string) error {
			_, err := Convert(ctx, src, dst, &Options{Force: true, Lossy: true})
			return err
		},
		"edit": func(src, dst string) error {
			_, _, err := Edit(ctx, src, dst, Edits{}, &Options{Force: true, Lossy: true})
			return err
		},
		"merge": func(src, dst string) error {
			_, err := Merge(ctx, []string{src}, dst, &MergeOptions{Options: Options{Force: true, Lossy: true}})
			return err
		},
	} {
		for _, dst := range []string{"ckpt", "t.npz", "t.safetensors"} {
			if verb == "merge" && dst == "t.safetensors" {
				continue // holds no strings
			}
			t.Run(verb+" "+dst, func(t *testing.T) {
				top := t.TempDir()
				at := func(names ...string) string { return filepath.Join(append([]string{top}, names...)...) }
				copyFixture(t, fixture, at("run", "src"))
				precious := at("elsewhere", "precious")
				for _, f := range []string{precious, at("out", "keep")} {
					if err := os.MkdirAll(filepath.Dir(f), 0o777); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(f, []byte("precious"), 0o666); err != nil {
						t.Fatal(err)
					}
				}
				if err := os.Symlink(filepath.Join("..", "out"), at("run", "link")); err != nil {
					t.Skip(err)
				}
				// Every file that may be written, and a stale one, leads elsewhere.
				files := []string{dst}
				if dst == "ckpt" {
					files = []string{"ckpt.index", "ckpt.data-00000-of-00001", "ckpt.data-00001-of-00002"}
				}
				for _, f := range files {
					if err := os.Symlink(precious, at("out", f)); err != nil {
						t.Fatal(err)
					}
				}
				for range 2 {
					if err := write(at("run", "src"), at("run", "link", dst)); err != nil {
						t.Fatal(err)
					}
				}
				if err := write(at("run", "src"), at("run", "link", "new", dst)); err != nil {
					t.Fatal(err)
				}
				if b, err := os.ReadFile(precious); string(b) != "precious" {
					t.Errorf("the file elsewhere holds %d bytes, %v", len(b), err)
				}
				if got := namesIn(t, at("elsewhere")); !slices.Equal(got, []string{"precious"}) {
					t.Errorf("elsewhere lie %q", got)
				}
				want := append(slices.Clone(files), "keep", "new")
				if dst == "ckpt" {
					want = slices.DeleteFunc(want, func(f string) bool { return strings.Contains(f, "00001-of-00002") })
				}
				slices.Sort(want)
				if got := namesIn(t, at("out")); !slices.Equal(got, want) {
					t.Errorf("in the directory lie %q, want %q", got, want)
				}
				for _, f := range want {
					if i, err := os.Lstat(at("out", f)); err != nil || i.Mode()&os.ModeSymlink != 0 {
						t.Errorf("%s: %v, %v", f, i, err)
					}
				}
				if got := namesIn(t, at("run")); !slices.Equal(got, []string{"link", "src.data-00000-of-00001", "src.index"}) {
					t.Errorf("beside the source lie %q", got)
				}
				same(t, fixture, at("run", "src"))
			})
		}
	}
}

func namesIn(t *testing.T, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range list {
		out = append(out, e.Name())
	}
	return out
}

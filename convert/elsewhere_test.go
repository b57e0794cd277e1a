package convert

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestACopiedDirectoryStandsForItsOwnFiles checks a directory whose state file has the
// absolute path of the original: its own checkpoint comes first, and one in another
// directory is noted.
func TestACopiedDirectoryStandsForItsOwnFiles(t *testing.T) {
	run, dir := t.TempDir(), t.TempDir()
	if err := os.CopyFS(run, os.DirFS(fixtures+"guide")); err != nil {
		t.Fatal(err)
	}
	state := fmt.Sprintf("model_checkpoint_path: %q\n", filepath.Join(run, "ckpt-2"))
	if err := os.WriteFile(filepath.Join(run, "checkpoint"), []byte(state), 0o666); err != nil {
		t.Fatal(err)
	}
	whole, alone := filepath.Join(dir, "copy"), filepath.Join(dir, "state")
	if err := os.CopyFS(whole, os.DirFS(run)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(alone, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(alone, "checkpoint"), []byte(state), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(run, "ckpt-2.data-00000-of-00001")); err != nil {
		t.Fatal(err)
	}
	if res, err := Convert(t.Context(), whole, filepath.Join(dir, "a"), nil); err != nil || len(res.Notes) > 0 {
		t.Errorf("the copy: %+v, %v", res, err)
	}
	if _, err := Convert(t.Context(), run, filepath.Join(dir, "b"), nil); err == nil {
		t.Error("the damaged original was converted")
	}
	data, err := os.ReadFile(filepath.Join(whole, "ckpt-2.data-00000-of-00001"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(run, "ckpt-2.data-00000-of-00001"), data, 0o666); err != nil {
		t.Fatal(err)
	}
	for name, do := range map[string]func() (*Result, error){
		"convert": func() (*Result, error) { return Convert(t.Context(), alone, filepath.Join(dir, "c"), nil) },
		"merge":   func() (*Result, error) { return Merge(t.Context(), []string{alone}, filepath.Join(dir, "d"), nil) },
	} {
		if res, err := do(); err != nil || len(res.Notes) != 1 || !strings.Contains(res.Notes[0], filepath.Join(run, "ckpt-2")) {
			t.Errorf("%s of a checkpoint elsewhere: %+v, %v", name, res, err)
		}
	}
}

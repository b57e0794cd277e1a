package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestVerbsLookAtTheDirectoryThatTheUserNamed checks a copy of a run's directory, whose
// state file has the absolute path of the original.
func TestVerbsLookAtTheDirectoryThatTheUserNamed(t *testing.T) {
	dir := t.TempDir()
	run, copied, state := filepath.Join(dir, "run"), filepath.Join(dir, "copy"), filepath.Join(dir, "state")
	if err := os.CopyFS(run, os.DirFS("testdata/tf2.21/guide")); err != nil {
		t.Fatal(err)
	}
	text := []byte(fmt.Sprintf("model_checkpoint_path: %q\n", filepath.Join(run, "ckpt-2")))
	if err := os.WriteFile(filepath.Join(run, "checkpoint"), text, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(copied, os.DirFS(run)); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(copied, "ckpt-2.data-00000-of-00001")
	b, err := os.ReadFile(data)
	if err != nil {
		t.Fatal(err)
	}
	b[0] ^= 1
	if err := os.WriteFile(data, b, 0o666); err != nil {
		t.Fatal(err)
	}
	if out, stderr, code := cairn(t, "verify", copied); code != exitFound || !strings.Contains(out, data) {
		t.Errorf("verify: %d\n%s%s", code, out, stderr)
	}
	if out, stderr, code := cairn(t, "verify", run); code != 0 {
		t.Errorf("verify of the original: %d\n%s%s", code, out, stderr)
	}
	if err := os.Mkdir(state, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(state, "checkpoint"), text, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"ls", state}, {"cat", state, "step"}, {"stat", state}, {"show", state}, {"verify", state}, {"diff", run, state}, {"diff", state, run}} {
		_, stderr, code := cairn(t, args...)
		if code != 0 || strings.Count(stderr, "in another directory") != 1 || !strings.Contains(stderr, filepath.Join(run, "ckpt-2")) {
			t.Errorf("%v: %d\n%s", args, code, stderr)
		}
	}
}

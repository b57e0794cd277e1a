package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const models = "../../savedmodel/testdata/models/"

func TestRunCallsASignature(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.json")
	for _, text := range []string{`{"inputs": {"x": [[1, 2, 3]]}}`, `{"inputs": [[1, 2, 3]]}`, `{"instances": [[1, 2, 3]]}`, `{"instances": [{"x": [1, 2, 3]}]}`} {
		if err := os.WriteFile(in, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		out, errOut, code := cairn(t, "run", models+"module", "--inputs", in)
		if want := `{"outputs":{"total":179700,"y":[[11,42,93]]}}` + "\n"; out != want || code != 0 {
			t.Errorf("%s gave %q (%d, %s), want %q", text, out, code, errOut, want)
		}
	}
	for _, c := range []struct{ args, want string }{
		{"module", `inputs ["x"] are missing`},
		{"module --signature serve", "serving_default"},
		{"tf1_graphs --tags train", `"serve" "gpu"`},
		{"nothing", "saved_model.pb"},
		{"module --outputs x.txt", ".npz and .json"},
	} {
		args := strings.Fields(c.args)
		args[0] = models + args[0]
		if _, errOut, code := cairn(t, append([]string{"run"}, args...)...); code != 2 || !strings.Contains(errOut, c.want) {
			t.Errorf("run %s: %d, %s, want %q", c.args, code, errOut, c.want)
		}
	}
}

func TestRunWritesWhatItReads(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.json"), filepath.Join(dir, "out.npz")
	if err := os.WriteFile(in, []byte(`{"inputs": {"x": [[1, 2, 3]]}}`), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, errOut, code := cairn(t, "run", models+"module", "--inputs", in, "--outputs", out); code != 0 {
		t.Fatal(errOut)
	}
	text, errOut, code := cairn(t, "cat", out, "y")
	if code != 0 || !strings.Contains(text, "11") {
		t.Error(text, errOut)
	}
	if _, errOut, code := cairn(t, "run", models+"module", "--inputs", in, "--outputs", out); code != 2 {
		t.Errorf("a file was replaced unasked: %s", errOut)
	}
}

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// TestFaultsThatAreNotListedAreCounted: of very many faults the first are listed
// and the others counted; --full and --json list all.
func TestFaultsThatAreNotListedAreCounted(t *testing.T) {
	const n = maxFaults + 50
	dir := t.TempDir()
	w, err := bundle.NewWriter(vfs.OSDir(dir), "bad", &bundle.WriterOptions{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := w.Add(t.Context(), fmt.Sprintf("v%03d", i), tensor.Scalar(int8(i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, bundle.DataName("bad", 0, 1))
	b, err := os.ReadFile(data)
	if err != nil {
		t.Fatal(err)
	}
	for i := range b {
		b[i] ^= 1
	}
	if err := os.WriteFile(data, b, 0o666); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for line, want := range map[string]struct {
		faults int
		words  []string
	}{
		"verify bad":        {maxFaults, []string{"… 50 more; --full lists them", "bad: damaged, 150 faults, in 150 of 150 tensors"}},
		"verify --full bad": {n, []string{"bad: damaged, 150 faults, in 150 of 150 tensors"}},
		"verify --json bad": {n, nil},
	} {
		var out strings.Builder
		runLine(t, &out, line)
		if got := strings.Count(out.String(), "the checksum of its"); got != want.faults {
			t.Errorf("%s: %d faults are listed, want %d", line, got, want.faults)
		}
		for _, w := range want.words {
			if !strings.Contains(out.String(), w+"\n") {
				t.Errorf("%s: the output doesn't say %q", line, w)
			}
		}
	}
}

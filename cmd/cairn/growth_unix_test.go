//go:build unix

package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/internal/testkit/detector"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// cpuTime returns the processor time of the process, which other programs change
// little.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestTimeGrowsWithTheEntries: for four times as many entries a verb may take so much
// longer, and not sixteen times as long, as something quadratic does.
func TestTimeGrowsWithTheEntries(t *testing.T) {
	if testing.Short() || detector.Racing {
		t.Skip("takes half a minute")
	}
	const n, factor, most = 12_000, 4, 9
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	graph := func(name string, n int) {
		root := &struct{ Vars []*trackable.Variable }{}
		for i := range n {
			root.Vars = append(root.Vars, trackable.NewVariable(tensor.Scalar(float32(i))).Named(fmt.Sprint("v", i)))
		}
		ck, err := checkpoint.New(root, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := ck.WriteTo(t.Context(), vfs.OSDir(dir), name); err != nil {
			t.Fatal(err)
		}
	}
	command := func(args ...string) {
		code := run(t.Context(), &app{in: strings.NewReader(""), out: io.Discard, err: io.Discard, width: 80}, args)
		if code != 0 && (args[0] != "diff" || code != 1) {
			t.Fatalf("cairn %s: exit status %d", args, code)
		}
	}
	for _, size := range []string{"few", "many"} {
		k := n
		if size == "many" {
			k *= factor
		}
		flatCheckpoint(t, dir, size+"flat", k)
		graph(size+"graph", k)
		for _, kind := range []string{"flat", "graph"} { // names that only one side has, and values that differ
			command("edit", at(size+kind), at(size+kind+"other"), "--rename", "([0-4])(/|$)=x$1$2", "--lossy", "-q")
		}
		command("edit", at(size+"flat"), at(size+"flatlast"), "--rename", "^=z", "-q")
		command("edit", at(size+"graph"), at(size+"graphlast"), "--cast", ".=int32", "--lossy", "-q")
	}
	for _, kind := range []string{"flat", "graph"} {
		for _, words := range []string{
			"ls SRC", "show SRC", "show SRC --json", "show SRC --svg", "stat SRC", "verify SRC", "recover SRC",
			"cat SRC *0*", "diff SRC SRC", "diff SRC SRCother",
			"convert SRC DST", "convert SRC DST.safetensors", "convert SRC DST.npz", "convert DST.safetensors DSTback",
			"edit SRC DST --force --rename (.*)=y$1", "edit SRC DST --force --drop [0-7](/|$)", "edit SRC DST --force --cast [0-7](/|$)=float64 --lossy",
			"merge SRC SRClast DST",
		} {
			if kind == "graph" && strings.HasPrefix(words, "merge") {
				words += " --join a,b"
			}
			took := func(size string) time.Duration {
				args := strings.Fields(strings.NewReplacer("SRC", at(size+kind), "DST", at(size+kind+"-made")).Replace(words))
				if slices.Contains([]string{"convert", "merge"}, args[0]) {
					args = append(args, "--force")
				}
				before := cpuTime(t)
				command(args...)
				return cpuTime(t) - before
			}
			var few, many time.Duration
			ok := false
			for range 4 { // times on a shared processor are wrong now and then, but not each time
				few, many = took("few"), took("many")
				if ok = many < most*max(few, 20*time.Millisecond); ok {
					break
				}
			}
			if !ok {
				t.Errorf("cairn %s (%s): %v for %d entries, %v for %d", words, kind, few, n, many, n*factor)
			} else {
				t.Logf("cairn %s (%s): %v, %v", words, kind, few, many)
			}
		}
	}
}

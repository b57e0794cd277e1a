package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/limit"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// peakOf returns the largest growth of the heap while f runs, garbage included,
// as far as frequent samples show.
func peakOf(f func()) int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before, peak := int64(m.HeapAlloc), int64(0)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			runtime.ReadMemStats(&m)
			peak = max(peak, int64(m.HeapAlloc)-before)
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	f()
	close(stop)
	<-stopped
	return peak
}

// TestManyEntriesTakeMemoryByTheirBytes checks that a verb's memory for an index of many
// small tensors stays within the limits, without a quarter of the part that every file may
// take.
func TestManyEntriesTakeMemoryByTheirBytes(t *testing.T) {
	n := 300_000
	if testing.Short() {
		n = 50_000
	}
	dir := t.TempDir()
	flatCheckpoint(t, dir, "many", n)
	src, at := filepath.Join(dir, "many"), func(name string) string { return filepath.Join(dir, name) }
	for _, c := range []struct {
		args  []string
		files []string // the files by whose size memory is bounded: those that are read, and, if all of it changes, those that are written
	}{
		{[]string{"ls", src}, []string{"many"}},
		{[]string{"stat", src}, []string{"many"}},
		{[]string{"show", src}, []string{"many"}},
		{[]string{"verify", src}, []string{"many"}},
		{[]string{"recover", src}, []string{"many"}},
		{[]string{"cat", src, "v000001"}, []string{"many"}},
		{[]string{"diff", src, src}, []string{"many"}},
		{[]string{"convert", src, at("copy")}, []string{"many"}},
		{[]string{"convert", src, at("copy.safetensors")}, []string{"many"}},
		{[]string{"convert", at("copy.safetensors"), at("again")}, []string{"copy.safetensors"}},
		{[]string{"convert", src, at("copy.npz")}, []string{"many", "copy.npz"}},
		{[]string{"edit", src, at("edited"), "--rename", "v(.*)=w$1"}, []string{"many", "edited"}},
		{[]string{"merge", src, at("edited"), at("merged")}, []string{"many", "edited", "merged"}},
	} {
		args := c.args
		code := 0
		peak := peakOf(func() {
			code = run(t.Context(), &app{in: strings.NewReader(""), out: io.Discard, err: io.Discard, width: 80}, args)
		})
		if code != 0 {
			t.Errorf("cairn %s: exit status %d", args[0], code)
		}
		stored := int64(0)
		for _, name := range c.files {
			stored += storedAt(t, at(name))
		}
		if most := limit.Memory(stored) - limit.Base/4; peak > most {
			t.Errorf("cairn %s: %d MiB for files of %d bytes, more than %d MiB", strings.Join(args[:len(args)-1], " "), peak>>20, stored, most>>20)
		} else {
			t.Logf("cairn %s: %d MiB of %d", args[0], peak>>20, most>>20)
		}
	}
}

// flatCheckpoint writes a checkpoint of n scalars without an object graph.
func flatCheckpoint(t *testing.T, dir, name string, n int) {
	t.Helper()
	w, err := bundle.NewWriter(vfs.OSDir(dir), name, &bundle.WriterOptions{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	x := tensor.Must(tensor.Zeros(tensor.Int8))
	for i := range n {
		if err := w.Add(t.Context(), fmt.Sprintf("v%06x", i), x); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// storedAt returns the bytes of a file, or of the checkpoint with that prefix.
func storedAt(t *testing.T, path string) (n int64) {
	t.Helper()
	files, err := filepath.Glob(path + ".*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(files, path) {
		info, err := os.Stat(name)
		if err != nil {
			continue // a prefix
		}
		if ext := filepath.Ext(name); name == path || ext == ".index" || strings.HasPrefix(ext, ".data-") {
			n += info.Size()
		}
	}
	if n == 0 {
		t.Fatalf("nothing lies at %s", path)
	}
	return n
}

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

// peakOf returns how much the heap grows at most while f runs, garbage included,
// as far as looking often tells.
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

// TestManyEntriesTakeMemoryByTheirBytes: what a verb takes for an index of many small
// tensors stays within what the limits allow, without a quarter of the part that every file
// may take.
func TestManyEntriesTakeMemoryByTheirBytes(t *testing.T) {
	n := 300_000
	if testing.Short() {
		n = 50_000
	}
	dir := t.TempDir()
	w, err := bundle.NewWriter(vfs.OSDir(dir), "many", &bundle.WriterOptions{NoSync: true})
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
	var stored int64
	for _, name := range w.Files() {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		stored += info.Size()
	}
	w = nil
	src := filepath.Join(dir, "many")
	for _, args := range [][]string{
		{"ls", src}, {"stat", src}, {"diff", src, src}, {"convert", src, filepath.Join(dir, "copy")}, {"convert", src, filepath.Join(dir, "copy.safetensors")},
	} {
		code := 0
		peak := peakOf(func() {
			code = run(t.Context(), &app{in: strings.NewReader(""), out: io.Discard, err: io.Discard, width: 80}, args)
		})
		if code != 0 {
			t.Errorf("cairn %s: exit status %d", args[0], code)
		}
		if most := limit.Memory(stored) - limit.Base/4; peak > most {
			t.Errorf("cairn %s: %d MiB for files of %d bytes, more than %d MiB", strings.Join(args[:len(args)-1], " "), peak>>20, stored, most>>20)
		} else {
			t.Logf("cairn %s: %d MiB of %d", args[0], peak>>20, most>>20)
		}
	}
}

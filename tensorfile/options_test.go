package tensorfile

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// TestObjectGraphsOutOfProportionAreRefused: a graph of empty nodes, two bytes
// each, is refused before it is decoded, and can be asked for.
func TestObjectGraphsOutOfProportionAreRefused(t *testing.T) {
	ctx := t.Context()
	prefix := filepath.Join(t.TempDir(), "c")
	w, err := bundle.NewWriter(vfs.OSDir(filepath.Dir(prefix)), "c", &bundle.WriterOptions{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	raw := bytes.Repeat([]byte{1<<3 | 2, 0}, 300_000)
	if err := errors.Join(w.Add(ctx, GraphKey, tensor.Scalar(string(raw))), w.Finish(ctx)); err != nil {
		t.Fatal(err)
	}
	graph := func(o *Options) (int, error) {
		s, err := Open(ctx, prefix, o)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		g, err := s.Graph(ctx)
		if err != nil {
			return 0, err
		}
		return len(g.Nodes), nil
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = graph(nil)
	runtime.ReadMemStats(&after)
	if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "MaxMemory raises it") {
		t.Errorf("by default: %v", err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 16<<20 {
		t.Errorf("%d bytes are allocated before the graph is refused", n)
	}
	if n, err := graph(&Options{MaxMemory: 256 << 20}); err != nil || n != 300_000 {
		t.Errorf("raised: %d nodes, %v", n, err)
	}
}

// TestSafetensorsHeaderInAHoleIsRefused: a header that claims the length of a
// hole isn't read.
func TestSafetensorsHeaderInAHoleIsRefused(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("holes can't be told on every system")
	}
	path := filepath.Join(t.TempDir(), "x.safetensors")
	const n = 90_000_000
	if err := os.WriteFile(path, binary.LittleEndian.AppendUint64(nil, n), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, n+8); err != nil {
		t.Fatal(err)
	}
	_, err := Open(context.Background(), path, nil)
	if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "on the disk") {
		t.Errorf("by default: %v", err)
	}
	_, err = Open(context.Background(), path, &Options{MaxMemory: n})
	if err == nil || !strings.Contains(err.Error(), "doesn't begin with {") {
		t.Errorf("raised: %v", err)
	}
}

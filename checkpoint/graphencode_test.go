package checkpoint

import (
	"bytes"
	"math"
	"runtime"
	"strconv"
	"testing"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/testkit/detector"
	"github.com/cairnml/cairn/vfs"
)

// TestGraphIsEncodedAsItsMessage holds the encoding against the generated one of the
// message that it decodes to.
func TestGraphIsEncodedAsItsMessage(t *testing.T) {
	ck := newCheckpoint(t, newStacks(), &Options{Savers: stackSavers(t)})
	for name, ck := range map[string]*Checkpoint{"savers": ck, "many": newCheckpoint(t, manyVariables(3000), nil)} {
		sn, err := ck.snapshot(ctx)
		if err != nil {
			t.Fatal(err)
		}
		raw := []byte(sn.encoded().Tensor.Strings()[0])
		sn.release()
		var g pb.TrackableObjectGraph
		if err := g.Unmarshal(raw); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(g.Marshal(), raw) {
			t.Errorf("%s: %d bytes, the message has %d", name, len(raw), len(g.Marshal()))
		}
		for id, n := range g.Nodes {
			if n.HasCheckpointValues == nil || len(n.Attributes) > 0 && !n.HasCheckpointValues.Value {
				t.Errorf("%s: node %d: %v", name, id, n.HasCheckpointValues)
			}
		}
	}
}

// TestManySmallVariablesTakeLittle checks the number of allocations that a save and a
// restore make for each variable besides its value. Each worker has buffers, and the
// scheduler decides how many are in flight. So it runs on one processor and takes the
// least of a few counts.
func TestManySmallVariablesTakeLittle(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const n = 20_000
	root := manyVariables(n)
	ck := newCheckpoint(t, root, nil)
	dir := vfs.OSDir(t.TempDir())
	allocated := func(f func()) (bytes, count float64) {
		bytes, count = math.Inf(1), math.Inf(1)
		for range 4 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			f()
			runtime.ReadMemStats(&after)
			bytes = min(bytes, float64(after.TotalAlloc-before.TotalAlloc)/n)
			count = min(count, float64(after.Mallocs-before.Mallocs)/n)
		}
		return bytes, count
	}
	save, saves := allocated(func() {
		if err := ck.WriteTo(ctx, dir, "ckpt"); err != nil {
			t.Fatal(err)
		}
	})
	restore, restores := allocated(func() {
		if _, err := ck.ReadFS(ctx, dir, "ckpt", nil); err != nil {
			t.Fatal(err)
		}
	})
	t.Logf("save %.0f bytes a variable in %.2f allocations, restore %.0f in %.2f", save, saves, restore, restores)
	// If int has 32 bits, more of a variable's description is allocated separately.
	if strconv.IntSize == 64 && (saves > 0.1 || restores > 0.1) {
		t.Errorf("%.2f allocations a variable for a save, %.2f for a restore", saves, restores)
	}
	if detector.Racing {
		return // because that is allocated separately
	}
	if save > 1080 || restore > 540 {
		t.Errorf("a save allocates %.0f bytes a variable, a restore %.0f", save, restore)
	}
}

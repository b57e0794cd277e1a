package checkpoint

import (
	"errors"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/limit"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/trackable"
)

// peakOf returns by how much the heap grows at most while f runs, as far as
// frequent samples show.
func peakOf(f func()) int64 {
	defer debug.SetGCPercent(debug.SetGCPercent(10))
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
			case <-time.After(time.Millisecond):
			}
		}
	}()
	f()
	close(stop)
	<-stopped
	return peak
}

// TestRestoringAGraphTakesMemoryByItsBytes checks graphs of small messages in a
// file that need much more memory when decoded. A restore refuses those beyond
// the limit, and names the option; the memory for others stays within the limit.
func TestRestoringAGraphTakesMemoryByItsBytes(t *testing.T) {
	const size = 3 << 20
	node := &pb.TrackableObject{}
	many := func(n *pb.TrackableObject, each int) string {
		nodes := make([]*pb.TrackableObject, size/each)
		for i := range nodes {
			nodes[i] = n
		}
		nodes[0] = &pb.TrackableObject{}
		return marshal(nodes...)
	}
	chain := make([]*pb.TrackableObject, size/10)
	for i := range chain {
		chain[i] = &pb.TrackableObject{}
		if i+1 < len(chain) {
			chain[i].Children = []*pb.ObjectReference{child("n", int32(i+1))}
		}
	}
	fan := &pb.TrackableObject{}
	for range size / 6 {
		fan.Children = append(fan.Children, child("n", 0))
	}
	slots := &pb.TrackableObject{}
	for range size / 4 {
		slots.SlotVariables = append(slots.SlotVariables, &pb.SlotVariableReference{SlotName: "m"})
	}
	for name, c := range map[string]struct {
		graph   string
		refused bool
	}{
		"empty nodes": {strings.Repeat("\x0a\x00", size/2), true},
		"attributes":  {many(&pb.TrackableObject{Attributes: []*pb.SerializedTensor{{}}}, 4), true},
		"a chain":     {marshal(chain...), false},
		"a fan":       {marshal(fan, node), false},
		"slots":       {marshal(slots, node), false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := withGraph(t, c.graph)
			most := limit.Memory(int64(len(c.graph)))
			restore := func(o *bundle.ReaderOptions) (err error) {
				ck := newCheckpoint(t, &struct{ V *trackable.Variable }{variable(0)}, &Options{Reader: o})
				_, err = ck.RestoreFS(ctx, dir, "ckpt", &RestoreOptions{Partial: true, AllowMissing: true})
				return err
			}
			var err error
			peak := peakOf(func() { err = restore(nil) })
			t.Logf("%d bytes of graph take at most %d of %d: %v", len(c.graph), peak, most, err)
			if peak > most {
				t.Errorf("%d bytes of graph take %d, the most is %d", len(c.graph), peak, most)
			}
			if refused := errors.Is(err, errors.ErrUnsupported) && strings.Contains(err.Error(), "ReaderOptions.MaxMemory"); refused != c.refused || err != nil && !refused {
				t.Errorf("by default: %v, want it refused: %v", err, c.refused)
			}
			if c.refused {
				if err := restore(&bundle.ReaderOptions{MaxMemory: 4 << 30}); err != nil {
					t.Errorf("with the option: %v", err)
				}
			}
		})
	}
}

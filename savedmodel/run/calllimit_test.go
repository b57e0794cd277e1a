package run_test

import (
	"context"
	"errors"
	"runtime/metrics"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/testkit/detector"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
)

// wideModel makes 4 MiB of 64 KiB, twice, and takes the largest of them.
const wideModel = `meta_graphs { meta_info_def { tags: 'serve' } graph_def {
	node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }
	node { name: 'times' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } } attr { key: 'value' value { tensor { dtype: DT_INT32 tensor_shape { dim { size: 2 } } int_val: [64, 1] } } } }
	node { name: 'axis' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } } attr { key: 'value' value { tensor { dtype: DT_INT32 tensor_shape { } int_val: 0 } } } }
	node { name: 'tile' op: 'Tile' input: ['x', 'times'] attr { key: 'T' value { type: DT_FLOAT } } attr { key: 'Tmultiples' value { type: DT_INT32 } } }
	node { name: 'axes' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } } attr { key: 'value' value { tensor { dtype: DT_INT32 tensor_shape { dim { size: 1 } } int_val: 0 } } } }
	node { name: 'more' op: 'ReverseV2' input: ['tile', 'axes'] attr { key: 'T' value { type: DT_FLOAT } } attr { key: 'Tidx' value { type: DT_INT32 } } }
	node { name: 'y' op: 'Max' input: ['more', 'axis'] attr { key: 'T' value { type: DT_FLOAT } } attr { key: 'Tidx' value { type: DT_INT32 } } } }
	signature_def { key: 'serving_default' value { inputs { key: 'x' value { name: 'x:0' dtype: DT_FLOAT } } outputs { key: 'y' value { name: 'y:0' dtype: DT_FLOAT } } } } }`

func wide(t *testing.T, calls int) *run.Model {
	t.Helper()
	var p pb.SavedModel
	if err := pb.UnmarshalText([]byte(wideModel), &p); err != nil {
		t.Fatal(err)
	}
	m, err := run.Load(ctx, fstest.MapFS{"saved_model.pb": {Data: p.Marshal()}}, &run.LoadOptions{Kernels: kernel.All(), MaxCalls: calls})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// live returns how many bytes objects have, those that the collector would free included.
func live() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// TestMaxCallsBoundsMemory runs 64 callers of a model whose call takes
// 8 MiB. Four calls run at once, so 32 MiB are live; with garbage it stays
// below 100 MiB.
func TestMaxCallsBoundsMemory(t *testing.T) {
	if detector.Racing {
		t.Skip("the race detector has memory of its own")
	}
	m := wide(t, 4)
	in := map[string]*tensor.Tensor{"x": tensor.Must(tensor.Zeros(tensor.Float32, 16, 1024))}
	begin := live()
	sampling, stop := context.WithCancel(ctx)
	most := make(chan uint64)
	go func() {
		highest := uint64(0)
		for {
			select {
			case <-sampling.Done():
				most <- highest
				return
			case <-time.After(time.Millisecond):
				highest = max(highest, live())
			}
		}
	}()
	var callers sync.WaitGroup
	for range 64 {
		callers.Go(func() {
			if _, err := m.Call(ctx, "serving_default", in); err != nil {
				t.Error(err)
			}
		})
	}
	callers.Wait()
	stop()
	if high := <-most; high > begin+100<<20 {
		t.Errorf("64 callers took %d MiB", (high-begin)>>20)
	}
}

// TestWaitingCallsEndWithTheContext checks that such a call returns the context's error.
func TestWaitingCallsEndWithTheContext(t *testing.T) {
	m := wide(t, 1)
	in := map[string]*tensor.Tensor{"x": tensor.Must(tensor.Zeros(tensor.Float32, 16, 1024))}
	ended, cancel := context.WithTimeout(ctx, time.Microsecond)
	defer cancel()
	<-ended.Done() // the timer of a busy machine may be late
	var callers sync.WaitGroup
	for i := range 16 {
		callers.Go(func() {
			if i%2 == 0 {
				if _, err := m.Call(ctx, "serving_default", in); err != nil {
					t.Error(err)
				}
			} else if _, err := m.Call(ended, "serving_default", in); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v, want that of the context", err)
			}
		})
	}
	callers.Wait()
	if _, err := m.Call(ctx, "serving_default", in); err != nil {
		t.Error(err)
	}
}

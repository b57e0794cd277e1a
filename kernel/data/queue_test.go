package data_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/kernel/data"
	"github.com/cairnml/cairn/tensor"
)

func (b *body) queue(op string, capacity int64) graph.Output {
	return b.add(op, graph.Attrs{graph.Types("component_types", tensor.Int64), graph.Shapes("shapes", graph.ShapeOf()),
		graph.Int("capacity", capacity), graph.String("shared_name", "numbers")})
}

func (b *body) plan(out ...graph.Output) *engine.Plan {
	b.t.Helper()
	for _, o := range out {
		if len(o.Node.Out) == 0 {
			b.Control = append(b.Control, graph.ControlResult{Name: o.Node.Name, Node: o.Node})
			continue
		}
		b.AddResult("", o)
	}
	p, err := engine.Compile(b.Function, &engine.CompileOptions{Kernels: kernel.All()})
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

var number = graph.Attrs{graph.Types("component_types", tensor.Int64)}

// TestQueuesDontHang asks an empty queue for an element, and a full one for room.
func TestQueuesDontHang(t *testing.T) {
	for _, op := range []string{"FIFOQueueV2", "FIFOQueue", "RandomShuffleQueueV2", "PaddingFIFOQueueV2"} {
		v2 := ""
		if strings.HasSuffix(op, "V2") {
			v2 = "V2"
		}
		get := newBody(t, "get")
		empty := get.plan(get.add("QueueDequeue"+v2, number, get.queue(op, 1)))
		put := newBody(t, "put", tensor.Int64)
		full := put.plan(put.add("QueueEnqueue"+v2, nil, put.queue(op, 1), put.arg(0)))
		o := &engine.RunOptions{Instance: new(engine.Instance)}
		soon := func() context.Context {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
			t.Cleanup(cancel)
			return ctx
		}
		one := []engine.Value{engine.ValueOf(tensor.Scalar[int64](1))}
		for _, x := range []struct {
			what string
			run  func(ctx context.Context) error
		}{
			{"an empty queue", func(ctx context.Context) error { _, err := empty.Run(ctx, nil, o); return err }},
			{"a full queue", func(ctx context.Context) error { _, err := full.Run(ctx, one, o); return err }},
		} {
			if err := x.run(context.Background()); err == nil || !strings.Contains(err.Error(), `"numbers"`) {
				t.Errorf("%s of a %s: error %v", x.what, op, err)
			}
			if err := x.run(soon()); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), `"numbers"`) {
				t.Errorf("%s of a %s, with a context: error %v", x.what, op, err)
			}
			if _, err := full.Run(context.Background(), one, o); err != nil && x.what == "an empty queue" {
				t.Error(err)
			}
		}
	}
}

// TestQueuesServeOtherCalls moves numbers from some goroutines to others, through a
// queue with little room.
func TestQueuesServeOtherCalls(t *testing.T) {
	put := newBody(t, "put", tensor.Int64)
	full := put.plan(put.add("QueueEnqueueV2", nil, put.queue("FIFOQueueV2", 3), put.arg(0)))
	get := newBody(t, "get")
	some := get.plan(get.add("QueueDequeueUpToV2", number, get.queue("FIFOQueueV2", 3), tensor.Scalar[int32](4)))
	end := newBody(t, "end")
	closing := end.plan(end.add("QueueCloseV2", nil, end.queue("FIFOQueueV2", 3)))
	o := &engine.RunOptions{Instance: new(engine.Instance)}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	const each = 50
	var makers, takers sync.WaitGroup
	for g := range 4 {
		makers.Go(func() {
			for i := range each {
				if _, err := full.Run(ctx, []engine.Value{engine.ValueOf(tensor.Scalar(int64(g*each + i)))}, o); err != nil {
					t.Error(err)
				}
			}
		})
	}
	var mu sync.Mutex
	seen := map[int64]int{}
	for range 3 {
		takers.Go(func() {
			for {
				out, err := some.Run(ctx, nil, o)
				if err != nil {
					if !errors.Is(err, data.ErrQueueClosed) || !errors.Is(err, data.ErrEndOfSequence) {
						t.Error(err)
					}
					return
				}
				mu.Lock()
				for _, v := range tensor.Values[int64](out[0].Tensor) {
					seen[v]++
				}
				mu.Unlock()
			}
		})
	}
	makers.Wait()
	if _, err := closing.Run(ctx, nil, o); err != nil {
		t.Error(err)
	}
	takers.Wait()
	for i := range int64(4 * each) {
		if seen[i] != 1 {
			t.Errorf("%d came %d times", i, seen[i])
		}
	}
}

// TestWhatIsNotTakenStays asks for more elements than there are; they are there
// afterwards, in their order.
func TestWhatIsNotTakenStays(t *testing.T) {
	for _, op := range []string{"FIFOQueueV2", "PriorityQueueV2"} {
		attrs := graph.Attrs{graph.Types("component_types", tensor.Int64), graph.Shapes("shapes", graph.ShapeOf()), graph.String("shared_name", "numbers")}
		types := number
		args := []tensor.DType{tensor.Int64, tensor.Int64}
		if op == "PriorityQueueV2" {
			types = graph.Attrs{graph.Types("component_types", tensor.Int64, tensor.Int64)}
		}
		put := newBody(t, "put", args...)
		in := []any{put.add(op, attrs), put.arg(0)}
		if op == "PriorityQueueV2" {
			in = append(in, put.arg(1))
		}
		full := put.plan(put.add("QueueEnqueueV2", nil, in...))
		get := newBody(t, "get")
		three := get.plan(get.add("QueueDequeueManyV2", types, get.add(op, attrs), tensor.Scalar[int32](3)))
		o := &engine.RunOptions{Instance: new(engine.Instance)}
		for i := range int64(3) {
			if _, err := three.Run(context.Background(), nil, o); err == nil {
				t.Errorf("three elements of %d", i)
			}
			if _, err := full.Run(context.Background(), []engine.Value{engine.ValueOf(tensor.Scalar(i)), engine.ValueOf(tensor.Scalar(i))}, o); err != nil {
				t.Fatal(err)
			}
		}
		out, err := three.Run(context.Background(), nil, o)
		if err != nil || !out[0].Tensor.Equal(tensor.Vector[int64](0, 1, 2)) {
			t.Errorf("%s: %v (%v)", op, out, err)
		}
	}
}

package engine

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// TestLoopsEndWithTheirContext checks that a loop on all cores ends soon after its
// context, and that the kernel doesn't use half of its results. A kernel that may
// change a variable finishes, unless it has settled.
func TestLoopsEndWithTheirContext(t *testing.T) {
	const n = 5000
	cause := errors.New("enough")
	for _, c := range []struct {
		name     string
		in       Value
		workers  *Workers
		settles  bool
		finishes bool
	}{
		{"on one core", Value{Tensor: tensor.Scalar(float32(1))}, nil, false, false},
		{"with helpers", Value{Tensor: tensor.Scalar(float32(1))}, NewWorkers(3), false, false},
		{"with a handle", Value{Object: trackable.NewVariable(tensor.Scalar(float32(1)))}, NewWorkers(3), false, true},
		{"with a handle that has settled", Value{Object: trackable.NewVariable(tensor.Scalar(float32(1)))}, NewWorkers(3), true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(context.Background())
			defer cancel(nil)
			var ran atomic.Int64
			wentOn, settles := false, c.settles
			ks, err := NewKernelSet([]Kernel{{Op: "Slow", Run: func(c *Call) error {
				if settles {
					c.Refs().Settle()
				}
				c.Parallel(n, 1e5, func(lo, hi int) {
					for range hi - lo {
						if ran.Add(1) == 20 {
							cancel(cause)
						}
						time.Sleep(10 * time.Microsecond)
					}
				})
				wentOn = true
				return nil
			}}})
			if err != nil {
				t.Fatal(err)
			}
			p, err := ks.Prepare(&Node{Op: "Slow", In: []graph.Fact{c.in.fact()}})
			if err != nil {
				t.Fatal(err)
			}
			var call Runner
			call.Begin(ctx, &Env{Workers: c.workers})
			call.Add(c.in)
			err = call.Run(p)
			if wentOn != c.finishes {
				t.Errorf("the kernel went on: %v, want %v", wentOn, c.finishes)
			}
			if c.finishes {
				if err != nil || ran.Load() != n {
					t.Errorf("error %v after %d of %d indices", err, ran.Load(), n)
				}
				return
			}
			if err != cause {
				t.Errorf("error %v, want the context's cause", err)
			}
			if ran.Load() > 100 {
				t.Errorf("%d indices ran after the end of the context", ran.Load()-20)
			}
		})
	}
}

// TestScratchThatDoesNotFitIsAnErrorOfTheCall checks the account of scratch memory.
func TestScratchThatDoesNotFitIsAnErrorOfTheCall(t *testing.T) {
	for _, c := range []struct {
		name         string
		bytes, limit int
		fits         bool
	}{
		{"within the limit", 1000, 1 << 20, true},
		{"over the limit", 1 << 21, 1 << 20, false},
		{"more than the machine has", int(^uint(0) >> 2), 0, false},
		{"a product that overflowed", -8, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			ks, err := NewKernelSet([]Kernel{{Op: "Greedy", Run: func(call *Call) error {
				mem, free := call.Scratch(c.bytes)
				defer free()
				mem[0] = 1
				return nil
			}}})
			if err != nil {
				t.Fatal(err)
			}
			p, err := ks.Prepare(&Node{Op: "Greedy"})
			if err != nil {
				t.Fatal(err)
			}
			arena := NewArena()
			defer arena.Close()
			arena.Limit = int64(c.limit)
			var call Runner
			call.Begin(context.Background(), &Env{Arena: arena})
			err = call.Run(p)
			var panicked *PanicError
			if (err == nil) != c.fits || errors.As(err, &panicked) {
				t.Errorf("error %v, want none: %v", err, c.fits)
			}
		})
	}
}

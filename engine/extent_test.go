package engine

import (
	"context"
	"errors"
	"testing"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// TestKernelsSeeNoHugeExtents checks the rule for tensors without elements: the
// kernel does not run. The shape rule computes the result, or the op is
// refused.
func TestKernelsSeeNoHugeExtents(t *testing.T) {
	if int(^uint(0)>>1) == 1<<31-1 {
		t.Skip("needs dimensions of 64 bits")
	}
	ran := false
	run := func(c *Call) error {
		ran = true
		c.Set(0, c.In(0))
		return nil
	}
	ks, err := NewKernelSet([]Kernel{{Op: "Softmax", Run: run}, {Op: "Sum", Run: run}, {Op: "Identity", Run: run}, {Op: "Mine", Run: run}})
	if err != nil {
		t.Fatal(err)
	}
	huge := func(dims ...int) Value {
		v, err := tensor.Zeros(tensor.Float32, dims...)
		if err != nil {
			t.Fatal(err)
		}
		return Value{Tensor: v}
	}
	size := 1 << 30
	for _, c := range []struct {
		name    string
		op      string
		in      []Value
		want    tensor.Shape // nil: refused
		wantRun bool
	}{
		{"all outputs are empty", "Softmax", []Value{huge(size, 0)}, tensor.Shape{size, 0}, false},
		{"small dimensions", "Softmax", []Value{huge(1000, 0)}, tensor.Shape{1000, 0}, true},
		{"the shape rule refuses", "Softmax", []Value{huge(size, 0), huge(1)}, nil, false},
		{"an output has elements", "Sum", []Value{huge(size, 0), {Tensor: tensor.Scalar(int32(1))}}, nil, false},
		{"an output has none", "Sum", []Value{huge(size, 0), {Tensor: tensor.Scalar(int32(0))}}, tensor.Shape{0}, false},
		{"an op that hands tensors on", "Identity", []Value{huge(size, 0)}, tensor.Shape{size, 0}, true},
		{"an op without a definition", "Mine", []Value{huge(size, 0)}, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			ran = false
			var call Runner
			call.Begin(context.Background(), &Env{})
			for _, v := range c.in {
				call.Add(v)
			}
			n := &Node{Op: c.op, In: make([]graph.Fact, len(c.in))}
			for i, v := range c.in {
				n.In[i] = v.fact()
			}
			p, err := ks.Prepare(n)
			if err != nil {
				t.Fatal(err)
			}
			err = call.Run(p)
			if ran != c.wantRun {
				t.Errorf("the kernel ran: %v, want %v", ran, c.wantRun)
			}
			if c.want == nil {
				var extent *ExtentError
				if !errors.As(err, &extent) || !errors.Is(err, errors.ErrUnsupported) {
					t.Errorf("error %v, want an *ExtentError", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := call.Results()[0].Tensor; !got.Shape().Equal(c.want) || got.DType() != tensor.Float32 {
				t.Errorf("output %v%v, want float32%v", got.DType(), got.Shape(), c.want)
			}
		})
	}
}

package kernel_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// filled returns a tensor of a shape whose elements all are v.
func filled[T tensor.Element](v T, shape ...int) *tensor.Tensor {
	n := 1
	for _, d := range shape {
		n *= d
	}
	x := make([]T, n)
	for i := range x {
		x[i] = v
	}
	return tensor.Must(tensor.New(x, shape...))
}

// boxes returns n boxes that do not overlap.
func boxes(n int) *tensor.Tensor {
	t := filled[float32](0, n, 4)
	v := tensor.Values[float32](t)
	for i := range n {
		copy(v[4*i:], []float32{float32(i), 0, float32(i) + 0.5, 1})
	}
	return t
}

// pairs returns the indices of a sparse tensor of shape [1, n] without gaps.
func pairs(n int) *tensor.Tensor {
	t := filled[int64](0, n, 2)
	v := tensor.Values[int64](t)
	for i := range n {
		v[2*i+1] = int64(i)
	}
	return t
}

// ramp returns a square matrix of rank n.
func ramp(n int) *tensor.Tensor {
	t := filled[float64](0, n, n)
	v := tensor.Values[float64](t)
	for i := range v {
		v[i] = float64(i*i%1009) / 1009
	}
	return t
}

// TestKernelsEndWithTheirContext calls kernels with work for many seconds and ends their
// context: each returns soon, with the context's error.
func TestKernelsEndWithTheirContext(t *testing.T) {
	const after, grace = 50 * time.Millisecond, 2 * time.Second // the machine may be busy
	image := func(n int) *tensor.Tensor { return filled[float32](1, 1, n, n, 1) }
	window := func(n int64) graph.Attrs {
		return graph.Attrs{graph.Ints("ksize", 1, n, n, 1), graph.Ints("strides", 1, 1, 1, 1), graph.String("padding", "SAME")}
	}
	text := func(n int) *tensor.Tensor {
		s := make([]string, n)
		for i := range s {
			s[i] = "a"
		}
		x, err := tensor.FromStrings(tensor.String, s, n)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	for _, c := range []struct {
		op    string
		attrs graph.Attrs
		in    []*tensor.Tensor
	}{
		{"Igamma", nil, []*tensor.Tensor{filled(1e9, 3_000_000), filled(1e9, 3_000_000)}},
		{"IgammaGradA", nil, []*tensor.Tensor{filled(1e9, 3_000_000), filled(1e9, 3_000_000)}},
		{"Betainc", nil, []*tensor.Tensor{filled(1e8, 3_000_000), filled(1e8, 3_000_000), filled(0.5, 3_000_000)}},
		{"NonMaxSuppressionV3", nil, []*tensor.Tensor{boxes(200_000), filled[float32](1, 200_000), tensor.Scalar(int32(200_000)), tensor.Scalar(float32(0.5)), tensor.Scalar(float32(0))}},
		{"CTCBeamSearchDecoder", graph.Attrs{graph.Int("beam_width", 1000), graph.Int("top_paths", 1)}, []*tensor.Tensor{filled[float32](0.1, 1000, 1, 1000), filled[int32](1000, 1)}},
		{"EditDistance", nil, []*tensor.Tensor{pairs(100_000), filled[int64](1, 100_000), tensor.Vector[int64](1, 100_000), pairs(100_000), filled[int64](2, 100_000), tensor.Vector[int64](1, 100_000)}},
		{"Svd", nil, []*tensor.Tensor{ramp(1500)}},
		{"SelfAdjointEigV2", nil, []*tensor.Tensor{ramp(1500)}},
		{"Qr", nil, []*tensor.Tensor{ramp(2500)}},
		{"MatrixInverse", nil, []*tensor.Tensor{ramp(3000)}},
		{"MaxPool", window(1000), []*tensor.Tensor{image(1500)}},
		{"AvgPool", window(1000), []*tensor.Tensor{image(1500)}},
		{"StringNGrams", graph.Attrs{graph.String("separator", " "), graph.Ints("ngram_widths", 50_000), graph.String("left_pad", ""), graph.String("right_pad", ""), graph.Int("pad_width", 0), graph.Bool("preserve_short_sequences", false)}, []*tensor.Tensor{text(100_000), tensor.Vector[int64](0, 100_000)}},
	} {
		t.Run(c.op, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			s := function.Eager(ctx, nil)
			timer := time.AfterFunc(after, cancel)
			defer timer.Stop()
			start := time.Now()
			in := make([]ops.Input, len(c.in))
			for i, x := range c.in {
				in[i] = x
			}
			s.Emit(c.op, c.attrs, in...)
			took := time.Since(start)
			if err := s.Err(); err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("after %v: %v", took, err)
			} else if err == nil && took < after {
				t.Logf("ended by itself after %v", took)
			}
			if took > after+grace {
				t.Errorf("returned %v after its context's end: %v", took-after, s.Err())
			}
		})
	}
}

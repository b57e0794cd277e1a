package kernel_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// TestPackedFiltersGiveTheSameBits compares traced convolutions, whose constant filters
// are packed once for all calls, with eager ones.
func TestPackedFiltersGiveTheSameBits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(dims ...int) *tensor.Tensor {
		x := tensor.Must(tensor.Zeros(tensor.Float32, dims...))
		for i := range tensor.Values[float32](x) {
			tensor.Values[float32](x)[i] = float32(r.NormFloat64())
		}
		return x
	}
	for _, c := range []struct{ channels, groups, outputs, taps, stride, dilation int }{
		{3, 1, 8, 7, 2, 1}, {40, 1, 70, 1, 1, 1}, {16, 1, 33, 3, 1, 2}, {12, 3, 9, 3, 1, 1}, {8, 4, 8, 3, 2, 1}, {6, 6, 12, 3, 1, 1}, {20, 1, 1, 2, 3, 1},
	} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			x, f := ops.ValueOf(random(2, 9, 11, c.channels)), random(c.taps, c.taps, c.channels/c.groups, c.outputs)
			var want []byte
			for _, mode := range []function.Mode{function.Eagerly, function.Traced} {
				fn := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
					return ops.Conv2D(s, x, ops.Const(s, f), &ops.WindowOptions{Padding: ops.Same, Strides: []int{c.stride}, Dilations: []int{c.dilation}})
				}, &function.Options{Mode: mode})
				for range 2 {
					y, err := fn.Call(context.Background(), x)
					if err != nil {
						t.Fatal(err)
					}
					got, err := y.Tensor()
					if err != nil {
						t.Fatal(err)
					}
					if want == nil {
						want = bytes.Clone(got.Bytes())
					}
					if !bytes.Equal(got.Bytes(), want) {
						t.Fatalf("mode %v gives other bits", mode)
					}
				}
			}
		})
	}
}

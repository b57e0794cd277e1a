package kernel_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"testing"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// TestLargePNGsAreTensorFlows compares files of images that are larger than the window of the
// compression with those of TensorFlow 2.21. The elements are noise, in images of four rows with
// less noisy parts.
func TestLargePNGsAreTensorFlows(t *testing.T) {
	for _, c := range []struct {
		shape tensor.Shape
		level int64
		sum   string // the first eight bytes of SHA-256
	}{
		{tensor.Shape{300, 300, 3}, 0, "185bb36c72cefb62"},
		{tensor.Shape{300, 300, 3}, 1, "4bec0ba948992c0f"},
		{tensor.Shape{300, 300, 3}, 6, "1e2f76e6bc0ee578"},
		{tensor.Shape{300, 300, 3}, 9, "9c9826494bbf0c5a"},
		{tensor.Shape{4, 70000, 1}, 0, "d659b6102e2c8e68"},
		{tensor.Shape{4, 70000, 1}, 1, "7ba6b76943bdfcfa"},
		{tensor.Shape{4, 70000, 1}, 6, "f884df9eeb36d9e0"},
		{tensor.Shape{4, 70000, 1}, 9, "7533185a6f343247"},
		{tensor.Shape{500, 400, 3}, 0, "6e112147efa2dae4"},
		{tensor.Shape{500, 400, 3}, 1, "eb4fffdf87827812"},
		{tensor.Shape{500, 400, 3}, 6, "d037b2a598a08bc0"},
		{tensor.Shape{500, 400, 3}, 9, "c73477c4e3e9a6c4"},
		{tensor.Shape{1, 65272, 1}, 1, "1dac02bea29d16c4"},
		{tensor.Shape{1, 65272, 1}, 6, "ace3e679bb0a3595"},
		{tensor.Shape{1, 65273, 1}, 1, "3e4edd42938bd42d"},
		{tensor.Shape{1, 65273, 1}, 6, "5c9a963eaefbef8c"},
		{tensor.Shape{1, 65274, 1}, 1, "12ef64fda784fc7c"},
		{tensor.Shape{1, 65274, 1}, 6, "822067be6955a6ab"},
		{tensor.Shape{1, 65275, 1}, 1, "7aa9b07f1c83ddfb"},
		{tensor.Shape{1, 65275, 1}, 6, "a59421571ba46d0f"},
		{tensor.Shape{1, 98041, 1}, 1, "98b87af496798958"},
		{tensor.Shape{1, 98041, 1}, 6, "f39d72cba590877a"},
	} {
		x := tensor.Must(tensor.Zeros(tensor.Uint8, c.shape...))
		state := uint32(1)
		for i := range x.Bytes() {
			state = state*1664525 + 1013904223
			x.Bytes()[i] = byte(state >> 24)
			if c.shape[0] == 4 && i/30000%2 == 1 {
				x.Bytes()[i] &= 3
			}
		}
		png, err := emitted(context.Background(), nil, "EncodePng", graph.Attrs{graph.Int("compression", c.level)}, x)
		if err != nil {
			t.Fatal(err)
		}
		if sum := fmt.Sprintf("%x", sha256.Sum256([]byte(png.Strings()[0])))[:16]; sum != c.sum {
			t.Errorf("the file of %v with level %d isn't TensorFlow's: %s, want %s", c.shape, c.level, sum, c.sum)
		}
	}
}

package matmul

import (
	"slices"
	"testing"

	"github.com/cairnml/cairn/kernel/internal/vec"
)

// TestMoreHelpersThanWereCountedComputeBlocks: one that was late for another loop may
// join, and finds room.
func TestMoreHelpersThanWereCountedComputeBlocks(t *testing.T) {
	const rows, keys = 4, 3
	compute := func(rooms int) []float32 {
		a := &attend{attention: &attention{softmax: vec.Softmax[float32]}, b: 1, h: 1, t: rows, s: keys, d: 1, e: 1, rows: 2, perHead: 2}
		out := make([]float32, rows)
		a.sides = [4]side{{data: []float32{1, 2, 3, 4}, ld: 1}, {data: []float32{1, -1, 2}, ld: 1}, {data: []float32{5, 6, 7}, ld: 1}, {data: out, ld: 1}}
		for range rooms {
			a.idle = append(a.idle, make([]float32, 2*keys))
		}
		a.blocks(0, 1)
		held := a.take()
		a.blocks(1, 2)
		if len(held) < 2*keys {
			t.Errorf("room for %d scores", len(held))
		}
		return out
	}
	if got, want := compute(0), compute(2); !slices.Equal(got, want) || want[0] == 0 {
		t.Errorf("%v, want %v", got, want)
	}
}

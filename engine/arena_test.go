package engine

import (
	"testing"

	"github.com/cairnml/cairn/tensor"
)

// The layers of a growing network use the same memory in many shapes of one
// size. When all shapes have occurred, none needs a new tensor.
func TestALargeBufferIsKnownInManyShapes(t *testing.T) {
	e := &Env{Arena: new(Arena)}
	shapes := make([]tensor.Shape, 12)
	for i := range shapes {
		shapes[i] = tensor.Shape{1024 - i, 4}
	}
	round := func() {
		for _, s := range shapes {
			var v Value
			if err := e.alloc(&v, tensor.Float32, s); err != nil {
				t.Fatal(err)
			}
			e.Arena.release(v.buf)
		}
	}
	round()
	if n := testing.AllocsPerRun(10, round); n > 0 {
		t.Errorf("%v allocations a round of shapes seen before", n)
	}
}

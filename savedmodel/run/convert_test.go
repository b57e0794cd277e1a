package run

import (
	"testing"

	"github.com/cairnml/cairn/tensor"
)

func TestIntegersBecomeTensorsExactly(t *testing.T) {
	const large = 1<<53 + 1
	got, ok := toTensor([]any{int64(large), -3}, tensor.Int64)
	if !ok || !got.Equal(tensor.Vector[int64](large, -3)) {
		t.Errorf("%v, %v", got, ok)
	}
	for _, c := range []struct {
		v any
		d tensor.DType
	}{{int64(1) << 31, tensor.Int32}, {-1, tensor.Uint8}, {256, tensor.Uint8}, {-1, tensor.Uint64}} {
		if got, ok := toTensor(c.v, c.d); ok {
			t.Errorf("%v became %v %v", c.v, c.d, got)
		}
	}
	if got, ok := toTensor([]any{1, 2.5}, tensor.Float32); !ok || !got.Equal(tensor.Vector[float32](1, 2.5)) {
		t.Errorf("%v, %v", got, ok)
	}
	if got, ok := toTensor([]any{true, false}, tensor.Bool); !ok || !got.Equal(tensor.Vector(true, false)) {
		t.Errorf("%v, %v", got, ok)
	}
}

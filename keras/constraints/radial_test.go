package constraints_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras/constraints"
	"github.com/cairnml/cairn/tensor"
)

// TestRadialConstraintIsTfKeras projects kernels [n, n, 1, 2] of the numbers from 0, and
// compares the first channel with tf_keras 2.21's.
func TestRadialConstraintIsTfKeras(t *testing.T) {
	for n, want := range map[int][]float32{
		2: {0, 0, 0, 0},
		3: {8, 8, 8, 8, 0, 8, 8, 8, 8},
		4: {30, 30, 30, 30, 30, 10, 10, 30, 30, 10, 10, 30, 30, 30, 30, 30},
		5: {36, 36, 36, 36, 36, 36, 24, 24, 24, 36, 36, 24, 12, 24, 36, 36, 24, 24, 24, 36, 36, 36, 36, 36, 36},
	} {
		w := make([]float32, 2*n*n)
		for i := range w {
			w[i] = float32(i)
		}
		s := function.Eager(context.Background())
		y, err := constraints.RadialConstraint{}.Project(s, tensor.Must(tensor.New(w, n, n, 1, 2))).Tensor()
		if err != nil || s.Err() != nil {
			t.Fatal(err, s.Err())
		}
		v := tensor.Values[float32](y)
		got, second := make([]float32, n*n), make([]float32, n*n)
		for i := range got {
			got[i], second[i] = v[2*i], v[2*i+1]-1
		}
		if !slices.Equal(got, want) || !slices.Equal(second, want) {
			t.Errorf("size %d: got %v and %v, want %v", n, got, second, want)
		}
	}
}

func TestRadialConstraintRefusesOtherShapes(t *testing.T) {
	for _, shape := range []tensor.Shape{{3, 3}, {1, 1, 2, 2}, {3, 2, 1, 1}} {
		s := function.Eager(context.Background())
		constraints.RadialConstraint{}.Project(s, tensor.Must(tensor.Zeros(tensor.Float32, shape...)))
		if err := s.Err(); err == nil || !strings.Contains(err.Error(), "square windows") {
			t.Errorf("shape %v: the error is %v", shape, err)
		}
	}
}

package initializers_test

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/keras/internal/kerastest"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// TestSeedsMakeTfKerasNumbers compares first values with those of
// testdata/gen_initializers.py. A logarithm or a sine may differ in the last bit.
func TestSeedsMakeTfKerasNumbers(t *testing.T) {
	tested := 0
	for name, want := range kerastest.Arrays(t, "testdata/initializers.npz") {
		if !strings.HasPrefix(name, "{") {
			continue
		}
		tested++
		parts := strings.Split(name, "/")
		obj, err := keras.FromConfig([]byte(parts[0]), nil)
		kerastest.Must(t, err)
		d, err := tensor.ParseDType(parts[1])
		kerastest.Must(t, err)
		var shape tensor.Shape
		for n := range strings.SplitSeq(parts[2], "x") {
			size, err := strconv.Atoi(n)
			kerastest.Must(t, err)
			shape = append(shape, size)
		}
		got, err := obj.(initializers.Initializer).Init(nil, d, shape)
		kerastest.Must(t, err)
		if d == tensor.BFloat16 { // which npz files don't hold
			got, err = tensor.Cast(got, tensor.Float32)
			kerastest.Must(t, err)
		}
		relative := map[tensor.DType]float64{tensor.Float32: 2e-6, tensor.Float64: 1e-12, tensor.Float16: 1e-3, tensor.BFloat16: 8e-3}[d]
		kerastest.Near(t, name, ops.ValueOf(got), want, relative)
	}
	if tested < 180 {
		t.Errorf("only %d cases", tested)
	}
}

// TestWithSeedMakesTfKerasModels builds the models that tf_keras builds after
// set_random_seed.
func TestWithSeedMakesTfKerasModels(t *testing.T) {
	arrays := kerastest.Arrays(t, "testdata/initializers.npz")
	for _, seed := range []uint64{0, 1, 7, 1 << 31, math.MaxUint32} {
		model := keras.NewSequential(&layers.Dense{Units: 4}, &layers.Dropout{Rate: 0.5}, &layers.Dense{Units: 3}, &layers.Dense{Units: 2})
		shape := []int{2, 3}
		if seed%2 == 1 {
			model = keras.NewSequential(&layers.Dense{Units: 4, KernelInitializer: initializers.HeNormal{}}, &layers.LSTM{Units: 3}, &layers.Dense{Units: 2})
			shape = []int{2, 5, 3}
		}
		// Noise must not change the values of layers that are built after it.
		s := keras.WithSeed(function.Eager(context.Background()), seed).WithTraining(true)
		model.Call(s, ops.Zeros(s, tensor.Float32, shape...))
		kerastest.Must(t, s.Err())
		vars := keras.Variables(model)
		for i, v := range vars {
			name := fmt.Sprintf("models/%d/%d", seed, i)
			kerastest.Near(t, name, ops.ReadVariable(s, v), arrays[name], 2e-6)
		}
		if arrays[fmt.Sprintf("models/%d/%d", seed, len(vars))] != nil || len(vars) < 6 {
			t.Errorf("seed %d: %d variables", seed, len(vars))
		}
	}
}

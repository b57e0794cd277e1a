package layers_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// TestRandomLayersHaveTheirMoments calls layers that draw numbers on many ones, and
// compares the mean and the deviation of the outputs with the formulas.
func TestRandomLayersHaveTheirMoments(t *testing.T) {
	const rate, dev = 0.3, 0.4
	for name, tt := range map[string]struct {
		layer           caller
		shape           tensor.Shape
		mean, deviation float64
	}{
		"dropout":           {&layers.Dropout{Rate: rate, Seed: new(3)}, tensor.Shape{100, 100}, 1, math.Sqrt(rate / (1 - rate))},
		"spatial 1D":        {&layers.SpatialDropout1D{Rate: rate, Seed: new(3)}, tensor.Shape{100, 2, 100}, 1, math.Sqrt(rate / (1 - rate))},
		"spatial 2D":        {&layers.SpatialDropout2D{Rate: rate, Seed: new(3)}, tensor.Shape{100, 2, 1, 100}, 1, math.Sqrt(rate / (1 - rate))},
		"spatial 3D":        {&layers.SpatialDropout3D{Rate: rate, Seed: new(3)}, tensor.Shape{100, 2, 1, 1, 100}, 1, math.Sqrt(rate / (1 - rate))},
		"gaussian dropout":  {&layers.GaussianDropout{Rate: rate, Seed: new(3)}, tensor.Shape{100, 100}, 1, math.Sqrt(rate / (1 - rate))},
		"gaussian noise":    {&layers.GaussianNoise{StdDev: dev, Seed: new(3)}, tensor.Shape{100, 100}, 1, dev},
		"alpha dropout":     {&layers.AlphaDropout{Rate: rate, Seed: new(3)}, tensor.Shape{100, 100}, 0.60267, 1.08818},
		"alpha dropout row": {&layers.AlphaDropout{Rate: rate, NoiseShape: []int{-1, 1}, Seed: new(3)}, tensor.Shape{10000, 2}, 0.60267, 1.08818},
	} {
		t.Run(name, func(t *testing.T) {
			n, err := tt.shape.NumElements()
			must(t, err)
			ones := make([]float32, n)
			for i := range ones {
				ones[i] = 1
			}
			s := function.Eager(context.Background()).WithTraining(true)
			y := tt.layer.Call(s, tensor.Must(tensor.New(ones, tt.shape...)))
			must(t, s.Err())
			v := float64s(t, tensorOf(t, y))
			var sum, squares float64
			for _, x := range v {
				sum += x
				squares += x * x
			}
			mean := sum / float64(n)
			deviation := math.Sqrt(squares/float64(n) - mean*mean)
			if math.Abs(mean-tt.mean) > 0.03 || math.Abs(deviation-tt.deviation) > 0.03 {
				t.Errorf("mean %v and deviation %v, want about %v and %v", mean, deviation, tt.mean, tt.deviation)
			}
		})
	}
}

// TestSpatialDropoutDropsWholeChannels looks at every channel of every image.
func TestSpatialDropoutDropsWholeChannels(t *testing.T) {
	for name, tt := range map[string]struct {
		layer   caller
		shape   tensor.Shape
		channel int
	}{
		"1D":       {&layers.SpatialDropout1D{Rate: 0.5, Seed: new(1)}, tensor.Shape{4, 3, 5}, 2},
		"2D":       {&layers.SpatialDropout2D{Rate: 0.5, Seed: new(1)}, tensor.Shape{4, 2, 3, 5}, 3},
		"2D first": {&layers.SpatialDropout2D{Rate: 0.5, DataFormat: layers.ChannelsFirst, Seed: new(1)}, tensor.Shape{4, 5, 2, 3}, 1},
		"3D":       {&layers.SpatialDropout3D{Rate: 0.5, Seed: new(1)}, tensor.Shape{4, 2, 2, 3, 5}, 4},
		"3D first": {&layers.SpatialDropout3D{Rate: 0.5, DataFormat: layers.ChannelsFirst, Seed: new(1)}, tensor.Shape{4, 5, 2, 2, 3}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := function.Eager(context.Background()).WithTraining(true)
			y := tt.layer.Call(s, ops.Ones(s, tensor.Float32, tt.shape...))
			must(t, s.Err())
			axes := []int{}
			for i := 1; i < len(tt.shape); i++ {
				if i != tt.channel {
					axes = append(axes, i)
				}
			}
			least, most := tensorOf(t, ops.Min(s, y, axes...)), tensorOf(t, ops.Max(s, y, axes...))
			if !least.Equal(most) {
				t.Error("a channel has dropped and kept elements")
			}
			dropped := 0
			for _, x := range float64s(t, least) {
				if x == 0 {
					dropped++
				}
			}
			if dropped == 0 || dropped == least.Len() {
				t.Errorf("%d of %d channels are dropped, want some", dropped, least.Len())
			}
		})
	}
}

// TestCoreLayersRefuse calls layers with settings and inputs that they can't take.
func TestCoreLayersRefuse(t *testing.T) {
	x := func(dims ...int) *ops.Value { return ops.ValueOf(tensor.Must(tensor.Zeros(tensor.Float32, dims...))) }
	for name, tt := range map[string]struct {
		layer caller
		x     ops.Input
		want  string
	}{
		"rate":                {&layers.Dropout{Rate: 1}, x(2, 2), "below 1"},
		"negative rate":       {&layers.Dropout{Rate: -1}, x(2, 2), "want 0 to 1"},
		"deviation":           {&layers.GaussianNoise{StdDev: -1}, x(2, 2), "0 or more"},
		"rank":                {&layers.SpatialDropout1D{Rate: 0.5}, x(2, 2), "want 3"},
		"noise":               {&layers.Dropout{Rate: 0.5, NoiseShape: []int{1}}, x(2, 2), "NoiseShape has 1"},
		"reshape":             {&layers.Reshape{TargetShape: []int{5}}, x(2, 4), "doesn't fit"},
		"reshape to nothing":  {&layers.Reshape{TargetShape: []int{0, -1}}, x(2, 4), "doesn't fit"},
		"reshape twice free":  {&layers.Reshape{TargetShape: []int{-1, -1}}, x(2, 4), "at most one -1"},
		"reshape huge":        {&layers.Reshape{TargetShape: []int{1 << 20, 1 << 20, 1 << 20}}, x(2, 4), "too large"},
		"permute":             {&layers.Permute{Dims: []int{1, 1}}, x(2, 4, 3), "each from 1 to 2 once"},
		"subtract":            {&layers.Subtract{}, []*ops.Value{x(2), x(2), x(2)}, "want 2"},
		"add nothing":         {&layers.Add{}, []*ops.Value{}, "got no input"},
		"concatenate nothing": {&layers.Concatenate{}, []*ops.Value{}, "got no input"},
		"dot of batches":      {&layers.Dot{Axes: []int{0}}, []*ops.Value{x(2, 2), x(2, 2)}, "after the batch's"},
		"dot without axes":    {&layers.Dot{}, []*ops.Value{x(2, 2), x(2, 2)}, "one or two axes"},
		"embedding":           {&layers.Embedding{InputDim: 3}, x(2, 2), "sizes of 1 or more"},
		"repeat":              {&layers.RepeatVector{N: 2}, x(2), "want a matrix"},
		"prelu":               {&layers.PReLU{SharedAxes: []int{3}}, x(2, 2), "no shared axis 3"},
		"relu":                {&layers.ReLU{Threshold: -1}, x(2, 2), "0 or more"},
	} {
		t.Run(name, func(t *testing.T) {
			s := function.Eager(context.Background()).WithTraining(true)
			tt.layer.Call(s, tt.x)
			if err := s.Err(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the error is %v, want one with %q", err, tt.want)
			}
		})
	}
}

// TestRatesThatDropAllOrNothing holds rates to tf_keras: Dropout refuses a rate of 1 while training
// only, and other layers ignore rates that aren't between 0 and 1.
func TestRatesThatDropAllOrNothing(t *testing.T) {
	x := tensor.Must(tensor.New([]float32{1, 2, 3, 4}, 1, 2, 2))
	for name, tt := range map[string]struct {
		layer    caller
		training bool
	}{
		"dropout":          {&layers.Dropout{Rate: 1}, false},
		"spatial":          {&layers.SpatialDropout1D{Rate: 1}, false},
		"alpha":            {&layers.AlphaDropout{Rate: 1}, true},
		"alpha beyond":     {&layers.AlphaDropout{Rate: -0.1}, true},
		"gaussian":         {&layers.GaussianDropout{Rate: 1}, true},
		"gaussian beyond":  {&layers.GaussianDropout{Rate: 1.1}, true},
		"stochastic depth": {&layers.StochasticDepth{DropPathRate: 1}, false},
	} {
		s := function.Eager(context.Background()).WithTraining(tt.training)
		y := tt.layer.Call(s, x)
		if err := s.Err(); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got, err := y.Tensor(); err != nil || !slices.Equal(tensor.Values[float32](got), []float32{1, 2, 3, 4}) {
			t.Errorf("%s: got %v, %v, want the input", name, got, err)
		}
	}
}

// TestDroppedElementsAreZero drops elements whose product with 0 isn't 0.
func TestDroppedElementsAreZero(t *testing.T) {
	data := slices.Repeat([]float32{float32(math.Inf(1)), float32(math.NaN()), -1, -2}, 100)
	x := tensor.Must(tensor.New(data, 100, 1, 4))
	for name, layer := range map[string]caller{
		"dropout": &layers.Dropout{Rate: 0.5, Seed: new(1)}, "noise": &layers.Dropout{Rate: 0.5, Seed: new(1), NoiseShape: []int{-1, 1, -1}},
		"spatial": &layers.SpatialDropout1D{Rate: 0.5, Seed: new(1)},
	} {
		s := function.Eager(context.Background()).WithTraining(true)
		got, err := layer.Call(s, x).Tensor()
		if err != nil {
			t.Fatal(name, err)
		}
		dropped := 0
		for i, y := range tensor.Values[float32](got) {
			if math.Float32bits(y) == 0 {
				dropped++
			} else if want := 2 * data[i]; y != want && !(y != y && want != want) {
				t.Errorf("%s: element %d is %v, want 0 or %v", name, i, y, want)
			}
		}
		if dropped < 150 || dropped > 250 {
			t.Errorf("%s: %d of 400 elements are dropped", name, dropped)
		}
	}
}

package layers_test

import (
	"context"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// TestImageLayersOfAnySize traces layers for images of unknown sizes, and compares the
// function's outputs with the layer's own.
func TestImageLayersOfAnySize(t *testing.T) {
	random := ops.RandomUniform(function.Eager(context.Background()), ops.NewRandom(3), tensor.Float32, 3, 6, 5, 2)
	for name, layer := range map[string]func() caller{
		"Resizing":                   func() caller { return &layers.Resizing{Height: 3, Width: 4, CropToAspectRatio: true} },
		"CenterCrop":                 func() caller { return &layers.CenterCrop{Height: 3, Width: 4} },
		"CenterCrop of small images": func() caller { return &layers.CenterCrop{Height: 7, Width: 4} },
		"RandomCrop":                 func() caller { return &layers.RandomCrop{Height: 3, Width: 2, Seed: new(1)} },
		"RandomFlip":                 func() caller { return &layers.RandomFlip{Seed: new(1)} },
		"RandomRotation":             func() caller { return &layers.RandomRotation{Factor: layers.Numbers{0.4}, Seed: new(1)} },
		"RandomZoom":                 func() caller { return &layers.RandomZoom{HeightFactor: layers.Numbers{0.4}, Seed: new(1)} },
		"RandomTranslation": func() caller {
			return &layers.RandomTranslation{HeightFactor: layers.Numbers{0.4}, WidthFactor: layers.Numbers{0.2}, Seed: new(1)}
		},
		"RandomContrast":   func() caller { return &layers.RandomContrast{Factor: layers.Numbers{0.4}, Seed: new(1)} },
		"RandomBrightness": func() caller { return &layers.RandomBrightness{Factor: layers.Numbers{0.4}, Seed: new(1)} },
		"RandomHeight":     func() caller { return &layers.RandomHeight{Factor: layers.Numbers{0.4}, Seed: new(1)} },
		"RandomWidth":      func() caller { return &layers.RandomWidth{Factor: layers.Numbers{0.4}, Seed: new(1)} },
	} {
		t.Run(name, func(t *testing.T) {
			s := function.Eager(context.Background()).WithTraining(true)
			want := tensorOf(t, layer().Call(s, random))
			traced := layer()
			f := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value { return traced.Call(s.WithTraining(true), x) })
			_, err := f.Trace(ops.Spec(tensor.Float32, -1, -1, -1, 2))
			must(t, err)
			out, err := f.Call(context.Background(), random)
			must(t, err)
			near(t, name, tensorOf(t, out), want, 1e-6)
		})
	}
}

// TestImageLayersRefuse calls layers with settings and inputs that they can't take.
func TestImageLayersRefuse(t *testing.T) {
	x := func(dims ...int) *ops.Value { return ops.ValueOf(tensor.Must(tensor.Zeros(tensor.Float32, dims...))) }
	one := layers.Numbers{0.5}
	for name, tt := range map[string]struct {
		layer caller
		x     *ops.Value
		want  string
	}{
		"method":            {&layers.Resizing{Height: 2, Width: 2, Interpolation: "cubic"}, x(4, 4, 1), `unknown Interpolation "cubic"`},
		"no size":           {&layers.CenterCrop{Height: 2}, x(4, 4, 1), "2 by 0"},
		"huge":              {&layers.Resizing{Height: 1 << 30, Width: 1 << 30}, x(4, 4, 1), "Resize"},
		"rank":              {&layers.Resizing{Height: 2, Width: 2}, x(4, 4), "want [height, width, channels]"},
		"mode":              {&layers.RandomFlip{Mode: "both"}, x(4, 4, 1), `unknown Mode "both"`},
		"fill":              {&layers.RandomZoom{HeightFactor: one, FillMode: "mirror"}, x(4, 4, 1), `unknown FillMode "mirror"`},
		"pixels":            {&layers.RandomRotation{Factor: one, Interpolation: "area"}, x(4, 4, 1), `unknown Interpolation "area"`},
		"no factor":         {&layers.RandomRotation{}, x(4, 4, 1), "Factor has 0 numbers"},
		"order":             {&layers.RandomTranslation{HeightFactor: layers.Numbers{0.5, 0.1}, WidthFactor: one}, x(4, 4, 1), "below the lower"},
		"too far":           {&layers.RandomTranslation{HeightFactor: one, WidthFactor: layers.Numbers{1.5}}, x(4, 4, 1), "WidthFactor is [1.5]"},
		"contrast":          {&layers.RandomContrast{Factor: layers.Numbers{0}}, x(4, 4, 1), "not both 0"},
		"range":             {&layers.RandomBrightness{Factor: one, ValueRange: []float64{1}}, x(4, 4, 1), "ValueRange has 1"},
		"less than nothing": {&layers.RandomWidth{Factor: layers.Numbers{2}}, x(4, 4, 1), "from -1"},
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

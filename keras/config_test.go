package keras_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/internal/kerastest"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
)

// gate is a registered class of a program.
type gate struct {
	keras.Layer
	Bound *float64 `keras:",default=0.5"`
	Inner *layers.Dense
}

func (g *gate) Call(s *ops.Scope, x ops.Input) *ops.Value     { return g.Run(s, g, x, nil) }
func (g *gate) Compute(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Minimum(s, x, *g.Bound) }

func TestRegisteredClassesGoThroughConfigs(t *testing.T) {
	classes, err := keras.Classes().With([]config.Class{config.Registered[*gate]("Example", "Gate")})
	if err != nil {
		t.Fatal(err)
	}
	opts := &keras.ConfigOptions{Classes: classes}
	for _, legacy := range []bool{false, true} {
		opts.Legacy = legacy
		data, err := keras.Config(keras.Named("g", &gate{Bound: new(0.0), Inner: &layers.Dense{Units: 3}}), opts)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(data), "Example>Gate") {
			t.Errorf("the config has no registered name: %s", data)
		}
		obj, err := keras.FromConfig(data, opts)
		if err != nil {
			t.Fatal(err)
		}
		if g := obj.(*gate); g.Name != "g" || *g.Bound != 0 || g.Inner.Units != 3 {
			t.Errorf("got %+v from %s", g, data)
		}
		if _, err := keras.FromConfig(data, nil); err == nil {
			t.Error("a class that is not registered is no error")
		}
	}
	if _, err := keras.Config(&gate{}, nil); err == nil {
		t.Error("the config of an unknown type is no error")
	}
}

// TestInputOfUnknownShape reads and writes the config of an InputLayer without a shape.
func TestInputOfUnknownShape(t *testing.T) {
	const want = `{"module": "keras.layers", "class_name": "InputLayer", "config": {"batch_input_shape": null, "dtype": "float32", "sparse": false, "ragged": false, "name": "x", "optional": false}, "registered_name": null}`
	obj, err := keras.FromConfig([]byte(want), nil)
	kerastest.Must(t, err)
	got, err := keras.Config(obj, nil)
	kerastest.Must(t, err)
	kerastest.SameJSON(t, "config", []byte(want), got)
}

func TestFromConfigRefuses(t *testing.T) {
	dense := func(config string) string {
		return fmt.Sprintf(`{"class_name": "Dense", "config": {%s}}`, config)
	}
	for name, tt := range map[string]struct{ config, want string }{
		"no JSON":         {`{`, "EOF"},
		"two values":      {`{} {}`, "more"},
		"null":            {`null`, "null"},
		"no class":        {`{"config": {}}`, "class_name"},
		"unknown class":   {`{"class_name": "Dence"}`, "Dense"},
		"unknown field":   {dense(`"unit": 3`), "units"},
		"text for number": {dense(`"units": "3"`), "units"},
		"fraction":        {dense(`"units": 2.5`), "units"},
		"overflow":        {dense(`"units": 1e300`), "units"},
		"null number":     {dense(`"units": null`), "units"},
		"other kind":      {dense(`"units": 3, "kernel_initializer": {"class_name": "L2", "config": {}}`), "L2"},
		"layer as policy": {dense(`"dtype": {"class_name": "Dense", "config": {"name": "mixed_float16"}}`), "Policy"},
		"unknown dtype":   {dense(`"dtype": "float33"`), "float33"},
		"long list":       {dense(`"batch_input_shape": [` + strings.Repeat("1,", 300) + `1]`), "shape"},
		"negative size":   {dense(`"batch_input_shape": [-2]`), "range"},
		"integers":        {`{"class_name": "Sequential", "config": {"layers": [{"class_name": "Dense", "config": {"units": 1, "dtype": "int32", "batch_input_shape": [null, 1], "kernel_initializer": {"class_name": "RandomUniform", "config": {"minval": -2147483648, "maxval": 2147483648}}}}]}}`, "beyond int32"},
		"local":           {`{"class_name": "Sequential", "config": {"layers": [{"class_name": "LocallyConnected1D", "config": {"filters": 1, "kernel_size": [1], "implementation": 3, "batch_input_shape": [null, 1000000000000, 1]}}]}}`, "below 2147483648"},
		"mixed policy":    {dense(`"dtype": "mixed_float32"`), "mixed_float32"},
		"unknown key":     {`{"class_name": "Dense", "konfig": {}}`, "config"},
		"deep":            {strings.Repeat(`{"class_name": "Activation", "config": {"activation": `, 5000) + `"relu"` + strings.Repeat("}}", 5000), "deeper"},
	} {
		obj, err := keras.FromConfig([]byte(tt.config), nil)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v and the error %v, want one with %q", name, obj, err, tt.want)
		}
	}
	var unknown *config.UnknownError
	if _, err := keras.FromConfig([]byte(dense(`"unit": 3`)), nil); !errors.As(err, &unknown) || unknown.Name != "unit" {
		t.Errorf("got %v, want an UnknownError", err)
	}
}

func FuzzFromConfig(f *testing.F) {
	data, err := keras.Config(&layers.Dense{Units: 2}, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(data))
	f.Fuzz(func(t *testing.T, data []byte) {
		obj, err := keras.FromConfig(data, nil)
		if err != nil {
			return
		}
		again, err := keras.Config(obj, nil)
		if err != nil {
			t.Skip(err) // an object within itself can't come from JSON; wrong settings can
		}
		if !json.Valid(again) && !strings.Contains(string(again), "NaN") && !strings.Contains(string(again), "Infinity") {
			t.Fatalf("the config is no JSON: %s", again)
		}
	})
}

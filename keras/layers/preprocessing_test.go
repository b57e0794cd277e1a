package layers_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// TestLambdaRefusesBytecode reads configs with functions of Python.
func TestLambdaRefusesBytecode(t *testing.T) {
	const before = `{"class_name": "Lambda", "config": {"name": "l", "trainable": true, "dtype": "float32", `
	for name, tt := range map[string]struct{ config, want string }{
		"new form": {`"function": {"class_name": "__lambda__", "config": {"code": "4wEAAAA=", "defaults": null, "closure": null}},
			"function_type": "lambda", "module": "__main__"`, "Python code"},
		"legacy form":      {`"function": ["4wEAAAA=", null, null], "function_type": "lambda", "module": "__main__"`, "Python code"},
		"output shape":     {`"function": "abs", "function_type": "function", "output_shape": ["4wEAAAA=", null, null], "output_shape_type": "lambda"`, "Python code"},
		"mask":             {`"function": "abs", "function_type": "function", "mask": ["4wEAAAA=", null, null], "mask_type": "lambda"`, "Python code"},
		"unknown function": {`"function": "system", "function_type": "function", "module": "os"`, `"system"`},
	} {
		_, err := keras.FromConfig([]byte(before+tt.config+`, "arguments": {}}}`), &keras.ConfigOptions{Classes: testClasses})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: the error is %v, want one with %q", name, err, tt.want)
		}
	}
}

// TestLambdaCallsATracedFunction applies a function that was traced.
func TestLambdaCallsATracedFunction(t *testing.T) {
	f := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Mul(s, x, x) })
	traced, err := f.Trace(ops.Spec(tensor.Float32, 2))
	must(t, err)
	s := function.Eager(context.Background())
	l := &layers.Lambda{Function: layers.LambdaOfTraced(traced)}
	y := l.Call(s, []float32{2, 3})
	must(t, s.Err())
	if got := tensor.Values[float32](tensorOf(t, y)); !slices.Equal(got, []float32{4, 9}) {
		t.Errorf("got %v, want [4 9]", got)
	}
}

// TestNormalizationAdapts finds mean and variance of two batches, and of others after that.
func TestNormalizationAdapts(t *testing.T) {
	s := function.Eager(context.Background())
	batch := func(rows int, v ...float32) *ops.Value {
		return ops.ValueOf(tensor.Must(tensor.New(v, rows, len(v)/rows)))
	}
	n := &layers.Normalization{}
	n.Adapt(s, slices.Values([]*ops.Value{batch(1, 9, 9)}))
	n.Adapt(s, slices.Values([]*ops.Value{batch(3, 0, 7, 2, 9, 0, 7), batch(1, 2, 9)}))
	must(t, s.Err())
	for _, tt := range []struct {
		what string
		got  *tensor.Tensor
		want []float64
	}{
		{"mean", n.AdaptMean.Load(), []float64{1, 8}},
		{"variance", n.AdaptVariance.Load(), []float64{1, 1}},
		{"count", n.Count.Load(), []float64{4}},
		{"output", tensorOf(t, n.Call(s, batch(1, 1, 10))), []float64{0, 2}},
	} {
		near(t, tt.what, tensor.Must(tensor.Cast(tt.got, tensor.Float64)), tensor.Must(tensor.New(tt.want, tt.got.Shape()...)), 1e-6)
	}
	fixed := &layers.Normalization{Mean: layers.Numbers{1}, Variance: layers.Numbers{2}}
	fixed.Adapt(s, slices.Values([]*ops.Value{batch(1, 9, 9)}))
	if err := s.Err(); err == nil || !strings.Contains(err.Error(), "nothing to adapt") {
		t.Errorf("the error is %v", err)
	}
}

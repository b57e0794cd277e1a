package layers_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

func TestSettingsThatNoFunctionHasAreErrors(t *testing.T) {
	for _, c := range []struct {
		function string
		args     map[string]any
		want     string
	}{
		{"linalg.matmul", map[string]any{"output_type": "int32"}, `argument "output_type": got int32, want None`},
		{"linalg.matmul", map[string]any{"adjoint_a": true}, `argument "adjoint_a": got true, want false`},
		{"unstack", map[string]any{"num": json.Number("-1")}, "can't have -1 outputs"},
		{"unstack", map[string]any{"num": json.Number("2147483647")}, "can't have 2147483647 outputs"},
		{"split", map[string]any{"num_or_size_splits": math.MinInt}, fmt.Sprintf("can't have %d outputs", math.MinInt)},
		{"split", map[string]any{"num_or_size_splits": math.MaxInt}, fmt.Sprintf("can't have %d outputs", math.MaxInt)},
		{"math.add", nil, `argument "y": is missing`},
		{"math.add", map[string]any{"z": 1, "y": 1, "w": 1}, `unknown argument "w"`},
		{"tensordot", map[string]any{"b": []any{[]any{1.}}, "axes": "none"}, `argument "axes"`},
		{"nn.conv2d", map[string]any{"filters": []any{1., []any{2.}}}, `argument "filters": the lists have different lengths or depths`},
		{"nn.conv2d", map[string]any{"filters": []any{[]any{2.}, 1.}}, `argument "filters": got a number and lists in one list`},
	} {
		s := function.Eager(t.Context())
		x := ops.Const(s, [][]float32{{1}})
		l := &layers.TFOpLambda{Function: c.function}
		l.ComputeAll(s, &base.Invocation{Inputs: []*ops.Value{x}, Args: c.args})
		if err := s.Err(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: the error is %v, want %q", c.function, c.args, err, c.want)
		}
	}
}

func TestAnAxisOfAnUnknownRankIsAnError(t *testing.T) {
	for _, name := range []string{"nn.softmax", "nn.log_softmax", "sort"} {
		for axis, ok := range map[int]bool{-1: true, -2: false, 0: false} {
			s, trace := ops.NewTrace(t.Context(), "f", &ops.ScopeOptions{Kernels: kernel.All()})
			x, err := trace.Arg("x", graph.Fact{DType: tensor.Float32})
			if err != nil {
				t.Fatal(err)
			}
			l := &layers.TFOpLambda{Function: name}
			l.ComputeAll(s, &base.Invocation{Inputs: []*ops.Value{x}, Args: map[string]any{"axis": axis}})
			if err := s.Err(); (err == nil) != ok {
				t.Errorf("%s along the axis %d: the error is %v", name, axis, err)
			}
		}
	}
}

func TestErrorsOfAnAxisNameTheFunction(t *testing.T) {
	for _, name := range []string{"nn.softmax", "nn.log_softmax"} {
		s, trace := ops.NewTrace(t.Context(), "f", &ops.ScopeOptions{Kernels: kernel.All()})
		unknown, err := trace.Arg("x", graph.Fact{DType: tensor.Float32})
		if err != nil {
			t.Fatal(err)
		}
		e := function.Eager(t.Context())
		for _, c := range []struct {
			s *ops.Scope
			x *ops.Value
		}{{s, unknown}, {e, ops.Const(e, [][]float32{{1}})}} {
			(&layers.TFOpLambda{Function: name}).ComputeAll(c.s, &base.Invocation{Inputs: []*ops.Value{c.x}, Args: map[string]any{"axis": 2}})
			if err := c.s.Err(); err == nil || !strings.Contains(err.Error(), "tf."+name+": ") {
				t.Errorf("the error of tf.%s is %v", name, err)
			}
		}
	}
}

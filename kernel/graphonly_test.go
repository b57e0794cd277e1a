package kernel_test

import (
	"context"
	"errors"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// TestOpsOnReferencesAreRefusedEagerly: TensorFlow runs them in graphs only. An
// eager one would lose its variable at the end of the op.
func TestOpsOnReferencesAreRefusedEagerly(t *testing.T) {
	refused := 0
	for _, op := range kernel.All().Ops() {
		d := graph.LookupOp(op)
		if d == nil || d.OldHandle() == "" {
			continue
		}
		refused++
		s := function.Eager(context.Background())
		s.Emit(op, nil)
		var only *engine.GraphOnlyError
		if !errors.As(s.Err(), &only) || only.Op != op {
			t.Errorf("%s gives %v", op, s.Err())
		}
	}
	if refused < 100 {
		t.Errorf("only %d ops are on references", refused)
	}
}

// TestArraysOfAllVersionsRun: the first two in graphs, as in TensorFlow. There
// only a flow or the handle orders the ops.
func TestArraysOfAllVersionsRun(t *testing.T) {
	attrs := graph.Attrs{graph.Type("dtype", tensor.Float32)}
	zero := tensor.Scalar[int32](0)
	for _, version := range []string{"", "V2", "V3"} {
		f := func(s *ops.Scope, x *ops.Value) *ops.Value {
			out := s.Emit("TensorArray"+version, attrs, tensor.Scalar[int32](1))
			if len(out) == 0 {
				return nil
			}
			flow := ops.Const(s, float32(0))
			if len(out) == 2 {
				flow = out[1]
			}
			flow = s.Emit1("TensorArrayWrite"+version, nil, out[0], zero, x, flow)
			return s.Emit1("TensorArrayRead"+version, attrs, out[0], zero, flow)
		}
		for _, mode := range []function.Mode{function.Eagerly, function.Traced} {
			x := ops.ValueOf(tensor.Vector[float32](1, 2))
			y, err := function.New(f, &function.Options{Mode: mode}).Call(context.Background(), x)
			var only *engine.GraphOnlyError
			if mode == function.Eagerly && version != "V3" {
				if !errors.As(err, &only) {
					t.Errorf("TensorArray%s, eagerly: %v", version, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("TensorArray%s: %v", version, err)
				continue
			}
			if got, _ := y.Tensor(); !got.Equal(tensor.Vector[float32](1, 2)) {
				t.Errorf("TensorArray%s gives %v", version, got)
			}
		}
	}
}

package kernel_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/testkit/opfixture"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// TestKernelsRefuseWhatTheyCantTake makes calls of every kernel that are nearly
// right: other types, other shapes, wild integers, too many or too few inputs,
// missing attributes. A call may return anything but must not panic.
func TestKernelsRefuseWhatTheyCantTake(t *testing.T) {
	fixtures := opfixture.Load(t, "testdata/tf2.21")
	r := rand.New(rand.NewPCG(7, 7))
	o := &function.Options{MaxOutput: 1 << 20}
	for _, op := range kernel.All().Ops() {
		cases := fixtures[op]
		if len(cases) == 0 {
			continue
		}
		for range 60 {
			f := cases[r.IntN(len(cases))]
			s := function.Eager(context.Background(), o)
			in := mutated(t, r, s, f)
			attrs := f.EngineAttrs(t)
			if len(attrs) > 0 && r.IntN(4) == 0 {
				i := r.IntN(len(attrs))
				attrs = append(attrs[:i:i], attrs[i+1:]...)
			} else if len(attrs) > 0 && r.IntN(4) == 0 {
				i := r.IntN(len(attrs))
				switch attrs[i].Kind {
				case graph.AttrInt:
					attrs[i] = graph.Int(attrs[i].Name, wild(r))
				case graph.AttrInts:
					attrs[i] = graph.Ints(attrs[i].Name, wild(r), wild(r))
				case graph.AttrType:
					attrs[i] = graph.Type(attrs[i].Name, tensor.DType(r.IntN(40)))
				case graph.AttrString:
					attrs[i] = graph.String(attrs[i].Name, "?")
				}
			}
			s.Emit(op, attrs, in...)
			var p *engine.PanicError
			if errors.As(s.Err(), &p) {
				t.Errorf("%v\n%s", s.Err(), p.Stack)
				break
			}
		}
	}
}

func wild(r *rand.Rand) int64 {
	if r.IntN(3) > 0 {
		return int64(r.IntN(9) - 3)
	}
	return []int64{math.MinInt64, math.MaxInt64, math.MinInt32, math.MaxInt32, 1 << 40, -1 << 40, 1 << 62}[r.IntN(7)]
}

func mutated(t *testing.T, r *rand.Rand, s *ops.Scope, f opfixture.Fixture) []ops.Input {
	var in []ops.Input
	for i, x := range f.In {
		v := x.Tensor(t)
		if r.IntN(3) == 0 {
			v = mutate(r, v)
		}
		if i < f.Vars && r.IntN(10) > 0 {
			in = append(in, ops.Handle(s, trackable.NewVariable(v.Clone())))
			continue
		}
		in = append(in, v)
	}
	switch r.IntN(12) {
	case 0:
		in = append(in, tensor.Scalar(int32(1)))
	case 1:
		if len(in) > 0 {
			in = in[:len(in)-1]
		}
	case 2:
		in = append(in, ops.Handle(s, trackable.NewVariable(tensor.Scalar(int32(1)))))
	case 3:
		in = append([]ops.Input{ops.Handle(s, new(trackable.Variable))}, in...)
	}
	return in
}

// mutate changes a tensor's type, shape or elements.
func mutate(r *rand.Rand, v *tensor.Tensor) *tensor.Tensor {
	switch r.IntN(3) {
	case 0:
		types := tensor.DTypes()
		if w, err := tensor.Zeros(types[r.IntN(len(types))], v.Shape()...); err == nil {
			return w
		}
	case 1:
		dims := make([]int, r.IntN(4))
		for i := range dims {
			dims[i] = r.IntN(4)
		}
		if w, err := tensor.Zeros(v.DType(), dims...); err == nil {
			return w
		}
	default:
		v = v.Clone()
		switch v.DType() {
		case tensor.Int32:
			for i := range tensor.Values[int32](v) {
				tensor.Values[int32](v)[i] = int32(wild(r))
			}
		case tensor.Int64:
			for i := range tensor.Values[int64](v) {
				tensor.Values[int64](v)[i] = wild(r)
			}
		case tensor.Float32:
			for i := range tensor.Values[float32](v) {
				tensor.Values[float32](v)[i] = []float32{0, float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32}[r.IntN(5)]
			}
		}
	}
	return v
}

package checkpoint

import (
	"testing"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// TestShards checks that a policy spreads values over data files, also cut into
// slices, that the restore joins them, and that this works together with a
// registered saver.
func TestShards(t *testing.T) {
	eachAlone := func(values []ShardTensor) (shards [][]ShardTensor, err error) {
		for _, v := range values {
			if v.Tensor.DType() != tensor.Float32 || v.Tensor.Len() != 4 {
				shards = append(shards, []ShardTensor{v})
				continue
			}
			for i := range 2 { // cut in two
				s, err := bundle.ParseSlice([]string{"0,2", "2,2"}[i])
				if err != nil {
					return nil, err
				}
				shards = append(shards, []ShardTensor{{Name: v.Name, Full: v.Tensor.Shape(), Slice: &s,
					Tensor: tensor.Vector(tensor.Values[float32](v.Tensor)[2*i : 2*i+2]...)}})
			}
		}
		return shards, nil
	}
	type state struct {
		V, W *trackable.Variable
		P    *stack
	}
	build := func(x float32) *state {
		return &state{variable(x, x+1, x+2, x+3), variable(x), &stack{Parts: []*part{newPart(x, x)}}}
	}
	for _, savers := range []*Savers{new(Savers), stackSavers(t)} {
		var done, total int64
		o := &Options{Savers: savers, Shards: eachAlone, Progress: func(d, of int64) { done, total = d, of }}
		dir := written(t, build(1), o)
		if done != total || total < 20 {
			t.Errorf("progress ended at %d of %d", done, total)
		}
		v := mustOpen(t, dir, "ckpt")
		if n := v.Reader().Header().NumShards; n != 5 {
			t.Errorf("%d shards, want 5", n)
		}
		live := build(0)
		r := restored(t, newCheckpoint(t, live, o), dir, nil)
		wantFloats(t, live.V, 1, 2, 3, 4)
		wantFloats(t, &live.P.Parts[0].Variable, 1, 1)
		if err := r.AssertConsumed(); err != nil {
			t.Error(err)
		}
	}
}

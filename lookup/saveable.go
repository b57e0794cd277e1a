package lookup

import (
	"fmt"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
)

// savedTensor is the result for one tensor of the function that saves a table: its "name", "slice_spec" and
// "tensor". The names of parameters and results, and the suffixes -keys and -values, are TensorFlow's: its
// loader and its checkpoints have them (lookup_ops.py, saveable_object_util.py).
type savedTensor = map[string]*ops.Value

// checkpointKey is the key that the function that saves a table takes.
type checkpointKey struct {
	Key *ops.Value `cairn:"checkpoint_key"`
}

// contents are the tensors that the function that restores a table takes.
type contents struct {
	Keys   *ops.Value `cairn:"restored_tensors_0"`
	Values *ops.Value `cairn:"restored_tensors_1"`
}

func (t *mutable) save(s *ops.Scope, in checkpointKey) []savedTensor {
	keys, values := t.Export(s)
	whole := ops.Const(s, "")
	return []savedTensor{
		{"name": raw.StringJoin(s, []ops.Input{in.Key, "-keys"}, nil), "slice_spec": whole, "tensor": keys},
		{"name": raw.StringJoin(s, []ops.Input{in.Key, "-values"}, nil), "slice_spec": whole, "tensor": values},
	}
}

func (t *mutable) restore(s *ops.Scope, in contents) *ops.Value {
	raw.LookupTableImportV2(s, t.self, in.Keys, in.Values)
	return ops.Const(s, int32(1))
}

// saveables returns the functions that save and restore the table, traced. They must be bare
// functions: TensorFlow drops others when it saves a loaded model again.
func (t *mutable) saveables() (savedmodel.SaveableFunctions, error) {
	save, err := function.New(t.save, nil).Trace(checkpointKey{ops.Spec(tensor.String)})
	if err != nil {
		return savedmodel.SaveableFunctions{}, fmt.Errorf("trace the function that saves: %w", err)
	}
	unknown := func(d tensor.DType) *ops.Value { return ops.SpecOf(graph.Fact{DType: d}) }
	restore, err := function.New(t.restore, nil).Trace(contents{unknown(t.key), unknown(t.value)})
	if err != nil {
		return savedmodel.SaveableFunctions{}, fmt.Errorf("trace the function that restores: %w", err)
	}
	return savedmodel.SaveableFunctions{Save: bare(save), Restore: bare(restore)}, nil
}

// bare returns a trace as a bare function: an object that is one trace, without a function
// around it that chooses among traces.
func bare(c *graph.Concrete) *savedmodel.TrackableBareFunction {
	f := &savedmodel.TrackableBareFunction{Concrete: c}
	f.Keywords, _ = c.Parameters()
	f.Positional = len(f.Keywords)
	f.Parameters = &savedmodel.Parameters{Names: f.Keywords}
	return f
}

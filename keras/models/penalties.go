package models

import (
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/regularizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/trackable"
)

func activityOf(layer Model) regularizers.Regularizer { return layer.AsLayer().ActivityRegularizer() }

// tracePenalty traces the loss of a layer's outputs.
func (x *exporter) tracePenalty(layer Model, r regularizers.Regularizer) (*graph.Concrete, error) {
	d := layer.AsLayer().DType.Compute()
	f := function.New(func(s *ops.Scope, v *ops.Value) *ops.Value { return r.Penalty(s, v) }, nil)
	return f.TraceContext(x.ctx, ops.SpecOf(graph.Fact{DType: d}))
}

// lossFunctions returns functions of the losses of the weights of obj, and of the layers
// below it if all is set. It stores an error in x.failed, since the walk that calls it can't
// return one; metadata reports it.
func (x *exporter) lossFunctions(obj trackable.Trackable, all bool) []trackable.Trackable {
	if x.opts.Level != Comprehensive {
		return nil
	}
	var list []trackable.Trackable
	base.EachRegularizer(obj, func(owner base.LayerLike, v *trackable.Variable, r regularizers.Regularizer) {
		if !all && any(owner) != obj {
			return
		}
		key := lossKey{v, owner}
		f := x.losses[key]
		if f == nil {
			traced := function.New(func(s *ops.Scope, _ struct{}) *ops.Value { return r.Penalty(s, v) }, nil)
			concrete, err := traced.TraceContext(x.ctx, struct{}{})
			if err != nil {
				x.failed = err
				return
			}
			f = &layerFunction{traces: []*graph.Concrete{concrete}, params: &savedmodel.Parameters{}}
			x.losses[key] = f
		}
		list = append(list, f)
	})
	return list
}

// lossKey identifies the loss of a weight: one variable may be a weight of several layers.
type lossKey struct {
	variable *trackable.Variable
	owner    base.LayerLike
}

package run

import (
	"context"
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Reusable is a model by TensorFlow Hub's interface of reusable SavedModels.
type Reusable struct {
	// Variables are the model's variables, and TrainableVariables those that training
	// changes.
	Variables, TrainableVariables []*trackable.Variable
	// Lacks lists the parts of the interface that the model lacks; see
	// [savedmodel.MetaGraph.CheckReusable].
	Lacks []savedmodel.Lack

	call   *Function   // the root's __call__
	losses []*Function // of the list regularization_losses
}

// Reusable returns the parts of the model that hub.KerasLayer uses, by
// TensorFlow Hub's interface for reusable SavedModels. A model without a
// function __call__ is an error; lists that are missing are empty.
func (m *Model) Reusable() (*Reusable, error) {
	r := &Reusable{Lacks: m.meta.CheckReusable()}
	if len(m.meta.Objects) == 0 {
		return nil, fmt.Errorf("savedmodel: the model is not reusable: %v", r.Lacks[0])
	}
	root := m.meta.Objects[0]
	if o := root.Child("__call__"); o == nil || o.Kind != savedmodel.FunctionObject {
		return nil, fmt.Errorf("savedmodel: the model is not reusable: %v", r.Lacks[0])
	}
	var err error
	if r.call, err = m.Function("__call__"); err != nil {
		return nil, err
	}
	lists := map[string]*[]*trackable.Variable{"variables": &r.Variables, "trainable_variables": &r.TrainableVariables}
	for _, part := range savedmodel.ReusableParts[1:] {
		list := root.Child(part)
		if list == nil {
			continue
		}
		for _, e := range list.Children {
			to := lists[part]
			switch {
			case to == nil && e.Object.Function != nil:
				f, err := m.Function(part + "/" + e.Name)
				if err != nil {
					return nil, err
				}
				r.losses = append(r.losses, f)
			case to != nil && m.excluded(e.Object):
				return nil, fmt.Errorf("savedmodel: the variable %q of %q: %w", e.Name, part, errExcluded)
			case to != nil && m.variables[e.Object] != nil:
				*to = append(*to, m.variables[e.Object])
			}
		}
	}
	return r, nil
}

// Call calls the model. training has no effect on a model whose __call__ doesn't take it.
func (r *Reusable) Call(ctx context.Context, input any, training bool) (any, error) {
	return r.call.Call(ctx, []any{input}, r.keywords(training))
}

// Concrete returns the trace that [Reusable.Call] would run, for function.Apply
// in model code: there the model is trained. An input that is a
// *[graph.Structure] matches all values that it describes.
func (r *Reusable) Concrete(ctx context.Context, input any, training bool) (*graph.Concrete, error) {
	return r.call.Concrete(ctx, []any{input}, r.keywords(training))
}

// keywords returns the argument training if __call__ takes it, as hub.KerasLayer passes it.
func (r *Reusable) keywords(training bool) map[string]any {
	if savedmodel.TakesTraining(r.call.info.Parameters) {
		return map[string]any{"training": training}
	}
	return nil
}

// RegularizationLosses returns the regularization losses for the present values of the
// variables: scalars, to be added to a loss.
func (r *Reusable) RegularizationLosses(ctx context.Context) ([]*tensor.Tensor, error) {
	out := make([]*tensor.Tensor, len(r.losses))
	for i, f := range r.losses {
		x, err := f.Call(ctx, nil, nil)
		if err != nil {
			return nil, err
		}
		t, ok := x.(*tensor.Tensor)
		if !ok {
			return nil, fmt.Errorf("savedmodel: the regularization loss %d is a %T, not a tensor", i, x)
		}
		out[i] = t
	}
	return out, nil
}

// LossFunctions returns the functions of the regularization losses, for function.Apply.
func (r *Reusable) LossFunctions(ctx context.Context) ([]*graph.Concrete, error) {
	out := make([]*graph.Concrete, len(r.losses))
	var err error
	for i, f := range r.losses {
		if out[i], err = f.Concrete(ctx, nil, nil); err != nil {
			return nil, err
		}
	}
	return out, nil
}

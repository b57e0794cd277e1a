package training

import (
	"fmt"
	"reflect"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/internal/samples"
	"github.com/cairnml/cairn/keras/losses"
	"github.com/cairnml/cairn/keras/metrics"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// lossSet has the losses of a model's outputs, and their means as metrics.
type lossSet struct {
	built   bool
	losses  []losses.Loss // for each output, nil for none
	weights []float64     // nil for ones
	total   metrics.Mean
	means   []*metrics.Mean // for each output of several, nil for one without a loss
}

// never returns false. perOutput asks it whether a list belongs to every output. Lists of losses
// and of loss weights never do: they have an element for each output.
func never(reflect.Value) bool { return false }

// lossOf returns the loss of an identifier.
func lossOf(identifier any) (losses.Loss, error) {
	switch f := identifier.(type) {
	case func(s *ops.Scope, truth, predicted ops.Input) *ops.Value:
		return losses.Func(f), nil
	case nil:
		return nil, nil
	}
	return losses.Get(identifier)
}

// check returns an error if a loss is unknown.
func (l *lossSet) check(given any) error {
	v := reflect.ValueOf(given)
	switch {
	case given == nil:
		return nil
	case v.Kind() == reflect.Map:
		for _, k := range v.MapKeys() {
			if _, err := lossOf(v.MapIndex(k).Interface()); err != nil {
				return err
			}
		}
		return nil
	case v.Kind() == reflect.Slice && !isBytes(v):
		for i := range v.Len() {
			if _, err := lossOf(v.Index(i).Interface()); err != nil {
				return err
			}
		}
		return nil
	}
	_, err := lossOf(given)
	return err
}

// build makes the losses and metrics for outputs of these names, once.
func (l *lossSet) build(o *CompileOptions, names []string) error {
	if l.built {
		return nil
	}
	list, err := perOutput("losses", o.Loss, names, never)
	if err != nil {
		return err
	}
	l.losses = make([]losses.Loss, len(names))
	for i, id := range list {
		if l.losses[i], err = lossOf(id); err != nil {
			return err
		}
	}
	if o.LossWeights != nil {
		if list, err = perOutput("loss weights", o.LossWeights, names, never); err != nil {
			return err
		}
		l.weights = make([]float64, len(names))
		for i, w := range list {
			l.weights[i] = 1
			if w == nil {
				continue
			}
			v := reflect.ValueOf(w)
			switch {
			case v.CanFloat():
				l.weights[i] = v.Float()
			case v.CanInt():
				l.weights[i] = float64(v.Int())
			default:
				return fmt.Errorf("a loss weight is a %T, want a float64", w)
			}
		}
	}
	l.total.Name = "loss"
	if len(names) > 1 {
		l.means = make([]*metrics.Mean, len(names))
		for i, name := range names {
			if l.losses[i] != nil {
				l.means[i] = &metrics.Mean{}
				l.means[i].Name = name + "_loss"
			}
		}
	}
	l.built = true
	return nil
}

// metrics lists the means of the losses.
func (l *lossSet) metrics() []metrics.Accumulator {
	if !l.built {
		return nil
	}
	list := []metrics.Accumulator{&l.total}
	for _, m := range l.means {
		if m != nil {
			list = append(list, m)
		}
	}
	return list
}

// loss returns the total loss and updates the means. truths and weights have an element for
// each output, nil for none. added are the losses of layers. The result is nil if there are no
// losses, and any value after an error. As in tf_keras's LossesContainer.__call__, a batch counts
// in the means by its size, and the mean of an output doesn't include its loss weight.
func (l *lossSet) loss(s *ops.Scope, out *outputs, truths, weights, added []*ops.Value) *ops.Value {
	var terms []*ops.Value
	var batch *ops.Value
	for i, p := range out.values {
		if truths[i] == nil || l.losses[i] == nil {
			continue
		}
		t, w := match(s, truths[i], p, weights[i])
		if s.Err() != nil {
			return p
		}
		w = samples.Masked(s, input(w), base.MaskOf(p), p.DType())
		v := l.losses[i].Loss(s, t, p, input(w))
		if s.Err() != nil {
			return v
		}
		if batch == nil {
			batch = ops.Cast(s, ops.StridedSlice(s, ops.Shape(s, t), ops.At(0)), tensor.Float32)
		}
		if l.means != nil {
			l.means[i].Update(s, v, batch)
		}
		if l.weights != nil {
			v = ops.Mul(s, v, l.weights[i])
		}
		terms = append(terms, v)
	}
	if len(added) > 0 {
		terms = append(terms, sum(s, added))
	}
	if len(terms) == 0 {
		return nil
	}
	total := sum(s, terms)
	if s.Err() == nil {
		l.total.Update(s, total, input(batch))
	}
	return total
}

// input returns v as an input that is nil if v is.
func input(v *ops.Value) ops.Input {
	if v == nil {
		return nil
	}
	return v
}

// sum adds losses in the widest of their types.
func sum(s *ops.Scope, terms []*ops.Value) *ops.Value {
	widest := terms[0].DType()
	for _, v := range terms[1:] {
		if v.DType().Size() > widest.Size() {
			widest = v.DType()
		}
	}
	total := samples.CastTo(s, terms[0], widest)
	for _, v := range terms[1:] {
		total = ops.Add(s, total, samples.CastTo(s, v, widest))
	}
	return total
}

// match reshapes truths and weights from [n] to [n, 1] if the predictions are a matrix. It
// converts weights to the predictions' type, and truths too if both are floats or both are
// integers. It is tf_keras's match_dtype_and_rank.
func match(s *ops.Scope, truth, predicted, weights *ops.Value) (t, w *ops.Value) {
	if s.Err() != nil {
		return truth, weights
	}
	matrix := predicted.Fact().Shape.HasRank() && predicted.Fact().Shape.Rank() == 2
	column := func(v *ops.Value) *ops.Value {
		if shape := v.Fact().Shape; matrix && shape.HasRank() && shape.Rank() == 1 {
			return ops.ExpandDims(s, v, -1)
		}
		return v
	}
	t = column(truth)
	d, p := t.DType(), predicted.DType()
	if d.IsFloating() && p.IsFloating() || d.IsInteger() && p.IsInteger() {
		t = samples.CastTo(s, t, p)
	}
	if weights != nil {
		w = samples.CastTo(s, column(weights), p)
	}
	return t, w
}

package training

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// stepInput is a batch as the steps take it.
type stepInput struct {
	X, Y, Weights []*ops.Value
	ClassWeights  []*ops.Value // none, or a vector
	Form          *arrangement
}

// trainStep takes a step of training, and returns the results of the metrics. The order is that of
// tf_keras's Model.train_step: the metrics are updated after the variables, with the outputs from
// before.
func (t *Trainer) trainStep(s *ops.Scope, in stepInput) []*ops.Value {
	s = t.seeded(s.WithTraining(true))
	fail := func(err error) []*ops.Value { return []*ops.Value{s.Fail("training step", err)} }
	if in.Form.y.kind == noValue && t.opts.Loss != nil {
		return fail(errors.New("the data has no truths, which the loss needs; set Y"))
	}
	weights, layout := classWeighted(s, &in)
	var out *outputs
	var truths, sampleWeights []*ops.Value
	scaled, scales := t.optimizer.(*optimizers.LossScaleOptimizer)
	loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
		s, added := base.WithLosses(s)
		if out = t.call(s, &in); s.Err() != nil {
			return out.values[0]
		}
		var err error
		if truths, sampleWeights, err = t.conform(out, &in, weights, layout); err != nil {
			return s.Fail("training step", err)
		}
		loss := t.loss(s, out, truths, sampleWeights, added)
		if s.Err() != nil {
			return loss
		}
		if loss == nil {
			return s.Fail("training step", errors.New("there is no loss; set the option Loss of Compile, and truths for its outputs"))
		}
		if scales {
			return scaled.ScaledLoss(s, loss)
		}
		return loss
	})
	if s.Err() != nil {
		return []*ops.Value{loss}
	}
	gradients := tape.Gradient(loss, base.Trainable(t.model))
	if scales {
		gradients = scaled.UnscaledGradients(s, gradients)
	}
	t.optimizer.Apply(s, gradients)
	base.Constrain(s, t.model)
	ops.AssignAdd(s, &t.steps.Variable, int64(1))
	return t.results(s, out, truths, sampleWeights)
}

// testStep evaluates a batch, and returns the results of the metrics.
func (t *Trainer) testStep(s *ops.Scope, in stepInput) []*ops.Value {
	s, added := base.WithLosses(t.seeded(s.WithTraining(false)))
	out := t.call(s, &in)
	if s.Err() != nil {
		return nil
	}
	truths, weights, err := t.conform(out, &in, in.Weights, &in.Form.weights)
	if err != nil {
		return []*ops.Value{s.Fail("test step", err)}
	}
	t.loss(s, out, truths, weights, added)
	return t.results(s, out, truths, weights)
}

// predictStep returns the outputs for a batch.
func (t *Trainer) predictStep(s *ops.Scope, in stepInput) []*ops.Value {
	return t.call(t.seeded(s.WithTraining(false)), &in).values
}

// seeded returns a scope on which layers draw from the trainer's seed.
func (t *Trainer) seeded(s *ops.Scope) *ops.Scope {
	if t.opts.Seed == nil {
		return s
	}
	return base.WithSeed(s, *t.opts.Seed)
}

// call calls the model.
func (t *Trainer) call(s *ops.Scope, in *stepInput) *outputs {
	out := &outputs{kind: oneValue}
	l := &in.Form.x
	in.X = l.assembled(s, in.X)
	_, computes := t.model.(base.FullComputer)
	switch named, ok := t.model.(interface{ InputNames() []string }); {
	case l.kind == mapOfValues && ok:
		list, err := ordered(l, in.X, named.InputNames())
		if err != nil {
			out.values = []*ops.Value{s.Fail("Call", err)}
			return out
		}
		out.values = base.CallAll(s, t.model, list, nil)
	case l.kind == mapOfValues:
		x := make(map[string]*ops.Value, len(in.X))
		for i, key := range l.keys {
			x[key] = in.X[i]
		}
		out.values = []*ops.Value{t.model.Call(s, x)}
	case len(in.X) == 1 || computes:
		out.values = base.CallAll(s, t.model, in.X, nil)
	default:
		out.values = []*ops.Value{t.model.Call(s, in.X)}
	}
	for i, v := range out.values {
		if form := base.FormOf(v); form != "" {
			out.values[i] = s.Fail("Call", fmt.Errorf("output %d of the model is a %s tensor, want a dense one; end with a layer that makes one", i, form))
		}
	}
	if len(out.values) > 1 {
		out.kind = listOfValues
	}
	if m, ok := t.model.(interface{ OutputKeys() []string }); ok && len(m.OutputKeys()) == len(out.values) {
		out.kind, out.names = mapOfValues, m.OutputKeys()
	} else if m, ok := t.model.(interface{ OutputNames() []string }); ok && len(m.OutputNames()) == len(out.values) {
		out.names = m.OutputNames()
	} else {
		for i := range out.values {
			out.names = append(out.names, "output_"+strconv.Itoa(i+1))
		}
	}
	return out
}

// ordered returns the values of a map in the order of names.
func ordered(l *layout, values []*ops.Value, names []string) ([]*ops.Value, error) {
	byName := map[string]*ops.Value{}
	for i, key := range l.keys {
		byName[key] = spread(l, values)[i]
	}
	list := make([]*ops.Value, len(names))
	for i, name := range names {
		if list[i] = byName[name]; list[i] == nil {
			return nil, fmt.Errorf("the inputs have no %q (they have %q)", name, l.keys)
		}
	}
	if len(l.keys) > len(names) {
		return nil, fmt.Errorf("got the inputs %q, want %q", l.keys, names)
	}
	return list, nil
}

// conform returns the truths and weights for each output, and makes the losses and metrics
// in the first step.
func (t *Trainer) conform(out *outputs, in *stepInput, weights []*ops.Value, wl *layout) (truths, w []*ops.Value, err error) {
	if truths, err = out.conform("truths", &in.Form.y, in.Y); err != nil {
		return nil, nil, err
	}
	if w, err = out.conform("sample weights", wl, weights); err != nil {
		return nil, nil, err
	}
	if err := t.losses.build(&t.opts, out.names); err != nil {
		return nil, nil, err
	}
	return truths, w, t.metrics.build(&t.opts, out, truths)
}

// loss returns the total loss, nil if there is none.
func (t *Trainer) loss(s *ops.Scope, out *outputs, truths, weights []*ops.Value, added *base.Losses) *ops.Value {
	all := append(added.Values()[:len(added.Values()):len(added.Values())], base.RegularizationLosses(s, t.model)...)
	if s.Err() != nil {
		return out.values[0]
	}
	return t.losses.loss(s, out, truths, weights, all)
}

// results updates the metrics and returns the results of all.
func (t *Trainer) results(s *ops.Scope, out *outputs, truths, weights []*ops.Value) []*ops.Value {
	t.metrics.update(s, out, truths, weights)
	if s.Err() != nil {
		return nil
	}
	all := t.allMetrics()
	results := make([]*ops.Value, len(all))
	for i, m := range all {
		results[i] = m.Result(s)
	}
	return results
}

// classWeighted returns the sample weights times the weights of the classes in the truths.
func classWeighted(s *ops.Scope, in *stepInput) (weights []*ops.Value, l *layout) {
	if !in.Form.weighsClasses {
		return in.Weights, &in.Form.weights
	}
	if in.Form.y.kind != oneValue || in.Form.weights.kind > oneValue {
		s.Fail("training step", errors.New("class weights need a model with one output"))
		return nil, &layout{}
	}
	y := in.Y[0]
	shape := y.Fact().Shape
	round := func(v *ops.Value) *ops.Value {
		if v.DType().IsFloating() {
			v = ops.Round(s, v)
		}
		return ops.Cast(s, v, tensor.Int64)
	}
	var classes *ops.Value
	switch {
	case shape.HasRank() && shape.Rank() < 2:
		classes = round(y)
	case shape.HasRank() && shape.Dim(-1) == 1:
		classes = round(ops.Squeeze(s, y, -1))
	default:
		classes = ops.ArgMax(s, y, -1)
	}
	w := ops.Gather(s, in.ClassWeights[0], classes)
	if len(in.Weights) > 0 && s.Err() == nil {
		given := in.Weights[0]
		w = ops.Cast(s, w, given.DType())
		for range max(w.Fact().Shape.Rank()-given.Fact().Shape.Rank(), 0) {
			given = ops.ExpandDims(s, given, -1)
		}
		w = ops.Mul(s, given, w)
	}
	return []*ops.Value{w}, &layout{kind: oneValue, has: []bool{true}}
}

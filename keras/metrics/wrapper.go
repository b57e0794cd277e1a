package metrics

import (
	"errors"
	"fmt"
	"maps"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/internal/samples"
	"github.com/cairnml/cairn/keras/losses"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// errUnmade is the error of a Result before the first update, in metrics whose shapes depend on it.
var errUnmade = errors.New("the metric has no variables; it needs an update first")

// Averaged is embedded by metrics that are the mean of a function of truths and predictions.
type Averaged struct {
	Mean
	kwargs *trackable.Map[*trackable.Variable] `cairn:"-"` // tf_keras's node for the function's arguments
}

// States lists the variables.
func (m *Averaged) States(in tensor.Shape) ([]State, error) {
	list, err := m.Mean.States(in)
	if m.kwargs == nil {
		m.kwargs = trackable.NewMap[*trackable.Variable]()
	}
	return append(list, State{Edge: "_fn_kwargs", Child: m.kwargs}), err
}

// Result returns the mean, 0 before the first update.
func (m *Averaged) Result(s *ops.Scope) *ops.Value {
	if !m.Ready(s, m) {
		return s.Fail("metric", errUnmade)
	}
	return m.Mean.Result(s)
}

// Reset forgets all updates.
func (m *Averaged) Reset(s *ops.Scope) { m.ResetStates(s, m) }

// average takes the values of f into the mean.
func (m *Averaged) average(s *ops.Scope, f losses.Func, truth, predicted, weights ops.Input) {
	values, w := m.values(s, f, truth, predicted, weights)
	m.add(s, m, values, w)
}

// values returns the values of f, and the weights with the mask of the values.
func (m *Averaged) values(s *ops.Scope, f losses.Func, truth, predicted, weights ops.Input) (values, w *ops.Value) {
	t, p := samples.CastTo(s, truth, m.dtype()), samples.CastTo(s, predicted, m.dtype())
	if s.Err() != nil {
		return t, nil
	}
	t, p = samples.MatchRanks(s, t, p)
	values = f(s, t, p)
	if s.Err() != nil {
		return values, nil
	}
	return values, samples.Masked(s, weights, base.MaskOf(values), values.DType())
}

// MeanMetricWrapper is the mean of a function of truths and predictions, such as that of a
// loss.
type MeanMetricWrapper struct {
	Averaged
	// Fn is the function: a losses.Function, whose config is its name, a losses.Func, or
	// another loss.
	Fn losses.Loss `keras:"-" cairn:"-"`
}

// Update takes a batch into the mean.
func (m *MeanMetricWrapper) Update(s *ops.Scope, truth, predicted, weights ops.Input) {
	if m.Fn == nil {
		s.Fail("MeanMetricWrapper", errors.New("there is no Fn"))
		return
	}
	m.average(s, m.function(), truth, predicted, weights)
}

// EncodeConfig returns the fields, with the function by its name.
func (m *MeanMetricWrapper) EncodeConfig(e *config.Encoder) (config.Fields, error) {
	return encodeFunction(e, m, m.Fn)
}

// DecodeConfig reads the fields.
func (m *MeanMetricWrapper) DecodeConfig(d *config.Decoder, conf map[string]any) error {
	return decodeFunction(d, "MeanMetricWrapper", m, &m.Fn, conf)
}

// function returns the function of the examples.
func (m *MeanMetricWrapper) function() losses.Func { return functionOf(m.Fn) }

// functionOf returns the values of a loss: those of the examples for functions, the reduced
// loss for one with a reduction.
func functionOf(fn losses.Loss) losses.Func {
	switch f := fn.(type) {
	case losses.Func:
		return f
	case *losses.Function:
		return f.Func
	}
	return func(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
		return fn.Loss(s, truth, predicted, nil)
	}
}

// encodeFunction returns the fields of m and its function, as tf_keras writes functions.
func encodeFunction(e *config.Encoder, m any, fn losses.Loss) (config.Fields, error) {
	f, err := e.Fields(m)
	if err != nil {
		return nil, err
	}
	var value any = fn
	if named, ok := fn.(*losses.Function); ok {
		value = named.Name()
		if !e.Legacy() {
			value = config.Fields{{Name: "module", Value: "builtins"}, {Name: "class_name", Value: "function"}, {Name: "config", Value: named.Name()}, {Name: "registered_name", Value: "function"}}
		}
	}
	return append(f, config.Pair{Name: "fn", Value: value}), nil
}

// decodeFunction reads the fields of m and its function.
func decodeFunction(d *config.Decoder, class string, m any, fn *losses.Loss, conf map[string]any) error {
	conf = maps.Clone(conf)
	v, ok := conf["fn"]
	if !ok {
		return errors.New("fn is missing")
	}
	delete(conf, "fn")
	name, _ := v.(string)
	if o, ok := v.(map[string]any); ok && o["class_name"] == "function" {
		name, _ = o["config"].(string)
	}
	if f, err := FunctionByName(name); err == nil {
		*fn = f
	} else if err := d.Value(v, fn); err != nil {
		return fmt.Errorf("fn: %w", err)
	}
	return d.Fields(class, m, conf)
}

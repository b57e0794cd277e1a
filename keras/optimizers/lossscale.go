package optimizers

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync/atomic"

	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/trackable"
)

// scaleModule is the Python module of the classes in configs.
const scaleModule = "tf_keras.src.mixed_precision.loss_scale_optimizer"

// Based is implemented by the optimizers that embed a [Base].
type Based interface {
	Optimizer
	AsBase() *Base
}

// LossScaleOptimizer is an optimizer for computations in float16, whose small gradients
// would become 0: the loss is multiplied by a scale, and the gradients are divided by
// it. A dynamic scale halves when a gradient isn't finite, whose step is left out, and
// doubles after many steps that are.
//
//	opt := optimizers.NewLossScaleOptimizer(optimizers.NewAdam(0.001), nil)
//	loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return opt.ScaledLoss(s, lossOf(s)) })
//	opt.Apply(s, opt.UnscaledGradients(s, tape.Gradient(loss, vars)))
//
// In checkpoints it is one object with the inner optimizer, whose methods it has.
type LossScaleOptimizer struct {
	*Base `cairn:"-" keras:"-"`
	inner Based
	opts  LossScaleOptions
}

// LossScaleOptions are the options of [NewLossScaleOptimizer].
type LossScaleOptions struct {
	// Fixed keeps the scale. Default: it is dynamic.
	Fixed bool
	// InitialScale is the first scale. Default: 32768 for a dynamic one, as in tf_keras; a
	// fixed one has no default.
	InitialScale float64
	// DynamicGrowthSteps is the number of steps after which the scale doubles. Default:
	// 2000, as in tf_keras.
	DynamicGrowthSteps int
}

// NewLossScaleOptimizer returns an optimizer that scales the losses of inner, which must
// not have taken a step, nor be part of another one.
func NewLossScaleOptimizer(inner Based, opts *LossScaleOptions) *LossScaleOptimizer {
	o := new(LossScaleOptimizer)
	if opts != nil {
		o.opts = *opts
	}
	o.wrap(inner)
	return o
}

// wrap makes inner the inner optimizer. An inner optimizer that is in use is an error of the first
// step, since constructors return none.
func (o *LossScaleOptimizer) wrap(inner Based) {
	if !o.opts.Fixed {
		if o.opts.InitialScale == 0 {
			o.opts.InitialScale = 1 << 15
		}
		if o.opts.DynamicGrowthSteps == 0 {
			o.opts.DynamicGrowthSteps = 2000
		}
	}
	o.inner, o.Base = inner, inner.AsBase()
	o.Base.mu.Lock()
	defer o.Base.mu.Unlock()
	o.Base.scale = newLossScale(o.opts, o.Base.scale != nil || o.Base.made.Load())
}

// Variables returns the optimizer's variables in the order of optimizer.variables, as
// [Base.Variables] does. In the layout of Keras 3 those of the scale come first.
func (o *LossScaleOptimizer) Variables() []*trackable.Variable {
	if o.Base == nil {
		return nil
	}
	vars := o.Base.Variables()
	if Layout(o.layout.Load()) == Keras3Layout && vars != nil {
		return append(o.scale.keras3(), vars...)
	}
	return vars
}

// InnerOptimizer returns the optimizer whose losses are scaled.
func (o *LossScaleOptimizer) InnerOptimizer() Optimizer { return o.inner }

// TracksFields returns false, since the inner optimizer's node is this one's.
func (o *LossScaleOptimizer) TracksFields() bool { return false }

// lossScale is the state of a scale.
type lossScale struct {
	trackable.Base
	Current *trackable.Scalar[float32] `cairn:"current_loss_scale"`
	Counter *trackable.Scalar[int64]   `cairn:"good_steps"`

	opts     LossScaleOptions
	attached atomic.Bool   // read without the optimizer's lock
	old      *oldOptimizer `cairn:"-"`
	used     bool          // by the time it was made, the inner optimizer was in use
}

func newLossScale(opts LossScaleOptions, used bool) *lossScale {
	l := &lossScale{opts: opts, used: used, old: new(oldOptimizer), Current: trackable.NewScalar(float32(opts.InitialScale)), Counter: trackable.NewScalar[int64](0)}
	l.Current.Named("current_loss_scale").SetTrainable(false)
	l.Counter.Named("good_steps").SetTrainable(false)
	return l
}

// keras3 returns the variables that the outer one of Keras 3's two optimizers has: a counter
// and a learning rate, which it does not use, and the scale's. A fixed scale has none.
func (l *lossScale) keras3() []*trackable.Variable {
	if l.opts.Fixed {
		return nil
	}
	count, rate := trackable.NewScalar[int64](0), trackable.NewScalar[float32](0)
	count.Named("iteration").SetTrainable(false)
	rate.Named("learning_rate").SetTrainable(false)
	return []*trackable.Variable{&count.Variable, &rate.Variable, &l.Counter.Variable, &l.Current.Variable}
}

// accepts reports whether a checkpoint's value for edge may still find its object.
func (l *lossScale) accepts(edge string, isLegacy bool) bool {
	if l == nil || l.attached.Load() {
		return false
	}
	return edge == "loss_scale" && !l.opts.Fixed || edge == "base_optimizer" && isLegacy
}

// oldOptimizer is a node without children, to which tf_keras restores the slots of files
// of TensorFlow 2.2.
type oldOptimizer struct{ trackable.Base }

// attachScale makes the scale's state part of the object graph. After an error the next call
// tries again. The lock is held.
func (o *Base) attachScale() error {
	l := o.scale
	if l == nil || l.attached.Load() {
		return nil
	}
	if !l.opts.Fixed {
		if err := o.Attach("loss_scale", l); err != nil {
			return err
		}
	}
	if o.isLegacy() {
		if err := o.Attach("base_optimizer", l.old); err != nil {
			return err
		}
	}
	l.attached.Store(true)
	return nil
}

func (l *lossScale) check() error {
	switch {
	case l.used:
		return errors.New("the inner optimizer is in use already; wrap a new one")
	case l.opts.Fixed && l.opts.InitialScale == 0:
		return errors.New("a Fixed scale needs an InitialScale")
	case !(l.opts.InitialScale > 0):
		return fmt.Errorf("InitialScale is %v, want more than 0", l.opts.InitialScale)
	case l.opts.Fixed && l.opts.DynamicGrowthSteps != 0:
		return errors.New("a Fixed scale has no DynamicGrowthSteps")
	case l.opts.DynamicGrowthSteps < 0:
		return fmt.Errorf("DynamicGrowthSteps is %d, want 1 or more", l.opts.DynamicGrowthSteps)
	}
	return nil
}

// value returns the scale at this point of a function, a float32.
func (l *lossScale) value(s *ops.Scope) *ops.Value {
	if l.opts.Fixed {
		return ops.Const(s, float32(l.opts.InitialScale))
	}
	return ops.ReadVariable(s, l.Current)
}

// LossScale returns the scale at this point of a function, a float32 scalar.
func (o *LossScaleOptimizer) LossScale(s *ops.Scope) *ops.Value {
	if o.Base == nil {
		return s.Fail("LossScaleOptimizer", errUnscaled)
	}
	return o.scale.value(s)
}

// DynamicCounter returns the number of steps since the scale changed, or since a gradient
// wasn't finite: an int64 scalar, 0 for a fixed scale.
func (o *LossScaleOptimizer) DynamicCounter(s *ops.Scope) *ops.Value {
	if o.Base == nil {
		return s.Fail("LossScaleOptimizer", errUnscaled)
	}
	return ops.ReadVariable(s, o.scale.Counter)
}

var errUnscaled = errors.New("the optimizer is a zero value; make it with NewLossScaleOptimizer")

// ScaledLoss returns the loss times the scale.
func (o *LossScaleOptimizer) ScaledLoss(s *ops.Scope, loss *ops.Value) *ops.Value {
	scale := o.LossScale(s)
	if s.Err() != nil {
		return loss
	}
	return ops.Mul(s, loss, ops.Cast(s, scale, loss.DType()))
}

// UnscaledGradients returns gradients of a scaled loss, divided by the scale.
func (o *LossScaleOptimizer) UnscaledGradients(s *ops.Scope, g grad.Gradients) grad.Gradients {
	scale := o.LossScale(s)
	if s.Err() != nil {
		return g
	}
	factor := ops.Div(s, 1, scale)
	out := make(grad.Gradients, len(g))
	for i, p := range g {
		if p.Grad != nil {
			p.Grad = onValues(s, p.Grad, func(g *ops.Value) *ops.Value { return ops.Mul(s, g, ops.Cast(s, factor, g.DType())) })
		}
		out[i] = p
	}
	return out
}

// Apply takes a step with unscaled gradients. If one of them isn't finite, a dynamic scale
// halves, and only the count of steps advances.
func (o *LossScaleOptimizer) Apply(s *ops.Scope, g grad.Gradients) {
	if s.Err() != nil {
		return
	}
	if o.Base == nil {
		s.Fail("LossScaleOptimizer", errUnscaled)
		return
	}
	if err := o.prepare(g); err != nil {
		s.Fail("LossScaleOptimizer.Apply", err)
		return
	}
	if o.opts.Fixed {
		o.inner.Apply(s, g)
		return
	}
	var finite *ops.Value
	for _, p := range g {
		if p.Grad == nil {
			continue
		}
		f := ops.All(s, ops.IsFinite(s, valuesOf(p.Grad)))
		if finite == nil {
			finite = f
		} else {
			finite = ops.And(s, finite, f)
		}
	}
	if s.Err() != nil {
		return
	}
	l := o.scale
	none := func(*ops.Scope) []*ops.Value { return nil }
	ops.If(s, finite, func(s *ops.Scope) []*ops.Value {
		counted := ops.Add(s, l.Counter, 1)
		ops.If(s, ops.GreaterEqual(s, counted, l.opts.DynamicGrowthSteps), func(s *ops.Scope) []*ops.Value {
			next := ops.Mul(s, l.Current, 2)
			ops.If(s, ops.IsFinite(s, next), func(s *ops.Scope) []*ops.Value {
				ops.Assign(s, l.Current, next)
				return nil
			}, none)
			ops.Assign(s, l.Counter, int64(0))
			return nil
		}, func(s *ops.Scope) []*ops.Value {
			ops.Assign(s, l.Counter, counted)
			return nil
		})
		o.inner.Apply(s, g)
		return nil
	}, func(s *ops.Scope) []*ops.Value {
		ops.Assign(s, l.Counter, int64(0))
		ops.Assign(s, l.Current, ops.Maximum(s, ops.Div(s, l.Current, 2), 1))
		ops.AssignAdd(s, &o.iter.Variable, one)
		return nil
	})
}

// prepare makes the variables of the inner optimizer, which the branches of a step use.
func (o *LossScaleOptimizer) prepare(g grad.Gradients) error {
	if err := o.scale.check(); err != nil {
		return err
	}
	var vars, with []*trackable.Variable
	for _, p := range g {
		if p.Variable == nil {
			return errors.New("one of the gradients belongs to no variable")
		}
		vars = append(vars, p.Variable)
		if p.Grad != nil {
			with = append(with, p.Variable)
		}
	}
	if len(with) == 0 {
		return noGradients(g)
	}
	if !o.isLegacy() {
		with = vars
	}
	return o.Build(with)
}

// ConfigClass returns the class for the inner optimizer's family.
func (o *LossScaleOptimizer) ConfigClass(c config.Class, legacy bool) config.Class {
	if o.Base != nil && !o.isLegacy() {
		c.Name = "LossScaleOptimizerV3"
	}
	return c
}

// EncodeConfig returns the inner optimizer and the options.
func (o *LossScaleOptimizer) EncodeConfig(e *config.Encoder) (config.Fields, error) {
	if o.Base == nil {
		return nil, errUnscaled
	}
	f := config.Fields{
		{Name: "inner_optimizer", Value: o.inner},
		{Name: "dynamic", Value: !o.opts.Fixed},
		{Name: "initial_scale", Value: o.opts.InitialScale},
		{Name: "dynamic_growth_steps", Value: nil},
	}
	if !o.opts.Fixed {
		f[3].Value = o.opts.DynamicGrowthSteps
	}
	return f, nil
}

// DecodeConfig reads the inner optimizer and the options, in the form of TensorFlow 2.3
// too.
func (o *LossScaleOptimizer) DecodeConfig(d *config.Decoder, conf map[string]any) error {
	conf = maps.Clone(conf)
	if old, ok := conf["loss_scale"]; ok {
		if err := o.decodeOld(old); err != nil {
			return fmt.Errorf("loss_scale: %w", err)
		}
		delete(conf, "loss_scale")
		conf["inner_optimizer"] = conf["optimizer"]
		delete(conf, "optimizer")
	}
	var options struct {
		InnerOptimizer     Based
		Dynamic            *bool
		InitialScale       *float64
		DynamicGrowthSteps *int
	}
	if err := d.Fields("LossScaleOptimizer", &options, conf); err != nil {
		return err
	}
	if options.InnerOptimizer == nil {
		return errors.New("inner_optimizer is missing")
	}
	if options.Dynamic != nil {
		o.opts.Fixed = !*options.Dynamic
	}
	if options.InitialScale != nil {
		if o.opts.InitialScale = *options.InitialScale; o.opts.InitialScale == 0 {
			return errors.New("initial_scale is 0, want more than 0")
		}
	}
	if options.DynamicGrowthSteps != nil {
		if o.opts.DynamicGrowthSteps = *options.DynamicGrowthSteps; o.opts.DynamicGrowthSteps < 1 {
			return fmt.Errorf("dynamic_growth_steps is %d, want 1 or more", o.opts.DynamicGrowthSteps)
		}
	}
	o.wrap(options.InnerOptimizer)
	return o.scale.check()
}

// decodeOld reads the loss scale object of TensorFlow 2.3 and older.
func (o *LossScaleOptimizer) decodeOld(v any) error {
	object, _ := v.(map[string]any)
	c, _ := object["config"].(map[string]any)
	number := func(key string) float64 {
		n, _ := c[key].(json.Number)
		x, _ := n.Float64()
		return x
	}
	switch object["class_name"] {
	case "FixedLossScale":
		o.opts = LossScaleOptions{Fixed: true, InitialScale: number("loss_scale_value")}
	case "DynamicLossScale":
		if m := number("multiplier"); m != 2 {
			return fmt.Errorf("the multiplier is %v, want 2", m)
		}
		o.opts = LossScaleOptions{InitialScale: number("initial_loss_scale"), DynamicGrowthSteps: int(number("increment_period"))}
	default:
		return fmt.Errorf("got class %v, want FixedLossScale or DynamicLossScale", object["class_name"])
	}
	return nil
}

package optimizers

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/keras/optimizers/schedules"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// The names of edges, variables and hyperparameters must stay, and their order: they are
// those of tf_keras's files. Programs and packages keras, keras/training, keras/saving and
// keras/callbacks use optimizers.

// Optimizer changes variables by the gradients of a loss.
type Optimizer interface {
	// Apply changes the variables by their gradients. A variable without a
	// gradient keeps its value. If no variable has one, the scope fails.
	Apply(s *ops.Scope, g grad.Gradients)
	// Build makes the optimizer's variables for these variables. The first Apply does it
	// by itself. Pending values of a checkpoint become their first values.
	Build(vars []*trackable.Variable) error
	// LearningRate returns the rate of the next step, before Decay.
	LearningRate() (float64, error)
	// SetLearningRate changes the rate, also in the next checkpoint.
	SetLearningRate(rate float64) error
	// Iterations returns the number of steps taken.
	Iterations() (int64, error)
	// Rate and Steps are LearningRate and Iterations for code inside of functions.
	Rate(s *ops.Scope) *ops.Value
	Steps(s *ops.Scope) *ops.Value
}

// Base is embedded by optimizers. Its options are set before the first step:
//
//	opt := optimizers.NewAdam(0.1)
//	opt.ClipNorm = new(1.0)
//
// The first step makes the variables of an optimizer, with the values of a restored
// checkpoint. [Layout] determines their places in the object graph. The optimizer's own
// arithmetic is a [Rule].
type Base struct {
	trackable.Base
	trackable.Slots

	// Name begins the full names of the slots and, in the legacy layout, of the
	// step counter and the hyperparameters. In the new layouts, slots below a
	// [LossScaleOptimizer] don't have it. Default: the type's name, "Adam".
	Name string `keras:"-"`
	// Schedule sets each step's learning rate; then there is no learning rate to
	// set or save. A pointer to a struct with variables is saved in its place. It is
	// set before the first step: with another one later, the optimizer can't be
	// saved. Default: nil, the rate stays.
	Schedule schedules.Schedule `cairn:"-" keras:"-"`
	// Decay divides the learning rate by 1+Decay*iterations. Only the legacy
	// layout has it. Default: 0.
	Decay float64 `keras:"-"`
	// ClipValue limits each element of a gradient to ±ClipValue. Default: no limit.
	//
	// The legacy layout applies each limit that is set, in this order: ClipValue, ClipNorm,
	// GlobalClipNorm. The new layouts apply one limit only, the first positive one of
	// ClipNorm, GlobalClipNorm and ClipValue.
	ClipValue *float64 `keras:"-"`
	// ClipNorm limits the Euclidean norm of each gradient. Default: no limit.
	ClipNorm *float64 `keras:"-"`
	// GlobalClipNorm limits the Euclidean norm of all gradients together. It excludes
	// ClipNorm. Default: no limit.
	GlobalClipNorm *float64 `keras:"-"`
	// WeightDecay is the part of each variable, times the learning rate, that is
	// subtracted from it before the step. Only the new layouts have it. Default: none, and
	// 0.004 for AdamW.
	WeightDecay *float64 `keras:"-"`
	// UseEMA keeps a moving average of each variable. Only the new layouts have it.
	// Default: false.
	UseEMA bool `keras:"-"`
	// EMAMomentum is the part of the last average in the next one. Default: 0.99, which
	// Init sets.
	EMAMomentum float64 `keras:"-"`
	// EMAOverwriteFrequency is the number of steps after which the averages become the
	// variables' values. [Base.FinalizeVariableValues] does it too. Default: 0, never; of
	// RMSprop: 100, as in tf_keras.
	EMAOverwriteFrequency int `keras:"-"`
	// JITCompile is kept for the config. Default: false, as tf_keras has it without a GPU.
	JITCompile bool `keras:"-"`

	// mu is held while variables are made, and while a step is taken. The fields below are
	// only written under it, except by Init and constructors. AcceptsChild reads without it.
	mu     sync.Mutex
	rule   Rule
	start  float64      // the learning rate to begin with
	layout atomic.Int32 // a Layout

	// made and layout are read without the lock: a checkpoint asks which edges may
	// still appear while a step that waits for the checkpoint holds the lock.
	made   atomic.Bool
	kinds  []SlotKind // the rule's, once made
	nums   [2][numCount]num
	step   []coefficients                        `cairn:"-"` // of the step that is being taken
	iter   *trackable.Scalar[int64]              `cairn:"-"`
	rate   *trackable.Scalar[float32]            `cairn:"-"` // nil with a Schedule in the legacy layout
	hyper  map[string]*trackable.Scalar[float32] `cairn:"-"` // legacy layout only
	number *keptNumber                           `cairn:"-"` // nil if the rule stores none
	next   newState                              `cairn:"-"`
	scale  *lossScale                            `cairn:"-"` // of the LossScaleOptimizer around it
	// trained are the variables with slots in the legacy layout, in the order of the first
	// step.
	trained []*trackable.Variable `cairn:"-"`
	// newOnly is set if tf_keras has no legacy optimizer of that name.
	newOnly  bool
	excluded exclusion
}

// Init prepares an optimizer that embeds Base; its constructor calls it before the options
// are set. rule is the optimizer itself, whose type determines the Name; rate is the
// learning rate. Init panics if rule does not embed this Base.
func (o *Base) Init(rule Rule, rate float64) {
	if b, ok := rule.(interface{ AsBase() *Base }); !ok || b.AsBase() != o {
		panic(fmt.Sprintf("optimizers: Init of %T: the rule embeds another Base", rule))
	}
	o.Name, o.start, o.rule = reflect.TypeOf(rule).Elem().Name(), rate, rule
	o.EMAMomentum = 0.99
	for _, k := range rule.SlotKinds() {
		o.DeclareSlots(k.Name)
	}
}

// AsBase returns the Base itself; types that embed one are recognized by it.
func (o *Base) AsBase() *Base { return o }

// ScopeName returns the optimizer's name, with which its slots' full names
// begin.
func (o *Base) ScopeName() string { return o.Name }

// AcceptsChild reports whether a checkpoint's value for edge may still find its
// variable: those that the optimizer makes at its first step.
func (o *Base) AcceptsChild(edge string) bool {
	made, isLegacy := o.made.Load(), o.isLegacy()
	if o.number.accepts(edge, isLegacy) {
		return true
	}
	if o.scale.accepts(edge, isLegacy) {
		return true
	}
	if o.rule == nil || made && isLegacy {
		return false
	}
	switch edge {
	case "_model_variables_moving_average":
		return o.UseEMA && !o.next.built.Load()
	case "_variables", "_iterations", "_learning_rate", "_current_learning_rate":
		return !made
	case "_index_dict", "_trainable_variables", "_trainable_variables_indices":
		return !o.next.built.Load()
	}
	for _, k := range o.rule.SlotKinds() {
		if k.listName() == edge {
			return !o.next.built.Load()
		}
	}
	if !isLegacy {
		return false
	}
	switch edge {
	case "iter", "decay":
		return true
	case "learning_rate":
		return o.Schedule == nil
	}
	return slices.ContainsFunc(hypersOf(o.rule), func(h Hyper) bool { return h.Name == edge })
}

// tracked returns the Schedule if it has variables, nil otherwise.
func (o *Base) tracked() trackable.Trackable {
	v := reflect.ValueOf(o.Schedule)
	if v.Kind() == reflect.Struct { // no restore could reach its variables: the walk reports it
		p := reflect.New(v.Type())
		p.Elem().Set(v)
		v = p
	}
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return nil
	}
	if edges, err := trackable.Children(v.Interface()); err == nil && len(edges) == 0 {
		return nil
	}
	return o.Schedule
}

// isLegacy reports whether the layout is the legacy one, and not one of the new layouts.
func (o *Base) isLegacy() bool { return Layout(o.layout.Load()) == LegacyLayout }

// TrackableChildren lists a Schedule that has variables, and makes the variables
// that an optimizer with one of the new layouts has before its first step.
func (o *Base) TrackableChildren() []trackable.Edge {
	if !o.isLegacy() && !o.made.Load() && o.mu.TryLock() {
		defer o.mu.Unlock()
		node := o.TrackableNode()
		if !o.made.Load() && !node.HasPending("_variables") && !node.HasPending("_iterations") {
			// Nothing is pending, so only the Schedule can fail. The first step calls it
			// again and reports the error.
			_ = o.makeNew()
		}
	}
	if o.isLegacy() && o.scale != nil && !o.made.Load() && o.mu.TryLock() {
		// tf_keras's wrapper tracks its state from the start. A failed delivery stays
		// pending, and the next step reports it.
		_ = o.attachScale()
		o.mu.Unlock()
	}
	sched := o.tracked()
	switch {
	case sched == nil:
	case o.isLegacy():
		return []trackable.Edge{{Name: "learning_rate", Child: sched}}
	case o.made.Load() && !slices.ContainsFunc(o.TrackableNode().Edges(), func(e trackable.Edge) bool {
		return e.Name == "_learning_rate" && trackable.Identity(e.Child) == trackable.Identity(sched)
	}):
		return []trackable.Edge{{Name: "_learning_rate", Child: sched}} // the Schedule was replaced after the first step: a duplicate edge if there was one
	}
	return nil
}

var errUnmade = errors.New("the optimizer is a zero value; make it with its constructor, such as optimizers.NewAdam(0.001)")

// make makes the step counter and the hyperparameters, once. The lock is held.
func (o *Base) make() error {
	switch {
	case o.made.Load():
		return nil
	case o.rule == nil:
		return errUnmade
	}
	node := o.TrackableNode()
	// The pending checkpoint shows which optimizer wrote it.
	switch {
	case node.HasPending("_trainable_variables"):
		o.layout.Store(int32(Keras3Layout))
	case node.HasPending("_iterations") || node.HasPending("_variables"):
		o.layout.Store(int32(NewLayout))
	}
	if err := o.validate(); err != nil {
		return err
	}
	if !o.isLegacy() {
		return o.makeNew()
	}
	o.kinds = o.rule.SlotKinds()
	if err := o.attachScale(); err != nil {
		return err
	}
	if sched := o.tracked(); sched != nil {
		if err := o.Attach("learning_rate", sched); err != nil {
			return err
		}
	}
	o.iter = trackable.NewScalar[int64](0)
	o.iter.Named(o.Name + "/iter").SetTrainable(false)
	if err := o.Attach("iter", o.iter); err != nil {
		return err
	}
	all := hypersOf(o.rule)
	if !slices.ContainsFunc(all, func(h Hyper) bool { return h.Name == "decay" }) {
		all = append(all, Hyper{"decay", o.Decay})
	}
	if o.Schedule == nil {
		all = append(all, Hyper{"learning_rate", o.start})
	}
	sortHypers(all)
	o.hyper = make(map[string]*trackable.Scalar[float32], len(all))
	for _, h := range all {
		v := trackable.NewScalar(float32(h.Value))
		v.Named(o.Name + "/" + h.Name).SetTrainable(false)
		o.hyper[h.Name] = v
		if err := o.Attach(h.Name, v); err != nil {
			return err
		}
	}
	o.rate = o.hyper["learning_rate"]
	o.made.Store(true)
	return nil
}

// Build makes the optimizer's variables for vars. The first Apply does it by itself. With
// the new layouts, vars must be all that will be trained, since their order is part of them.
func (o *Base) Build(vars []*trackable.Variable) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.make(); err != nil {
		return fmt.Errorf("optimizers: %w", err)
	}
	if !o.isLegacy() {
		return o.buildNew(vars)
	}
	if len(vars) > 0 {
		if err := o.number.make(o, vars[0]); err != nil {
			return err
		}
	}
	for _, k := range o.rule.SlotKinds() {
		for _, v := range vars {
			if !k.skipLegacy {
				if _, err := o.slot(v, k); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (o *Base) slot(v *trackable.Variable, k SlotKind) (*trackable.Variable, error) {
	if len(o.trained) == 0 || o.trained[len(o.trained)-1] != v && !slices.Contains(o.trained, v) {
		o.trained = append(o.trained, v)
	}
	if have := o.Slot(v, k.Name); have != nil {
		return have, nil
	}
	return o.SlotOr(v, k.Name, func() (*tensor.Tensor, error) {
		shape := v.Shape()
		if k.Shape != nil {
			var ok bool
			if shape, ok = k.Shape(shape); !ok {
				shape = tensor.Shape{}
			}
		}
		return initializers.Constant{Value: k.Initial}.Init(nil, v.DType(), shape)
	})
}

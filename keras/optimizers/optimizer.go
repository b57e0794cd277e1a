package optimizers

import (
	"errors"
	"fmt"
	"maps"
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

// Optimizer is what all optimizers here do.
type Optimizer interface {
	// Apply changes the variables by their gradients. A variable without a
	// gradient stays as it is; if none has one, that is the scope's error.
	Apply(s *ops.Scope, g grad.Gradients)
	// Build makes the optimizer's variables for these variables, which the first
	// Apply does otherwise. What a checkpoint has pending for them is taken.
	Build(vars []*trackable.Variable) error
	// LearningRate returns the rate of the next step, before Decay.
	LearningRate() (float64, error)
	// SetLearningRate changes it, for a checkpoint too.
	SetLearningRate(rate float64) error
	// Iterations returns the number of steps taken.
	Iterations() (int64, error)
	// Rate and Steps are LearningRate and Iterations for code inside of functions.
	Rate(s *ops.Scope) *ops.Value
	Steps(s *ops.Scope) *ops.Value
}

// Base is the part that the optimizers here have in common. Its
// options are set before the first step:
//
//	opt := optimizers.NewAdam(0.1)
//	opt.ClipNorm = 1
//
// The variables that an optimizer keeps are made at the first step, as in
// Keras; those of a restored checkpoint are taken then. In the object graph
// they stand as tf_keras.optimizers.legacy lays them out, or as its newer
// optimizers do: see [Layout].
type Base struct {
	trackable.Base
	trackable.Slots

	// Name begins the full names of the optimizer's variables. Default: the
	// type's name, "Adam".
	Name string
	// Schedule gives each step's learning rate; then there is no learning rate to
	// set or save. A pointer to a struct with variables is saved in its place; it is
	// set before the first step, and another one later keeps the optimizer from being
	// saved. Default: nil, the rate stays.
	Schedule schedules.Schedule `cairn:"-"`
	// Decay divides the learning rate by 1+Decay*iterations; only the legacy
	// layout knows it. Default: 0.
	Decay float64
	// ClipValue, if positive, limits each element of a gradient to ±ClipValue.
	// Default: 0.
	ClipValue float64
	// ClipNorm, if positive, limits the Euclidean norm of each gradient.
	// Default: 0.
	ClipNorm float64
	// GlobalClipNorm, if positive, limits the Euclidean norm of all gradients
	// together. Default: 0.
	GlobalClipNorm float64
	// WeightDecay, if positive, subtracts WeightDecay*rate*variable from each
	// variable before the step; only the new layout knows it. Default: 0, and
	// 0.004 for AdamW.
	WeightDecay float64

	mu     sync.Mutex
	rule   rule
	start  float64      // the learning rate to begin with
	layout atomic.Int32 // a Layout

	// made and layout are read without the lock: a checkpoint asks which edges may
	// still appear while a step that waits for the checkpoint holds the lock.
	made   atomic.Bool
	kinds  []slotKind // the rule's, once made
	nums   [2][numCount]num
	step   []coefficients                        `cairn:"-"` // of the step that is being taken
	iter   *trackable.Scalar[int64]              `cairn:"-"`
	rate   *trackable.Scalar[float32]            `cairn:"-"` // nil with a Schedule in the legacy layout
	hyper  map[string]*trackable.Scalar[float32] `cairn:"-"` // legacy layout only
	number *keptNumber                           `cairn:"-"` // nil where the rule keeps none
	next   newState                              `cairn:"-"`
}

// rule is what tells one optimizer from another.
type rule interface {
	// hypers returns the legacy layout's hyperparameters besides iter, decay and
	// learning_rate.
	hypers() []hyper
	// slots returns the kinds of variables kept for each variable, in the legacy
	// layout's order.
	slots() []slotKind
	// update takes one variable's step.
	update(s *ops.Scope, u *update)
	// updateRows takes one variable's step by slices, of which several may be of one
	// row. Ops that take u.grad get the whole tensor, for formulas that have no
	// other form.
	updateRows(s *ops.Scope, u *update, x ops.IndexedSlices)
}

type hyper struct {
	name  string
	value float64
}

// slotKind is a kind of variable that an optimizer keeps for each variable that
// it trains.
type slotKind struct {
	name    string  // the legacy slot's
	list    string  // the new layout's list
	tag     string  // in the new layout's full names
	legacy  bool    // used with the legacy layout
	new     bool    // used with the new one
	empty   bool    // the new layout has the list even if it isn't used
	joined  bool    // the new layout makes it together with the kind before, variable by variable
	initial float64 // first value of all elements
	single  bool    // the new layout rounds that to a float32 first
	// shape is the shape of the variable kept for one of shape s; false where none
	// is needed: then a number stands in for it, which isn't in the list of all
	// variables. Nil means the same shape.
	shape   func(s tensor.Shape) (tensor.Shape, bool)
	standIn string // the tag in that number's name, where it isn't the kind's
}

// init prepares the optimizer; constructors call it.
func (o *Base) init(name string, rate float64, r rule) {
	o.Name, o.start, o.rule = name, rate, r
	for _, k := range r.slots() {
		o.DeclareSlots(k.name)
	}
}

// ScopeName returns the optimizer's name, with which its slots' full names
// begin.
func (o *Base) ScopeName() string { return o.Name }

// AcceptsChild reports whether a checkpoint's value for edge may still find its
// variable: those that the optimizer makes at its first step.
func (o *Base) AcceptsChild(edge string) bool {
	made, isNew := o.made.Load(), o.isNew()
	if o.number.accepts(edge, isNew) {
		return true
	}
	if o.rule == nil || made && !isNew {
		return false
	}
	switch edge {
	case "_variables", "_iterations", "_learning_rate", "_current_learning_rate":
		return !made
	case "_index_dict", "_trainable_variables", "_trainable_variables_indices":
		return !o.next.built.Load()
	}
	for _, k := range o.rule.slots() {
		if k.list == edge {
			return !o.next.built.Load()
		}
	}
	if isNew {
		return false
	}
	switch edge {
	case "iter", "decay":
		return true
	case "learning_rate":
		return o.Schedule == nil
	}
	return slices.ContainsFunc(o.rule.hypers(), func(h hyper) bool { return h.name == edge })
}

// tracked returns the Schedule where it has variables, nil elsewhere.
func (o *Base) tracked() trackable.Trackable {
	v := reflect.ValueOf(o.Schedule)
	if v.Kind() == reflect.Struct { // whose variables nobody could restore: the walk tells so
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

func (o *Base) isNew() bool { return Layout(o.layout.Load()) != LegacyLayout }

// TrackableChildren lists a Schedule that has variables, and makes what an optimizer
// with the new layout has before its first step.
func (o *Base) TrackableChildren() []trackable.Edge {
	if o.isNew() && !o.made.Load() && o.mu.TryLock() {
		defer o.mu.Unlock()
		node := o.TrackableNode()
		if !o.made.Load() && !node.HasPending("_variables") && !node.HasPending("_iterations") {
			// Nothing is pending, so nothing can fail.
			_ = o.makeNew()
		}
	}
	sched := o.tracked()
	switch {
	case sched == nil:
	case !o.isNew():
		return []trackable.Edge{{Name: "learning_rate", Child: sched}}
	case o.made.Load() && !slices.ContainsFunc(o.TrackableNode().Edges(), func(e trackable.Edge) bool {
		return e.Name == "_learning_rate" && trackable.Identity(e.Child) == trackable.Identity(sched)
	}):
		return []trackable.Edge{{Name: "_learning_rate", Child: sched}} // an error, unless there is none
	}
	return nil
}

var errScheduled = errors.New("the learning rate follows the optimizer's Schedule; set that to nil first")

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
	// The pending checkpoint says which optimizer wrote it.
	switch {
	case node.HasPending("_trainable_variables"):
		o.layout.Store(int32(Keras3Layout))
	case node.HasPending("_iterations") || node.HasPending("_variables"):
		o.layout.Store(int32(NewLayout))
	}
	if o.isNew() {
		return o.makeNew()
	}
	o.kinds = o.rule.slots()
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
	all := o.rule.hypers()
	if !slices.ContainsFunc(all, func(h hyper) bool { return h.name == "decay" }) {
		all = append(all, hyper{"decay", o.Decay})
	}
	if o.Schedule == nil {
		all = append(all, hyper{"learning_rate", o.start})
	}
	sortHypers(all)
	o.hyper = make(map[string]*trackable.Scalar[float32], len(all))
	for _, h := range all {
		v := trackable.NewScalar(float32(h.value))
		v.Named(o.Name + "/" + h.name).SetTrainable(false)
		o.hyper[h.name] = v
		if err := o.Attach(h.name, v); err != nil {
			return err
		}
	}
	o.rate = o.hyper["learning_rate"]
	o.made.Store(true)
	return nil
}

// LearningRate returns the rate of the next step, before Decay: a restored
// checkpoint's, once one was restored. It is for code outside of functions, which
// have [Base.Rate]: a number that goes into a trace stays what it was,
// so while a function is traced it is an error.
func (o *Base) LearningRate() (float64, error) {
	if err := outside("LearningRate", "Rate"); err != nil {
		return 0, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.make(); err != nil {
		return 0, fmt.Errorf("optimizers: %w", err)
	}
	rate, err := o.baseRate()
	if err != nil {
		return 0, fmt.Errorf("optimizers: %w", err)
	}
	return rate, nil
}

func (o *Base) baseRate() (float64, error) {
	if o.Schedule == nil {
		return float64(o.rate.Get()), nil
	}
	rate, err := schedules.At(o.Schedule, o.iter.Get())
	return float64(rate), err
}

// SetLearningRate changes the learning rate from the next step on. It wins over
// a checkpoint restored before it, and is part of the next one. With a Schedule
// it is an error, and while a function is traced, which would do it once:
// [Base.AssignRate] does it in each call.
func (o *Base) SetLearningRate(rate float64) error {
	if err := outside("SetLearningRate", "AssignRate"); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.Schedule != nil {
		return fmt.Errorf("optimizers: %w", errScheduled)
	}
	if err := o.make(); err != nil {
		return fmt.Errorf("optimizers: %w", err)
	}
	o.rate.Set(float32(rate))
	return nil
}

// Hyper returns the variable of a hyperparameter, to be read and set:
// "learning_rate" (without a Schedule), and with the legacy layout "decay" and
// the optimizer's own, such as "beta_1" or "momentum". Before the first step
// the options say what they begin with. Setting decay changes what is saved
// only: steps go by the option, as TensorFlow's do.
func (o *Base) Hyper(name string) (*trackable.Scalar[float32], error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.make(); err != nil {
		return nil, fmt.Errorf("optimizers: %w", err)
	}
	if h := o.hyper[name]; h != nil {
		return h, nil
	}
	if name == "learning_rate" && o.rate != nil {
		return o.rate, nil
	}
	known := slices.Sorted(maps.Keys(o.hyper))
	if o.isNew() && o.rate != nil {
		known = []string{"learning_rate"}
	}
	return nil, fmt.Errorf("optimizers: %s has no hyperparameter %q; there are %q", o.Name, name, known)
}

// Iterations returns the number of steps taken, a restored checkpoint's
// included. It is for code outside of functions, as
// [Base.LearningRate] is; these have [Base.Steps].
func (o *Base) Iterations() (int64, error) {
	if err := outside("Iterations", "Steps"); err != nil {
		return 0, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.make(); err != nil {
		return 0, fmt.Errorf("optimizers: %w", err)
	}
	return o.iter.Get(), nil
}

// Build makes the optimizer's variables for vars, as the first Apply does
// otherwise. With the new layout vars must be all that will be trained, since
// their order is part of it.
func (o *Base) Build(vars []*trackable.Variable) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.make(); err != nil {
		return fmt.Errorf("optimizers: %w", err)
	}
	if o.isNew() {
		return o.buildNew(vars)
	}
	if len(vars) > 0 {
		if err := o.number.make(o, vars[0]); err != nil {
			return err
		}
	}
	for _, k := range o.rule.slots() {
		for _, v := range vars {
			if k.legacy {
				if _, err := o.slot(v, k); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (o *Base) slot(v *trackable.Variable, k slotKind) (*trackable.Variable, error) {
	if have := o.Slot(v, k.name); have != nil {
		return have, nil
	}
	return o.SlotOr(v, k.name, func() (*tensor.Tensor, error) {
		return initializers.Constant{Value: k.initial}.Init(nil, v.DType(), v.Shape())
	})
}

// Apply takes a step: it changes each variable by its gradient and counts. The
// first one makes the optimizer's variables.
func (o *Base) Apply(s *ops.Scope, g grad.Gradients) {
	if s.Err() != nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.apply(s, g); err != nil {
		s.Fail("Optimizer.Apply", err)
	}
}

func (o *Base) apply(s *ops.Scope, g grad.Gradients) error {
	if err := o.make(); err != nil {
		return err
	}
	used := 0
	for _, p := range g {
		switch {
		case p.Variable == nil:
			return errors.New("one of the gradients belongs to no variable")
		case p.Grad != nil:
			used++
		}
	}
	if used == 0 {
		return noGradients(g)
	}
	if o.isNew() {
		if err := o.buildFor(g); err != nil {
			return err
		}
	}
	if err := o.number.make(o, g[0].Variable); err != nil {
		return err
	}
	if o.next.current != nil {
		o.setCurrent(s)
	}
	g = o.clip(s, g, used)
	defer func() {
		clear(o.step)
		o.step = o.step[:0]
		if o.number != nil {
			o.number.read = nil
		}
	}()
	for _, p := range g {
		if p.Grad == nil {
			continue
		}
		u := update{v: p.Variable, grad: p.Grad, coefficients: o.coefficientsFor(s, p.Variable.DType())}
		for i, k := range o.kinds {
			var err error
			if u.isNew {
				u.slots[i], err = o.newSlot(u.v, k)
			} else if k.legacy {
				u.slots[i], err = o.slot(u.v, k)
			}
			if err != nil {
				return err
			}
		}
		if u.isNew && o.WeightDecay != 0 {
			// TensorFlow multiplies variable, decay and rate in this order.
			decay := ops.Mul(s, ops.Mul(s, u.v, float64(float32(o.WeightDecay))), u.rate())
			ops.AssignSub(s, u.v, decay)
		}
		if x, ok := u.grad.IndexedSlices(); ok {
			o.rule.updateRows(s, &u, x)
		} else {
			o.rule.update(s, &u)
		}
	}
	ops.AssignAdd(s, &o.iter.Variable, one)
	return nil
}

var one = tensor.Scalar[int64](1)

// setCurrent stores the rate of this step, which the new layout saves and goes by.
func (o *Base) setCurrent(s *ops.Scope) {
	rate := o.Schedule.Rate(s, ops.ReadVariable(s, o.iter))
	if rate == nil {
		s.Fail("Schedule", schedules.ErrNoRate)
		return
	}
	ops.Assign(s, &o.next.current.Variable, ops.Cast(s, rate, tensor.Float32))
}

func noGradients(g grad.Gradients) error {
	if len(g) == 0 {
		return errors.New("there are no variables to train: the list given to Gradient is empty; are the layers built, and are they in exported fields?")
	}
	names := make([]string, 0, len(g))
	for _, p := range g {
		names = append(names, p.Variable.Name())
	}
	return fmt.Errorf("none of the variables %q has a gradient: does the loss depend on them, and was it computed on the recording scope?", names)
}

package optimizers

import (
	"slices"

	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Rule is the arithmetic of one optimizer. A program's optimizer is a struct that embeds
// [Base], has these methods, and a constructor that calls [Base.Init]. Its exported fields
// are its options, and the end of its config.
type Rule interface {
	// SlotKinds lists the kinds of variables that the optimizer keeps for each variable
	// that it trains, in the order in which checkpoints have them. It may depend on the options.
	SlotKinds() []SlotKind
	// UpdateStep changes u.Variable and its slots by u.Gradient.
	UpdateStep(s *ops.Scope, u *Update)
}

// RowRule is a [Rule] with a separate step for gradients that are slices of a table.
// Without it, slices of one row are added up, and UpdateStep takes the whole tensor.
type RowRule interface {
	Rule
	// UpdateRows changes u.Variable by slices. Several slices may belong to one row.
	UpdateRows(s *ops.Scope, u *Update, x ops.IndexedSlices)
}

// HyperRule is a [Rule] with hyperparameters that are variables in the legacy layout, so
// that checkpoints contain them.
type HyperRule interface {
	Rule
	// Hypers lists the hyperparameters besides decay and learning_rate.
	Hypers() []Hyper
}

// Hyper is a hyperparameter and its first value.
type Hyper struct {
	Name  string
	Value float64
}

// hypersOf returns a copy of the hyperparameters of a rule.
func hypersOf(r Rule) []Hyper {
	if h, ok := r.(HyperRule); ok {
		return slices.Clone(h.Hypers())
	}
	return nil
}

// SlotKind is a kind of variable that an optimizer keeps for each variable that it trains.
// See [Layout] for the legacy layout and the new one.
type SlotKind struct {
	// Name is the slot's name in the legacy layout.
	Name string
	// List is the edge of the list of these variables in the new layout. Default: the
	// Name with an s.
	List string
	// Tag is the kind's part of the full names in the new layout. Default: the Name.
	Tag string
	// Initial is the first value of all elements. Default: 0.
	Initial float64
	// Shape returns the shape of the variable that is kept for one of shape s. false
	// means that none is needed. Default: the same shape.
	Shape func(s tensor.Shape) (tensor.Shape, bool)

	skipLegacy bool   // not used with the legacy layout
	skipNew    bool   // not used with the new one
	empty      bool   // the new layout has the list even if it isn't used
	joined     bool   // the new layout makes it together with the kind before, variable by variable
	paired     bool   // the legacy optimizer makes it together with the kind before
	single     bool   // the new layout rounds Initial to a float32 first
	standIn    string // the tag of the int32 scalar that the new layout has where Shape returns false, if it isn't the kind's
}

func (k SlotKind) listName() string {
	if k.List != "" {
		return k.List
	}
	return k.Name + "s"
}

func (k SlotKind) tagName() string {
	if k.Tag != "" {
		return k.Tag
	}
	return k.Name
}

// Update is the step of one variable.
type Update struct {
	*coefficients
	// Variable is the variable to change.
	Variable *trackable.Variable
	// Gradient is the gradient, clipped already, as a whole tensor.
	Gradient *ops.Value

	slots []*trackable.Variable  // by the rule's kinds; nil if not used
	few   [3]*trackable.Variable // the memory of slots, if they fit
}

// Slot returns the variable's slot of a kind in [Rule.SlotKinds], nil if the layout has none.
func (u *Update) Slot(name string) *trackable.Variable {
	for i, k := range u.o.kinds {
		if k.Name == name {
			return u.slots[i]
		}
	}
	return nil
}

// LearningRate returns the learning rate of this step, a scalar of the variable's type.
func (u *Update) LearningRate() ops.Input { return u.rate() }

// Step returns the number of this step, 1 for the first one, a scalar of the variable's type.
func (u *Update) Step() ops.Input { return u.localStep() }

// Hyper returns a hyperparameter of [HyperRule.Hypers] in the variable's type, nil if there
// is none of that name. In the legacy layout it is read from its variable.
func (u *Update) Hyper(name string) ops.Input {
	if h := u.o.hyper[name]; h != nil {
		return u.read(h)
	}
	for _, h := range hypersOf(u.o.rule) {
		if h.Name == name {
			return ops.ConstOf(u.s, u.dtype, float64(float32(h.Value)))
		}
	}
	return nil
}

// Layout returns the layout of the optimizer's variables, on which the formulas of some
// of tf_keras's optimizers depend.
func (u *Update) Layout() Layout { return Layout(u.o.layout.Load()) }

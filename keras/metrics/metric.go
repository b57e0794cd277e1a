package metrics

import (
	"context"
	"fmt"
	"sync"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/internal/samples"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Accumulator has the methods that all metrics share: a metric's value depends on all updates
// since the last reset. Its methods work eagerly and in functions that are traced.
type Accumulator interface {
	// Result returns the value at this point. Before the first update most are 0.
	Result(s *ops.Scope) *ops.Value
	// Reset forgets all updates.
	Reset(s *ops.Scope)
	// AsMetric returns the part that all metrics embed.
	AsMetric() *Base
}

// Metric compares predictions with the truth.
type Metric interface {
	Accumulator
	// Update takes a batch into account. weights, nil for ones, weight its examples.
	Update(s *ops.Scope, truth, predicted, weights ops.Input)
}

// Base is embedded by metrics. It makes a struct a node of the object graph, whose
// variables are made before the first update or save. The zero Base is ready; it must not
// be copied.
type Base struct {
	trackable.Base
	// Name is the metric's name. Default: the class's in snake case, unless the class has
	// another one.
	Name string
	// DType is the type of the variables and computations. Default: "float32".
	DType base.Policy `keras:"dtype,default=float32"`

	// mu guards the fields below, which prepare sets. failed is an error of the config: it stays.
	mu     sync.Mutex
	made   bool
	failed error
	shape  tensor.Shape          // of the first update, or of the build_config
	states []*trackable.Variable `cairn:"-"`
}

// State describes a variable of a metric, or another child in the object graph.
type State struct {
	// To is the field that the variable is stored in.
	To **trackable.Variable
	// Edge is its edge in the object graph.
	Edge string
	// Name is its full name. Default: Edge.
	Name string
	// Also is another edge to the variable. Default: none.
	Also string
	// Shape is its shape, -1 for sizes that aren't known. Default: a scalar's.
	Shape tensor.Shape
	// Late makes the variable in the first update, not before it.
	Late bool
	// DType is its type. Default: the metric's.
	DType tensor.DType
	// Child is another child than a variable. The other fields are unused, except Edge.
	Child trackable.Trackable
}

// Stated is implemented by metrics with variables, which are zeros at first. States looks at
// the metric's config only. in is the shape of the first update's predictions, nil before
// it; then sizes that depend on it are -1, and these variables are Late. Errors are wrong settings, and shapes that the
// metric can't take.
type Stated interface {
	States(in tensor.Shape) ([]State, error)
}

// AsMetric returns the Base itself.
func (b *Base) AsMetric() *Base { return b }

// SetName sets the name.
func (b *Base) SetName(name string) { b.Name = name }

// Variables returns the variables in tf_keras's order of metric.variables.
func Variables(m Accumulator) []*trackable.Variable {
	b := m.AsMetric()
	_ = b.prepare(m, nil)
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]*trackable.Variable(nil), b.states...)
}

// NameOf returns the name of a metric, or its default.
func NameOf(m Accumulator) string {
	if b := m.AsMetric(); b.Name != "" {
		return b.Name
	}
	if n, ok := m.(interface{ defaultName() string }); ok {
		return n.defaultName()
	}
	if k, ok := classes().ClassOf(m); ok {
		return config.SnakeCase(k.Name)
	}
	return config.SnakeCase(fmt.Sprintf("%T", m))
}

// PrepareChildren makes the variables of self that don't depend on an update.
func (b *Base) PrepareChildren(self trackable.Trackable) { _ = b.prepare(self, nil) }

// AcceptsChildOf reports whether self makes a variable at edge in its first update.
func (b *Base) AcceptsChildOf(self trackable.Trackable, edge string) bool {
	for _, d := range b.DeclareVariablesOf(self, nil) {
		if d.Edge == edge {
			return true
		}
	}
	return false
}

// DeclareVariablesOf lists the variables that self makes in its first update.
func (b *Base) DeclareVariablesOf(self trackable.Trackable, _ func(edge string) bool) []trackable.Declared {
	st, ok := self.(Stated)
	if !ok || b.prepare(self, nil) != nil {
		return nil
	}
	list, err := st.States(nil)
	if err != nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []trackable.Declared
	for _, w := range list {
		if w.Child == nil && *w.To == nil {
			out = append(out, trackable.Declared{Edge: w.Edge, Name: w.fullName(), DType: b.typeOf(&w), Shape: w.Shape})
		}
	}
	return out
}

func (w *State) fullName() string {
	if w.Name != "" {
		return "/" + w.Name
	}
	return "/" + w.Edge
}

func (b *Base) typeOf(w *State) tensor.DType {
	if w.DType != tensor.Invalid {
		return w.DType
	}
	return b.dtype()
}

// dtype returns the type of the variables and computations.
func (b *Base) dtype() tensor.DType {
	if b.DType == "" {
		return tensor.Float32
	}
	return b.DType.Variables()
}

// prepare makes the variables of self whose shapes are known. in is nil, or the shape of
// an update's predictions. The order of States is that of the variables in files. An error about in
// leaves the metric usable for other shapes.
func (b *Base) prepare(self any, in tensor.Shape) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failed != nil || b.made {
		return b.failed
	}
	st, ok := self.(Stated)
	if !ok {
		return nil
	}
	list, err := st.States(in)
	switch {
	case err == nil && b.dtype() == tensor.Invalid:
		err = fmt.Errorf("unknown DType %q", b.DType)
	case err == nil && !b.dtype().IsFloating():
		err = fmt.Errorf("the DType is %q, want a floating one", b.DType)
	}
	if err != nil {
		if in == nil {
			b.failed = err
		}
		return err
	}
	made := true
	for i := range list {
		w := &list[i]
		switch {
		case w.Child != nil:
			if !b.has(w.Edge) {
				err = b.Attach(w.Edge, w.Child)
			}
		case *w.To != nil:
		case w.Late && in == nil:
			made = false
		default:
			if err = b.AddVariable(w.To, w.Edge, trackable.VariableSpec{DType: b.typeOf(w), Shape: w.Shape, NotTrainable: true, Name: w.fullName()}); err == nil {
				b.states = append(b.states, *w.To)
				if w.Also != "" {
					err = b.Attach(w.Also, *w.To)
				}
			}
		}
		if err != nil {
			return err
		}
	}
	b.made = made
	if in != nil {
		b.shape = in
	}
	return nil
}

// shapeOfUpdate returns the shape of the first update's predictions, nil before it.
func (b *Base) shapeOfUpdate() tensor.Shape {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.shape
}

// SetBuildConfig keeps the shape for which a saved metric was built. Its variables are made
// in the first update.
func (b *Base) SetBuildConfig(v map[string]any) error {
	var shape base.Shape
	if err := shape.UnmarshalConfig(v["input_shape"]); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shape = tensor.Shape(shape)
	return nil
}

// inputShape returns a build_config, nil for an unknown shape.
func inputShape(shape tensor.Shape) config.Fields {
	if shape == nil {
		return nil
	}
	return config.Fields{{Name: "input_shape", Value: base.Shape(shape)}}
}

func (b *Base) has(edge string) bool {
	for _, e := range b.TrackableNode().Edges() {
		if e.Name == edge {
			return true
		}
	}
	return false
}

// Ready makes the variables of self before a use. It reports false after a failure, which is
// then the scope's. Methods of a program's own metrics begin with it.
func (b *Base) Ready(s *ops.Scope, self any) bool { return b.ReadyFor(s, self, nil) }

// ReadyFor does the same as [Base.Ready], before an update whose predictions have the shape
// in.
func (b *Base) ReadyFor(s *ops.Scope, self any, in tensor.Shape) bool {
	if s.Err() != nil {
		return false
	}
	if err := b.prepare(self, in); err != nil {
		s.Fail(className(self), err)
		return false
	}
	return true
}

// ResetStates sets the variables of self to zeros.
func (b *Base) ResetStates(s *ops.Scope, self any) {
	if !b.Ready(s, self) {
		return
	}
	b.mu.Lock()
	states := b.states
	b.mu.Unlock()
	for _, v := range states {
		ops.Assign(s, v, ops.Zeros(s, v.DType(), v.Shape()...))
	}
}

// className returns the name of an object's type without its package.
func className(obj any) string {
	if k, ok := classes().ClassOf(obj); ok {
		return k.Name
	}
	return fmt.Sprintf("%T", obj)
}

// Value returns the current result of a metric, a number. It is for code outside of functions,
// and fails while one is traced: there [Accumulator] has Result. A result that is no scalar is
// an error.
func Value(ctx context.Context, m Accumulator) (float64, error) {
	if err := base.Outside("metrics", "Value", "Result"); err != nil {
		return 0, err
	}
	s := function.Eager(ctx)
	v := samples.CastTo(s, m.Result(s), tensor.Float64)
	if s.Err() != nil {
		return 0, s.Err()
	}
	return ops.Item[float64](v)
}

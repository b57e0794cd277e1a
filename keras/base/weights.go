package base

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/constraints"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/keras/regularizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Shapes are the shapes of a layer's inputs, -1 for sizes that aren't known. An input
// of unknown rank has the shape nil.
type Shapes []tensor.Shape

// String returns the shapes as text.
func (in Shapes) String() string {
	texts := make([]string, len(in))
	for i, shape := range in {
		if texts[i] = "unknown rank"; shape != nil {
			texts[i] = shape.String()
		}
	}
	return strings.Join(texts, ", ")
}

// Last returns the last size of the first input, -1 if it isn't known. A scalar is an
// error.
func (in Shapes) Last() (int, error) {
	switch {
	case len(in) == 0 || in[0] == nil:
		return -1, nil
	case len(in[0]) == 0:
		return 0, fmt.Errorf("the input is a scalar; it needs a batch's dimension and features")
	}
	return in[0][len(in[0])-1], nil
}

// Weight describes a variable of a layer.
type Weight struct {
	// To is the field that the variable is stored in. Default: none.
	To **trackable.Variable
	// Edge is the variable's edge in the object graph.
	Edge string
	// Or lists other edges that the variable takes if a checkpoint has them instead, such as those
	// of an earlier Keras.
	Or []string
	// Name is the variable's part of its full name. Default: Edge.
	Name string
	// Shape is the variable's shape, -1 for sizes that aren't known. Default: a scalar's.
	Shape tensor.Shape
	// Open is the shape with -1 for sizes that later values may change. Default: none may.
	Open tensor.Shape
	// DType is the type of its elements. Default: the type of the layer's policy.
	DType tensor.DType
	// Init makes the first value, unless a checkpoint has one. Default:
	// initializers.GlorotUniform{}.
	Init initializers.Initializer
	// Regularizer adds a loss of the variable to those of the model. Default: none.
	Regularizer regularizers.Regularizer
	// Constraint projects the variable after each step of Fit. Default: none.
	Constraint constraints.Constraint
	// NotTrainable keeps optimizers off the variable. Default: trainable.
	NotTrainable bool
}

// Weighted is implemented by layers that have variables. Weights is called for three
// purposes, so it must only look at the layer's config: to make the variables, to match
// a checkpoint before they are made, and to check it. in is nil if nothing is known of
// the inputs; then sizes that depend on them are -1. Errors are wrong settings and
// inputs that the layer can't take.
type Weighted interface {
	Weights(in Shapes) ([]Weight, error)
}

// Builder is implemented by layers that do more than making their own variables before
// the first call, such as building other layers.
type Builder interface {
	BuildLayer(s *ops.Scope, in Shapes) error
}

type zeroWeightsKey struct{}

// WithZeroWeights returns a scope on which all weights are 0 at first, whatever their
// initializers. That takes no time, and is for models whose weights come from a file.
func WithZeroWeights(s *ops.Scope) *ops.Scope { return s.With(zeroWeightsKey{}, true) }

// WithWeightsOfFile returns a context under which models that are made from their configs
// have weights of 0, as with [WithZeroWeights], because values of a file follow. size is the
// number of bytes of these values. All models together may make weights of 64 MiB and four times
// size, because a file may store values in a narrower type; at most half of the machine's
// memory. These limits are ours and may change.
func WithWeightsOfFile(ctx context.Context, size int64) context.Context {
	const spare = 64 << 20
	limit := engine.MachineMemory() / 2
	if size < limit/4-spare {
		limit = 4*size + spare
	}
	return context.WithValue(ctx, zeroWeightsKey{}, &budget{limit: limit})
}

// AddBytes returns size plus the number of bytes of a tensor, at most the machine's memory. A
// string counts as one byte. The loaders of files add up their weights by it, for WithWeightsOfFile.
func AddBytes(size int64, d tensor.DType, shape tensor.Shape) int64 {
	most := engine.MachineMemory()
	n, err := shape.NumElements()
	per := int64(max(1, d.Size()))
	if err != nil || int64(n) > (most-size)/per {
		return most
	}
	return size + int64(n)*per
}

// ConfigScope returns a scope of ctx on which models of files make their weights: within the
// default limit of [WithWeightLimit], or below [WithWeightsOfFile] of 0 and within its limit.
func ConfigScope(ctx context.Context) *ops.Scope {
	return WithConfigWeights(ctx, NewGraph(ctx).Scope())
}

type decoderKey struct{}

// DecoderScope returns a scope as [ConfigScope] does, for models of a config. Too many calls of
// layers on it are an error.
func DecoderScope(d *config.Decoder) *ops.Scope {
	return ConfigScope(d.Context()).With(decoderKey{}, d)
}

var errManyCalls = errors.New("the config makes too many calls of layers: models within models call each other too often")

// WithConfigWeights returns a scope that makes weights as one of [ConfigScope] does.
func WithConfigWeights(ctx context.Context, s *ops.Scope) *ops.Scope {
	if b, ok := ctx.Value(zeroWeightsKey{}).(*budget); ok {
		return WithZeroWeights(s).With(budgetKey{}, b)
	}
	return WithWeightLimit(s, 0)
}

// AddWeight makes a variable, stores it in *dst and tracks it as edge. If a restored
// checkpoint has a value for that edge, it is the variable's first one.
func (l *Layer) AddWeight(s *ops.Scope, dst **trackable.Variable, edge string, w Weight) error {
	if w.DType == tensor.Invalid {
		w.DType = l.DType.Variables()
	}
	if w.Init == nil {
		w.Init = initializers.GlorotUniform{}
	}
	return l.AddVariable(dst, edge, trackable.VariableSpec{
		DType: w.DType, Shape: w.Shape, Open: w.Open, NotTrainable: w.NotTrainable, Name: w.Name,
		Init: func() (t *tensor.Tensor, err error) {
			if s.Value(zeroWeightsKey{}) != nil {
				return tensor.Zeros(w.DType, w.Shape...)
			}
			withRand(s, func(g *seeded) *rand.Rand { return g.first }, func(r *rand.Rand) { t, err = w.Init.Init(r, w.DType, w.Shape) })
			return t, err
		},
	})
}

// has reports whether the layer has a variable on one of a weight's edges.
func (l *Layer) has(w *Weight) bool {
	return slices.ContainsFunc(l.TrackableNode().Edges(), func(e trackable.Edge) bool {
		return e.Name == w.Edge || slices.Contains(w.Or, e.Name)
	})
}

// build makes the variables of self for inputs of the given shapes. The lock is held. A build
// that fails may leave some variables; the next one takes them over.
func (l *Layer) build(s *ops.Scope, self any, in Shapes) error {
	if err := l.complete(self); err != nil {
		return err
	}
	if c := l.DType.Compute(); c == tensor.Invalid {
		return fmt.Errorf("unknown dtype policy %q", l.DType)
	}
	if d, ok := self.(Weighted); ok {
		list, err := d.Weights(in)
		if err != nil {
			return err
		}
		for i := range list {
			w := &list[i]
			for _, n := range w.Shape {
				if n < 0 {
					return fmt.Errorf("the shape %v of the weight %q depends on a size of the input that isn't known (got %v); trace with a spec that has it, or build the layer before", w.Shape, w.Edge, in)
				}
			}
		}
		if err := afford(s, l, list); err != nil {
			return err
		}
		l.weights = l.weights[:0]
		for _, w := range list {
			if !l.has(&w) { // else a build that failed later made it
				edge, name := w.Edge, w.Name
				for _, other := range w.Or {
					if l.TrackableNode().HasPending(other) && !l.TrackableNode().HasPending(edge) {
						name, edge = w.Edge, other
					}
				}
				w.Name = name
				if err := l.AddWeight(s, w.To, edge, w); err != nil {
					return err
				}
			}
			l.weights = append(l.weights, w)
		}
	}
	if b, ok := self.(Builder); ok {
		if err := b.BuildLayer(s, in); err != nil {
			return err
		}
	}
	l.shapes = slices.Clone(in)
	return nil
}

// DeclareVariablesOf lists the variables that self makes at its first call: trackable asks when a
// checkpoint is restored before that.
func (l *Layer) DeclareVariablesOf(self trackable.Trackable, inFile func(edge string) bool) []trackable.Declared {
	if l.Built() || l.complete(self) != nil {
		return nil
	}
	d, ok := self.(Weighted)
	if !ok {
		return nil
	}
	weights, err := d.Weights(nil)
	if err != nil {
		return nil // the first call reports it
	}
	var list []trackable.Declared
	for i := range weights {
		w := &weights[i]
		if l.has(w) {
			continue
		}
		out := trackable.Declared{Edge: w.Edge, Name: w.Name, DType: w.DType, Shape: w.Shape}
		if w.Open != nil {
			out.Shape = w.Open
		}
		if out.DType == tensor.Invalid {
			out.DType = l.DType.Variables()
		}
		for _, other := range w.Or {
			if inFile(other) && !inFile(w.Edge) {
				out.Edge, out.Name = other, w.Edge
			}
		}
		list = append(list, out)
	}
	return list
}

// AcceptsChildOf reports whether self can still get a child on edge: before it is
// built, the variables that its Weights declares. Without Weights, a layer with Compute or
// ComputeAll gets none, and another one answers by its AcceptsChild.
func (l *Layer) AcceptsChildOf(self trackable.Trackable, edge string) bool {
	if d, ok := self.(Weighted); ok {
		if l.Built() || l.complete(self) != nil {
			return false
		}
		list, err := d.Weights(nil)
		return err == nil && slices.ContainsFunc(list, func(w Weight) bool { return w.Edge == edge || slices.Contains(w.Or, edge) })
	}
	if _, ok := self.(Computer); ok {
		return false
	}
	if _, ok := self.(FullComputer); ok {
		return false
	}
	c, ok := self.(trackable.ChildAccepter)
	return ok && c.AcceptsChild(edge)
}

// AcceptsChild reports whether a layer that declares nothing can still get a child:
// once it is built it can't.
func (l *Layer) AcceptsChild(string) bool { return !l.built.Load() }

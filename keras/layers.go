package keras

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/cairnml/cairn/ops"
)

// Flatten makes a matrix of its input: the first dimension, a batch's, is kept,
// all others become one. A vector gets a second dimension of 1, as in Keras.
type Flatten struct {
	Layer
	Name string // the layer's name; it has no variables
}

// ScopeName returns the layer's name, "" for the automatic one.
func (f *Flatten) ScopeName() string { return f.Name }

// SetName gives the layer its name.
func (f *Flatten) SetName(name string) { f.Name = name }

// AcceptsChild reports false: the layer never has children.
func (f *Flatten) AcceptsChild(string) bool { return false }

// Call reshapes x.
func (f *Flatten) Call(s *ops.Scope, x ops.Input) *ops.Value {
	v, ok := f.Prepare(s, x, nil)
	if !ok {
		return v
	}
	shape := v.Fact().Shape
	if shape.Rank() == 0 {
		return s.Fail("Flatten", fmt.Errorf("the input is a scalar; it needs a batch's dimension"))
	}
	if shape.HasRank() {
		batch := shape.Dim(0)
		rest, err := shape.From(1, shape.Rank())
		if err != nil {
			return s.Fail("Flatten", err)
		}
		switch n, known := rest.NumElements(); {
		case known && batch >= 0:
			return ops.Reshape(s, v, batch, n)
		case known && n > 0:
			return ops.Reshape(s, v, -1, n)
		}
	}
	// A product stands for the sizes that aren't known, where -1 couldn't be
	// worked out of an empty batch.
	dims := ops.Shape(s, v)
	rest := ops.ProdKeep(s, ops.StridedSlice(s, dims, ops.From(1)), 0)
	return ops.ReshapeTo(s, v, ops.Concat(s, []*ops.Value{ops.StridedSlice(s, dims, ops.To(1)), rest}, 0))
}

// Dropout sets a part of its inputs to 0 while training and divides the others
// by what is left, so that the mean stays. Outside of training, which is the
// default, it gives its input; see [ops.Scope.WithTraining].
type Dropout struct {
	Layer
	// Rate is the probability of 0, from 0 up to but not including 1.
	Rate float64
	// Random draws the masks. Keras doesn't save a dropout layer's generator and
	// neither does this one; to resume a run exactly, hold the generator in a
	// field of the checkpointed struct too. Default: one of Seed.
	Random *ops.Random `cairn:"-"`
	// Seed makes the masks the same in every run. Default: 0, they differ.
	Seed uint64
	// Name is the layer's name; it has no variables.
	Name string

	once sync.Once
}

// ScopeName returns the layer's name, "" for the automatic one.
func (d *Dropout) ScopeName() string { return d.Name }

// SetName gives the layer its name.
func (d *Dropout) SetName(name string) { d.Name = name }

// AcceptsChild reports false: the layer never has children.
func (d *Dropout) AcceptsChild(string) bool { return false }

// Call drops elements of x in a training scope.
func (d *Dropout) Call(s *ops.Scope, x ops.Input) *ops.Value {
	v, ok := d.Prepare(s, x, nil)
	if !ok {
		return v
	}
	if !(d.Rate >= 0 && d.Rate < 1) {
		return s.Fail("Dropout", fmt.Errorf("the rate is %v; it must be at least 0 and below 1", d.Rate))
	}
	if d.Rate == 0 || !s.Training() {
		return v
	}
	d.once.Do(func() {
		if d.Random != nil {
			return
		}
		seed := d.Seed
		if seed == 0 {
			withRand(s, func(r *rand.Rand) { seed = r.Uint64() })
		}
		d.Random = ops.NewRandom(seed)
	})
	return ops.Dropout(s, d.Random, v, d.Rate)
}

// InputLayer passes its input on. It stands for the input node of a functional
// Keras model, which is a node of the object graph.
type InputLayer struct {
	Layer
	Name string // the layer's name; it has no variables
}

// ScopeName returns the layer's name, "" for the automatic one.
func (i *InputLayer) ScopeName() string { return i.Name }

// SetName gives the layer its name.
func (i *InputLayer) SetName(name string) { i.Name = name }

// AcceptsChild reports false: the layer never has children.
func (i *InputLayer) AcceptsChild(string) bool { return false }

// Call gives x.
func (i *InputLayer) Call(s *ops.Scope, x ops.Input) *ops.Value { return ops.Const(s, x) }

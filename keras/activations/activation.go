// Package activations has the activation functions of Keras.
//
//	&layers.Dense{Units: 5, Activation: activations.Relu}
package activations

import (
	"fmt"
	"strings"

	"github.com/cairnml/cairn/internal/nearest"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/ops"
)

// Activation is a function of a layer's outputs: one of the functions of this
// package, a [Func], or a layer.
type Activation interface {
	// Call returns the activation of x, of x's shape.
	Call(s *ops.Scope, x ops.Input) *ops.Value
}

// Func lets a Go function be an [Activation]. It has no config, so a layer with one
// can't be saved as a config.
type Func func(s *ops.Scope, x ops.Input) *ops.Value

// Call calls f.
func (f Func) Call(s *ops.Scope, x ops.Input) *ops.Value { return f(s, x) }

// Named is an activation that configs refer to by name.
type Named struct {
	name string
	f    Func
}

func named(name string, f Func) *Named { return &Named{name, f} }

// Name returns the name in configs, such as "relu".
func (n *Named) Name() string { return n.name }

// Call returns the activation of x.
func (n *Named) Call(s *ops.Scope, x ops.Input) *ops.Value { return n.f(s, x) }

// all are the activations that configs know; a new one is a variable and an element here.
var all = []*Named{
	Linear, Relu, Relu6, Sigmoid, Tanh, Softmax, LogSoftmax, Softplus, Softsign, Elu, Selu, Gelu, Swish, Mish,
	Exponential, HardSigmoid, LeakyRelu,
	Celu, HardShrink, HardSilu, HardSigmoid6, HardTanh, LogSigmoid, SoftShrink, SparsePlus, SparseSigmoid, Squareplus, TanhShrink,
}

// aliases are the further names of activations.
var aliases = map[*Named][]string{Swish: {"silu"}, HardSilu: {"hard_swish"}}

// Classes lists the activations for configs.
func Classes() []config.Class {
	list := make([]config.Class, len(all))
	for i, n := range all {
		list[i] = config.Function("keras.activations", n.name, n, aliases[n]...)
	}
	return list
}

// ByName returns the activation that Keras knows by a name, as a model's config has
// it: "relu", "softmax", "hard_sigmoid" and so on. An unknown name is an error that
// lists the nearest known ones.
func ByName(name string) (Activation, error) {
	var names []string
	for _, n := range all {
		for _, known := range append([]string{n.name}, aliases[n]...) {
			if known == name {
				return n, nil
			}
			names = append(names, known)
		}
	}
	return nil, fmt.Errorf("activations: no activation is called %q; similar names: %s", name, strings.Join(nearest.Names(name, names, 3), ", "))
}

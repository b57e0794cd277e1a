package layers

import (
	"fmt"
	"slices"
	"sync"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// StochasticDepth is the layer of that name in tf_keras.applications.convnext; tf_keras.layers
// has none. In a training scope it sets each example to 0 with probability DropPathRate, so that
// a residual block is skipped for it. It divides the other examples by 1-DropPathRate. Like
// tf_keras's, it has no seed in its config and passes no masks on.
type StochasticDepth struct {
	base.Layer
	// DropPathRate is the probability of 0, from 0 to 1. While training, it must be below 1.
	DropPathRate float64
	// Random draws the examples; see [Dropout]. Default: it differs in every run.
	Random *ops.Random `cairn:"-" keras:"-"`

	once sync.Once
}

// Call drops examples of x in a training scope.
func (d *StochasticDepth) Call(s *ops.Scope, x ops.Input) *ops.Value { return d.Run(s, d, x, nil) }

// Compute drops examples of x in a training scope.
func (d *StochasticDepth) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	if err := checkRate(s, d.DropPathRate); err != nil {
		return s.Fail("StochasticDepth", err)
	}
	if d.DropPathRate == 0 || !s.Training() {
		return x
	}
	in := x.Fact().Shape
	if !in.HasRank() || in.Rank() == 0 {
		return s.Fail("StochasticDepth", fmt.Errorf("the input has the shape %v, want a known rank and a batch's dimension", in))
	}
	noise := append(base.Shape{-1}, slices.Repeat([]int{1}, in.Rank()-1)...)
	keep := 1 - d.DropPathRate
	draws := ops.RandomUniformLike(s, generator(s, &d.once, &d.Random, nil), onesLike(s, x, noise))
	kept := ops.Cast(s, ops.GreaterEqual(s, draws, d.DropPathRate), x.DType())
	return ops.Mul(s, ops.Div(s, x, keep), kept)
}

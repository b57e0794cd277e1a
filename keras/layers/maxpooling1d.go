package layers

import (
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// MaxPooling1D takes the largest elements of pools of lines, [batch, steps, channels].
type MaxPooling1D struct {
	base.Layer
	// Strides are the distances between neighbouring pools, as PoolSize. Default: PoolSize.
	Strides []int
	// PoolSize is the size of the pools, one number for all dimensions or one for each.
	// Default: 2.
	PoolSize []int `keras:",default=[2]"`
	// Padding is "valid" or "same". Default: valid.
	Padding string `keras:",default=valid"`
	// DataFormat is ChannelsLast or ChannelsFirst. Default: ChannelsLast.
	DataFormat string `keras:",default=channels_last"`
}

// AveragePooling1D takes the means of pools of lines. Elements outside of a line don't
// count.
type AveragePooling1D MaxPooling1D

// CompleteConfig completes the sizes to one for each dimension.
func (m *MaxPooling1D) CompleteConfig() {
	poolDefaults(1, &m.PoolSize, &m.Strides, &m.Padding)
}

// Call returns the largest element of each pool of x.
func (m *MaxPooling1D) Call(s *ops.Scope, x ops.Input) *ops.Value { return m.Run(s, m, x, nil) }

// Compute returns the largest element of each pool of x.
func (m *MaxPooling1D) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	return pool(s, x, 1, m.PoolSize, m.Strides, m.Padding, m.DataFormat, true)
}

// CompleteConfig completes the sizes to one for each dimension.
func (a *AveragePooling1D) CompleteConfig() {
	poolDefaults(1, &a.PoolSize, &a.Strides, &a.Padding)
}

// Call returns the mean of each pool of x.
func (a *AveragePooling1D) Call(s *ops.Scope, x ops.Input) *ops.Value { return a.Run(s, a, x, nil) }

// Compute returns the mean of each pool of x.
func (a *AveragePooling1D) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	return pool(s, x, 1, a.PoolSize, a.Strides, a.Padding, a.DataFormat, false)
}

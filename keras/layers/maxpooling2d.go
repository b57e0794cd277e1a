package layers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// MaxPooling2D takes the largest elements of pools of images, [batch, height, width,
// channels].
type MaxPooling2D struct {
	base.Layer
	// PoolSize is the size of the pools, one number for all dimensions or one for each.
	// Default: 2.
	PoolSize []int `keras:",default=[2]"`
	// Padding is "valid" or "same". Default: valid.
	Padding string `keras:",default=valid"`
	// Strides are the distances between neighbouring pools, as PoolSize. Default: PoolSize.
	Strides []int
	// DataFormat is ChannelsLast or ChannelsFirst. Default: ChannelsLast.
	DataFormat string `keras:",default=channels_last"`
}

// MaxPooling3D is [MaxPooling2D] for volumes, [batch, depth, height, width, channels].
type MaxPooling3D MaxPooling2D

// AveragePooling2D takes the means of pools of images. Elements outside of an image don't
// count.
type AveragePooling2D MaxPooling2D

// AveragePooling3D is [AveragePooling2D] for volumes.
type AveragePooling3D MaxPooling2D

// poolDefaults completes the sizes of pools to one for each dimension.
func poolDefaults(rank int, size, strides *[]int, padding *string) {
	*size = forEach(rank, *size)
	if len(*strides) == 0 {
		*strides = slices.Clone(*size)
	}
	*strides = forEach(rank, *strides)
	*padding = strings.ToLower(*padding)
}

// pool returns the largest element, or the mean, of each pool of images, lines or volumes. All
// pooling layers use it.
func pool(s *ops.Scope, x *ops.Value, rank int, size, strides []int, padding, format string, largest bool) *ops.Value {
	w := &window{rank: rank, size: size, strides: strides, dilation: slices.Repeat([]int{1}, rank), padding: padding, format: format}
	err := w.check("valid", "same")
	if shape := x.Fact().Shape; err == nil && shape.HasRank() && shape.Rank() != rank+2 {
		err = fmt.Errorf("the input has %d dimensions, want %d", shape.Rank(), rank+2)
	}
	if err != nil {
		return s.Fail("Pooling", err)
	}
	x, o := w.toLast(s, x), w.options()
	o.Dilations = nil
	if rank == 1 {
		x, size, o.Strides = ops.ExpandDims(s, x, 1), []int{1, size[0]}, []int{1, strides[0]}
	}
	var y *ops.Value
	switch {
	case rank == 3 && largest:
		y = ops.MaxPool3D(s, x, size, o)
	case rank == 3:
		y = ops.AvgPool3D(s, x, size, o)
	case largest:
		y = ops.MaxPool(s, x, size, o)
	default:
		y = ops.AvgPool(s, x, size, o)
	}
	if rank == 1 {
		y = ops.Squeeze(s, y, 1)
	}
	return w.fromLast(s, y)
}

// CompleteConfig completes the sizes to one for each dimension.
func (m *MaxPooling2D) CompleteConfig() {
	poolDefaults(2, &m.PoolSize, &m.Strides, &m.Padding)
}

// Call returns the largest element of each pool of x.
func (m *MaxPooling2D) Call(s *ops.Scope, x ops.Input) *ops.Value { return m.Run(s, m, x, nil) }

// Compute returns the largest element of each pool of x.
func (m *MaxPooling2D) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	return pool(s, x, 2, m.PoolSize, m.Strides, m.Padding, m.DataFormat, true)
}

// CompleteConfig completes the sizes to one for each dimension.
func (m *MaxPooling3D) CompleteConfig() {
	poolDefaults(3, &m.PoolSize, &m.Strides, &m.Padding)
}

// Call returns the largest element of each pool of x.
func (m *MaxPooling3D) Call(s *ops.Scope, x ops.Input) *ops.Value { return m.Run(s, m, x, nil) }

// Compute returns the largest element of each pool of x.
func (m *MaxPooling3D) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	return pool(s, x, 3, m.PoolSize, m.Strides, m.Padding, m.DataFormat, true)
}

// CompleteConfig completes the sizes to one for each dimension.
func (a *AveragePooling2D) CompleteConfig() {
	poolDefaults(2, &a.PoolSize, &a.Strides, &a.Padding)
}

// Call returns the mean of each pool of x.
func (a *AveragePooling2D) Call(s *ops.Scope, x ops.Input) *ops.Value { return a.Run(s, a, x, nil) }

// Compute returns the mean of each pool of x.
func (a *AveragePooling2D) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	return pool(s, x, 2, a.PoolSize, a.Strides, a.Padding, a.DataFormat, false)
}

// CompleteConfig completes the sizes to one for each dimension.
func (a *AveragePooling3D) CompleteConfig() {
	poolDefaults(3, &a.PoolSize, &a.Strides, &a.Padding)
}

// Call returns the mean of each pool of x.
func (a *AveragePooling3D) Call(s *ops.Scope, x ops.Input) *ops.Value { return a.Run(s, a, x, nil) }

// Compute returns the mean of each pool of x.
func (a *AveragePooling3D) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	return pool(s, x, 3, a.PoolSize, a.Strides, a.Padding, a.DataFormat, false)
}

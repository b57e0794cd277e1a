package featurecolumn

import (
	"fmt"

	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// Numeric has the numbers of a feature: tf.feature_column.numeric_column.
type Numeric struct {
	// Key is the name of the feature. It is required.
	Key string
	// Shape is the shape of the feature in a row. Default: one number.
	Shape []int `keras:",default=[1]"`
	// DefaultValue is the value of examples without the feature. It is kept, and does nothing.
	DefaultValue any
	// DType is the type of the feature in examples. It is kept, and does nothing. Default:
	// float32.
	DType string `keras:"dtype,default=float32"`
	// NormalizerFn must be nil: it is a Python function.
	NormalizerFn any
	// Normalizer is applied to the feature. It has no config. Default: none.
	Normalizer func(s *ops.Scope, x *ops.Value) *ops.Value `keras:"-"`
}

// MarshalConfig returns the column's JSON.
func (n *Numeric) MarshalConfig() (any, error) {
	fields, err := n.fields()
	if err != nil {
		return nil, err
	}
	return object("NumericColumn", fields)
}

// fields returns the config.
func (n *Numeric) fields() (config.Fields, error) {
	if n.Normalizer != nil || n.NormalizerFn != nil {
		return nil, fmt.Errorf("column %s: a Normalizer is a function, which has no config", n.Key)
	}
	d := n.DType
	if d == "" {
		d = "float32"
	}
	return config.Fields{{Name: "key", Value: n.Key}, {Name: "shape", Value: n.shape()}, {Name: "default_value", Value: n.DefaultValue},
		{Name: "dtype", Value: d}, {Name: "normalizer_fn", Value: nil}}, nil
}

func (n *Numeric) shape() []int {
	if n.Shape == nil {
		return []int{1}
	}
	return n.Shape
}

func (n *Numeric) check() error {
	if n.NormalizerFn != nil {
		return fmt.Errorf("column %s: normalizer_fn is a Python function; set Normalizer in Go", n.Key)
	}
	size := 1
	for _, k := range n.shape() {
		if k < 1 || k > 1<<30/size { // the limit is ours
			return fmt.Errorf("column %s has the shape %v, want sizes of 1 or more and at most %d numbers", n.Key, n.Shape, 1<<30)
		}
		size *= k
	}
	return nil
}

// Name returns the feature's name.
func (n *Numeric) Name() string { return n.Key }

// Features returns the feature's name.
func (n *Numeric) Features() []string { return []string{n.Key} }

// Size returns the number of numbers in a row.
func (n *Numeric) Size() int {
	size := 1
	for _, k := range n.shape() {
		size *= k
	}
	return size
}

// Compute returns the numbers.
func (n *Numeric) Compute(s *ops.Scope, in *Inputs) *ops.Value {
	return ops.Reshape(s, n.numbers(s, in), -1, n.Size())
}

// numbers returns the feature in its shape, float32 [batch, shape…], after the Normalizer.
func (n *Numeric) numbers(s *ops.Scope, in *Inputs) *ops.Value {
	x, err := in.dense(s, n.Key)
	if err != nil {
		return s.Fail("Column", fmt.Errorf("column %s: %w", n.Key, err))
	}
	if n.Normalizer != nil {
		x = n.Normalizer(s, x)
	}
	return ops.Cast(s, x, tensor.Float32)
}

package featurecolumn

import (
	"fmt"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// WeightedCategorical has categories with the weights of another feature:
// tf.feature_column.weighted_categorical_column.
type WeightedCategorical struct {
	// Categorical are the categories. It is required.
	Categorical Categorical `keras:"categorical_column"`
	// WeightFeatureKey is the name of the feature of the weights. It is required.
	WeightFeatureKey string
	// DType is the type of the weights. Default: float32.
	DType string `keras:"dtype,default=float32"`
}

// MarshalConfig returns the column's JSON.
func (w *WeightedCategorical) MarshalConfig() (any, error) {
	return object("WeightedCategoricalColumn", config.Fields{{Name: "categorical_column", Value: w.Categorical}, {Name: "weight_feature_key", Value: w.WeightFeatureKey}, {Name: "dtype", Value: w.dtype()}})
}

func (w *WeightedCategorical) dtype() string {
	if w.DType == "" {
		return "float32"
	}
	return w.DType
}

func (w *WeightedCategorical) columns() []Column { return []Column{w.Categorical} }

// Name returns the names of the categories and of the weights.
func (w *WeightedCategorical) Name() string {
	return w.Categorical.Name() + "_weighted_by_" + w.WeightFeatureKey
}

// Features returns the names of the features.
func (w *WeightedCategorical) Features() []string {
	return append(w.Categorical.Features(), w.WeightFeatureKey)
}

// Buckets returns the number of categories.
func (w *WeightedCategorical) Buckets() int { return w.Categorical.Buckets() }

// Categories returns the categories and the weights. A weight of 0 in a dense feature has no
// place, as in TensorFlow, so no category may have such a weight.
func (w *WeightedCategorical) Categories(s *ops.Scope, in *Inputs) (base.Sparse, *ops.Value) {
	ids, _ := w.Categorical.Categories(s, in)
	weights, err := in.sparse(s, w.WeightFeatureKey, nil)
	if err == nil && weights.Values.DType().String() != w.dtype() {
		err = fmt.Errorf("the feature %q is of %v, want %s", w.WeightFeatureKey, weights.Values.DType(), w.dtype())
	}
	if err != nil {
		return failed(s, w.Name(), err), nil
	}
	return ids, ops.Cast(s, weights.Values, tensor.Float32)
}

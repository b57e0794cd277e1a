package featurecolumn

import (
	"fmt"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// Identity has categories that are the integers of a feature:
// tf.feature_column.categorical_column_with_identity.
type Identity struct {
	// Key is the name of the feature. It is required.
	Key string
	// NumberBuckets is the number of categories. It is required.
	NumberBuckets int
	// DefaultValue is the category of integers out of range. Default: they stay as
	// they are. An Embedding ignores negative ones, and too large ones are its error.
	DefaultValue *int
}

// MarshalConfig returns the column's JSON.
func (i *Identity) MarshalConfig() (any, error) {
	return object("IdentityCategoricalColumn", config.Fields{{Name: "key", Value: i.Key}, {Name: "number_buckets", Value: i.NumberBuckets}, {Name: "default_value", Value: i.DefaultValue}})
}

func (i *Identity) check() error {
	if i.NumberBuckets < 1 {
		return fmt.Errorf("column %s: NumberBuckets is %d, want 1 or more", i.Key, i.NumberBuckets)
	}
	return nil
}

// Name returns the feature's name.
func (i *Identity) Name() string { return i.Key }

// Features returns the feature's name.
func (i *Identity) Features() []string { return []string{i.Key} }

// Buckets returns the number of categories.
func (i *Identity) Buckets() int { return i.NumberBuckets }

// Categories returns the integers as int64, DefaultValue for those out of range, and no weights.
func (i *Identity) Categories(s *ops.Scope, in *Inputs) (base.Sparse, *ops.Value) {
	t, err := tokensOf(s, in, i.Key, "int64")
	if err != nil {
		return failed(s, i.Key, err), nil
	}
	t.Values = ops.Cast(s, t.Values, tensor.Int64)
	if i.DefaultValue != nil {
		outside := ops.Or(s, ops.Less(s, t.Values, int64(0)), ops.GreaterEqual(s, t.Values, int64(i.NumberBuckets)))
		t.Values = ops.Where(s, outside, int64(*i.DefaultValue), t.Values)
	}
	return t, nil
}

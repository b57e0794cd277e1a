package featurecolumn

import (
	"fmt"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
	"github.com/cairnml/cairn/tensor"
)

// Hashed has categories by the hash of a feature of strings or integers:
// tf.feature_column.categorical_column_with_hash_bucket.
type Hashed struct {
	// Key is the name of the feature. It is required.
	Key string
	// HashBucketSize is the number of categories. It is required.
	HashBucketSize int
	// DType is string or an integer type. Default: string.
	DType string `keras:"dtype,default=string"`
}

// MarshalConfig returns the column's JSON.
func (h *Hashed) MarshalConfig() (any, error) {
	return object("HashedCategoricalColumn", config.Fields{{Name: "key", Value: h.Key}, {Name: "hash_bucket_size", Value: h.HashBucketSize}, {Name: "dtype", Value: orString(h.DType)}})
}

// orString returns the name of a type, string if it is empty.
func orString(d string) string {
	if d == "" {
		return "string"
	}
	return d
}

func (h *Hashed) check() error {
	if h.HashBucketSize < 1 {
		return fmt.Errorf("column %s: HashBucketSize is %d, want 1 or more", h.Key, h.HashBucketSize)
	}
	return nil
}

// Name returns the feature's name.
func (h *Hashed) Name() string { return h.Key }

// Features returns the feature's name.
func (h *Hashed) Features() []string { return []string{h.Key} }

// Buckets returns the number of categories.
func (h *Hashed) Buckets() int { return h.HashBucketSize }

// Categories returns the hashes.
func (h *Hashed) Categories(s *ops.Scope, in *Inputs) (base.Sparse, *ops.Value) {
	t, err := tokensOf(s, in, h.Key, h.DType)
	if err != nil {
		return failed(s, h.Key, err), nil
	}
	if t.Values.DType() != tensor.String {
		t.Values = raw.AsString(s, t.Values, nil)
	}
	t.Values = raw.StringToHashBucketFast(s, t.Values, int64(h.HashBucketSize))
	return t, nil
}

// tokensOf returns a feature of strings or integers, of a column's type. Hashed, Identity and the
// vocabularies read their features by it.
func tokensOf(s *ops.Scope, in *Inputs, key, dtype string) (base.Sparse, error) {
	t, err := in.sparse(s, key, nil)
	if err != nil {
		return t, err
	}
	want, err := tensor.ParseDType(orString(dtype))
	if err != nil {
		return t, err
	}
	if d := t.Values.DType(); d.IsInteger() != want.IsInteger() || d != tensor.String && !d.IsInteger() {
		return t, fmt.Errorf("the feature %q is of %v, want %v", key, d, want)
	}
	return t, nil
}

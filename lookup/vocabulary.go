package lookup

import (
	"fmt"

	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// StaticVocabularyTable maps the keys of a vocabulary to their ids, and each other key to
// one of a number of ids after those, by its hash: tf.lookup.StaticVocabularyTable.
type StaticVocabularyTable struct {
	table
	inner   *StaticHashTable `cairn:"-"`
	buckets int
	key     tensor.DType
}

// VocabularyOptions change a vocabulary; nil means the defaults.
type VocabularyOptions struct {
	// KeyDType is the type of the keys that Lookup accepts: the initializer's or, for a
	// vocabulary of int64, another integer type. Default: the initializer's.
	KeyDType tensor.DType
	// Name is the name of the resource in files, as in [StaticOptions].
	Name string
}

// NewStaticVocabularyTable returns the table of the vocabulary in init, whose values are
// the int64s from 0. buckets, at least 1, is the number of ids for other keys.
func NewStaticVocabularyTable(init Initializer, buckets int, opts *VocabularyOptions) (*StaticVocabularyTable, error) {
	if opts == nil {
		opts = new(VocabularyOptions)
	}
	fail := func(err error) (*StaticVocabularyTable, error) {
		return nil, fmt.Errorf("lookup: static vocabulary table: %w", err)
	}
	if buckets < 1 {
		return fail(fmt.Errorf("the number of ids for other keys is %d, want 1 or more", buckets))
	}
	f, err := filled(init)
	if err != nil {
		return fail(err)
	}
	switch {
	case f.value != tensor.Int64:
		return fail(fmt.Errorf("the values are no ids (got %v, want int64)", f.value))
	case f.key != tensor.String && f.key != tensor.Int64:
		return fail(fmt.Errorf("the keys have the type %v, want string or int64", f.key))
	}
	key := opts.KeyDType
	if key == tensor.Invalid {
		key = f.key
	}
	if (f.key == tensor.String) != (key == tensor.String) || key != tensor.String && !key.IsInteger() {
		return fail(fmt.Errorf("the keys of the vocabulary are %v, so Lookup can't accept %v", f.key, key))
	}
	t := &StaticVocabularyTable{inner: new(StaticHashTable), buckets: buckets, key: key}
	if err := t.inner.build(f, int64(-1), &StaticOptions{Name: opts.Name}, t.inner); err != nil {
		return fail(err)
	}
	t.table = t.inner.table
	t.TrackableResource = savedmodel.NewResource(t.inner.Edges(), &savedmodel.ResourceOptions{})
	return t, nil
}

// TrackableChildren returns the initializer and the functions of the table.
func (t *StaticVocabularyTable) TrackableChildren() []trackable.Edge { return t.inner.Edges() }

// CapturedResource returns the table that functions capture.
func (t *StaticVocabularyTable) CapturedResource() any { return t.inner }

// KeyDType returns the type of the keys that Lookup accepts.
func (t *StaticVocabularyTable) KeyDType() tensor.DType { return t.key }

// Lookup returns the ids of keys. The id of a key that isn't in the vocabulary comes from StringToHashBucketFast
// of its text, as in TensorFlow. Models depend on these ids.
func (t *StaticVocabularyTable) Lookup(s *ops.Scope, keys ops.Input) *ops.Value {
	k, ok := typed(s, "Lookup", "keys", keys, t.key)
	if !ok {
		return k
	}
	words := k
	if t.key != t.inner.key {
		k = ops.Cast(s, k, t.inner.key)
	}
	if t.key != tensor.String {
		words = raw.AsString(s, k, nil)
	}
	ids := t.inner.Lookup(s, k)
	others := ops.Add(s, raw.StringToHashBucketFast(s, words, int64(t.buckets)), t.inner.Size(s))
	return ops.Where(s, ops.NotEqual(s, ids, t.inner.def), ids, others)
}

// Size returns the number of ids, an int64 scalar.
func (t *StaticVocabularyTable) Size(s *ops.Scope) *ops.Value {
	return ops.Add(s, t.inner.Size(s), int64(t.buckets))
}

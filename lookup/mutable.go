package lookup

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
)

// MutableHashTable is a table that functions change: tf.lookup.experimental.MutableHashTable.
// Checkpoints and SavedModels save its contents.
type MutableHashTable struct{ mutable }

// DenseHashTable is a [MutableHashTable] with another layout, in which two keys are
// reserved: tf.lookup.experimental.DenseHashTable.
type DenseHashTable struct{ mutable }

// MutableOptions change a mutable table; nil means the defaults.
type MutableOptions struct {
	// Name is the name of the resource in files. Tables of one name share their contents
	// within a process of TensorFlow. Default: a random name, so that two runs of a
	// program write files that differ in it.
	Name string
	// InitialNumBuckets is the size with which a dense table begins, a power of 2.
	// A MutableHashTable ignores it. Default: 131072.
	InitialNumBuckets int
}

// NewMutableHashTable returns an empty table of keys of the type key. def is the value of
// keys that the table does not contain; its type and shape are those of the values.
func NewMutableHashTable(key tensor.DType, def any, opts *MutableOptions) (*MutableHashTable, error) {
	t := new(MutableHashTable)
	err := t.build(t, "table_", key, def, opts, func(s *ops.Scope, name string, _ *MutableOptions) *ops.Value {
		if shape := t.def.Shape(); len(shape) > 0 {
			return raw.MutableHashTableOfTensorsV2(s, key, t.value, &raw.MutableHashTableOfTensorsV2Options{SharedName: name, ValueShape: raw.Set(graph.Whole(shape))})
		}
		return raw.MutableHashTableV2(s, key, t.value, &raw.MutableHashTableV2Options{SharedName: name})
	})
	if err != nil {
		return nil, fmt.Errorf("lookup: mutable hash table: %w", err)
	}
	return t, nil
}

// NewDenseHashTable returns an empty table whose keys have the type and shape of empty
// and deleted. These two keys can't be inserted. def is the value of keys that the table
// does not contain; its type and shape are those of the values.
func NewDenseHashTable(empty, deleted, def any, opts *MutableOptions) (*DenseHashTable, error) {
	fail := func(err error) (*DenseHashTable, error) { return nil, fmt.Errorf("lookup: dense hash table: %w", err) }
	e, err := tensorOf(empty)
	if err != nil {
		return fail(err)
	}
	d, err := tensorOf(deleted)
	if err != nil {
		return fail(err)
	}
	if e.DType() != d.DType() || !e.Shape().Equal(d.Shape()) {
		return fail(fmt.Errorf("the empty and the deleted key differ in type or shape (got %v%v and %v%v)", e.DType(), e.Shape(), d.DType(), d.Shape()))
	}
	t := new(DenseHashTable)
	err = t.build(t, "dense_table_", e.DType(), def, opts, func(s *ops.Scope, name string, opts *MutableOptions) *ops.Value {
		o := &raw.MutableDenseHashTableV2Options{SharedName: name, ValueShape: raw.Set(graph.Whole(t.def.Shape()))}
		if opts.InitialNumBuckets > 0 {
			o.InitialNumBuckets = raw.Set(int64(opts.InitialNumBuckets))
		}
		return raw.MutableDenseHashTableV2(s, e, d, t.value, o)
	})
	if err != nil {
		return fail(err)
	}
	return t, nil
}

// mutable is the part that mutable tables have in common.
type mutable struct {
	table
	self ops.Input `cairn:"-"` // the table that embeds this one, which functions capture
}

func (t *mutable) build(self ops.Input, prefix string, key tensor.DType, def any, opts *MutableOptions, create func(*ops.Scope, string, *MutableOptions) *ops.Value) error {
	if opts == nil {
		opts = new(MutableOptions)
	}
	d, err := tensorOf(def)
	if err != nil {
		return fmt.Errorf("the default value: %w", err)
	}
	if n := opts.InitialNumBuckets; n < 0 || n&(n-1) != 0 {
		return fmt.Errorf("MutableOptions.InitialNumBuckets is no power of 2 (got %d)", n)
	}
	t.self, t.key, t.value, t.def = self, key, d.DType(), d.Clone()
	name := opts.Name
	if name == "" {
		var b [12]byte
		_, _ = rand.Read(b[:]) // never fails
		name = prefix + hex.EncodeToString(b[:])
	}
	saveables, err := t.saveables()
	if err != nil {
		return err
	}
	t.make(functions{create: func(s *ops.Scope) *ops.Value { return create(s, name, opts) }}, nil,
		&savedmodel.ResourceOptions{Saveables: map[string]savedmodel.SaveableFunctions{"table": saveables}}) // TensorFlow's name
	return t.trace()
}

// Lookup returns the values of keys; the default for those that are not in the table.
func (t *mutable) Lookup(s *ops.Scope, keys ops.Input) *ops.Value { return t.lookup(s, t.self, keys) }

// Size returns the number of keys, an int64 scalar.
func (t *mutable) Size(s *ops.Scope) *ops.Value { return raw.LookupTableSizeV2(s, t.self) }

// Insert adds pairs; the value of a key that is in the table is replaced. The shape of values
// is that of keys, followed by that of one value.
func (t *mutable) Insert(s *ops.Scope, keys, values ops.Input) {
	k, ok := t.keys(s, "Insert", keys)
	if !ok {
		return
	}
	if v, ok := typed(s, "Insert", "values", values, t.value); ok {
		raw.LookupTableInsertV2(s, t.self, k, v)
	}
}

// Remove removes keys. Keys that are not in the table are ignored.
func (t *mutable) Remove(s *ops.Scope, keys ops.Input) {
	if k, ok := t.keys(s, "Remove", keys); ok {
		raw.LookupTableRemoveV2(s, t.self, k)
	}
}

// Export returns all keys and their values, in an order that isn't specified.
func (t *mutable) Export(s *ops.Scope) (keys, values *ops.Value) {
	return raw.LookupTableExportV2(s, t.self, t.key, t.value)
}

package lookup

import (
	"crypto/sha256"
	"fmt"
	"io"

	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// StaticHashTable is a table that its initializer fills once: tf.lookup.StaticHashTable.
type StaticHashTable struct{ table }

// StaticOptions change a static table; nil means the defaults.
type StaticOptions struct {
	// Name is the name of the resource in files. Tables of one name share their contents
	// within a process of TensorFlow. Default: a digest of the contents.
	Name string
}

// NewStaticHashTable returns the table that init fills. def is the value of other keys,
// of the type of the values: a *tensor.Tensor or a Go scalar.
func NewStaticHashTable(init Initializer, def any, opts *StaticOptions) (*StaticHashTable, error) {
	t := new(StaticHashTable)
	f, err := filled(init)
	if err == nil {
		err = t.build(f, def, opts, t)
	}
	if err != nil {
		return nil, fmt.Errorf("lookup: static hash table: %w", err)
	}
	return t, nil
}

// filled checks an initializer.
func filled(init Initializer) (*filling, error) {
	if init == nil {
		return nil, fmt.Errorf("there is no initializer")
	}
	return init.prepare()
}

// build makes the resource. self is the object that functions capture. The name tf.StaticHashTable and those of
// the edges are TensorFlow's.
func (t *table) build(f *filling, def any, opts *StaticOptions, self ops.Input) error {
	if opts == nil {
		opts = new(StaticOptions)
	}
	var err error
	if err = t.types(f.key, f.value, def, tensor.Shape{}); err != nil {
		return err
	}
	name := opts.Name
	if name == "" {
		name = f.name()
	}
	t.make(functions{
		create: func(s *ops.Scope) *ops.Value {
			return raw.HashTableV2(s, f.key, f.value, &raw.HashTableV2Options{SharedName: name})
		},
		initialize: func(s *ops.Scope) { f.fill(s, self) },
	}, []trackable.Edge{{Name: "_initializer", Child: f.node}}, &savedmodel.ResourceOptions{RegisteredName: "tf.StaticHashTable"})
	return t.trace()
}

// types sets the types of a table and its default value, whose shape is the values'.
func (t *table) types(key, value tensor.DType, def any, shape tensor.Shape) error {
	if value == tensor.Int64 {
		def = int64s(def)
	}
	d, err := tensorOf(def)
	if err != nil {
		return fmt.Errorf("the default value: %w", err)
	}
	if d.DType() != value || shape != nil && !d.Shape().Equal(shape) {
		return fmt.Errorf("the default value does not fit the values (got %v%v, want %v%v)", d.DType(), d.Shape(), value, shape)
	}
	t.key, t.value, t.def = key, value, d.Clone()
	return nil
}

// Lookup returns the values of keys; the default for those that are not in the table.
func (t *StaticHashTable) Lookup(s *ops.Scope, keys ops.Input) *ops.Value {
	return t.lookup(s, t, keys)
}

// Size returns the number of keys, an int64 scalar.
func (t *StaticHashTable) Size(s *ops.Scope) *ops.Value { return raw.LookupTableSizeV2(s, t) }

// Default returns the value of keys that are not in the table.
func (t *StaticHashTable) Default() *tensor.Tensor { return t.def.Clone() }

// digestOf returns a digest of a file.
func digestOf(a *savedmodel.TrackableAsset) ([]byte, error) {
	f, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return nil, err
	}
	return h.Sum(nil), nil
}

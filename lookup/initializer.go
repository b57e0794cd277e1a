package lookup

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"

	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Initializer fills a static table. Only the types of this package implement it.
type Initializer interface {
	// prepare checks the initializer.
	prepare() (*filling, error)
}

// filling is an initializer that has been checked.
type filling struct {
	key, value tensor.DType
	node       trackable.Trackable                 // the edge "_initializer"
	fill       func(s *ops.Scope, table ops.Input) // emits the op that fills the table
	digest     func(h hash.Hash)                   // writes everything that the contents depend on
}

// name returns a name for the resource that depends on its contents. Tables of one name
// share their contents in one process of TensorFlow, so equal names mean equal contents.
func (f *filling) name() string {
	h := sha256.New()
	fmt.Fprintf(h, "%v %v ", f.key, f.value)
	f.digest(h)
	return "hash_table_" + hex.EncodeToString(h.Sum(nil)[:12])
}

// node is an initializer in the object graph.
type node struct{ edges []trackable.Edge }

// TrackableChildren returns the files that the initializer reads.
func (n *node) TrackableChildren() []trackable.Edge { return n.edges }

// KeyValueTensorInitializer fills a table with pairs: tf.lookup.KeyValueTensorInitializer.
type KeyValueTensorInitializer struct {
	// Keys and Values have the same shape, [n]. Each is a *tensor.Tensor or a Go slice;
	// an int is an int64. A key that is there twice must have one value.
	Keys, Values any
}

func (i KeyValueTensorInitializer) prepare() (*filling, error) {
	keys, err := tensorOf(i.Keys)
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	values, err := tensorOf(i.Values)
	if err != nil {
		return nil, fmt.Errorf("values: %w", err)
	}
	if len(keys.Shape()) != 1 || !keys.Shape().Equal(values.Shape()) {
		return nil, fmt.Errorf("keys and values must be vectors of one size (got %v and %v)", keys.Shape(), values.Shape())
	}
	keys, values = keys.Clone(), values.Clone()
	return &filling{key: keys.DType(), value: values.DType(), node: new(node),
		fill: func(s *ops.Scope, table ops.Input) { raw.LookupTableImportV2(s, table, keys, values) },
		digest: func(h hash.Hash) {
			for _, t := range []*tensor.Tensor{keys, values} {
				if t.DType() == tensor.String {
					for _, x := range t.Strings() {
						fmt.Fprintf(h, "%d:%s", len(x), x)
					}
					continue
				}
				h.Write(t.Bytes())
			}
		}}, nil
}

// Places of a key or a value in a line of a text file, by TensorFlow's numbers; 0 and more are
// columns.
const (
	WholeLine  = -2 // the line, a string or an integer
	LineNumber = -1 // the line's number, an int64 from 0
)

// TextFileInitializer fills a table from the lines of a file: tf.lookup.TextFileInitializer.
// The file is an asset of a SavedModel.
type TextFileInitializer struct {
	File *savedmodel.TrackableAsset
	// KeyDType and ValueDType are the types. Default: String for [WholeLine], Int64 for
	// [LineNumber], and required for a column.
	KeyDType, ValueDType tensor.DType
	// KeyIndex and ValueIndex are the places in a line.
	KeyIndex, ValueIndex int
	// VocabSize is the number of lines. Default: those of the file.
	VocabSize int
	// Delimiter separates columns. Default: a tab.
	Delimiter string
	// Offset is the number of the first line. Default: 0.
	Offset int
}

func (i TextFileInitializer) prepare() (*filling, error) {
	if i.File == nil {
		return nil, fmt.Errorf("there is no file; savedmodel.NewAsset makes one of a path")
	}
	key, err := placeDType("key", i.KeyIndex, i.KeyDType)
	if err != nil {
		return nil, err
	}
	value, err := placeDType("value", i.ValueIndex, i.ValueDType)
	if err != nil {
		return nil, err
	}
	if i.VocabSize < 0 {
		return nil, fmt.Errorf("the vocabulary's size is negative (got %d)", i.VocabSize)
	}
	o := &raw.InitializeTableFromTextFileV2Options{}
	if i.VocabSize > 0 {
		o.VocabSize = raw.Set(int64(i.VocabSize))
	}
	o.Offset = int64(i.Offset)
	if i.Delimiter != "" {
		o.Delimiter = raw.Set(i.Delimiter)
	}
	contents, err := digestOf(i.File)
	if err != nil {
		return nil, err
	}
	return &filling{key: key, value: value, node: &node{[]trackable.Edge{{Name: "_filename", Child: i.File}}},
		fill: func(s *ops.Scope, table ops.Input) {
			raw.InitializeTableFromTextFileV2(s, table, i.File, int64(i.KeyIndex), int64(i.ValueIndex), o)
		},
		digest: func(h hash.Hash) {
			fmt.Fprintf(h, "%d %d %d %q ", i.KeyIndex, i.ValueIndex, i.VocabSize, i.Delimiter)
			if i.Offset != 0 {
				fmt.Fprintf(h, "%d ", i.Offset)
			}
			h.Write(contents)
		}}, nil
}

// placeDType returns the type of the part of a line at an index.
func placeDType(what string, index int, d tensor.DType) (tensor.DType, error) {
	switch {
	case index == WholeLine && d == tensor.Invalid:
		return tensor.String, nil
	case index == WholeLine && (d == tensor.String || d == tensor.Int32 || d == tensor.Int64):
		return d, nil
	case index == LineNumber && (d == tensor.Invalid || d == tensor.Int64):
		return tensor.Int64, nil
	case index == WholeLine:
		return d, fmt.Errorf("the %s is the whole line, a string or an integer (got %v)", what, d)
	case index == LineNumber:
		return d, fmt.Errorf("the %s is the line's number, an int64 (got %v)", what, d)
	case index < 0:
		return d, fmt.Errorf("the %s is at column %d, want 0 or more", what, index)
	case d == tensor.Invalid:
		return d, fmt.Errorf("the %s is in column %d, so its type is needed", what, index)
	}
	return d, nil
}

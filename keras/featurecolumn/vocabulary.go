package featurecolumn

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/lookup"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
)

// VocabularyList has categories by the places of a feature's values in a list:
// tf.feature_column.categorical_column_with_vocabulary_list.
type VocabularyList struct {
	// Key is the name of the feature. It is required.
	Key string
	// Vocabulary are the values, a []string or a []int64. It is required.
	Vocabulary any `keras:"vocabulary_list"`
	// DType is string or an integer type. Default: string.
	DType string `keras:"dtype,default=string"`
	// DefaultValue is the category of other values. Default: -1, which is none.
	DefaultValue *int `keras:",default=-1"`
	// NumOOVBuckets is the number of categories for other values, by their hash.
	NumOOVBuckets int `keras:"num_oov_buckets"`

	table *lookup.StaticHashTable
}

// VocabularyFile has categories by the places of a feature's values in the lines of a file:
// tf.feature_column.categorical_column_with_vocabulary_file.
type VocabularyFile struct {
	// Key is the name of the feature. It is required.
	Key string
	// Path is the path of the file in a config. Nothing is read from it: see File. Default:
	// File's path.
	Path string `keras:"vocabulary_file"`
	// VocabularySize is the number of lines that are read. It is required.
	VocabularySize int
	// NumOOVBuckets is the number of categories for other values, by their hash.
	NumOOVBuckets int `keras:"num_oov_buckets"`
	// DType is string or an integer type. Default: string.
	DType string `keras:"dtype,default=string"`
	// DefaultValue is the category of other values. Default: -1, which is none.
	DefaultValue *int `keras:",default=-1"`
	// FileFormat must be nil, which is text.
	FileFormat *string
	// File is the file, which becomes an asset of a SavedModel. It is required.
	File *savedmodel.TrackableAsset `keras:"-"`

	table *lookup.StaticHashTable
}

// orNone returns the default category.
func orNone(v *int) int {
	if v == nil {
		return -1
	}
	return *v
}

// MarshalConfig returns the column's JSON.
func (v *VocabularyList) MarshalConfig() (any, error) {
	return object("VocabularyListCategoricalColumn", config.Fields{{Name: "key", Value: v.Key}, {Name: "vocabulary_list", Value: v.Vocabulary}, {Name: "dtype", Value: orString(v.DType)},
		{Name: "default_value", Value: orNone(v.DefaultValue)}, {Name: "num_oov_buckets", Value: v.NumOOVBuckets}})
}

// MarshalConfig returns the column's JSON.
func (v *VocabularyFile) MarshalConfig() (any, error) {
	path := v.Path
	if path == "" && v.File != nil {
		path = v.File.String()
	}
	return object("VocabularyFileCategoricalColumn", config.Fields{{Name: "key", Value: v.Key}, {Name: "vocabulary_file", Value: path}, {Name: "vocabulary_size", Value: v.VocabularySize},
		{Name: "num_oov_buckets", Value: v.NumOOVBuckets}, {Name: "dtype", Value: orString(v.DType)}, {Name: "default_value", Value: orNone(v.DefaultValue)}, {Name: "file_format", Value: v.FileFormat}})
}

// values returns the vocabulary, a []string or a []int64.
func (v *VocabularyList) values() (values any, n int, err error) {
	switch list := v.Vocabulary.(type) {
	case []string:
		return list, len(list), nil
	case []int64:
		return list, len(list), nil
	case []any: // of a config
		var words []string
		var numbers []int64
		for _, x := range list {
			switch x := x.(type) {
			case string:
				words = append(words, x)
			case json.Number:
				k, err := x.Int64()
				if err != nil {
					return nil, 0, err
				}
				numbers = append(numbers, k)
			case float64:
				numbers = append(numbers, int64(x))
			}
		}
		switch len(list) {
		case len(words):
			return words, len(words), nil
		case len(numbers):
			return numbers, len(numbers), nil
		}
	}
	return nil, 0, fmt.Errorf("column %s: the vocabulary is %T, want strings or integers", v.Key, v.Vocabulary)
}

func (v *VocabularyList) check() error {
	_, n, err := v.values()
	switch {
	case err != nil:
		return err
	case n == 0 || v.NumOOVBuckets < 0:
		return fmt.Errorf("column %s has %d values and NumOOVBuckets %d, want 1 value or more and 0 buckets or more", v.Key, n, v.NumOOVBuckets)
	}
	return nil
}

func (v *VocabularyFile) check() error {
	switch {
	case v.FileFormat != nil:
		return fmt.Errorf("column %s: file_format is %q, want null: files of records are not read", v.Key, *v.FileFormat)
	case v.VocabularySize < 1 || v.NumOOVBuckets < 0:
		return fmt.Errorf("column %s has VocabularySize %d and NumOOVBuckets %d, want 1 or more and 0 or more", v.Key, v.VocabularySize, v.NumOOVBuckets)
	}
	return nil
}

// MakeTable makes the table, unless there is one.
func (v *VocabularyList) MakeTable() error {
	if v.table != nil {
		return nil
	}
	keys, n, err := v.values()
	if err != nil {
		return err
	}
	numbers := make([]int64, n)
	for i := range numbers {
		numbers[i] = int64(i)
	}
	v.table, err = lookup.NewStaticHashTable(lookup.KeyValueTensorInitializer{Keys: keys, Values: numbers}, int64(orNone(v.DefaultValue)), nil)
	return err
}

// MakeTable makes the table, unless there is one.
func (v *VocabularyFile) MakeTable() error {
	if v.table != nil {
		return nil
	}
	if v.File == nil {
		return fmt.Errorf("the vocabulary is the file %q, which a config can't open; set File", v.Path)
	}
	key := tensor.String
	if d, err := tensor.ParseDType(orString(v.DType)); err != nil || d.IsInteger() {
		key = tensor.Int64
	}
	var err error
	v.table, err = lookup.NewStaticHashTable(lookup.TextFileInitializer{File: v.File, KeyIndex: lookup.WholeLine, KeyDType: key,
		ValueIndex: lookup.LineNumber, VocabSize: v.VocabularySize}, int64(orNone(v.DefaultValue)), nil)
	return err
}

// Table returns the table, nil before the layer is built.
func (v *VocabularyList) Table() *lookup.StaticHashTable { return v.table }

// Table returns the table, nil before the layer is built.
func (v *VocabularyFile) Table() *lookup.StaticHashTable { return v.table }

// Name returns the feature's name.
func (v *VocabularyList) Name() string { return v.Key }

// Name returns the feature's name.
func (v *VocabularyFile) Name() string { return v.Key }

// Features returns the feature's name.
func (v *VocabularyList) Features() []string { return []string{v.Key} }

// Features returns the feature's name.
func (v *VocabularyFile) Features() []string { return []string{v.Key} }

// Buckets returns the number of categories.
func (v *VocabularyList) Buckets() int {
	_, n, _ := v.values()
	return n + v.NumOOVBuckets
}

// Buckets returns the number of categories.
func (v *VocabularyFile) Buckets() int { return v.VocabularySize + v.NumOOVBuckets }

// Categories returns the places in the list.
func (v *VocabularyList) Categories(s *ops.Scope, in *Inputs) (base.Sparse, *ops.Value) {
	return placesIn(s, in, v.table, v.Key, v.DType, v.Buckets()-v.NumOOVBuckets, v.NumOOVBuckets)
}

// Categories returns the places in the file.
func (v *VocabularyFile) Categories(s *ops.Scope, in *Inputs) (base.Sparse, *ops.Value) {
	return placesIn(s, in, v.table, v.Key, v.DType, v.VocabularySize, v.NumOOVBuckets)
}

// placesIn returns the places of a feature's values in a vocabulary of n, and after them the
// hashes of others. The place of a value that is neither is the table's default, -1 for none.
func placesIn(s *ops.Scope, in *Inputs, table *lookup.StaticHashTable, key, dtype string, n, buckets int) (base.Sparse, *ops.Value) {
	t, err := tokensOf(s, in, key, dtype)
	if err == nil && table == nil {
		err = errors.New("there is no table; the layer isn't built")
	}
	if err != nil {
		return failed(s, key, err), nil
	}
	tokens := t.Values
	if tokens.DType() != tensor.String {
		tokens = ops.Cast(s, tokens, tensor.Int64)
	}
	t.Values = table.Lookup(s, tokens)
	if buckets > 0 {
		text := tokens
		if text.DType() != tensor.String {
			text = raw.AsString(s, text, nil)
		}
		others := ops.Add(s, raw.StringToHashBucketFast(s, text, int64(buckets)), int64(n))
		t.Values = ops.Where(s, ops.Equal(s, t.Values, int64(-1)), others, t.Values)
	}
	return t, nil
}

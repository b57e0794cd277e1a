// Package featurecolumn has the columns of tf.feature_column, which describe how a DenseFeatures layer, or a
// SequenceFeatures layer, turns features into numbers. TensorFlow has deprecated them: they are here for models that
// have them in their files.
//
//	age := &featurecolumn.Numeric{Key: "age"}
//	kind := &featurecolumn.VocabularyList{Key: "kind", Vocabulary: []string{"a", "b"}}
//	columns := []featurecolumn.Column{age, &featurecolumn.Indicator{Categorical: kind}}
package featurecolumn

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/lookup"
	"github.com/cairnml/cairn/ops"
)

// Column is implemented by all columns.
type Column interface {
	// Name is the name of the column, as in TensorFlow.
	Name() string
	// Features lists the names of the features that the column reads.
	Features() []string
}

// Dense is implemented by columns of numbers.
type Dense interface {
	Column
	// Size is the number of numbers for each row.
	Size() int
	// Compute returns the numbers, float32 [batch, Size].
	Compute(s *ops.Scope, in *Inputs) *ops.Value
}

// Categorical is implemented by columns of categories.
type Categorical interface {
	Column
	// Buckets is the number of categories.
	Buckets() int
	// Categories returns the numbers of the categories of each row, int64, and their weights.
	// A weight has the place of its number in ids.Values; nil means ones.
	Categories(s *ops.Scope, in *Inputs) (ids base.Sparse, weights *ops.Value)
}

// The layers DenseFeatures and SequenceFeatures call Check, Weights, Build and Tables. Names,
// configs and numbers of columns are those of TensorFlow's feature_column_v2.py and must stay.

// weighted columns have variables.
type weighted interface{ Weights() []base.Weight }

// tabled columns have tables.
type tabled interface {
	MakeTable() error
	Table() *lookup.StaticHashTable
}

// checked columns have settings that can be wrong.
type checked interface{ check() error }

// inner columns are made of others.
type inner interface{ columns() []Column }

// each calls f for a column and those that it is made of, the inner ones first, up to the first
// error.
func each(c Column, f func(c Column) error) error {
	if c == nil || reflect.ValueOf(c).IsNil() {
		return fmt.Errorf("a column is missing")
	}
	if i, ok := c.(inner); ok {
		for _, c := range i.columns() {
			if err := each(c, f); err != nil {
				return err
			}
		}
	}
	return f(c)
}

// Check returns an error if a column's settings are wrong.
func Check(c Column) error {
	return each(c, func(c Column) error {
		if k, ok := c.(checked); ok {
			if err := k.check(); err != nil {
				return fmt.Errorf("column %T: %w", c, err)
			}
		}
		return nil
	})
}

// Weights lists the variables of a column.
func Weights(c Column) []base.Weight {
	if w, ok := c.(weighted); ok {
		return w.Weights()
	}
	return nil
}

// Build makes the tables of a column.
func Build(c Column) error {
	return each(c, func(c Column) error {
		if t, ok := c.(tabled); ok {
			if err := t.MakeTable(); err != nil {
				return fmt.Errorf("column %s: %w", c.Name(), err)
			}
		}
		return nil
	})
}

// Tables returns the tables of a column, by the names of their features.
func Tables(c Column) map[string]*lookup.StaticHashTable {
	tables := map[string]*lookup.StaticHashTable{}
	_ = each(c, func(c Column) error {
		if t, ok := c.(tabled); ok {
			tables[c.Name()] = t.Table()
		}
		return nil
	})
	return tables
}

// FeaturesOf lists the names of the features that columns read, sorted and each once.
func FeaturesOf[C Column](columns []C) []string {
	var names []string
	for _, c := range columns {
		names = append(names, c.Features()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Classes lists the columns for configs.
func Classes() []config.Class {
	const module = "feature_column"
	return []config.Class{
		config.Of[*Bucketized](module, "BucketizedColumn"),
		config.Of[*Crossed](module, "CrossedColumn"),
		config.Of[*Embedding](module, "EmbeddingColumn"),
		config.Of[*Hashed](module, "HashedCategoricalColumn"),
		config.Of[*Identity](module, "IdentityCategoricalColumn"),
		config.Of[*Indicator](module, "IndicatorColumn"),
		config.Of[*Numeric](module, "NumericColumn"),
		config.Of[*SequenceCategorical](module, "SequenceCategoricalColumn"),
		config.Of[*SequenceNumeric](module, "SequenceNumericColumn"),
		config.Of[*VocabularyFile](module, "VocabularyFileCategoricalColumn"),
		config.Of[*VocabularyList](module, "VocabularyListCategoricalColumn"),
		config.Of[*WeightedCategorical](module, "WeightedCategoricalColumn"),
	}
}

// object returns the JSON of a column, which has no module.
func object(class string, fields config.Fields) (any, error) {
	return config.Fields{{Name: "class_name", Value: class}, {Name: "config", Value: fields}}, nil
}

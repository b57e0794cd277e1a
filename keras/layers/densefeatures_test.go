package layers_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/featurecolumn"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
)

// featureNet has columns of all kinds of tables.
type featureNet struct {
	keras.Model
	Features *layers.DenseFeatures
}

// TestFeaturesByName calls a layer with a map, eagerly and in a trace, and saves it with the
// vocabulary of a column as an asset.
func TestFeaturesByName(t *testing.T) {
	ctx := context.Background()
	n := &featureNet{Features: &layers.DenseFeatures{FeatureColumns: []featurecolumn.Dense{
		&featurecolumn.Indicator{Categorical: &featurecolumn.VocabularyFile{Key: "word", File: vocabularyFile("b\na\n"), VocabularySize: 2, NumOOVBuckets: 1}},
		&featurecolumn.Numeric{Key: "age", Normalizer: func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Mul(s, x, 2) }},
	}}}
	call := func(s *ops.Scope, age, word *ops.Value) *ops.Value {
		return n.Features.Call(s, map[string]*ops.Value{"word": word, "age": age, "unused": age})
	}
	s := function.Eager(ctx)
	age, word := ops.Const(s, []float32{3, 4, 5}), ops.Const(s, []string{"a", "b", "z"})
	want := []float32{6, 0, 1, 0, 8, 1, 0, 0, 10, 0, 0, 1}
	check := func(how string, got *ops.Value, err error) {
		t.Helper()
		must(t, err)
		if v := tensor.Values[float32](tensorOf(t, got)); !slices.Equal(v, want) {
			t.Errorf("%s: got %v, want %v", how, v, want)
		}
	}
	check("eager", call(s, age, word), s.Err())
	type row struct{ Age, Word *ops.Value }
	f := function.New(func(s *ops.Scope, in row) *ops.Value { return call(s, in.Age, in.Word) })
	c, err := f.Trace(row{ops.Spec(tensor.Float32, -1), ops.Spec(tensor.String, -1)})
	must(t, err)
	got, err := f.Call(ctx, row{age, word})
	check("traced", got, err)
	must(t, savedmodel.Save(ctx, n, filepath.Join(t.TempDir(), "m"), &savedmodel.SaveOptions{Signatures: map[string]*function.Concrete{"serving_default": c}}))
}

// openVocabularies opens the files of columns, which configs only name.
func openVocabularies(layer any) {
	var columns []featurecolumn.Column
	switch l := layer.(type) {
	case *layers.DenseFeatures:
		for _, c := range l.FeatureColumns {
			columns = append(columns, c)
		}
	case *layers.SequenceFeatures:
		for _, c := range l.FeatureColumns {
			columns = append(columns, c)
		}
	}
	for _, c := range columns {
		i, ok := c.(*featurecolumn.Indicator)
		if !ok {
			continue
		}
		inner := i.Categorical
		if q, ok := inner.(*featurecolumn.SequenceCategorical); ok {
			inner = q.Categorical
		}
		if v, ok := inner.(*featurecolumn.VocabularyFile); ok {
			v.File = savedmodel.NewAssetFS(os.DirFS("testdata"), v.Path)
		}
	}
}

// TestSequenceFeaturesRefuse calls layers with columns and features that they can't take.
func TestSequenceFeaturesRefuse(t *testing.T) {
	ids := &featurecolumn.Identity{Key: "ids", NumberBuckets: 3}
	steps := &featurecolumn.SequenceCategorical{Categorical: ids}
	s := function.Eager(context.Background())
	sparse := func(v any) *ops.Value {
		return base.Sparse{Indices: ops.Const(s, [][]int64{{0, 0}, {0, 1}}), Values: ops.Const(s, v), Shape: ops.Const(s, []int64{2, 2})}.Value(s)
	}
	features := map[string]*ops.Value{
		"ids": sparse([]int64{1, 2}), "dense": ops.Const(s, [][]float32{{1}}), "one": base.Sparse{Indices: ops.Const(s, [][]int64{{1, 0}}), Values: ops.Const(s, []float32{1}), Shape: ops.Const(s, []int64{2, 2})}.Value(s),
	}
	must(t, s.Err())
	for name, tt := range map[string]struct {
		layer base.Callable
		want  string
	}{
		"rows as steps": {&layers.SequenceFeatures{FeatureColumns: []featurecolumn.Sequence{&featurecolumn.Indicator{Categorical: ids}}}, "want a SequenceCategorical"},
		"steps as rows": {&layers.DenseFeatures{FeatureColumns: []featurecolumn.Dense{&featurecolumn.Embedding{Categorical: steps, Dimension: 2}}}, "use a SequenceFeatures layer"},
		"dense numbers": {&layers.SequenceFeatures{FeatureColumns: []featurecolumn.Sequence{&featurecolumn.SequenceNumeric{Key: "dense"}}}, "isn't a sparse tensor"},
		"lengths": {&layers.SequenceFeatures{FeatureColumns: []featurecolumn.Sequence{&featurecolumn.Indicator{Categorical: steps}, &featurecolumn.SequenceNumeric{Key: "one"}}},
			"differ in their numbers of steps"},
		"no source": {&layers.SequenceFeatures{FeatureColumns: []featurecolumn.Sequence{&featurecolumn.Indicator{Categorical: &featurecolumn.SequenceCategorical{}}}}, "a column is missing"},
	} {
		s := function.Eager(context.Background())
		tt.layer.Call(s, features)
		if err := s.Err(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: the error is %v, want one with %q", name, err, tt.want)
		}
	}
}

// TestDenseFeaturesRefuse reads configs and calls layers with columns and features that they
// can't take.
func TestDenseFeaturesRefuse(t *testing.T) {
	const age = `{"class_name": "NumericColumn", "config": {"key": "age"}}`
	for name, tt := range map[string]struct{ columns, want string }{
		"no columns":      {``, "no FeatureColumns"},
		"no source":       {`{"class_name": "BucketizedColumn", "config": {"boundaries": [1]}}`, "a column is missing"},
		"no categories":   {`{"class_name": "IndicatorColumn", "config": {}}`, "a column is missing"},
		"boundaries":      {`{"class_name": "BucketizedColumn", "config": {"source_column": ` + age + `, "boundaries": [2, 1]}}`, "not in order"},
		"twice":           {age + `, ` + age, `two columns have the name "age"`},
		"function":        {`{"class_name": "NumericColumn", "config": {"key": "age", "normalizer_fn": "f"}}`, "normalizer_fn is a Python function"},
		"huge shape":      {`{"class_name": "NumericColumn", "config": {"key": "age", "shape": [1000000000, 1000000000, 1000000000]}}`, "has the shape"},
		"file":            {`{"class_name": "IndicatorColumn", "config": {"categorical_column": {"class_name": "VocabularyFileCategoricalColumn", "config": {"key": "age", "vocabulary_file": "/etc/passwd", "vocabulary_size": 3}}}}`, "set File"},
		"records":         {`{"class_name": "IndicatorColumn", "config": {"categorical_column": {"class_name": "VocabularyFileCategoricalColumn", "config": {"key": "age", "vocabulary_file": "x", "vocabulary_size": 3, "file_format": "tfrecord_gzip"}}}}`, "file_format"},
		"mixed list":      {`{"class_name": "IndicatorColumn", "config": {"categorical_column": {"class_name": "VocabularyListCategoricalColumn", "config": {"key": "age", "vocabulary_list": ["a", 1]}}}}`, "want strings or integers"},
		"checkpoint":      {`{"class_name": "EmbeddingColumn", "config": {"categorical_column": {"class_name": "HashedCategoricalColumn", "config": {"key": "age", "hash_bucket_size": 5}}, "dimension": 2, "ckpt_to_load_from": "x"}}`, "ckpt_to_load_from"},
		"no dimension":    {`{"class_name": "EmbeddingColumn", "config": {"categorical_column": {"class_name": "HashedCategoricalColumn", "config": {"key": "age", "hash_bucket_size": 5}}}}`, "Dimension is 0"},
		"one key":         {`{"class_name": "IndicatorColumn", "config": {"categorical_column": {"class_name": "CrossedColumn", "config": {"keys": ["age"], "hash_bucket_size": 5}}}}`, "want 2 keys"},
		"type of feature": {`{"class_name": "IndicatorColumn", "config": {"categorical_column": {"class_name": "HashedCategoricalColumn", "config": {"key": "age", "hash_bucket_size": 5}}}}`, `the feature "age" is of float32`},
		"missing feature": {`{"class_name": "NumericColumn", "config": {"key": "height"}}`, `no feature "height"`},
		"unknown column":  {`{"class_name": "SharedEmbeddingColumn", "config": {}}`, "SharedEmbeddingColumn"},
		"no dense column": {`{"class_name": "HashedCategoricalColumn", "config": {"key": "age", "hash_bucket_size": 5}}`, "HashedCategoricalColumn"},
	} {
		t.Run(name, func(t *testing.T) {
			obj, err := keras.FromConfig([]byte(`{"class_name": "DenseFeatures", "config": {"feature_columns": [`+tt.columns+`]}}`), nil)
			if err == nil {
				s := function.Eager(context.Background())
				obj.(base.Callable).Call(s, map[string]*ops.Value{"age": ops.Const(s, []float32{1, 2})})
				err = s.Err()
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the error is %v, want one with %q", err, tt.want)
			}
		})
	}
}

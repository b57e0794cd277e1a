package layers

import (
	"fmt"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/featurecolumn"
	"github.com/cairnml/cairn/lookup"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
)

// SequenceFeatures turns features of sequences into numbers for each step, as columns
// describe. It is keras.experimental.SequenceFeatures. Its input is that of [DenseFeatures].
type SequenceFeatures struct {
	base.Layer
	// FeatureColumns are the columns. The layer brings them into the order of their names.
	FeatureColumns []featurecolumn.Sequence `cairn:"-"`
	// Partitioner must be nil: variables aren't split.
	Partitioner any

	// Tables are the tables of the columns, by the names of their features. They are there
	// when the layer is built.
	Tables map[string]*lookup.StaticHashTable `keras:"-" cairn:"_resources"`
}

// CompleteConfig brings the columns into the order of their names.
func (f *SequenceFeatures) CompleteConfig() { sortColumns(f.FeatureColumns) }

// CompleteLayer checks the columns.
func (f *SequenceFeatures) CompleteLayer() error {
	return checkColumns(f.FeatureColumns, f.Partitioner)
}

// FeatureNames returns the names of the features, in order.
func (f *SequenceFeatures) FeatureNames() []string { return featurecolumn.FeaturesOf(f.FeatureColumns) }

// Weights lists the variables of the columns.
func (f *SequenceFeatures) Weights(base.Shapes) ([]base.Weight, error) {
	return weightsOfColumns(f.FeatureColumns), nil
}

// BuildLayer makes the tables of the columns.
func (f *SequenceFeatures) BuildLayer(*ops.Scope, base.Shapes) error {
	return buildColumns(f.FeatureColumns, &f.Tables)
}

// BuildConfig returns the shapes of the features for which the layer was built.
func (f *SequenceFeatures) BuildConfig() config.Fields {
	return featureShapes(f.BuiltShapes(), f.FeatureNames())
}

// SetBuildConfig keeps the shapes of the features for which a saved layer was built.
func (f *SequenceFeatures) SetBuildConfig(v map[string]any) error {
	return setFeatureShapes(&f.Layer, f.FeatureNames(), v)
}

// InputOrderOf returns the names of the features, in the order of a list of them.
func (f *SequenceFeatures) InputOrderOf([]string) []string { return f.FeatureNames() }

// TakesSparse marks a layer that takes sparse inputs.
func (f *SequenceFeatures) TakesSparse() {}

// Call returns the numbers of the features x, [batch, steps, numbers]. RunAll
// returns besides it the number of steps of each row, int64 [batch].
func (f *SequenceFeatures) Call(s *ops.Scope, x ops.Input) *ops.Value {
	list, err := featureList(f, x, f.FeatureNames)
	if err != nil {
		return s.Fail("SequenceFeatures", err)
	}
	return f.Run(s, f, list, featureOptions(x, f.FeatureNames))
}

// ComputeAll returns the numbers of the features and the numbers of steps. Columns whose
// rows have different numbers of steps are an error.
func (f *SequenceFeatures) ComputeAll(s *ops.Scope, c *base.Invocation) []*ops.Value {
	in, err := featureInputs(c, f.FeatureNames())
	if err != nil {
		return []*ops.Value{s.Fail("SequenceFeatures", err)}
	}
	parts := make([]*ops.Value, len(f.FeatureColumns))
	var lengths *ops.Value
	for i, column := range f.FeatureColumns {
		var n *ops.Value
		parts[i], n = column.ComputeSequence(s, in)
		if lengths == nil {
			lengths = n
			continue
		}
		text := fmt.Sprintf("the rows of the columns %s and %s differ in their numbers of steps", f.FeatureColumns[0].Name(), column.Name())
		raw.Assert(s, ops.All(s, ops.Equal(s, lengths, n)), []ops.Input{text}, nil)
	}
	return []*ops.Value{ops.Concat(s, parts, -1), lengths}
}

package layers

import (
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/featurecolumn"
	"github.com/cairnml/cairn/lookup"
	"github.com/cairnml/cairn/ops"
)

// DenseFeatures turns features into one row of numbers for each sample, as columns
// describe. Its input is a map[string]*ops.Value of features, or a list of them in the
// order of the names that FeatureNames returns.
type DenseFeatures struct {
	base.Layer
	// FeatureColumns are the columns. The layer brings them into the order of their names.
	FeatureColumns []featurecolumn.Dense `cairn:"-"`
	// Partitioner must be nil: variables aren't split.
	Partitioner any

	// Tables are the tables of the columns, by the names of their features. They are there
	// when the layer is built.
	Tables map[string]*lookup.StaticHashTable `keras:"-" cairn:"_resources"`
}

// CompleteConfig brings the columns into the order of their names.
func (f *DenseFeatures) CompleteConfig() { sortColumns(f.FeatureColumns) }

// CompleteLayer checks the columns.
func (f *DenseFeatures) CompleteLayer() error { return checkColumns(f.FeatureColumns, f.Partitioner) }

// FeatureNames returns the names of the features, in order.
func (f *DenseFeatures) FeatureNames() []string { return featurecolumn.FeaturesOf(f.FeatureColumns) }

// Weights lists the variables of the columns.
func (f *DenseFeatures) Weights(base.Shapes) ([]base.Weight, error) {
	return weightsOfColumns(f.FeatureColumns), nil
}

// BuildLayer makes the tables of the columns.
func (f *DenseFeatures) BuildLayer(*ops.Scope, base.Shapes) error {
	return buildColumns(f.FeatureColumns, &f.Tables)
}

// BuildConfig returns the shapes of the features for which the layer was built.
func (f *DenseFeatures) BuildConfig() config.Fields {
	return featureShapes(f.BuiltShapes(), f.FeatureNames())
}

// SetBuildConfig keeps the shapes of the features for which a saved layer was built.
func (f *DenseFeatures) SetBuildConfig(v map[string]any) error {
	return setFeatureShapes(&f.Layer, f.FeatureNames(), v)
}

// InputOrderOf returns the names of the features, in the order of a list of them.
func (f *DenseFeatures) InputOrderOf([]string) []string { return f.FeatureNames() }

// TakesSparse marks a layer that takes sparse inputs.
func (f *DenseFeatures) TakesSparse() {}

// Call returns the numbers of the features x.
func (f *DenseFeatures) Call(s *ops.Scope, x ops.Input) *ops.Value {
	list, err := featureList(f, x, f.FeatureNames)
	if err != nil {
		return s.Fail("DenseFeatures", err)
	}
	return f.Run(s, f, list, featureOptions(x, f.FeatureNames))
}

// ComputeAll returns the numbers of the features.
func (f *DenseFeatures) ComputeAll(s *ops.Scope, c *base.Invocation) []*ops.Value {
	in, err := featureInputs(c, f.FeatureNames())
	if err != nil {
		return []*ops.Value{s.Fail("DenseFeatures", err)}
	}
	parts := make([]*ops.Value, len(f.FeatureColumns))
	for i, column := range f.FeatureColumns {
		parts[i] = column.Compute(s, in)
	}
	return []*ops.Value{ops.Concat(s, parts, -1)}
}

package layers

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/featurecolumn"
	"github.com/cairnml/cairn/lookup"
	"github.com/cairnml/cairn/ops"
)

// DenseFeatures turns features into one row of numbers for each sample, as columns say. Its
// input is a map[string]*ops.Value of features, or a list of them in the order of the names
// that FeatureNames returns.
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
func (f *DenseFeatures) CompleteConfig() {
	for _, c := range f.FeatureColumns {
		if featurecolumn.Check(c) != nil {
			return // the first call says so
		}
	}
	slices.SortStableFunc(f.FeatureColumns, func(a, b featurecolumn.Dense) int { return strings.Compare(a.Name(), b.Name()) })
}

// CompleteLayer checks the columns.
func (f *DenseFeatures) CompleteLayer() error {
	if len(f.FeatureColumns) == 0 {
		return errors.New("there are no FeatureColumns")
	}
	if f.Partitioner != nil {
		return errors.New("the partitioner is set, want null: variables aren't split")
	}
	names := map[string]bool{}
	for i, c := range f.FeatureColumns {
		if err := featurecolumn.Check(c); err != nil {
			return fmt.Errorf("column %d: %w", i, err)
		}
		if names[c.Name()] {
			return fmt.Errorf("two columns have the name %q", c.Name())
		}
		names[c.Name()] = true
	}
	return nil
}

// FeatureNames returns the names of the features, in order.
func (f *DenseFeatures) FeatureNames() []string { return featurecolumn.FeaturesOf(f.FeatureColumns) }

// Weights lists the variables of the columns.
func (f *DenseFeatures) Weights(base.Shapes) ([]base.Weight, error) {
	var list []base.Weight
	for _, c := range f.FeatureColumns {
		list = append(list, featurecolumn.Weights(c)...)
	}
	return list, nil
}

// BuildLayer makes the tables of the columns.
func (f *DenseFeatures) BuildLayer(*ops.Scope, base.Shapes) error {
	for _, c := range f.FeatureColumns {
		if err := featurecolumn.Build(c); err != nil {
			return err
		}
		for name, t := range featurecolumn.Tables(c) {
			if f.Tables == nil {
				f.Tables = map[string]*lookup.StaticHashTable{}
			}
			f.Tables[name] = t
		}
	}
	return nil
}

// BuildConfig returns the shapes of the features for which the layer was built.
func (f *DenseFeatures) BuildConfig() config.Fields {
	shapes := f.BuiltShapes()
	names := f.FeatureNames()
	if len(shapes) == 0 || len(shapes) != len(names) {
		return nil
	}
	var fields config.Fields
	for i, name := range names {
		fields = append(fields, config.Pair{Name: name, Value: base.Shape(shapes[i])})
	}
	return config.Fields{{Name: "input_shape", Value: fields}}
}

// SetBuildConfig keeps the shapes of the features for which a saved layer was built.
func (f *DenseFeatures) SetBuildConfig(v map[string]any) error {
	shapes, _ := v["input_shape"].(map[string]any)
	var list []any
	for _, name := range f.FeatureNames() {
		shape, ok := shapes[name]
		if !ok {
			return nil // which needs none of it
		}
		list = append(list, shape)
	}
	return f.Layer.SetBuildConfig(map[string]any{"input_shape": list})
}

// TakesSparse marks a layer that takes sparse inputs.
func (f *DenseFeatures) TakesSparse() {}

// Call returns the numbers of the features x.
func (f *DenseFeatures) Call(s *ops.Scope, x ops.Input) *ops.Value {
	if features, ok := x.(map[string]*ops.Value); ok {
		if err := base.Complete(f); err != nil {
			return s.Fail("DenseFeatures", err)
		}
		var list []*ops.Value
		for _, name := range f.FeatureNames() {
			v := features[name]
			if v == nil {
				return s.Fail("DenseFeatures", fmt.Errorf("there is no feature %q", name))
			}
			list = append(list, v)
		}
		x = list
	}
	return f.Run(s, f, x, nil)
}

// ComputeAll returns the numbers of the features.
func (f *DenseFeatures) ComputeAll(s *ops.Scope, c *base.Invocation) []*ops.Value {
	names := f.FeatureNames()
	err := c.CheckArgs()
	if err == nil && len(c.Inputs) != len(names) {
		err = fmt.Errorf("got %d features, want %d: %q", len(c.Inputs), len(names), names)
	}
	if err != nil {
		return []*ops.Value{s.Fail("DenseFeatures", err)}
	}
	in := &featurecolumn.Inputs{Values: map[string]*ops.Value{}}
	for i, name := range names {
		in.Values[name] = c.Inputs[i]
	}
	parts := make([]*ops.Value, len(f.FeatureColumns))
	for i, column := range f.FeatureColumns {
		parts[i] = column.Compute(s, in)
	}
	return []*ops.Value{ops.Concat(s, parts, -1)}
}

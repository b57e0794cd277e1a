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

// This file has the parts that DenseFeatures and SequenceFeatures share. A feature is an input with a
// name. A column is computed from one or several features.

// sortColumns sorts columns by name, as tf_keras does. If one is invalid the order stays, and
// checkColumns returns the error.
func sortColumns[C featurecolumn.Column](columns []C) {
	for _, c := range columns {
		if featurecolumn.Check(c) != nil {
			return
		}
	}
	slices.SortStableFunc(columns, func(a, b C) int { return strings.Compare(a.Name(), b.Name()) })
}

// checkColumns returns an error if there are no columns, one is invalid, two have one name, or a
// partitioner is set.
func checkColumns[C featurecolumn.Column](columns []C, partitioner any) error {
	if len(columns) == 0 {
		return errors.New("there are no FeatureColumns")
	}
	if partitioner != nil {
		return errors.New("the partitioner is set, want null: variables aren't split")
	}
	names := map[string]bool{}
	for i, c := range columns {
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

// weightsOfColumns returns the weights of all columns, in the order of the columns.
func weightsOfColumns[C featurecolumn.Column](columns []C) (list []base.Weight) {
	for _, c := range columns {
		list = append(list, featurecolumn.Weights(c)...)
	}
	return list
}

// buildColumns makes the lookup tables of columns and adds them to *tables, by the names that
// featurecolumn.Tables returns.
func buildColumns[C featurecolumn.Column](columns []C, tables *map[string]*lookup.StaticHashTable) error {
	for _, c := range columns {
		if err := featurecolumn.Build(c); err != nil {
			return err
		}
		for name, t := range featurecolumn.Tables(c) {
			if *tables == nil {
				*tables = map[string]*lookup.StaticHashTable{}
			}
			(*tables)[name] = t
		}
	}
	return nil
}

// featureShapes returns the build config of a layer: {"input_shape": {feature: shape}}. shapes are in
// the order of names. It returns nil if they aren't known.
func featureShapes(shapes base.Shapes, names []string) config.Fields {
	if len(shapes) == 0 || len(shapes) != len(names) {
		return nil
	}
	var fields config.Fields
	for i, name := range names {
		fields = append(fields, config.Pair{Name: name, Value: base.Shape(shapes[i])})
	}
	return config.Fields{{Name: "input_shape", Value: fields}}
}

// setFeatureShapes sets the layer's shapes, in the order of names, to those of a build config that
// featureShapes made.
func setFeatureShapes(l *base.Layer, names []string, v map[string]any) error {
	shapes, _ := v["input_shape"].(map[string]any)
	var list []any
	for _, name := range names {
		shape, ok := shapes[name]
		if !ok {
			return nil // the shapes are of other features; the layer is built at its first call
		}
		list = append(list, shape)
	}
	return l.SetBuildConfig(map[string]any{"input_shape": list})
}

// featureList returns the features of a map in the order of their names. Other inputs stay
// as they are.
func featureList(layer base.LayerLike, x ops.Input, names func() []string) (ops.Input, error) {
	features, ok := x.(map[string]*ops.Value)
	if !ok {
		return x, nil
	}
	if err := base.Complete(layer); err != nil {
		return nil, err
	}
	var list []*ops.Value
	for _, name := range names() {
		v := features[name]
		if v == nil {
			return nil, fmt.Errorf("there is no feature %q", name)
		}
		list = append(list, v)
	}
	return list, nil
}

// featureOptions returns the options of a call whose x is a map of features: the keys of the inputs and
// their order in a config, both in the order of names. For other inputs it returns nil.
func featureOptions(x ops.Input, names func() []string) *base.CallOptions {
	if _, ok := x.(map[string]*ops.Value); !ok {
		return nil
	}
	return &base.CallOptions{InputKeys: names(), InputOrder: names()}
}

// featureInputs returns the inputs of a call as features: input i is that of names[i].
func featureInputs(c *base.Invocation, names []string) (*featurecolumn.Inputs, error) {
	if err := c.CheckArgs(); err != nil {
		return nil, err
	}
	if len(c.Inputs) != len(names) {
		return nil, fmt.Errorf("got %d features, want %d: %q", len(c.Inputs), len(names), names)
	}
	in := &featurecolumn.Inputs{Values: map[string]*ops.Value{}}
	for i, name := range names {
		in.Values[name] = c.Inputs[i]
	}
	return in, nil
}

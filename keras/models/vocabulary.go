package models

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// setVocabulary sets the vocabulary of a layer that looks tokens up from the file, if its config
// has none: the asset of its table, or the contents of the table.
func (l *loader) setVocabulary(ctx context.Context, obj any) error {
	var file **savedmodel.TrackableAsset
	var set func(t *tokenTable) error
	var given bool // by the config
	switch layer := obj.(type) {
	case *layers.StringLookup:
		file, given = &layer.VocabularyFile, layer.Vocabulary != nil
		set = func(t *tokenTable) error { return setTokens(ctx, t, layer.Invert, layer.SetVocabulary) }
	case *layers.IntegerLookup:
		file, given = &layer.VocabularyFile, layer.Vocabulary != nil
		set = func(t *tokenTable) error { return setTokens(ctx, t, layer.Invert, layer.SetVocabulary) }
	case *layers.TextVectorization:
		file, given = &layer.VocabularyFile, layer.Vocabulary != nil
		set = func(t *tokenTable) error { return setTokens(ctx, t, false, layer.SetVocabulary) }
	default:
		return nil
	}
	if given {
		return nil
	}
	o := l.byName[obj.(base.LayerLike).AsLayer().Name]
	if o == nil {
		return nil // the layer reports that it has no vocabulary
	}
	at, err := l.at(o)
	if err != nil {
		return err
	}
	t := tableOf(at)
	if t == nil {
		return nil
	}
	if t.asset != nil {
		*file = t.asset
		return nil
	}
	if err := set(t); err != nil {
		return fmt.Errorf("the vocabulary of %q: %w", o.Path, err)
	}
	return nil
}

// tokenTable is the table of a saved layer that looks tokens up.
type tokenTable struct {
	table      *savedmodel.TrackableResource
	key, value tensor.DType
	asset      *savedmodel.TrackableAsset // from which it is filled; nil for none
	idf        *trackable.Variable        // the weights of the tokens; nil for none
}

// tableOf returns the table below the object of a layer, nil for none. The names of the edges are
// those of tf_keras's IndexLookup and TensorFlow's StaticHashTable.
func tableOf(o *savedmodel.TrackableObject) *tokenTable {
	if inner, ok := o.Child("_lookup_layer").(*savedmodel.TrackableObject); ok {
		o = inner
	}
	r, ok := o.Child("lookup_table").(*savedmodel.TrackableResource)
	if !ok {
		return nil
	}
	t := &tokenTable{table: r}
	t.idf, _ = o.Child("idf_weights").(*trackable.Variable)
	if init, ok := r.Child("_initializer").(*savedmodel.TrackableObject); ok {
		t.asset, _ = init.Child("_filename").(*savedmodel.TrackableAsset)
	}
	create, ok := r.Child("_create_resource").(*savedmodel.TrackableFunction)
	if !ok {
		return nil
	}
	for _, c := range create.Traces() {
		for _, n := range c.Function.Graph.Nodes() {
			if n.Attrs.Has("key_dtype") {
				t.key, t.value = n.Attrs.Type("key_dtype", 0), n.Attrs.Type("value_dtype", 0)
			}
		}
	}
	return t
}

// setTokens sets a layer's tokens from a table, in the order of their numbers. inverted is true
// for a table from numbers to tokens. An empty table leaves the layer as it is. The weights of
// the numbers before the first token are those of the mask and of unknown tokens, and stay out.
func setTokens[T string | int64](ctx context.Context, t *tokenTable, inverted bool, set func(*ops.Scope, []T, []float64) error) error {
	s := function.Eager(ctx)
	tokens, numbers := raw.LookupTableExportV2(s, t.table, t.key, t.value)
	if inverted {
		tokens, numbers = numbers, tokens
	}
	list, err := valuesOf[T](tokens)
	if err != nil {
		return err
	}
	at, err := valuesOf[int64](numbers)
	if err != nil {
		return err
	}
	if len(at) == 0 {
		return nil
	}
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(at[a], at[b]) })
	sorted := make([]T, len(list))
	for i, k := range order {
		sorted[i] = list[k]
	}
	var idf []float64
	if t.idf != nil {
		all, err := tensor.Cast(t.idf.Load(), tensor.Float64)
		if err != nil {
			return err
		}
		weights, first := tensor.Values[float64](all), int(at[order[0]])
		if first < 0 || first+len(sorted) > len(weights) {
			return fmt.Errorf("there are %d weights for %d tokens", len(weights), len(sorted))
		}
		idf = weights[first : first+len(sorted)]
	}
	return set(s, sorted, idf)
}

// valuesOf returns the elements of a value.
func valuesOf[T string | int64](v *ops.Value) (list []T, err error) {
	t, err := v.Tensor()
	if err != nil {
		return nil, err
	}
	switch p := any(&list).(type) {
	case *[]string:
		if t.DType() != tensor.String {
			return nil, fmt.Errorf("the table has %v, want strings", t.DType())
		}
		*p = t.Strings()
	case *[]int64:
		if t, err = tensor.Cast(t, tensor.Int64); err != nil {
			return nil, err
		}
		*p = tensor.Values[int64](t)
	}
	return list, nil
}

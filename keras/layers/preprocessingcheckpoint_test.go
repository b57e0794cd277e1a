package layers_test

import (
	"context"
	"slices"
	"testing"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/featurecolumn"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// preprocessingNet has the layers of testdata/gen_preprocessing_checkpoint.py.
type preprocessingNet struct {
	Bins     *layers.Discretization
	Words    *layers.StringLookup
	IDF      *layers.StringLookup `cairn:"idf"`
	Text     *layers.TextVectorization
	Texts    *layers.TextVectorization
	Features *layers.DenseFeatures
	Numbers  *layers.Normalization
	Flip     *layers.RandomFlip
}

// TestPreprocessingLayersAreRestored restores a checkpoint of TensorFlow into layers that
// are not built yet, and into layers that have adapted to other data.
func TestPreprocessingLayersAreRestored(t *testing.T) {
	ctx := context.Background()
	for _, when := range []string{"before", "after"} {
		t.Run(when, func(t *testing.T) {
			n := &preprocessingNet{&layers.Discretization{NumBins: new(3), Epsilon: new(0.1)}, &layers.StringLookup{}, &layers.StringLookup{OutputMode: layers.OutputTFIDF},
				&layers.TextVectorization{}, &layers.TextVectorization{Vocabulary: []string{"x", "y"}, OutputMode: layers.OutputTFIDF, IDFWeights: []float64{0, 0}},
				&layers.DenseFeatures{FeatureColumns: []featurecolumn.Dense{&featurecolumn.Embedding{Categorical: &featurecolumn.Hashed{Key: "w", HashBucketSize: 4}, Dimension: 2}}},
				&layers.Normalization{}, &layers.RandomFlip{Seed: new(1)}}
			s := function.Eager(ctx)
			build := func() {
				words := ops.Const(s, tensor.Must(tensor.New([]string{"b", "a", "b", "c"}, 2, 2)))
				n.Words.Adapt(s, slices.Values([]*ops.Value{words}))
				n.Text.Adapt(s, slices.Values([]*ops.Value{ops.Const(s, []string{"a b", "b c"})}))
				if when == "after" {
					n.Bins.Adapt(s, slices.Values([]*ops.Value{ops.Const(s, []float32{1, 2})}))
					n.IDF.Adapt(s, slices.Values([]*ops.Value{words}))
				} else {
					n.Bins.Call(s, []float32{1})
					must(t, base.Build(s, n.IDF))
				}
				n.Texts.Call(s, []string{"x"})
				n.Features.Call(s, map[string]*ops.Value{"w": ops.Const(s, []string{"a"})})
				n.Numbers.Call(s, tensor.Must(tensor.New([]float32{1, 2}, 1, 2)))
				n.Flip.Call(s, ops.Zeros(s, tensor.Float32, 1, 2, 2, 1))
				must(t, s.Err())
			}
			if when == "after" {
				build()
			}
			c, err := checkpoint.New(n, nil)
			must(t, err)
			r, err := c.Restore(ctx, "testdata/preprocessing.ckpt", nil)
			must(t, err)
			if when == "before" {
				build()
			}
			must(t, r.AssertConsumed())
			for what, tt := range map[string]struct {
				got  *tensor.Tensor
				want []float32
			}{
				"bins":       {tensorOf(t, ops.Cast(s, n.Bins.Call(s, []float32{3, 12, 25}), tensor.Float32)), []float32{0, 1, 2}},
				"weights":    {n.IDF.IDF.Load(), []float32{0.63237333, 0.51082563, 0.6931472, 0.6931472}},
				"given":      {n.Texts.Lookup.IDF.Load(), []float32{0.375, 0.5, 0.25}},
				"embeddings": {n.Features.FeatureColumns[0].(*featurecolumn.Embedding).Embeddings.Load(), []float32{0, 1, 2, 3, 4, 5, 6, 7}},
				"mean":       {n.Numbers.AdaptMean.Load(), []float32{2, 6}},
			} {
				if got := tensor.Values[float32](tt.got); !slices.Equal(got, tt.want) {
					t.Errorf("%s: got %v, want %v", what, got, tt.want)
				}
			}
		})
	}
}

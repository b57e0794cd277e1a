package keras_test

import (
	"context"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/featurecolumn"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// TestPreprocessingInFunctionalModels connects preprocessing layers with others, calls the
// model, and calls the model of its config.
func TestPreprocessingInFunctionalModels(t *testing.T) {
	ctx := context.Background()
	for name, tt := range map[string]struct {
		dtype tensor.DType
		shape tensor.Shape
		build func(s *ops.Scope, x *ops.Value) *ops.Value
		x     *tensor.Tensor
	}{
		"text": {tensor.String, tensor.Shape{1}, func(s *ops.Scope, x *ops.Value) *ops.Value {
			x = (&layers.TextVectorization{Vocabulary: []string{"cat", "dog"}, OutputSequenceLength: new(3)}).Call(s, x)
			x = (&layers.Embedding{InputDim: 4, OutputDim: 2, EmbeddingsInitializer: initializers.Constant{Value: 0.5}}).Call(s, x)
			return (&layers.GlobalAveragePooling1D{}).Call(s, x)
		}, tensor.Must(tensor.New([]string{"a cat", "dog dog dog cat"}, 2, 1))},
		"counts": {tensor.String, tensor.Shape{3}, func(s *ops.Scope, x *ops.Value) *ops.Value {
			x = (&layers.StringLookup{Vocabulary: []string{"cat", "dog"}, OutputMode: layers.OutputCount}).Call(s, x)
			return (&layers.Dense{Units: 2, KernelInitializer: initializers.Ones{}}).Call(s, x)
		}, tensor.Must(tensor.New([]string{"cat", "dog", "x"}, 1, 3))},
		"sparse": {tensor.Int64, tensor.Shape{2}, func(s *ops.Scope, x *ops.Value) *ops.Value {
			x = (&layers.CategoryEncoding{NumTokens: 4, Sparse: true}).Call(s, x)
			return (&layers.CategoryEncoding{NumTokens: 2}).Call(s, x)
		}, tensor.Must(tensor.New([]int64{0, 2}, 1, 2))},
		"images": {tensor.Float32, tensor.Shape{6, 5, 1}, func(s *ops.Scope, x *ops.Value) *ops.Value {
			x = (&layers.RandomFlip{Seed: new(1)}).Call(s, x)
			x = (&layers.RandomRotation{Factor: layers.Numbers{0.2}, Seed: new(1)}).Call(s, x)
			x = (&layers.Resizing{Height: 4, Width: 4}).Call(s, x)
			return (&layers.Flatten{}).Call(s, (&layers.CenterCrop{Height: 2, Width: 2}).Call(s, x))
		}, tensor.Must(tensor.Zeros(tensor.Float32, 2, 6, 5, 1))},
		"hashes": {tensor.String, tensor.Shape{1}, func(s *ops.Scope, x *ops.Value) *ops.Value {
			crossed := (&layers.HashedCrossing{NumBins: 7}).Call(s, []*ops.Value{x, (&layers.Hashing{NumBins: 5}).Call(s, x)})
			return (&layers.CategoryEncoding{NumTokens: 7}).Call(s, crossed)
		}, tensor.Must(tensor.New([]string{"a", "b"}, 2, 1))},
		"features": {tensor.String, tensor.Shape{1}, func(s *ops.Scope, x *ops.Value) *ops.Value {
			kinds := &featurecolumn.VocabularyList{Key: "kind", Vocabulary: []string{"a", "b"}, NumOOVBuckets: 1}
			return (&layers.DenseFeatures{FeatureColumns: []featurecolumn.Dense{&featurecolumn.Indicator{Categorical: kinds}}}).Call(s, map[string]*ops.Value{"kind": x})
		}, tensor.Must(tensor.New([]string{"a", "z"}, 2, 1))},
	} {
		t.Run(name, func(t *testing.T) {
			s := keras.Symbolic(ctx)
			in := keras.Input(s, tt.shape, &keras.InputOptions{DType: tt.dtype})
			out := tt.build(s, in)
			if s.Err() != nil {
				t.Fatal(s.Err())
			}
			model, err := keras.NewModel(in, out, nil)
			if err != nil {
				t.Fatal(err)
			}
			call := func(m base.Callable) *tensor.Tensor {
				s := keras.WithSeed(function.Eager(ctx), 1)
				y, err := m.Call(s, tt.x).Tensor()
				if err != nil {
					t.Fatal(err)
				}
				return y
			}
			want := call(model)
			data, err := keras.Config(model, nil)
			if err != nil {
				t.Fatal(err)
			}
			again, err := keras.FromConfig(data, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := call(again.(base.Callable)); !got.Equal(want) {
				t.Errorf("the model of the config returns %v, want %v", got, want)
			}
		})
	}
}

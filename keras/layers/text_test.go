package layers_test

import (
	"context"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
	"github.com/cairnml/cairn/tensor"
)

// TestTextsInATrace traces layers for batches of any size, and compares the function's
// outputs with the layer's own.
func TestTextsInATrace(t *testing.T) {
	ctx := context.Background()
	texts := []string{"The cat, the DOG!", "", "a dog"}
	vocabulary := []string{"cat", "dog", "the"}
	for name, layer := range map[string]func() caller{
		"words":      func() caller { return &layers.TextVectorization{Vocabulary: vocabulary} },
		"characters": func() caller { return &layers.TextVectorization{Vocabulary: []string{"c", "t"}, Split: "character"} },
		"length":     func() caller { return &layers.TextVectorization{Vocabulary: vocabulary, OutputSequenceLength: new(2)} },
		"pairs": func() caller {
			return &layers.TextVectorization{Vocabulary: []string{"the dog"}, NGrams: layers.NGrams{Widths: []int{2}}}
		},
		"counts": func() caller { return &layers.TextVectorization{Vocabulary: vocabulary, OutputMode: "count"} },
		"functions": func() caller {
			return &layers.TextVectorization{Vocabulary: vocabulary,
				StandardizeWith: func(s *ops.Scope, x *ops.Value) *ops.Value { return raw.StringLower(s, x, nil) },
				SplitWith:       func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.ExpandDims(s, x, 1) }}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := function.Eager(ctx)
			x := ops.Const(s, texts)
			want := tensorOf(t, layer().Call(s, x))
			traced := layer()
			f := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value { return traced.Call(s, x) })
			_, err := f.Trace(ops.Spec(tensor.String, -1))
			must(t, err)
			got, err := f.Call(ctx, x)
			must(t, err)
			near(t, name, tensorOf(t, got), want, 1e-6)
		})
	}
}

// TestTextVectorizationRefuses calls layers with settings and inputs that they can't take.
func TestTextVectorizationRefuses(t *testing.T) {
	words := []string{"a", "b"}
	for name, tt := range map[string]struct {
		layer *layers.TextVectorization
		x     ops.Input
		want  string
	}{
		"no vocabulary": {&layers.TextVectorization{}, words, "there is no vocabulary"},
		"standardize":   {&layers.TextVectorization{Standardize: "upper"}, words, `unknown Standardize "upper"`},
		"split":         {&layers.TextVectorization{Split: "line"}, words, `unknown Split "line"`},
		"one hot":       {&layers.TextVectorization{OutputMode: "one_hot"}, words, "OutputMode is one_hot"},
		"length":        {&layers.TextVectorization{OutputMode: "count", OutputSequenceLength: new(3)}, words, "OutputSequenceLength is 3"},
		"ragged":        {&layers.TextVectorization{OutputMode: "count", Ragged: true}, words, "a ragged layer has the OutputMode count"},
		"type":          {&layers.TextVectorization{Layer: base.Layer{DType: "float64"}}, words, "want string"},
		"neighbors":     {&layers.TextVectorization{NGrams: layers.NGrams{Widths: []int{0}}}, words, "want numbers from 1"},
		"integers":      {&layers.TextVectorization{Vocabulary: words}, []int64{1}, "want strings"},
		"rows":          {&layers.TextVectorization{Vocabulary: words}, tensor.Must(tensor.New([]string{"a", "b"}, 1, 2)), "last dimension of 1"},
		"huge length":   {&layers.TextVectorization{Vocabulary: words, OutputSequenceLength: new(1 << 30)}, tensor.Must(tensor.New(make([]string, 1000), 1000)), "RaggedTensorToTensor"},
	} {
		t.Run(name, func(t *testing.T) {
			s := function.Eager(context.Background())
			tt.layer.Call(s, tt.x)
			if err := s.Err(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the error is %v, want one with %q", err, tt.want)
			}
		})
	}
	for name, tt := range map[string]struct{ config, want string }{
		"function": {`{"standardize": {"class_name": "function", "config": "f"}}`, "set StandardizeWith"},
		"huge":     {`{"ngrams": 1000000000}`, "from 1 to 65536"},
		"no list":  {`{"ngrams": "2"}`, "got no number"},
	} {
		_, err := keras.FromConfig([]byte(`{"class_name": "TextVectorization", "config": `+tt.config+`}`), nil)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: the error is %v, want one with %q", name, err, tt.want)
		}
	}
	_, err := keras.Config(&layers.TextVectorization{SplitWith: func(_ *ops.Scope, x *ops.Value) *ops.Value { return x }}, nil)
	if err == nil || !strings.Contains(err.Error(), "have no config") {
		t.Errorf("the error is %v", err)
	}
}

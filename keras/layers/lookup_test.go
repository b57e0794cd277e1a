package layers_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
)

// wordNet looks words up.
type wordNet struct {
	keras.Model
	Listed, FromFile, Adapted *layers.StringLookup
	Numbers                   *layers.IntegerLookup
	Back                      *layers.StringLookup
}

func vocabularyFile(lines string) *savedmodel.TrackableAsset {
	return savedmodel.NewAssetFS(fstest.MapFS{"words.txt": {Data: []byte(lines)}}, "words.txt")
}

func newWordNet(t *testing.T) *wordNet {
	n := &wordNet{
		Listed:   &layers.StringLookup{Vocabulary: []string{"a", "b"}, MaskToken: new("")},
		FromFile: &layers.StringLookup{VocabularyFile: vocabularyFile("b\na\n"), NumOOVIndices: new(2)},
		Adapted:  &layers.StringLookup{OutputMode: layers.OutputCount},
		Numbers:  &layers.IntegerLookup{VocabularyFile: vocabularyFile("3\n5\n"), OutputMode: layers.OutputMultiHot},
		Back:     &layers.StringLookup{VocabularyFile: vocabularyFile("b\na\n"), Invert: true},
	}
	s := function.Eager(context.Background())
	n.Adapted.Adapt(s, slices.Values([]*ops.Value{ops.Const(s, []string{"b", "a", "b"})}))
	must(t, s.Err())
	return n
}

// Call returns the results of the layers for words, one after the other.
func (n *wordNet) Call(s *ops.Scope, x ops.Input) *ops.Value {
	listed := n.Listed.Call(s, x)
	others := []*ops.Value{listed, n.FromFile.Call(s, x), n.Adapted.Call(s, x), n.Numbers.Call(s, ops.Add(s, listed, int64(1))),
		n.Listed.Call(s, n.Back.Call(s, listed))}
	for i, v := range others {
		others[i] = ops.Cast(s, v, tensor.Float32)
	}
	return ops.Concat(s, others, 0)
}

// words are those of the tests, with wordNet's results for them: numbers with a mask, with
// two numbers for others, counts, a set, and numbers of the tokens of numbers.
var (
	words = []string{"a", "b", "", "z"}
	want  = []float32{2, 3, 0, 1 /**/, 3, 2, 1, 1 /**/, 2, 1, 1 /**/, 1, 1, 0 /**/, 2, 1, 1, 3}
)

// TestLookupsAreTracedAndSaved calls lookups eagerly, traced for the first call, and in a
// SavedModel that holds their vocabularies.
func TestLookupsAreTracedAndSaved(t *testing.T) {
	ctx := context.Background()
	check := func(how string, got *ops.Value, err error) {
		t.Helper()
		must(t, err)
		if v := tensor.Values[float32](tensorOf(t, got)); !slices.Equal(v, want) {
			t.Errorf("%s: got %v, want %v", how, v, want)
		}
	}
	s := function.Eager(ctx)
	got := newWordNet(t).Call(s, words)
	check("eager", got, s.Err())

	n := newWordNet(t)
	f := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value { return n.Call(s, x) })
	c, err := f.Trace(ops.Spec(tensor.String, -1))
	must(t, err)
	got, err = f.Call(ctx, ops.Const(function.Eager(ctx), words))
	check("traced", got, err)

	dir := filepath.Join(t.TempDir(), "m")
	must(t, savedmodel.Save(ctx, n, dir, &savedmodel.SaveOptions{Signatures: map[string]*function.Concrete{"serving_default": c}}))
	if _, err := os.Stat(filepath.Join(dir, "assets", "words.txt")); err != nil {
		t.Error(err)
	}
	m, err := run.Load(ctx, os.DirFS(dir), &run.LoadOptions{Kernels: kernel.All()})
	must(t, err)
	sig, err := m.Signature("serving_default")
	must(t, err)
	out, err := sig.Call(ctx, map[string]*tensor.Tensor{"inputs": tensor.Vector(words...)})
	must(t, err)
	for _, v := range out {
		check("loaded", ops.ValueOf(v), nil)
	}
}

// TestLookupsInCheckpoints restores a checkpoint without the vocabularies, which are
// settings as in tf_keras.
func TestLookupsInCheckpoints(t *testing.T) {
	ctx := context.Background()
	prefix := t.TempDir() + "/ckpt"
	s := function.Eager(ctx)
	saved, again := newWordNet(t), newWordNet(t)
	saved.Call(s, words)
	again.Call(s, words)
	must(t, s.Err())
	c, err := checkpoint.New(saved, nil)
	must(t, err)
	must(t, c.Write(ctx, prefix))
	c, err = checkpoint.New(again, nil)
	must(t, err)
	r, err := c.Restore(ctx, prefix, nil)
	must(t, err)
	must(t, r.AssertConsumed())
}

// TestTokensByNumber lists vocabularies.
func TestTokensByNumber(t *testing.T) {
	n := newWordNet(t)
	for name, tt := range map[string]struct {
		layer *layers.StringLookup
		want  []string
	}{
		"listed":  {n.Listed, []string{"", "[UNK]", "a", "b"}},
		"file":    {n.FromFile, []string{"[UNK]", "[UNK]", "b", "a"}},
		"adapted": {n.Adapted, []string{"[UNK]", "b", "a"}},
	} {
		if got, err := tt.layer.Tokens(); err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q and %v, want %q", name, got, err, tt.want)
		}
	}
	if got, err := n.Numbers.Tokens(); err != nil || !slices.Equal(got, []int64{-1, 3, 5}) {
		t.Errorf("integers: got %v and %v", got, err)
	}
}

// TestLookupsRefuse calls lookups with settings and inputs that they can't take.
func TestLookupsRefuse(t *testing.T) {
	ab := []string{"a", "b"}
	for name, tt := range map[string]struct {
		layer caller
		x     ops.Input
		want  string
	}{
		"no vocabulary":      {&layers.StringLookup{}, ab, "set Vocabulary or call Adapt"},
		"empty":              {&layers.StringLookup{Vocabulary: []string{}}, ab, "is empty"},
		"twice":              {&layers.StringLookup{Vocabulary: []string{"a", "b", "a"}}, ab, "token a twice"},
		"mask inside":        {&layers.StringLookup{Vocabulary: []string{"a", ""}, MaskToken: new("")}, ab, "mask token"},
		"oov inside":         {&layers.StringLookup{Vocabulary: []string{"a", "[UNK]"}, Invert: true}, []int64{0}, "OOV token"},
		"too many":           {&layers.StringLookup{Vocabulary: ab, MaxTokens: new(2)}, ab, "has 3 tokens, MaxTokens is 2"},
		"not in it":          {&layers.StringLookup{Vocabulary: []string{"a"}, NumOOVIndices: new(0)}, ab, `found OOV values ["b"]`},
		"max tokens":         {&layers.StringLookup{Vocabulary: ab, MaxTokens: new(1)}, ab, "more than 1"},
		"pad to nothing":     {&layers.StringLookup{Vocabulary: ab, PadToMaxTokens: true, OutputMode: "count"}, ab, "without MaxTokens"},
		"inverse count":      {&layers.StringLookup{Vocabulary: ab, Invert: true, OutputMode: "count"}, ab, "an inverted layer has the OutputMode count"},
		"weights of a count": {&layers.StringLookup{Vocabulary: ab, IDFWeights: []float64{1, 2}, OutputMode: "count"}, ab, "IDFWeights has the OutputMode count"},
		"few weights":        {&layers.StringLookup{Vocabulary: ab, IDFWeights: []float64{1}, OutputMode: "tf_idf"}, ab, "1 IDFWeights"},
		"two vocabularies":   {&layers.StringLookup{Vocabulary: ab, VocabularyFile: vocabularyFile("a\n")}, ab, "want one of them"},
		"integers":           {&layers.StringLookup{Vocabulary: ab}, []int64{1}, "the input is of int64, want string"},
		"strings":            {&layers.IntegerLookup{Vocabulary: []int64{1}}, ab, "the input is of string, want int64"},
		"lines":              {&layers.IntegerLookup{VocabularyFile: vocabularyFile("1\nx\n")}, []int64{1}, "line 1 of words.txt"},
		"type of tokens":     {&layers.IntegerLookup{VocabularyDType: "float32"}, []int64{1}, "VocabularyDType"},
		"huge":               {&layers.StringLookup{Vocabulary: ab, MaxTokens: new(1 << 30), PadToMaxTokens: true, OutputMode: "count"}, tensor.Must(tensor.New(slices.Repeat(ab, 1000), 1000, 2)), "DenseBincount"},
		"huge oov":           {&layers.StringLookup{Vocabulary: ab, NumOOVIndices: new(-1)}, ab, "NumOOVIndices is -1"},
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
		"path": {`{"class_name": "StringLookup", "config": {"vocabulary": "/etc/passwd"}}`, "set VocabularyFile"},
	} {
		obj, err := keras.FromConfig([]byte(tt.config), nil)
		must(t, err)
		s := function.Eager(context.Background())
		obj.(base.Callable).Call(s, ab)
		if err := s.Err(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: the error is %v, want one with %q", name, err, tt.want)
		}
	}
	set := &layers.StringLookup{Vocabulary: ab}
	s := function.Eager(context.Background())
	set.Adapt(s, slices.Values([]*ops.Value{ops.Const(s, ab)}))
	if err := s.Err(); err == nil || !strings.Contains(err.Error(), "nothing to adapt") {
		t.Errorf("the error is %v", err)
	}
	counted := &layers.StringLookup{OutputMode: "count"}
	s = function.Eager(context.Background())
	counted.Adapt(s, slices.Values([]*ops.Value{ops.Const(s, ab)}))
	counted.Adapt(s, slices.Values([]*ops.Value{ops.Const(s, ab[:1])}))
	if err := s.Err(); err == nil || !strings.Contains(err.Error(), "size can't change") {
		t.Errorf("the error is %v", err)
	}
}

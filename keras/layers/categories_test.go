package layers_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// TestLayersForCategoriesRefuse calls layers with settings and inputs that they can't take.
func TestLayersForCategoriesRefuse(t *testing.T) {
	s := function.Eager(context.Background())
	words, ids := []string{"a", "b"}, []int64{1, 5}
	sparse := base.Sparse{Indices: ops.Const(s, tensor.Must(tensor.New([]int64{1}, 1, 1))), Values: ops.Const(s, []float32{1}), Shape: ops.Const(s, []int64{2})}.Value(s)
	for name, tt := range map[string]struct {
		layer caller
		x     ops.Input
		want  string
	}{
		"no tokens":          {&layers.CategoryEncoding{}, ids, "NumTokens is 0"},
		"mode":               {&layers.CategoryEncoding{NumTokens: 9, OutputMode: "int"}, ids, `unknown OutputMode "int"`},
		"range":              {&layers.CategoryEncoding{NumTokens: 5}, ids, "range 0 <= values < num_tokens with num_tokens=5"},
		"below the range":    {&layers.CategoryEncoding{NumTokens: 5}, []int64{-1}, "range 0 <= values"},
		"huge":               {&layers.CategoryEncoding{NumTokens: 1<<31 - 1}, tensor.Must(tensor.Zeros(tensor.Int64, 1000, 1)), "DenseBincount"},
		"rank":               {&layers.CategoryEncoding{NumTokens: 5}, tensor.Must(tensor.Zeros(tensor.Int64, 2, 2, 2)), "at most 2 dimensions"},
		"no bins":            {&layers.Hashing{}, words, "NumBins is 0"},
		"salt":               {&layers.Hashing{NumBins: 3, Salt: layers.Salt{1}}, words, "Salt has 1 numbers"},
		"mask of a string":   {&layers.Hashing{NumBins: 3, MaskValue: 7}, words, "for inputs that are strings"},
		"mask of an int":     {&layers.Hashing{NumBins: 3, MaskValue: "x"}, ids, "for inputs that are int64"},
		"floats":             {&layers.Hashing{NumBins: 3}, []float32{1}, "want strings or integers"},
		"sparse numbers":     {&layers.Hashing{NumBins: 3, Sparse: true}, words, "no sparse outputs"},
		"floating numbers":   {&layers.Hashing{NumBins: 3, Layer: base.Layer{DType: "float64"}}, words, "want an integer type"},
		"one feature":        {&layers.HashedCrossing{NumBins: 3}, words, "got 1 inputs"},
		"other shapes":       {&layers.HashedCrossing{NumBins: 3}, []*ops.Value{ops.Const(s, words), ops.Const(s, ids[:1])}, "want equal ones"},
		"order":              {&layers.Discretization{BinBoundaries: []float64{1, 0}}, []float32{1}, "not in order"},
		"both":               {&layers.Discretization{BinBoundaries: []float64{0, 1}, NumBins: new(3)}, []float32{1}, "without boundaries"},
		"epsilon":            {&layers.Discretization{NumBins: new(3), Epsilon: new(0.0)}, []float32{1}, "Epsilon is 0"},
		"sparse into dense":  {&layers.Activation{}, sparse, "is a sparse tensor"},
		"sparse into a list": {&layers.Add{}, []*ops.Value{sparse, sparse}, "is a sparse tensor"},
	} {
		t.Run(name, func(t *testing.T) {
			s := function.Eager(context.Background())
			tt.layer.Call(s, tt.x)
			if err := s.Err(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the error is %v, want one with %q", err, tt.want)
			}
		})
	}
}

// TestDiscretizationIsRestored saves an adapted layer, and restores it into one that isn't
// built and into one that has adapted to other data.
func TestDiscretizationIsRestored(t *testing.T) {
	type net struct{ Bins *layers.Discretization }
	ctx := context.Background()
	s := function.Eager(ctx)
	adapted := func(data ...float32) *net {
		n := &net{&layers.Discretization{NumBins: new(2), Epsilon: new(0.1)}}
		n.Bins.Adapt(s, slices.Values([]*ops.Value{ops.Const(s, data)}))
		return n
	}
	saved := adapted(1, 2, 3, 4, 5, 6, 7, 8)
	must(t, s.Err())
	prefix := t.TempDir() + "/ckpt"
	c, err := checkpoint.New(saved, nil)
	must(t, err)
	must(t, c.Write(ctx, prefix))
	for name, n := range map[string]*net{"not built": {&layers.Discretization{NumBins: new(2)}}, "adapted": adapted(100, 200)} {
		c, err := checkpoint.New(n, nil)
		must(t, err)
		_, err = c.Restore(ctx, prefix, nil)
		must(t, err)
		got := tensorOf(t, n.Bins.Call(s, []float32{3, 6}))
		must(t, s.Err())
		if v := tensor.Values[int64](got); !slices.Equal(v, []int64{0, 1}) {
			t.Errorf("%s: the bins are %v, want [0 1]", name, v)
		}
	}
}

// TestSparseAndRaggedTensorsBecomeDense fills elements that aren't stored.
func TestSparseAndRaggedTensorsBecomeDense(t *testing.T) {
	s := function.Eager(context.Background())
	sparse := base.Sparse{Indices: ops.Const(s, tensor.Must(tensor.New([]int64{0, 1, 1, 2}, 2, 2))), Values: ops.Const(s, []string{"a", "b"}), Shape: ops.Const(s, []int64{2, 3})}
	ragged := base.Ragged{Values: ops.Const(s, []float32{1, 2, 3}), Splits: []*ops.Value{ops.Const(s, []int64{0, 2, 2, 3})}}
	got := []*tensor.Tensor{tensorOf(t, base.ToDense(s, sparse.Value(s))), tensorOf(t, base.ToDense(s, ragged.Value(s))), tensorOf(t, ragged.ToDense(s, []int64{-1, 1}))}
	want := []*tensor.Tensor{tensor.Must(tensor.New([]string{"", "a", "", "", "", "b"}, 2, 3)), tensor.Must(tensor.New([]float32{1, 2, 0, 0, 3, 0}, 3, 2)),
		tensor.Must(tensor.New([]float32{1, 0, 3}, 3, 1))}
	for i := range want {
		if !got[i].Equal(want[i]) {
			t.Errorf("tensor %d is %v, want %v", i, got[i], want[i])
		}
	}
}

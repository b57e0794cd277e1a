package matmul

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/tensor"
)

// run runs an op of this package on values. If constant is true, the second
// input is known when the kernel is prepared.
func run(t *testing.T, op string, attrs graph.Attrs, constant bool, in ...*tensor.Tensor) *tensor.Tensor {
	t.Helper()
	ks, err := engine.NewKernelSet(Kernels())
	if err != nil {
		t.Fatal(err)
	}
	n := &engine.Node{Op: op, Attrs: attrs}
	for i, x := range in {
		f := graph.FactOf(x)
		if i == 0 || !constant {
			f.Value = nil
		}
		n.In = append(n.In, f)
	}
	p, err := ks.Prepare(n)
	if err != nil {
		t.Fatal(err)
	}
	var c engine.Runner
	c.Begin(context.Background(), &engine.Env{Workers: engine.NewWorkers(2)})
	for _, x := range in {
		c.Add(engine.ValueOf(x))
	}
	if err := c.Run(p); err != nil {
		t.Fatal(err)
	}
	return c.Results()[0].Tensor
}

// small returns a tensor of small integers, whose sums of products are exact in every
// type.
func small[T number](r *rand.Rand, shape ...int) *tensor.Tensor {
	t, _ := tensor.Zeros(tensor.TypeOf[T](), shape...)
	v := tensor.Values[T](t)
	for i := range v {
		for range r.IntN(4) {
			v[i]++
		}
	}
	return t
}

// naive computes an einsum by visiting all values of all labels.
func naive[T number](e equation, in []*tensor.Tensor) []T {
	sizes := map[label]int{}
	for i, x := range in {
		for d, l := range e.In[i] {
			sizes[l] = max(sizes[l], x.Shape()[d])
		}
	}
	var labels []label
	for l := range sizes {
		labels = append(labels, l)
	}
	n := 1
	for _, l := range e.Out {
		n *= sizes[l]
	}
	out := make([]T, n)
	at := map[label]int{}
	offset := func(term []label) int {
		i := 0
		for _, l := range term {
			i = i*sizes[l] + at[l]
		}
		return i
	}
	var visit func(k int)
	visit = func(k int) {
		if k < len(labels) {
			for i := range sizes[labels[k]] {
				at[labels[k]] = i
				visit(k + 1)
			}
			return
		}
		x := T(1)
		for i, term := range e.In {
			x *= tensor.Values[T](in[i])[offset(term)]
		}
		out[offset(e.Out)] += x
	}
	visit(0)
	return out
}

// TestEinsumsOfAllLayouts covers operands and outputs that are matrices in
// place, transposed or cut into heads, and those that have to be copied into
// order.
func TestEinsumsOfAllLayouts(t *testing.T) {
	sizes := map[rune]int{'a': 3, 'b': 5, 'c': 4, 'd': 6, 'e': 7, 'o': 1, 'z': 0}
	for _, eq := range []string{
		"abc,cde->abde", "aecd,abcd->acbe", "acbe,aecd->abcd", "abcd,cde->abe", // multi-head attention
		"ab,bc->ac", "ba,bc->ac", "ab,cb->ac", "ab,bc->ca", "ba,cb->ca", "ab,bc->abc", "ab,bc->acb", "ab,ab->ab", "ab,ab->a", "ab,ab->",
		"abc,cb->ab", "abc,abd->acd", "abc,abd->adc", "abc,dba->cad", "abcd,bde->ace", "abcd,cbe->aed", "ab,cd->abcd", "ab,cd->cadb", "ab,cd->ac",
		"aab,bc->ac", "ab,bcc->ac", "ab,bc->aac", "abc,cde->abed", "oab,bo->ao", "aob,bco->aoc", "abo,obc->oac", "az,zb->ab", "za,ab->zb",
		"ab->ba", "abc->b", "aab->ab", "ab->ab", "abc->", "aa->aa", "abo->oab",
	} {
		parsed, err := shape.ParseEquation(eq, strings.Count(eq, ",")+1)
		if err != nil {
			t.Fatal(err)
		}
		e := equation{*parsed}
		var in []tensor.Shape
		for _, term := range e.In {
			var s tensor.Shape
			for _, l := range term {
				s = append(s, sizes[rune(l)])
			}
			in = append(in, s)
		}
		t.Run(eq, func(t *testing.T) {
			einsumIs[float32](t, eq, e, in)
			einsumIs[float64](t, eq, e, in)
			einsumIs[int32](t, eq, e, in)
			einsumIs[complex64](t, eq, e, in)
		})
	}
}

func einsumIs[T number](t *testing.T, eq string, e equation, shapes []tensor.Shape) {
	r := rand.New(rand.NewPCG(1, 2))
	var in []*tensor.Tensor
	for _, s := range shapes {
		in = append(in, small[T](r, s...))
	}
	want := naive[T](e, in)
	got := tensor.Values[T](run(t, "Einsum", graph.Attrs{graph.String("equation", eq)}, false, in...))
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v:\n got %v\nwant %v", tensor.TypeOf[T](), got, want)
	}
}

// TestPackedWeightsGiveTheSameBits multiplies by a matrix that is known beforehand.
func TestPackedWeightsGiveTheSameBits(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	random := func(shape ...int) *tensor.Tensor {
		x, _ := tensor.Zeros(tensor.Float32, shape...)
		for i := range tensor.Values[float32](x) {
			tensor.Values[float32](x)[i] = float32(r.NormFloat64())
		}
		return x
	}
	for _, c := range []struct {
		op    string
		attrs graph.Attrs
		a, b  *tensor.Tensor
	}{
		{"MatMul", nil, random(100, 300), random(300, 70)},
		{"MatMul", graph.Attrs{graph.Bool("transpose_b", true)}, random(100, 300), random(70, 300)},
		{"MatMul", graph.Attrs{graph.Bool("transpose_a", true)}, random(300, 100), random(300, 70)},
		{"MatMul", nil, random(2, 300), random(300, 70)},
		{"BatchMatMulV2", nil, random(4, 25, 300), random(300, 70)},
		{"BatchMatMulV2", nil, random(2, 2, 25, 30), random(2, 1, 30, 70)},
		{"Einsum", graph.Attrs{graph.String("equation", "abc,cde->abde")}, random(2, 50, 64), random(64, 4, 16)},
		{"Einsum", graph.Attrs{graph.String("equation", "abcd,cde->abe")}, random(2, 50, 4, 16), random(4, 16, 64)},
	} {
		want := run(t, c.op, c.attrs, false, c.a, c.b)
		got := run(t, c.op, c.attrs, true, c.a, c.b)
		for i, x := range tensor.Values[float32](want) {
			if y := tensor.Values[float32](got)[i]; math.Float32bits(x) != math.Float32bits(y) {
				t.Fatalf("%s%v: element %d is %g packed, %g not packed", c.op, c.a.Shape(), i, y, x)
			}
		}
	}
}

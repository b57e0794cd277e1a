package passes

import (
	"slices"
	"strings"

	"github.com/cairnml/cairn/engine/internal/analysis"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// AttentionOp is the op that the pass "attention" makes: the products of
// queries with keys, multiplied or divided by a number, plus a mask, their
// softmax, and its products with values. The inputs are queries, keys and
// values, then the number and the mask if there are any. The attribute layouts
// has the dimensions of queries, keys, values and the output as letters: b and
// h for the dimensions that all have, such as examples and heads (h is
// optional), t for the queries, s for the keys, d for the dimension that scores
// sum over, e for the elements of a value.
const AttentionOp = "_Attention"

// fuseAttention replaces the ops of attention by one op. All bits stay. The
// kernel keeps the scores of a block of queries in the cache. Transpositions
// before and after are removed, because the products accept matrices in any
// order.
func fuseAttention(u *Unit) error {
	if !u.Kernels.Has(AttentionOp) || !slices.ContainsFunc(u.Function.Graph.Nodes(), func(n *graph.Node) bool { return n.Op == "Softmax" }) {
		return nil
	}
	r, err := newRewriter(u)
	if err != nil {
		return err
	}
	for _, n := range r.nodes {
		if n.Op != "Softmax" || !r.replaceable(n) {
			continue
		}
		if a := r.attentionAround(n); a != nil {
			if err := r.fuseAttention(a); err != nil {
				return err
			}
		}
	}
	return r.finish()
}

// attentionPattern is the match of a softmax with the ops around it.
type attentionPattern struct {
	last    *graph.Node     // whose output it makes
	in      [3]graph.Output // queries, keys and values
	layouts [4]string       // of in and of the output: a letter for each dimension
	scale   string          // the op that scales; "": none
	args    []graph.Output  // inputs after in: the number that scales, the mask
	mask    bool
}

// pairing is a product of two tensors, a letter a dimension.
type pairing struct{ a, b, out string }

// pairingOf returns the product that n computes, if n is a product of float32.
func pairingOf(n *graph.Node) (p pairing, ok bool) {
	if len(n.In) != 2 || len(n.Out) != 1 || n.Out[0].DType != tensor.Float32 || n.In[0].Fact().DType != tensor.Float32 || n.In[1].Fact().DType != tensor.Float32 {
		return p, false
	}
	a, b := n.In[0].Fact().Shape, n.In[1].Fact().Shape
	if !a.Known() || !b.Known() || a.Rank() != b.Rank() {
		return p, false
	}
	switch n.Op {
	case "Einsum":
		in, out, arrow := strings.Cut(strings.ReplaceAll(n.Attrs.String("equation", ""), " ", ""), "->")
		left, right, two := strings.Cut(in, ",")
		p = pairing{left, right, out}
		return p, arrow && two && len(left) == a.Rank() && len(right) == b.Rank() && !strings.ContainsAny(in+out, ".") && !strings.Contains(right, ",")
	case "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3":
		batch := "ABCDEFGH"[:min(max(a.Rank()-2, 0), 8)]
		p = pairing{batch + "MK", batch + "KN", batch + "MN"}
		if n.Attrs.Bool("adj_x") {
			p.a = batch + "KM"
		}
		if n.Attrs.Bool("adj_y") {
			p.b = batch + "NK"
		}
		return p, len(batch) == a.Rank()-2
	}
	return p, false
}

// attentionAround returns the match around the softmax n, or nil if there is
// none.
func (r *rewriter) attentionAround(n *graph.Node) *attentionPattern {
	rank := n.Out[0].Shape.Rank()
	product := r.only(n.Output(0))
	if product == nil || rank != 3 && rank != 4 || r.pinned[product] || len(product.In) != 2 {
		return nil
	}
	roles := "bhts"
	if rank == 3 {
		roles = "bts"
	}
	// The scores with the values.
	p, ok := pairingOf(product)
	at := slices.Index(product.In, n.Output(0))
	if !ok || at < 0 {
		return nil
	}
	weights, values := p.a, p.b
	if at == 1 {
		weights, values = p.b, p.a
	}
	letters, ok := assign(weights, roles, values, 'e')
	if !ok {
		return nil
	}
	a := &attentionPattern{last: product}
	a.in[2] = product.In[1-at]
	a.layouts[2], a.layouts[3] = letters.of(values), letters.of(p.out)
	// The queries with the keys.
	scores := r.scoresOf(n, a)
	if scores == nil {
		return nil
	}
	if p, ok = pairingOf(scores); !ok {
		return nil
	}
	for q, terms := range [][2]string{{p.a, p.b}, {p.b, p.a}} {
		letters, ok := assign(p.out, roles, terms[0]+terms[1], 'd')
		if !ok {
			return nil
		}
		a.in[0], a.in[1] = scores.In[q], scores.In[1-q]
		if a.layouts[0], a.layouts[1] = letters.of(terms[0]), letters.of(terms[1]); strings.Contains(a.layouts[0], "t") {
			break
		}
	}
	for i := range a.in {
		a.in[i], a.layouts[i] = r.beforeTranspose(a.in[i], a.layouts[i])
	}
	r.behindTranspose(a)
	if !a.fits(roles) {
		return nil
	}
	return a
}

// lettering maps labels to letters.
type lettering map[byte]byte

// assign maps the labels of a term to the letters of roles, in order. The one
// label of others that term lacks maps to the letter rest. There must be exactly
// one.
func assign(term, roles, others string, rest byte) (lettering, bool) {
	if len(term) != len(roles) {
		return nil, false
	}
	l := lettering{}
	for i := range len(term) {
		l[term[i]] = roles[i]
	}
	if len(l) != len(roles) {
		return nil, false
	}
	var label byte
	for i := range len(others) {
		if l[others[i]] == 0 {
			if label != 0 && label != others[i] {
				return nil, false
			}
			label = others[i]
		}
	}
	if label == 0 {
		return nil, false
	}
	l[label] = rest
	return l, true
}

func (l lettering) of(term string) string {
	out := make([]byte, len(term))
	for i := range out {
		out[i] = l[term[i]]
		if out[i] == 0 {
			out[i] = '?'
		}
	}
	return string(out)
}

// scoresOf returns the product before a softmax, and records the ops between
// the two in a.
func (r *rewriter) scoresOf(softmax *graph.Node, a *attentionPattern) *graph.Node {
	user, x := softmax, softmax.In[0]
	shape := x.Fact().Shape
	alone := func(o graph.Output) bool {
		return r.only(o) == user && r.replaceable(o.Node) && sameSizes(o.Fact().Shape, shape)
	}
	if !alone(x) {
		return nil
	}
	var mask *graph.Output
	if m := x.Node; m.Op == "AddV2" || m.Op == "Add" {
		i := slices.IndexFunc(m.In, func(o graph.Output) bool { return product(o) || scaled(o) })
		if i < 0 || !stretches(m.In[1-i].Fact(), shape) {
			return nil
		}
		user, x, mask = m, m.In[i], &m.In[1-i]
		if !alone(x) {
			return nil
		}
	}
	if scaled(x) {
		m := x.Node
		i := 0
		if m.Op == "Mul" && !product(m.In[0]) {
			i = 1
		}
		user, x = m, m.In[i]
		if !alone(x) {
			return nil
		}
		a.scale, a.args = m.Op, append(a.args, m.In[1-i])
	}
	if mask != nil {
		a.mask, a.args = true, append(a.args, *mask)
	}
	return x.Node
}

func product(o graph.Output) bool {
	_, ok := pairingOf(o.Node)
	return ok
}

// scaled reports whether o is a product multiplied or divided by one number.
func scaled(o graph.Output) bool {
	n := o.Node
	if n.Op != "Mul" && n.Op != "RealDiv" {
		return false
	}
	number := func(o graph.Output) bool {
		f := o.Fact()
		return f.DType == tensor.Float32 && f.Shape.HasRank() && f.Shape.Rank() == 0 && !f.Ref
	}
	return product(n.In[0]) && number(n.In[1]) || n.Op == "Mul" && product(n.In[1]) && number(n.In[0])
}

// stretches reports whether a value with the fact f broadcasts to a shape of
// known sizes without changing that shape.
func stretches(f graph.Fact, to graph.PartialShape) bool {
	if f.DType != tensor.Float32 || f.Ref || !f.Shape.Known() || f.Shape.Rank() > to.Rank() {
		return false
	}
	for i := range f.Shape.Rank() {
		if d := f.Shape.Dim(i); d != 1 && d != to.Dim(to.Rank()-f.Shape.Rank()+i) {
			return false
		}
	}
	return true
}

// permutation returns the constant order in which a Transpose reads the
// dimensions of its input, or nil if n is no such Transpose.
func (r *rewriter) permutation(n *graph.Node, rank int) []int {
	if n.Op != "Transpose" || r.pinned[n] || n.In[0].Fact().Ref {
		return nil
	}
	t, ok := analysis.ConstantOf(n.In[1].Node)
	if !ok || t.Len() != rank {
		return nil
	}
	t, err := tensor.Cast(t, tensor.Int64)
	if err != nil {
		return nil
	}
	var perm []int
	for _, d := range tensor.Values[int64](t) {
		if d < 0 {
			d += int64(rank)
		}
		if d < 0 || d >= int64(rank) || slices.Contains(perm, int(d)) {
			return nil
		}
		perm = append(perm, int(d))
	}
	return perm
}

// beforeTranspose returns the value before a Transpose and its layout, if
// products accept that layout.
func (r *rewriter) beforeTranspose(o graph.Output, layout string) (graph.Output, string) {
	perm := r.permutation(o.Node, len(layout))
	if perm == nil {
		return o, layout
	}
	before := []byte(layout)
	for i, d := range perm {
		before[d] = layout[i]
	}
	if strings.IndexByte("bh", before[len(before)-1]) >= 0 {
		return o, layout
	}
	return o.Node.In[0], string(before)
}

// behindTranspose includes a Transpose in the match if it is the only user of
// the output, and if products accept the output's layout before it.
func (r *rewriter) behindTranspose(a *attentionPattern) {
	n := r.only(a.last.Output(0))
	if n == nil || n.In[0] != a.last.Output(0) {
		return
	}
	perm := r.permutation(n, len(a.layouts[3]))
	if perm == nil {
		return
	}
	behind := make([]byte, len(perm))
	for i, d := range perm {
		behind[i] = a.layouts[3][d]
	}
	if behind[len(behind)-1] == 'e' {
		a.last, a.layouts[3] = n, string(behind)
	}
}

// fits reports whether all sizes agree and the matrices have a layout that
// products accept.
func (a *attentionPattern) fits(roles string) bool {
	outer := strings.TrimSuffix(roles, "ts")
	sizes := map[byte]int{}
	for i, want := range []string{outer + "td", outer + "sd", outer + "se", outer + "te"} {
		layout := a.layouts[i]
		shape := a.last.Out[0].Shape
		if i < 3 {
			shape = a.in[i].Fact().Shape
		}
		if len(layout) != len(want) || !shape.Known() || shape.Rank() != len(layout) || i < 3 && a.in[i].Fact().Ref {
			return false
		}
		for k := range len(want) {
			if strings.Count(layout, want[k:k+1]) != 1 {
				return false
			}
			d := shape.Dim(k)
			if old, seen := sizes[layout[k]]; seen && old != d || d == 0 {
				return false
			}
			sizes[layout[k]] = d
		}
		if last := layout[len(layout)-1]; strings.IndexByte(outer, last) >= 0 || i == 3 && last != 'e' {
			return false
		}
	}
	return true
}

func (r *rewriter) fuseAttention(a *attentionPattern) error {
	return r.replace(a.last, AttentionOp, graph.Attrs{
		graph.Int("N", int64(len(a.args))), graph.Strings("layouts", a.layouts[:]...), graph.String("scale", a.scale), graph.Bool("mask", a.mask),
	}, append(slices.Clone(a.in[:]), a.args...)...)
}

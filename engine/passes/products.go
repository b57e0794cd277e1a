package passes

import (
	"math"
	"slices"
	"strings"

	"github.com/cairnml/cairn/engine/internal/analysis"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// makeProducts makes MatMuls of einsums and batched products that are one product of
// two matrices, between reshapes, which cost nothing: "abc,cd->abd". The other
// passes know MatMuls.
func makeProducts(u *Unit) error {
	r, err := newRewriter(u)
	if err != nil || !r.has("MatMul", "Reshape") {
		return err
	}
	for _, n := range r.nodes {
		p, ok := productOf(n)
		if !ok || r.pinned[n] {
			continue
		}
		y := n.Out[0].Shape.Dims()
		x, err := r.reshaped(n, n.In[0], p.m, p.k)
		if err != nil {
			return err
		}
		w, err := r.reshaped(n, n.In[1], p.right...)
		if err != nil {
			return err
		}
		m, err := r.add(n, "MatMul", graph.Attrs{graph.Bool("transpose_b", p.transposed)}, x, w)
		if err != nil {
			return err
		}
		if err := r.becomeReshape(n, m.Output(0), y...); err != nil {
			return err
		}
	}
	return r.finish()
}

// flat is a product of two matrices, m by k and k by n. m is negative if it is
// unknown. right has the dimensions of the second operand. If transposed is
// set, its matrix is n by k.
type flat struct {
	m, k       int
	right      []int
	transposed bool
}

// productOf returns the product of matrices that n computes, if at most one
// size of the rows is unknown.
func productOf(n *graph.Node) (flat, bool) {
	if len(n.In) != 2 || len(n.Out) != 1 || n.Out[0].DType != tensor.Float32 {
		return flat{}, false
	}
	a, b, y := n.In[0].Fact().Shape, n.In[1].Fact().Shape, n.Out[0].Shape
	if !settled(a, 1) || !settled(b, 0) || !settled(y, 1) || count(b.Dims()) < 0 {
		return flat{}, false
	}
	switch n.Op {
	case "Einsum":
		return flatEinsum(n.Attrs.String("equation", ""), a, b)
	case "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3":
		if b.Rank() != 2 || a.Rank() < 2 || n.Attrs.Bool("adj_x") || n.In[0].Fact().DType != tensor.Float32 || n.In[1].Fact().DType != tensor.Float32 {
			return flat{}, false
		}
		return flat{m: count(a.Dims()[:a.Rank()-1]), k: a.Dim(a.Rank() - 1), right: b.Dims(), transposed: n.Attrs.Bool("adj_y")}, true
	}
	return flat{}, false
}

// flatEinsum returns the product of matrices that an equation describes. The
// labels of the rows must come first in the left operand and the result. The
// labels that are summed must be adjacent, and so must those of the columns.
func flatEinsum(equation string, a, b graph.PartialShape) (flat, bool) {
	equation = strings.ReplaceAll(equation, " ", "")
	in, out, ok := strings.Cut(equation, "->")
	left, right, two := strings.Cut(in, ",")
	if !ok || !two || strings.Contains(right, ",") || strings.Contains(right, "...") {
		return flat{}, false
	}
	rows := 0 // the number of dimensions of the leading ellipsis
	if rest, ok := strings.CutPrefix(left, "..."); ok {
		if left, rows = rest, a.Rank()-len(rest); !strings.HasPrefix(out, "...") || rows < 0 {
			return flat{}, false
		}
		out = out[3:]
	}
	if strings.Contains(left+right+out, ".") || len(left)+rows != a.Rank() || len(right) != b.Rank() {
		return flat{}, false
	}
	for _, term := range []string{left, right, out} {
		for i, l := range term {
			if strings.ContainsRune(term[i+1:], l) {
				return flat{}, false
			}
		}
	}
	free := 0
	for free < len(left) && !strings.Contains(right, left[free:free+1]) {
		free++
	}
	summed := left[free:]
	for _, transposed := range []bool{false, true} {
		columns, ok := strings.CutPrefix(right, summed)
		if transposed {
			columns, ok = strings.CutSuffix(right, summed)
		}
		if !ok || out != left[:free]+columns || summed == "" {
			continue
		}
		p := flat{m: count(a.Dims()[:rows+free]), k: count(a.Dims()[rows+free:]), transposed: transposed}
		if p.k <= 0 {
			return flat{}, false
		}
		cols := count(b.Dims()) / p.k
		if p.k != count(b.Dims())/max(cols, 1) { // one that is stretched
			return flat{}, false
		}
		p.right = []int{p.k, cols}
		if transposed {
			slices.Reverse(p.right)
		}
		for i := range len(summed) {
			if k := strings.IndexByte(right, summed[i]); a.Dim(rows+free+i) != b.Dim(k) {
				return flat{}, false
			}
		}
		return p, true
	}
	return flat{}, false
}

// settled reports whether no more than unknown of the sizes are unknown, and none
// is 0.
func settled(s graph.PartialShape, unknown int) bool {
	if !s.HasRank() {
		return false
	}
	for _, d := range s.Dims() {
		if d == 0 {
			return false
		}
		if d < 0 {
			unknown--
		}
	}
	return unknown >= 0
}

// count returns the product of the sizes, or -1 if one is unknown or an int doesn't
// hold the product.
func count(dims []int) int {
	n := 1
	for _, d := range dims {
		if d < 0 || d > 0 && n > math.MaxInt/d {
			return -1
		}
		n *= d
	}
	return n
}

// reshaped returns o under other sizes. One of them may be negative: it is unknown.
func (r *rewriter) reshaped(like *graph.Node, o graph.Output, dims ...int) (graph.Output, error) {
	if s := o.Fact().Shape; s.HasRank() && slices.Equal(s.Dims(), dims) && !slices.Contains(dims, -1) {
		return o, nil
	}
	if o.Node.Op == "Reshape" && !r.pinned[o.Node] && settled(o.Node.In[0].Fact().Shape, 1) {
		o = o.Node.In[0] // the value before it
		return r.reshaped(like, o, dims...)
	}
	shape, err := r.sizes(like, dims)
	if err != nil {
		return o, err
	}
	for _, n := range r.users[o] {
		if n.Op == "Reshape" && n.In[0] == o && !r.pinned[n] {
			if t, ok := analysis.ConstantOf(n.In[1].Node); ok && t.Equal(shape.Fact().Value) {
				return n.Output(0), nil // that is there already
			}
		}
	}
	n, err := r.add(like, "Reshape", nil, o, shape)
	if err != nil {
		return o, err
	}
	n.Out[0].Shape = refined(n.Out[0].Shape, dims)
	return n.Output(0), nil
}

// becomeReshape replaces n by a Reshape of o.
func (r *rewriter) becomeReshape(n *graph.Node, o graph.Output, dims ...int) error {
	dims = slices.Clone(dims)
	shape, err := r.sizes(n, dims)
	if err != nil {
		return err
	}
	if err := r.replace(n, "Reshape", nil, o, shape); err != nil {
		return err
	}
	n.Out[0].Shape = refined(n.Out[0].Shape, dims)
	return nil
}

// refined returns dims as a shape, unless s knows more.
func refined(s graph.PartialShape, dims []int) graph.PartialShape {
	if s.Known() {
		return s
	}
	return graph.ShapeOf(slices.Clone(dims)...)
}

// sizes adds a constant of sizes, those below 0 as -1.
func (r *rewriter) sizes(like *graph.Node, dims []int) (graph.Output, error) {
	v := make([]int32, len(dims))
	for i, d := range dims {
		if d > math.MaxInt32 {
			return r.longSizes(like, dims)
		}
		v[i] = int32(max(d, -1))
	}
	return r.constant(like, tensor.Must(tensor.New(v, len(v))))
}

// longSizes adds a constant of sizes that an int32 doesn't hold.
func (r *rewriter) longSizes(like *graph.Node, dims []int) (graph.Output, error) {
	v := make([]int64, len(dims))
	for i, d := range dims {
		v[i] = int64(max(d, -1))
	}
	return r.constant(like, tensor.Must(tensor.New(v, len(v))))
}

// joinReshapes connects a Reshape of a Reshape to the input of the first one,
// and removes a Reshape that changes nothing. It moves layer norms before
// Reshapes that keep the last dimension, so that more Reshapes meet.
func (r *rewriter) joinReshapes() error {
	replaced := map[graph.Output]graph.Output{}
	f, err := r.Function.Clone() // in order
	if err != nil {
		return err
	}
	r.Function = f
	for _, n := range slices.Clone(f.Graph.Nodes()) {
		for i, in := range n.In {
			if o, ok := replaced[in]; ok {
				n.In[i] = o
			}
		}
		if n.Op == LayerNormOp && removable(n) && keepsLast(n.In[0].Node) {
			before := n.In[0].Node
			m, err := r.add(n, LayerNormOp, withoutTypes(n.Attrs), before.In[0], n.In[1], n.In[2])
			if err != nil {
				return err
			}
			if err := r.replace(n, "Reshape", nil, m.Output(0), before.In[1]); err != nil {
				return err
			}
		}
		if n.Op != "Reshape" || !removable(n) {
			continue
		}
		if m := n.In[0].Node; m.Op == "Reshape" && removable(m) && settled(m.Out[0].Shape, 1) && settled(m.In[0].Fact().Shape, 1) && settled(n.Out[0].Shape, 1) {
			n.In[0] = m.In[0]
		}
		if x := n.In[0]; sameSizes(x.Fact().Shape, n.Out[0].Shape) && !x.Fact().Ref {
			replaced[n.Output(0)] = x
		}
	}
	rewire(f, replaced)
	return nil
}

// keepsLast reports whether n is a Reshape that keeps the last dimension.
func keepsLast(n *graph.Node) bool {
	if n.Op != "Reshape" || !removable(n) {
		return false
	}
	x, y := n.In[0].Fact().Shape, n.Out[0].Shape
	return settled(x, 1) && settled(y, 1) && x.Rank() > 0 && y.Rank() > 0 && y.Dim(y.Rank()-1) > 0 && x.Dim(x.Rank()-1) == y.Dim(y.Rank()-1)
}

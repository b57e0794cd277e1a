package passes

import (
	"math"

	"github.com/cairnml/cairn/engine/internal/analysis"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// GeluOp is the op that the pass "gelu" makes of a Gaussian error linear unit.
// If its attribute approximate is set, it computes the form with tanh.
const GeluOp = "_Gelu"

// raiseGelus replaces x/2·(1 + erf(x/√2)), with erf or erfc, and x/2·(1 +
// tanh(√(2/π)·(x + 0.044715·x³))) by one op, in any grouping of the factors.
func raiseGelus(u *Unit) error {
	r, err := newRewriter(u)
	if err != nil || !r.has(GeluOp) {
		return err
	}
	for _, n := range r.nodes {
		if n.Op != "Mul" || r.pinned[n] || n.Out[0].DType != tensor.Float32 {
			continue
		}
		x, approximate, ok := r.gelu(n)
		if !ok || !sameSizes(x.Fact().Shape, n.Out[0].Shape) {
			continue
		}
		if err := r.replace(n, GeluOp, graph.Attrs{graph.Bool("approximate", approximate)}, x); err != nil {
			return err
		}
	}
	return r.finish()
}

// factored is a product: a number times values.
type factored struct {
	number float64
	values []graph.Output
	nodes  int // the products, quotients and negations
}

// maxFactors is the number of nodes of a product after which factors stops.
const maxFactors = 64

// factors returns the factors of a product, down to values that other nodes
// use, and to the first maxFactors nodes.
func (r *rewriter) factors(o graph.Output, top bool, f *factored) {
	if v, ok := numberOf(o); ok {
		f.number *= v
		return
	}
	n := o.Node
	if f.nodes++; len(f.values) < 8 && f.nodes <= maxFactors && (top || r.only(o) != nil && !r.pinned[n]) {
		switch n.Op {
		case "Mul":
			r.factors(n.In[0], false, f)
			r.factors(n.In[1], false, f)
			return
		case "RealDiv":
			if v, ok := numberOf(n.In[1]); ok {
				f.number /= v
				r.factors(n.In[0], false, f)
				return
			}
		case "Neg":
			f.number = -f.number
			r.factors(n.In[0], false, f)
			return
		}
	}
	f.values = append(f.values, o)
}

// numberOf returns the one number that o is known to be.
func numberOf(o graph.Output) (float64, bool) {
	t := o.Fact().Value
	if t == nil {
		t, _ = analysis.ConstantOf(o.Node)
	}
	if t == nil || t.Len() != 1 || t.DType() != tensor.Float32 || len(t.Shape()) > 0 {
		return 0, false
	}
	return float64(tensor.Values[float32](t)[0]), true
}

// about reports whether a is b but for rounding, or for the number of digits that people write.
func about(a, b float64) bool { return math.Abs(a-b) <= 1e-5*math.Abs(b) }

// gelu returns x if n is the unit of x.
func (r *rewriter) gelu(n *graph.Node) (x graph.Output, approximate, ok bool) {
	f := factored{number: 1}
	r.factors(n.Output(0), true, &f)
	if len(f.values) != 2 {
		return x, false, false
	}
	for i, x := range f.values {
		p := f.values[1-i] // 1 + erf or such
		if r.only(p) == nil || r.pinned[p.Node] {
			continue
		}
		number := f.number
		c := p.Node
		switch c.Op {
		case "AddV2", "Add":
			e, ok := plusOne(c)
			if !ok {
				continue
			}
			c = e.Node
			if r.only(e) == nil || r.pinned[c] {
				continue
			}
		case "Erfc":
		default:
			continue
		}
		if !about(number, 0.5) {
			continue
		}
		switch c.Op {
		case "Erf", "Erfc":
			want := math.Sqrt2 / 2
			if c.Op == "Erfc" {
				want = -want
			}
			if (c.Op == "Erfc") != (c == p.Node) {
				continue
			}
			a := factored{number: 1}
			r.factors(c.In[0], false, &a)
			if len(a.values) == 1 && a.values[0] == x && about(a.number, want) {
				return x, false, true
			}
		case "Tanh":
			a := factored{number: 1}
			r.factors(c.In[0], false, &a)
			if len(a.values) == 1 && about(a.number, math.Sqrt(2/math.Pi)) && r.cubed(a.values[0], x) {
				return x, true, true
			}
		}
	}
	return x, false, false
}

// plusOne returns x if n is x + 1.
func plusOne(n *graph.Node) (graph.Output, bool) {
	for i, x := range n.In {
		if v, ok := numberOf(n.In[1-i]); ok && v == 1 {
			return x, true
		}
	}
	return graph.Output{}, false
}

// cubed reports whether o is x + 0.044715·x³.
func (r *rewriter) cubed(o, x graph.Output) bool {
	n := o.Node
	if n.Op != "AddV2" && n.Op != "Add" || r.only(o) == nil || r.pinned[n] {
		return false
	}
	for i, y := range n.In {
		if y != x {
			continue
		}
		f := factored{number: 1}
		r.factors(n.In[1-i], false, &f)
		if about(f.number, 0.044715) && r.power(f.values, x) == 3 {
			return true
		}
	}
	return false
}

// power returns the exponent if the product of values is a power of x, and 0
// otherwise.
func (r *rewriter) power(values []graph.Output, x graph.Output) int {
	sum := 0
	for _, v := range values {
		n := v.Node
		switch {
		case v == x:
			sum++
		case n.Op == "Square" && n.In[0] == x:
			sum += 2
		case n.Op == "Mul" && n.In[0] == x && n.In[1] == x:
			sum += 2
		case n.Op == "Pow" && n.In[0] == x:
			e, ok := numberOf(n.In[1])
			if !ok || e != math.Trunc(e) || e < 1 || e > 3 {
				return 0
			}
			sum += int(e)
		default:
			return 0
		}
	}
	return sum
}

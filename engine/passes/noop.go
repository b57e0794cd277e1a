package passes

import (
	"slices"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// skipNoOps replaces the outputs of ops that change nothing by their inputs: a
// Reshape to the same shape, a Cast to the same type, Transposes that cancel
// each other, a multiplication by one, padding by nothing.
func skipNoOps(u *Unit) error {
	replaced := map[graph.Output]graph.Output{}
	for _, n := range u.Function.Graph.Nodes() {
		for i, in := range n.In {
			if o, ok := replaced[in]; ok {
				n.In[i] = o
			}
		}
		if !removable(n) || len(n.Out) != 1 || len(n.In) == 0 {
			continue
		}
		if o, ok := unchanged(n); ok && o.Fact().DType == n.Out[0].DType && !o.Fact().Ref {
			replaced[n.Output(0)] = o
		}
	}
	rewire(u.Function, replaced)
	return nil
}

// unchanged returns the value that n passes on as it is.
func unchanged(n *graph.Node) (o graph.Output, ok bool) {
	x := n.In[0]
	same := sameSizes(x.Fact().Shape, n.Out[0].Shape)
	switch n.Op {
	case "Cast":
		return x, x.Fact().DType == n.Out[0].DType
	case "Reshape", "BroadcastTo", "Tile", "Slice", "Squeeze":
		// With as many elements in the same dimensions there is one way to keep them.
		return x, same
	case "Pad", "PadV2":
		return x, same && all(n.In[1], 0)
	case "Mul", "RealDiv", "Div":
		if same && all(n.In[1], 1) {
			return x, true
		}
		y := n.In[1]
		return y, n.Op == "Mul" && all(x, 1) && sameSizes(y.Fact().Shape, n.Out[0].Shape)
	case "Transpose":
		return transposed(n)
	case "Select", "SelectV2":
		for i, v := range []float64{1: 1, 2: 0} {
			if i > 0 && all(x, v) && sameSizes(n.In[i].Fact().Shape, n.Out[0].Shape) {
				return n.In[i], true
			}
		}
	}
	return graph.Output{}, false
}

// transposed returns the input of n if n does not change the order, or the
// input of the Transpose before n if the two cancel each other.
func transposed(n *graph.Node) (graph.Output, bool) {
	outer, ok := permutation(n)
	if !ok {
		return graph.Output{}, false
	}
	identity := func(at func(int) int64) bool {
		for i := range outer {
			if at(i) != int64(i) {
				return false
			}
		}
		return true
	}
	if identity(func(i int) int64 { return outer[i] }) {
		return n.In[0], true
	}
	m := n.In[0].Node
	if m.Op != "Transpose" {
		return graph.Output{}, false
	}
	inner, ok := permutation(m)
	if !ok || len(inner) != len(outer) || !identity(func(i int) int64 { return inner[outer[i]] }) {
		return graph.Output{}, false
	}
	return m.In[0], true
}

// permutation returns the order of dimensions of a Transpose, if that is known.
func permutation(n *graph.Node) ([]int64, bool) {
	elems, ok := n.In[1].Fact().Ints()
	if !ok {
		return nil, false
	}
	out := make([]int64, len(elems))
	for i, e := range elems {
		if out[i], ok = e.Int(); !ok {
			return nil, false
		}
		if out[i] < 0 {
			out[i] += int64(len(elems))
		}
		if out[i] < 0 || out[i] >= int64(len(elems)) || slices.Contains(out[:i], out[i]) {
			return nil, false // the kernel reports the error
		}
	}
	return out, true
}

// all reports whether o is known to be a number, or a few, that are all v. Complex numbers
// never are: a cast would drop their imaginary part, and even a product with 1 changes a
// complex number of which a part is infinite.
func all(o graph.Output, v float64) bool {
	t := o.Fact().Value
	if t == nil || t.Len() == 0 || t.Len() > 1<<10 || !t.DType().Fixed() || t.DType().IsComplex() {
		return false
	}
	w, err := tensor.Cast(t, tensor.Float64)
	return err == nil && !slices.ContainsFunc(tensor.Values[float64](w), func(x float64) bool { return x != v })
}

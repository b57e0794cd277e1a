package nn

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/engine/passes"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel/internal/vec"
	"github.com/cairnml/cairn/tensor"
)

// The definitions and kernels of _Gelu and _LayerNorm. The passes of engine/passes for inference
// make each of several ops of float32; the definitions and these passes change together.
var (
	raisedTypes = []tensor.DType{tensor.Float32}

	geluDef = &graph.OpDef{
		Name:    passes.GeluOp,
		Inputs:  []graph.ArgDef{{Name: "features", TypeAttr: "T"}},
		Outputs: []graph.ArgDef{{Name: "activations", TypeAttr: "T"}},
		Attrs:   []graph.AttrDef{{Name: "T", Kind: graph.AttrType, AllowedTypes: raisedTypes}, {Name: "approximate", Kind: graph.AttrBool}},
	}
	layerNormDef = &graph.OpDef{
		Name:    passes.LayerNormOp,
		Inputs:  []graph.ArgDef{{Name: "x", TypeAttr: "T"}, {Name: "gamma", TypeAttr: "T"}, {Name: "beta", TypeAttr: "T"}},
		Outputs: []graph.ArgDef{{Name: "y", TypeAttr: "T"}},
		Attrs:   []graph.AttrDef{{Name: "T", Kind: graph.AttrType, AllowedTypes: raisedTypes}, {Name: "epsilon", Kind: graph.AttrFloat}},
	}
)

// prepareGelu prepares _Gelu; approximate is the form with tanh.
func prepareGelu(n *engine.Node) (func(*engine.Call) error, error) {
	f := vec.Gelu
	if n.Attrs.Bool("approximate") {
		f = vec.GeluTanh
	}
	return func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		out, err := c.AllocOver(0, 0, tensor.Float32, c.In(0).Shape())
		if err != nil || out.Len() == 0 {
			return err
		}
		dst, x := tensor.Values[float32](out), tensor.Values[float32](c.In(0))
		if !c.Large(len(dst), geluTime) {
			f(dst, x)
			return nil
		}
		c.Parallel(len(dst), geluTime, func(lo, hi int) { f(dst[lo:hi], x[lo:hi]) })
		return nil
	}, nil
}

const (
	geluTime = 0.3 // nanoseconds an element takes
	normTime = 0.2
)

// layerNorm normalizes along the last dimension; gamma and beta have its size.
func layerNorm(c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	x := c.In(0)
	for i := range 3 {
		if d := c.In(i).DType(); d != tensor.Float32 {
			return &engine.UnsupportedTypeError{Attr: "T", Type: d, Known: raisedTypes}
		}
	}
	s := x.Shape()
	if len(s) == 0 || c.In(1).Len() != s[len(s)-1] || c.In(2).Len() != s[len(s)-1] {
		return fmt.Errorf("factors of %v and summands of %v for elements of %v", c.In(1).Shape(), c.In(2).Shape(), s)
	}
	out, err := c.AllocOver(0, 0, tensor.Float32, s)
	if err != nil || out.Len() == 0 {
		return err
	}
	n := s[len(s)-1]
	epsilon := float32(c.Attrs().Float("epsilon", 0))
	dst, src := tensor.Values[float32](out), tensor.Values[float32](x)
	gamma, beta := tensor.Values[float32](c.In(1)), tensor.Values[float32](c.In(2))
	if each := normTime*float64(n) + 20; c.Large(len(dst)/n, each) {
		c.Parallel(len(dst)/n, each, func(lo, hi int) { normRows(dst[lo*n:hi*n], src[lo*n:hi*n], gamma, beta, epsilon) })
	} else {
		normRows(dst, src, gamma, beta, epsilon)
	}
	return nil
}

// normRows normalizes rows, which are as long as gamma.
func normRows(dst, src, gamma, beta []float32, epsilon float32) {
	n := len(gamma)
	for i := 0; i < len(dst); i += n {
		vec.LayerNorm(dst[i:i+n], src[i:i+n], gamma, beta, epsilon)
	}
}

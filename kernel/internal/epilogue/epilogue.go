// Package epilogue contains the steps of TensorFlow's fused ops after a
// convolution or a product: they add a bias to each channel and another tensor,
// and apply an activation. Packages kernel/conv and kernel/matmul use it.
package epilogue

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/engine/passes"
	"github.com/cairnml/cairn/kernel/internal/gemm"
	"github.com/cairnml/cairn/kernel/internal/vec"
	"github.com/cairnml/cairn/tensor"
)

// Epilogue is the attribute fused_ops of a node, with the indices of its
// arguments.
type Epilogue struct {
	// Bias is the input with one number per channel, 0 if there is none.
	Bias int
	// Add is the input with a summand of the result's shape, 0 if there is
	// none.
	Add int
	// Activate applies the activation to numbers in place; nil means none.
	Activate func(x []float32)
	// Clamp reports whether Activate only bounds numbers by Low and High.
	Clamp     bool
	Low, High float32
	// Cost is the approximate time for one number, in nanoseconds.
	Cost float64
}

// activation is the function of an activation and its cost for one number, in
// nanoseconds.
type activation struct {
	run  func(x []float32)
	cost float64
}

var activations = map[string]activation{
	"Relu":            {func(x []float32) { vec.Relu(x, x) }, 0.1},
	"Relu6":           {func(x []float32) { vec.Relu(x, x); vec.Relu6Low(x, x) }, 0.6},
	"Elu":             {func(x []float32) { vec.Elu(x, x) }, 3},
	"Sigmoid":         {func(x []float32) { vec.Sigmoid(x, x) }, 3},
	"Tanh":            {func(x []float32) { vec.Tanh(x, x) }, 3},
	"Swish":           {func(x []float32) { vec.Swish(x, x) }, 3},
	"GeluExact":       {func(x []float32) { vec.Gelu(x, x) }, 0.5},
	"GeluApproximate": {func(x []float32) { vec.GeluTanh(x, x) }, 0.5},
}

// quick are the activations of nodes with [passes.FastAttr]. They differ from the
// others by some units in the last place.
var quick = map[string]activation{
	"Sigmoid": {func(x []float32) { vec.FastSigmoid(x, x) }, 0.5},
	"Tanh":    {func(x []float32) { vec.FastTanh(x, x) }, 0.5},
	"Swish":   {func(x []float32) { vec.FastSwish(x, x) }, 0.5},
}

// bounds are the upper bounds of the activations that bound numbers; the lower one
// is 0.
var bounds = map[string]float32{"Relu": float32(math.Inf(1)), "Relu6": 6}

// Of returns the epilogue of a node whose arguments begin at input first. The
// order is that of fused_ops: a bias first, one summand, an activation last.
// Other orders have no kernel. GeluExact and GeluApproximate have TensorFlow's
// names.
func Of(n *engine.Node, first int) (*Epilogue, error) {
	e := &Epilogue{Cost: 0.1}
	ops, next := n.Attrs.Strings("fused_ops"), first
	for i, op := range ops {
		act, known := activations[op]
		if a, ok := quick[op]; ok && n.Attrs.Bool(passes.FastAttr) {
			act = a
		}
		switch {
		case op == "BiasAdd" && i == 0:
			e.Bias = next
			next++
		case op == "Add" && e.Add == 0 && e.Activate == nil:
			e.Add = next
			next++
		case op == "LeakyRelu" && i == len(ops)-1:
			e.Activate = LeakyRelu(float32(n.Attrs.Float("leakyrelu_alpha", 0.2)))
		case known && i == len(ops)-1:
			e.Activate, e.Cost = act.run, e.Cost+act.cost
			e.High, e.Clamp = bounds[op]
		default:
			return nil, fmt.Errorf("no kernel for the fused ops %v", ops)
		}
	}
	if k := n.Attrs.Int("num_args", 0); int(k) != next-first {
		return nil, fmt.Errorf("the fused ops %v take %d arguments, there are %d", ops, next-first, k)
	}
	return e, nil
}

// Activation returns the function of an activation by its name in fused_ops. It
// works in place. nil means that there is none of this name.
func Activation(op string) func(x []float32) { return activations[op].run }

// LeakyRelu returns the function that multiplies numbers below zero by alpha, in
// place.
func LeakyRelu(alpha float32) func(x []float32) {
	return func(x []float32) {
		for i, v := range x {
			if v < 0 {
				x[i] = v * alpha
			}
		}
	}
}

// Check compares the arguments of a call with the result's shape; its channels
// are dimension channel.
func (e *Epilogue) Check(c *engine.Call, y tensor.Shape, channel int) error {
	if e.Bias > 0 {
		if b := c.In(e.Bias); b.DType() != tensor.Float32 || len(b.Shape()) != 1 || b.Len() != y[channel] {
			return fmt.Errorf("a bias of %v%v for %d channels", b.DType(), b.Shape(), y[channel])
		}
	}
	if e.Add > 0 {
		if a := c.In(e.Add); a.DType() != tensor.Float32 || !a.Shape().Equal(y) {
			return fmt.Errorf("a summand of %v%v for a result of shape %v", a.DType(), a.Shape(), y)
		}
	}
	return nil
}

// During returns the steps that products apply themselves, while the result is
// in the cache. The result's channels come last.
func (e *Epilogue) During(c *engine.Call) gemm.Epilogue[float32] {
	g := gemm.Epilogue[float32]{Clamp: e.Clamp, Low: e.Low, High: e.High}
	if e.Bias > 0 {
		g.Bias = tensor.Values[float32](c.In(e.Bias))
	}
	if e.Add > 0 {
		g.Add = tensor.Values[float32](c.In(e.Add))
	}
	if !e.Clamp {
		g.Map = e.Activate
	}
	return g
}

// Finish applies all steps to rows of n channels, with the bits of products
// that apply them themselves.
func (e *Epilogue) Finish(c *engine.Call, dst []float32, n int) {
	if each := e.Cost * float64(n); c.Large(len(dst)/n, each) {
		e.finishRows(c, dst, n, each)
		return
	}
	g := e.During(c)
	g.Rows(dst, 0, len(dst), n)
}

// finishRows finishes rows on all cores; each is the cost of a row, in
// nanoseconds.
func (e *Epilogue) finishRows(c *engine.Call, dst []float32, n int, each float64) {
	g := e.During(c)
	c.Parallel(len(dst)/n, each, func(lo, hi int) { g.Rows(dst, lo*n, hi*n, n) })
}

// Apply applies the epilogue to a result; its channels are dimension channel.
func (e *Epilogue) Apply(c *engine.Call, y *tensor.Tensor, channel int) {
	dst, s := tensor.Values[float32](y), y.Shape()
	var bias, add []float32
	if e.Bias > 0 {
		bias = tensor.Values[float32](c.In(e.Bias))
	}
	if e.Add > 0 {
		add = tensor.Values[float32](c.In(e.Add))
	}
	if len(dst) == 0 {
		return
	}
	size := 1 // of contiguous elements: all channels, or the plane of one
	for _, n := range s[channel+1:] {
		size *= n
	}
	last := size == 1
	if last {
		size = s[channel]
	}
	c.Parallel(len(dst)/size, e.Cost*float64(size), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := dst[i*size : (i+1)*size]
			switch {
			case bias == nil:
			case last:
				vec.AddVV(row, row, bias)
			default:
				vec.AddVS(row, row, bias[i%len(bias)])
			}
			if add != nil {
				vec.AddVV(row, row, add[i*size:(i+1)*size])
			}
			if e.Activate != nil {
				e.Activate(row)
			}
		}
	})
}

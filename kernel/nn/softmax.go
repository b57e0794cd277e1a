// Package nn implements the kernels of neural networks that aren't element by
// element: softmax, its logarithm and its cross-entropies, and the ops _Gelu
// and _LayerNorm, which the passes for inference make.
package nn

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/engine/passes"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/kernel/internal/vec"
	"github.com/cairnml/cairn/tensor"
)

// Kernels returns the family's table.
func Kernels() []engine.Kernel {
	return []engine.Kernel{
		{Op: "Softmax", Prepare: prepareSoftmax, Types: engine.Types{"T": engine.ByType[elementwise.Func](softmax).Types()}, Precision: engine.Rounded},
		logSoftmax.Kernel("LogSoftmax", "T", engine.Accumulated),
		crossEntropy.Kernel("SoftmaxCrossEntropyWithLogits", "T", engine.Accumulated),
		sparseCrossEntropy.Kernel("SparseSoftmaxCrossEntropyWithLogits", "T", engine.Accumulated),
		{Op: passes.GeluOp, Def: geluDef, Prepare: prepareGelu, Types: engine.Types{"T": raisedTypes}, Precision: engine.Rounded},
		{Op: passes.LayerNormOp, Def: layerNormDef, Run: layerNorm, Types: engine.Types{"T": raisedTypes}, Precision: engine.Accumulated},
	}
}

// prepareSoftmax prepares a softmax. If the plan allows fast arithmetic, one of
// float32 computes exp in float32, which is less exact.
func prepareSoftmax(n *engine.Node) (func(*engine.Call) error, error) {
	if n.Attrs.Bool(passes.FastAttr) && len(n.In) == 1 && n.In[0].DType == tensor.Float32 {
		return rowsOf(vec.FastSoftmax), nil
	}
	return softmax.Prepare(n)
}

type float interface {
	vec.Float
	tensor.Element
}

var (
	softmax = elementwise.ByType{
		tensor.Float32: rowsOf(vec.Softmax[float32]), tensor.Float64: rowsOf(vec.Softmax[float64]),
		tensor.Float16: softmaxHalf[tensor.F16](false), tensor.BFloat16: softmaxHalf[tensor.BF16](false),
	}
	logSoftmax = elementwise.ByType{
		tensor.Float32: rowsOf(vec.LogSoftmax[float32]), tensor.Float64: rowsOf(vec.LogSoftmax[float64]),
		tensor.Float16: softmaxHalf[tensor.F16](true), tensor.BFloat16: softmaxHalf[tensor.BF16](true),
	}
	crossEntropy = elementwise.ByType{
		tensor.Float32: crossing(cross[float32]), tensor.Float64: crossing(cross[float64]),
		tensor.Float16: crossing(crossHalf[tensor.F16]), tensor.BFloat16: crossing(crossHalf[tensor.BF16]),
	}
	sparseCrossEntropy = elementwise.ByType{
		tensor.Float32: sparseCrossing(sparse[float32]), tensor.Float64: sparseCrossing(sparse[float64]),
		tensor.Float16: sparseCrossing(sparseHalf[tensor.F16]), tensor.BFloat16: sparseCrossing(sparseHalf[tensor.BF16]),
	}
)

// rowsOf runs a function over the vectors of the last dimension. Results of
// float32 and float64 are within the kernel's Precision of TensorFlow's. Halves
// are rounded step by step (half.go).
func rowsOf[T float](f func(dst, x []T)) elementwise.Func {
	return func(c *engine.Call) error {
		n, err := lastDim(c)
		if err != nil {
			return err
		}
		out, err := c.AllocOver(0, 0, c.In(0).DType(), c.In(0).Shape())
		if err != nil || out.Len() == 0 {
			return err
		}
		eachRow(c, tensor.Values[T](out), tensor.Values[T](c.In(0)), n, f)
		return nil
	}
}

// lastDim returns the size of the last dimension of input 0.
func lastDim(c *engine.Call) (int, error) {
	if err := c.Need(1); err != nil {
		return 0, err
	}
	return shape.Logits(c.In(0).Shape())
}

// rowTime is about how many nanoseconds an element takes.
const rowTime = 2

// eachRow runs f on rows of n elements, on all cores if there are many.
func eachRow[T vec.Float](c *engine.Call, dst, x []T, n int, f func(dst, x []T)) {
	rows := len(x) / n
	if !c.Large(len(x), rowTime) {
		for i := range rows {
			f(dst[i*n:i*n+n], x[i*n:i*n+n])
		}
		return
	}
	c.Parallel(rows, rowTime*float64(n), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			f(dst[i*n:i*n+n], x[i*n:i*n+n])
		}
	})
}

// pair checks logits and labels, which broadcast, and returns their common
// shape.
func pair(c *engine.Call) (rows, n int, err error) {
	if err := elementwise.Same(c); err != nil {
		return 0, 0, err
	}
	return shape.CrossEntropy(c.In(0).Shape(), c.In(1).Shape())
}

// crossing checks the inputs, makes the outputs and has compute fill them. rows
// and n are the numbers of rows and of classes. loss is [rows]; back, the
// derivative by the logits, is [rows, n].
func crossing(compute func(c *engine.Call, loss, back *tensor.Tensor, rows, n int)) elementwise.Func {
	return func(c *engine.Call) error {
		rows, n, err := pair(c)
		if err != nil {
			return err
		}
		loss, back, err := outputs(c, rows, n)
		if err == nil {
			compute(c, loss, back, rows, n)
		}
		return err
	}
}

// cross computes the losses in one type; logits and labels of one row or column
// are broadcast first.
func cross[T float](c *engine.Call, loss, back *tensor.Tensor, rows, n int) {
	x, y := stretch(tensor.Values[T](c.In(0)), c.In(0).Shape(), rows, n), stretch(tensor.Values[T](c.In(1)), c.In(1).Shape(), rows, n)
	crossRows(c, tensor.Values[T](loss), tensor.Values[T](back), x, y, rows, n)
}

// outputs makes loss and back.
func outputs(c *engine.Call, rows, n int) (loss, back *tensor.Tensor, err error) {
	if loss, err = c.Alloc(0, c.In(0).DType(), tensor.Shape{rows}); err != nil {
		return nil, nil, err
	}
	back, err = c.Alloc(1, c.In(0).DType(), tensor.Shape{rows, n})
	return loss, back, err
}

// stretch returns x broadcast to rows by n. It returns x itself if nothing is
// to be repeated, else new memory.
func stretch[T any](x []T, s tensor.Shape, rows, n int) []T {
	for len(s) < 2 {
		s = append(tensor.Shape{1}, s...)
	}
	if s[0] == rows && s[1] == n {
		return x
	}
	out := make([]T, rows*n)
	for i := range out {
		r, k := i/n, i%n
		if s[0] == 1 {
			r = 0
		}
		if s[1] == 1 {
			k = 0
		}
		out[i] = x[r*s[1]+k]
	}
	return out
}

// crossRows computes the loss of each row and its derivative by the logits.
func crossRows[T vec.Float](c *engine.Call, loss, back, x, y []T, rows, n int) {
	if n == 0 {
		clear(loss)
		return
	}
	one := func(lo, hi int) {
		for i := lo; i < hi; i++ {
			loss[i] = vec.CrossEntropy(back[i*n:i*n+n], x[i*n:i*n+n], y[i*n:i*n+n])
		}
	}
	if !c.Large(rows*n, rowTime) {
		one(0, rows)
		return
	}
	c.Parallel(rows, rowTime*float64(n), one)
}

// sparsePair checks logits [rows, n] and labels [rows]. A label outside of the
// classes is an error, as on TensorFlow's CPU.
func sparsePair(c *engine.Call) (rows, n int, labels []int64, err error) {
	if err := c.Need(2); err != nil {
		return 0, 0, nil, err
	}
	if rows, n, err = shape.SparseCrossEntropy(c.In(0).Shape(), c.In(1).Shape()); err != nil {
		return 0, 0, nil, err
	}
	if labels, err = shapes.AllInts(c.In(1), "the labels"); err != nil {
		return 0, 0, nil, err
	}
	for i, k := range labels {
		if k < 0 || k >= int64(n) {
			return 0, 0, nil, fmt.Errorf("label %d of row %d is outside of [0, %d)", k, i, n)
		}
	}
	return rows, n, labels, nil
}

// sparseCrossing works as crossing, for labels that are the numbers of classes.
func sparseCrossing(compute func(c *engine.Call, loss, back *tensor.Tensor, labels []int64, n int)) elementwise.Func {
	return func(c *engine.Call) error {
		rows, n, labels, err := sparsePair(c)
		if err != nil {
			return err
		}
		loss, back, err := outputs(c, rows, n)
		if err == nil {
			compute(c, loss, back, labels, n)
		}
		return err
	}
}

// sparse and sparseRows compute the losses in one type.
func sparse[T float](c *engine.Call, loss, back *tensor.Tensor, labels []int64, n int) {
	sparseRows(c, tensor.Values[T](loss), tensor.Values[T](back), tensor.Values[T](c.In(0)), labels, n)
}

func sparseRows[T vec.Float](c *engine.Call, loss, back, x []T, labels []int64, n int) {
	one := func(lo, hi int) {
		for i := lo; i < hi; i++ {
			loss[i] = vec.SparseCrossEntropy(back[i*n:i*n+n], x[i*n:i*n+n], int(labels[i]))
		}
	}
	if !c.Large(len(x), rowTime) {
		one(0, len(labels))
		return
	}
	c.Parallel(len(labels), rowTime*float64(n), one)
}

package nn

import (
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/stepwise"
	"github.com/cairnml/cairn/kernel/internal/vec"
	"github.com/cairnml/cairn/tensor"
)

// Softmax, its logarithm and the cross-entropies of half precision. The steps and the order of sums
// are those of TensorFlow's expressions (softmax_op_functor.h, xent_op.h) and must stay.

// stepTime is about how many nanoseconds an element takes whose steps are rounded.
const stepTime = 20

// steps rounds the result of every step to half precision, as TensorFlow's
// expressions do. The argument first of its methods is the index in the tensor
// of a row's first element. The order of the row's sum depends on it.
type steps struct {
	*stepwise.Steps
	all func(x []float32) // rounds all elements
}

// stepsOf returns the steps for elements of type H.
func stepsOf[H elementwise.Half]() steps { return steps{stepwise.Sum[H](), elementwise.RoundTo[H]} }

// exps sets dst to the exponentials of x, and returns their sum.
func (s steps) exps(dst, x []float32, first int) float32 {
	vec.Exp(dst, x)
	s.all(dst)
	return s.Row(dst, first)
}

// shift subtracts the greatest element of x from every element.
func (s steps) shift(x []float32) {
	vec.SubVS(x, x, vec.MaxOf(x))
	s.all(x)
}

// log returns the logarithm of v, rounded.
func (s steps) log(v float32) float32 { return s.Round(float32(math.Log(float64(v)))) }

// softmax replaces the row x by its softmax.
func (s steps) softmax(x []float32, first int) {
	s.shift(x)
	scale := s.Round(1 / s.exps(x, x, first))
	vec.MulVS(x, x, scale)
	s.all(x)
}

// logSoftmax replaces the row x by the logarithm of its softmax.
func (s steps) logSoftmax(x, scratch []float32, first int) {
	s.shift(x)
	l := s.log(s.exps(scratch, x, first))
	vec.SubVS(x, x, l)
	s.all(x)
}

// crossEntropy sets x, a row of logits, to the derivative of the loss that it returns.
func (s steps) crossEntropy(x, labels, scratch []float32, first int) float32 {
	s.shift(x)
	sum := s.exps(scratch, x, first)
	l := s.log(sum)
	for i, v := range x {
		y := labels[i]
		x[i] = s.Round(s.Round(scratch[i]/sum) - y)
		scratch[i] = s.Round(y * s.Round(l-v))
	}
	return s.Row(scratch, first)
}

// sparseCrossEntropy works as crossEntropy for a label that is the number of a class:
// its probability is 1 and that of all others 0.
func (s steps) sparseCrossEntropy(x []float32, label, first int) float32 {
	s.shift(x)
	own := x[label]
	sum := s.exps(x, x, first)
	vec.DivVS(x, x, sum)
	s.all(x)
	x[label] = s.Round(x[label] - 1)
	return s.Round(s.log(sum) - own)
}

// softmaxHalf returns the Func of Softmax, or of LogSoftmax with log.
func softmaxHalf[H elementwise.Half](log bool) elementwise.Func {
	s := stepsOf[H]()
	return func(c *engine.Call) error {
		n, err := lastDim(c)
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, c.In(0).DType(), c.In(0).Shape())
		if err != nil || out.Len() == 0 {
			return err
		}
		x := elementwise.Widened[H](c, c.In(0))
		var scratch []float32
		if log {
			scratch = elementwise.Wide(c, len(x))
		}
		c.Parallel(len(x)/n, stepTime*float64(n), func(lo, hi int) {
			for i := lo * n; i < hi*n; i += n {
				if log {
					s.logSoftmax(x[i:i+n], scratch[i:i+n], i)
				} else {
					s.softmax(x[i:i+n], i)
				}
			}
		})
		elementwise.Narrow(tensor.Values[H](out), x)
		return nil
	}
}

// crossHalf and sparseHalf fill the outputs of [crossing] and [sparseCrossing], which have
// checked the shapes and labels: loss, [rows], and back, the logits' gradient, [rows, n].
func crossHalf[H elementwise.Half](c *engine.Call, loss, back *tensor.Tensor, rows, n int) {
	if n == 0 {
		clear(tensor.Values[H](loss))
		return
	}
	s := stepsOf[H]()
	var wide [2][]float32
	for i := range wide {
		wide[i] = stretch(elementwise.Widened[H](c, c.In(i)), c.In(i).Shape(), rows, n)
	}
	l, scratch := elementwise.Wide(c, rows), elementwise.Wide(c, rows*n)
	c.Parallel(rows, stepTime*float64(n), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			at, to := i*n, i*n+n
			l[i] = s.crossEntropy(wide[0][at:to], wide[1][at:to], scratch[at:to], at)
		}
	})
	elementwise.Narrow(tensor.Values[H](loss), l)
	elementwise.Narrow(tensor.Values[H](back), wide[0])
}

func sparseHalf[H elementwise.Half](c *engine.Call, loss, back *tensor.Tensor, labels []int64, n int) {
	s := stepsOf[H]()
	x, l := elementwise.Widened[H](c, c.In(0)), elementwise.Wide(c, len(labels))
	c.Parallel(len(labels), stepTime*float64(n), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			l[i] = s.sparseCrossEntropy(x[i*n:i*n+n], int(labels[i]), i*n)
		}
	})
	elementwise.Narrow(tensor.Values[H](loss), l)
	elementwise.Narrow(tensor.Values[H](back), x)
}

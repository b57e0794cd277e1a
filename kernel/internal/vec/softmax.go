package vec

import (
	"math"

	"github.com/cairnml/cairn/kernel/internal/simd"
)

// Softmax and cross-entropy of one row, for kernel/nn and kernel/matmul. An empty row isn't
// allowed.

// ExpSum sets dst[i] to exp(x[i]-m) and returns the sum of these before they are
// rounded, in eight interleaved partial sums.
func ExpSum[T Float](dst, x []T, m T) float64 {
	x = x[:len(dst)]
	var s [8]float64
	i := simd.ExpSum(dst, x, m, &s)
	if d, ok := any(dst).([]float32); ok {
		for ; i < len(dst); i++ {
			e := expOf(clamp(float64(x[i])-float64(m), -expRange, expRange))
			d[i] = float32(e)
			s[i%8] += float64(e)
		}
	} else {
		for ; i < len(dst); i++ {
			e := math.Exp(float64(x[i]) - float64(m))
			dst[i] = T(e)
			s[i%8] += e
		}
	}
	return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]))
}

// Softmax sets dst to exp(x) over the sum of exp(x). It may be x.
func Softmax[T Float](dst, x []T) {
	sum := ExpSum(dst, x, MaxOf(x))
	MulVS(dst, dst, T(1/sum))
}

// LogSum returns log(sum(exp(x-m))).
func LogSum[T Float](x []T, m T) float64 {
	var e [256]T
	var sum float64
	for len(x) > 0 {
		n := min(len(x), len(e))
		sum += ExpSum(e[:n], x[:n], m)
		x = x[n:]
	}
	return math.Log(sum)
}

// LogSoftmax sets dst to x less the logarithm of the sum of exp(x). It may be x.
func LogSoftmax[T Float](dst, x []T) {
	m := MaxOf(x)
	l := LogSum(x, m)
	SubVS(dst, x, m)
	SubVS(dst, dst, T(l))
}

// CrossEntropy returns the loss of a row of logits against labels, and sets back to its
// derivative by the logits.
func CrossEntropy[T Float](back, x, labels []T) T {
	m := MaxOf(x)
	sum := ExpSum(back, x, m)
	l, scale := math.Log(sum), 1/sum
	var loss float64
	for i, y := range labels[:len(back)] {
		if y != 0 {
			loss -= float64(float64(y) * (float64(x[i]) - float64(m) - l))
		}
		back[i] = T(float64(float64(back[i])*scale) - float64(y))
	}
	return T(loss)
}

// SparseCrossEntropy computes [CrossEntropy] for labels of which one is 1 and
// all others are 0.
func SparseCrossEntropy[T Float](back, x []T, label int) T {
	m := MaxOf(x)
	sum := ExpSum(back, x, m)
	own := float64(back[label])
	MulVS(back, back, T(1/sum))
	back[label] = T(own/sum - 1)
	return T(math.Log(sum) - (float64(x[label]) - float64(m)))
}

package shape

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// nnRules returns the rules of softmax and of its losses.
func nnRules() map[string]Rule {
	return map[string]Rule{
		"Softmax": softmax, "LogSoftmax": softmax,
		"SoftmaxCrossEntropyWithLogits":       crossEntropy,
		"SparseSoftmaxCrossEntropyWithLogits": sparseCrossEntropy,
	}
}

func softmax(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	s := c.shape(0)
	if s.Rank() == 0 {
		return errLogits
	}
	c.set(0, s)
	return nil
}

var errLogits = fmt.Errorf("takes logits of at least one dimension")

// Logits returns the size of the last dimension, the axis of a softmax.
func Logits(s tensor.Shape) (int, error) {
	if len(s) == 0 {
		return 0, errLogits
	}
	return s[len(s)-1], nil
}

// CrossEntropy returns the sizes of the matrix to which logits and labels broadcast.
func CrossEntropy(logits, labels tensor.Shape) (rows, classes int, err error) {
	s, err := Broadcast(logits, labels)
	if err != nil {
		return 0, 0, err
	}
	if len(s) != 2 {
		return 0, 0, fmt.Errorf("logits and labels have the shape %v, not that of a matrix", s)
	}
	return s[0], s[1], nil
}

func crossEntropy(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	a, b := c.shapeOr(0, 2), c.shapeOr(1, 2)
	rows, n, err := CrossEntropy(a.Dims(), b.Dims())
	if err == nil {
		c.setDims(0, rows)
		c.setDims(1, rows, n)
	}
	return err
}

// SparseCrossEntropy returns the shape of a matrix of logits with one label per
// row.
func SparseCrossEntropy(logits, labels tensor.Shape) (rows, classes int, err error) {
	if len(logits) == 2 && len(labels) == 1 {
		if rows, ok := graph.MergeDim(logits[0], labels[0]); ok {
			if logits[1] == 0 && rows > 0 {
				return 0, 0, fmt.Errorf("there are no classes")
			}
			return rows, logits[1], nil
		}
	}
	return 0, 0, fmt.Errorf("takes a matrix of logits and a label for each of its rows")
}

func sparseCrossEntropy(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	a, b := c.shapeOr(0, 2), c.shapeOr(1, 1)
	rows, n, err := SparseCrossEntropy(a.Dims(), b.Dims())
	if err == nil {
		c.setDims(0, rows)
		c.setDims(1, rows, n)
	}
	return err
}

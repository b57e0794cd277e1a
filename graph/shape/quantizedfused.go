package shape

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// The rules of convolutions and products of codes (the integers of quantized values) and of the ops fused with
// them. The table is in quantized.go.

// QuantizedWindows returns the attributes of a convolution of codes. Its attribute
// padding_list replaces the padding if it has entries.
func QuantizedWindows(a graph.Attrs) (Windows, error) {
	w, err := WindowsOf(a, 4)
	if list := a.Ints("padding_list"); err == nil && len(list) > 0 {
		if len(list) != 8 {
			return w, fmt.Errorf("padding_list has %d entries, not 8", len(list))
		}
		for i, p := range list {
			if p < 0 || p > 1<<30 || p != 0 && (i < 2 || i > 5) {
				return w, fmt.Errorf("padding_list holds %v; images and channels can't be padded", list)
			}
		}
		w.Padding, w.Explicit = "EXPLICIT", list
	}
	return w, err
}

// fusedWindows infers the outputs of a convolution of codes and the ops fused
// with it: a bias after the filter, ranges, a summand. The op's name or its
// attribute fused_ops contains the fused ops.
func fusedWindows(c *Inference) error {
	steps := c.Attrs.Strings("fused_ops")
	bias := strings.Contains(c.Op, "WithBias") || slices.Contains(steps, "BiasAdd")
	requantize := strings.Contains(c.Op, "AndRequantize") || slices.Contains(steps, "Requantize")
	ranges := 2
	if bias {
		ranges++
	}
	if slices.Contains(steps, "Sum") {
		ranges++
	}
	if err := c.atLeast(ranges + 4); err != nil {
		return err
	}
	x, err := c.ranked(0, 4)
	if err != nil {
		return err
	}
	f, err := c.ranked(1, 4)
	if err != nil {
		return err
	}
	w, err := QuantizedWindows(c.Attrs)
	if err != nil {
		return err
	}
	depth := strings.Contains(c.Op, "Depthwise")
	l := w.Layout
	taken, ok := graph.MergeDim(x.Dim(l.Channels), f.Dim(2))
	if !ok {
		return fmt.Errorf("the input has %d channels, the filter takes %d", x.Dim(l.Channels), f.Dim(2))
	}
	out := make(tensor.Shape, 4)
	out[l.Batch], out[l.Channels] = x.Dim(l.Batch), f.Dim(3)
	if depth {
		if out[l.Channels], err = MulDims(taken, f.Dim(3)); err != nil {
			return err
		}
	}
	for i, d := range l.Spatial {
		if out[d], err = w.Places(d, x.Dim(d), f.Dim(i)); err != nil {
			return fmt.Errorf("dimension %d: %w", d, err)
		}
	}
	c.setDims(0, out...)
	if bias {
		if _, err := c.ranked(2, 1); err != nil {
			return err
		}
	}
	if err := each(c.scalar(ranges), c.scalar(ranges+1)); err != nil {
		return err
	}
	single := c.Op == "QuantizedConv2D" || c.Op == "QuantizedConv2DAndRequantize"
	if single {
		err = each(c.scalar(ranges+2), c.scalar(ranges+3))
	} else {
		err = each(c.vectorOrScalar(ranges+2), c.vectorOrScalar(ranges+3))
	}
	switch {
	case err != nil:
		return err
	case requantize:
		c.scalars(1)
		for i := ranges + 4; i < len(c.In); i++ {
			if i < ranges+6 || len(steps) > 0 {
				err = each(err, c.scalar(i))
			}
		}
		return err
	case single:
		c.scalars(1)
		return nil
	}
	ends, err := c.shape(ranges + 2).Merge(c.shape(ranges + 3))
	if err != nil {
		return fmt.Errorf("the ends of the filter's ranges: %w", err)
	}
	c.set(1, ends)
	c.set(2, ends)
	return nil
}

// fusedMatMul infers the outputs of a product of codes with a bias.
func fusedMatMul(c *Inference) error {
	if err := c.atLeast(7); err != nil {
		return err
	}
	if _, err := c.ranked(2, 1); err != nil {
		return err
	}
	for i := 3; i < len(c.In); i++ {
		if err := c.scalar(i); err != nil {
			return err
		}
	}
	inner := &Inference{Op: "MatMul", Attrs: c.Attrs, In: c.In[:2], Out: make([]graph.Fact, 1), Call: c.Call}
	if err := matMul(inner); err != nil {
		return err
	}
	c.set(0, inner.Out[0].Shape)
	c.scalars(1)
	return nil
}

// listedMatMul infers the output of a product of codes whose steps are listed.
func listedMatMul(c *Inference) error {
	if err := c.atLeast(2); err != nil {
		return err
	}
	inner := &Inference{Op: "MatMul", Attrs: c.Attrs, In: c.In[:2], Out: make([]graph.Fact, 1), Call: c.Call}
	if err := matMul(inner); err != nil {
		return err
	}
	c.set(0, inner.Out[0].Shape)
	if c.Attrs.Type("Tout", tensor.Float32) != tensor.QInt32 {
		c.scalars(1)
		return nil
	}
	// Sums have the ranges of the second matrix.
	b := len(c.In) - 2
	if slices.Contains(c.Attrs.Strings("fused_ops"), "Requantize") {
		b -= 2
	}
	for i := 1; i < len(c.Out) && b > 0; i++ {
		c.set(i, c.shape(b))
	}
	return nil
}

// quantizedConcatV2 infers the output of joined values whose axis follows them.
func quantizedConcatV2(c *Inference) error {
	n := (len(c.In) - 1) / 3
	if n < 1 || len(c.In) != 3*n+1 {
		return fmt.Errorf("takes values, an axis and the ranges of the values, %d inputs were given", len(c.In))
	}
	return ranging(concatV2, "ConcatV2", n+1)(c)
}

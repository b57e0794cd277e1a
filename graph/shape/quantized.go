package shape

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// quantizedRules returns the rules of ops on quantized values: those of the ops on floats,
// with the ends of ranges as further inputs and outputs. The Uniform ops have scales and
// zero points as further inputs instead.
func quantizedRules() map[string]Rule {
	return join(
		rules(quantizedLike, "QuantizedRelu", "QuantizedRelu6", "QuantizedInstanceNorm"),
		rules(ranging(pool, "MaxPool", 1), "QuantizedMaxPool"),
		rules(ranging(pool, "MaxPool3D", 1), "_QuantizedMaxPool3D"),
		rules(ranging(pool, "AvgPool", 1), "QuantizedAvgPool"),
		rules(ranging(matMul, "MatMul", 2), "QuantizedMatMul"),
		rules(fusedMatMul, "QuantizedMatMulWithBias", "QuantizedMatMulWithBiasAndRelu", "QuantizedMatMulWithBiasAndReluAndRequantize",
			"QuantizedMatMulWithBiasAndRequantize", "QuantizedMatMulWithBiasAndDequantize"),
		rules(fusedWindows, "QuantizedConv2D", "QuantizedConv2DPerChannel", "QuantizedConv2DAndRelu", "QuantizedConv2DAndReluAndRequantize",
			"QuantizedConv2DAndRequantize", "QuantizedConv2DWithBias", "QuantizedConv2DWithBiasAndRelu", "QuantizedConv2DWithBiasAndReluAndRequantize",
			"QuantizedConv2DWithBiasAndRequantize", "QuantizedConv2DWithBiasSumAndRelu", "QuantizedConv2DWithBiasSumAndReluAndRequantize",
			"QuantizedConv2DWithBiasSignedSumAndReluAndRequantize", "QuantizedDepthwiseConv2D", "QuantizedDepthwiseConv2DWithBias",
			"QuantizedDepthwiseConv2DWithBiasAndRelu", "QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize",
			"_FusedQuantizedConv2D", "_FusedQuantizedDepthwiseConv2D"),
		rules(listedMatMul, "_QuantizedMatMul"),
		rules(ranging(binary, "Add", 2), "QuantizedAdd", "QuantizedMul"),
		rules(ranging(biasAdd, "BiasAdd", 2), "QuantizedBiasAdd"),
		rules(ranging(reshape, "Reshape", 2), "QuantizedReshape"),
		rules(ranging(resize, "ResizeBilinear", 2), "QuantizedResizeBilinear"),
		map[string]Rule{"QuantizedConcat": quantizedConcat, "QuantizedConcatV2": quantizedConcatV2, "QuantizedBatchNormWithGlobalNormalization": quantizedNorm,
			"RequantizePerChannel": requantizePerChannel, "RequantizationRangePerChannel": rangePerChannel,
			"UniformRequantize": like(0), "UniformQuantizedClipByValue": like(0), "UniformQuantizedAdd": binaryOf,
			"UniformQuantizedDot": uniformDot, "UniformQuantizedDotHybrid": uniformDot},
	)
}

// scalars makes the outputs from the given one on scalars.
func (c *Inference) scalars(from int) {
	for i := from; i < len(c.Out); i++ {
		c.setDims(i)
	}
}

// ranging returns a rule that infers output 0 from the first inputs, as rule does for
// op. All other inputs and outputs are scalars, the ends of ranges.
func ranging(rule Rule, op string, inputs int) Rule {
	return func(c *Inference) error {
		if err := c.atLeast(inputs); err != nil {
			return err
		}
		for i := inputs; i < len(c.In); i++ {
			if err := c.scalar(i); err != nil {
				return err
			}
		}
		inner := &Inference{Op: op, Attrs: c.Attrs, In: c.In[:inputs], Out: make([]graph.Fact, 1), Call: c.Call}
		if err := rule(inner); err != nil {
			return err
		}
		c.set(0, inner.Out[0].Shape)
		c.scalars(1)
		return nil
	}
}

// quantizedLike infers an output of the shape of input 0. The other outputs are the
// ends of its range.
func quantizedLike(c *Inference) error {
	if err := c.atLeast(3); err != nil {
		return err
	}
	c.set(0, c.shape(0))
	c.scalars(1)
	return each(c.scalar(1), c.scalar(2))
}

// quantizedNorm infers the output of a normalization whose moments have a number
// for each channel. Inputs come in threes: a value and both ends of its range.
func quantizedNorm(c *Inference) error {
	if err := c.need(15); err != nil {
		return err
	}
	for i := range c.In {
		if i%3 == 0 {
			continue
		}
		if err := c.scalar(i); err != nil {
			return err
		}
	}
	x, _, _, err := c.channels(0, 3, 6, 9, 12)
	if err != nil {
		return err
	}
	c.set(0, x)
	c.scalars(1)
	return nil
}

// quantizedConcat infers the output of joined values by the rule of Concat. Inputs are
// an axis, n values, n lower and n upper ends of ranges.
func quantizedConcat(c *Inference) error {
	n := (len(c.In) - 1) / 3
	if n < 1 || len(c.In) != 3*n+1 {
		return fmt.Errorf("takes an axis and values with their ranges, %d inputs were given", len(c.In))
	}
	return ranging(concatV1, "Concat", n+1)(c)
}

// requantizePerChannel infers the output of RequantizePerChannel: input 0 with the range
// in inputs 3 and 4. Inputs 1 and 2 have the ends of ranges by channel.
func requantizePerChannel(c *Inference) error {
	if err := c.need(5); err != nil {
		return err
	}
	c.set(0, c.shape(0))
	c.scalars(1)
	return each(c.vectorOrScalar(1), c.vectorOrScalar(2), c.scalar(3), c.scalar(4))
}

// rangePerChannel infers the outputs of RequantizationRangePerChannel, the ends of one
// range.
func rangePerChannel(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	c.scalars(0)
	return each(c.vectorOrScalar(1), c.vectorOrScalar(2))
}

// vectorOrScalar checks that input i has no more than one dimension.
func (c *Inference) vectorOrScalar(i int) error {
	if s := c.shape(i); s.HasRank() && s.Rank() > 1 {
		return fmt.Errorf("input %d has shape %v, of more than one dimension", i, s)
	}
	return nil
}

// binaryOf infers the output of an op that broadcasts inputs 0 and 1, whatever the
// others are.
func binaryOf(c *Inference) error {
	if err := c.atLeast(2); err != nil {
		return err
	}
	s, err := BroadcastShapes(c.shape(0), c.shape(1))
	if err == nil {
		c.set(0, s)
	}
	return err
}

// uniformDot infers the product of the matrices in inputs 0 and 1.
func uniformDot(c *Inference) error {
	if err := c.atLeast(2); err != nil {
		return err
	}
	a, err := c.ranked(0, 2)
	if err != nil {
		return err
	}
	b, err := c.ranked(1, 2)
	if err != nil {
		return err
	}
	if _, ok := graph.MergeDim(a.Dim(1), b.Dim(0)); !ok {
		return fmt.Errorf("matrices of shapes %v and %v can't be multiplied", a, b)
	}
	c.setDims(0, tensor.Shape{a.Dim(0), b.Dim(1)}...)
	return nil
}

package quant

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of RequantizationRange, Requantize and
// QuantizeDownAndShrinkRange. Codes of 8 bits without a sign are computed in
// fixed point, the others in float32, as in TensorFlow's quantization_utils.h.
// Both must stay: they decide codes.

// wideCodes returns the codes in input 0, and the other inputs, which are
// scalars.
func wideCodes(c *engine.Call, inputs int) ([]tensor.Q32, []float32, error) {
	if err := c.Need(inputs); err != nil {
		return nil, nil, err
	}
	if d := c.In(0).DType(); d != tensor.QInt32 {
		return nil, nil, &engine.UnsupportedTypeError{Attr: "Tinput", Type: d, Known: []tensor.DType{tensor.QInt32}}
	}
	var ends []float32
	for i := 1; i < inputs; i++ {
		t := c.In(i)
		if t.DType() != tensor.Float32 || t.Len() != 1 {
			return nil, nil, fmt.Errorf("input %d is %v%v, not one float32", i, t.DType(), t.Shape())
		}
		ends = append(ends, tensor.Values[float32](t)[0])
	}
	return tensor.Values[tensor.Q32](c.In(0)), ends, nil
}

// used returns the floats of the least and the largest code in x, but at most 0 as the first.
func used(c *engine.Call, x []tensor.Q32, least, most float32) (lo, hi float32) {
	from, to := tensor.Q32(math.MaxInt32), tensor.Q32(math.MinInt32)
	for i, v := range x {
		c.Step(i)
		from, to = min(from, v), max(to, v)
	}
	if len(x) == 0 {
		from, to = 0, 0
	}
	of := func(v tensor.Q32) float32 { return wideToFloat(v, least, most) }
	return min(of(from), 0), of(to)
}

// wideToFloat returns the float of a code, computed in double precision.
func wideToFloat(v tensor.Q32, least, most float32) float32 {
	if least == most {
		return least
	}
	l := limitsOf[tensor.Q32]()
	adjust := l.steps() / (l.steps() - 1)
	scale := float64(float64(most-least)*adjust) / l.steps()
	single := float32(scale)
	first := float32(math.Round(float64(least/single))) * single
	return float32(float64(first) + float64((float64(v)-l.lowest)*scale))
}

// setScalars sets the outputs from index from on to the floats v.
func setScalars(c *engine.Call, from int, v ...float32) error {
	for i, x := range v {
		t, err := c.Alloc(from+i, tensor.Float32, tensor.Shape{})
		if err != nil {
			return err
		}
		tensor.Values[float32](t)[0] = x
	}
	return nil
}

// requantizationRange returns the range that the codes of input 0 use.
func requantizationRange(c *engine.Call) error {
	x, ends, err := wideCodes(c, 3)
	if err != nil {
		return err
	}
	lo, hi := used(c, x, ends[0], ends[1])
	return setScalars(c, 0, lo, hi)
}

// requantize converts 32-bit codes of the range in inputs 1 and 2 to 8-bit
// codes of the range in inputs 3 and 4.
func requantize(c *engine.Call) error {
	x, ends, err := wideCodes(c, 5)
	if err != nil {
		return err
	}
	least, most := ends[2], ends[3]
	if !(least <= 0) {
		return fmt.Errorf("requested_output_min must be less than or equal to 0, but got %v", least)
	}
	if !(most >= least) {
		return fmt.Errorf("requested_output_max must be greater than or equal to requested_output_min, but got %v and %v", most, least)
	}
	if c.Attrs().Type("out_type", tensor.QUint8) == tensor.QUint8 {
		return toBytes(c, x, ends[0], ends[1], least, most)
	}
	out, err := c.Alloc(0, tensor.QInt8, c.In(0).Shape())
	if err != nil {
		return err
	}
	floats, codes := limitsOf[tensor.Q32]().toFloat(ends[0], ends[1]), limitsOf[tensor.Q8]().toCode(least, most)
	for i, v := range x {
		c.Step(i)
		tensor.Values[tensor.Q8](out)[i] = tensor.Q8(codes.of(floats.of(float32(v))))
	}
	return setScalars(c, 1, least, most)
}

// shrinkRange converts codes to bytes of the range that they use.
func shrinkRange(c *engine.Call) error {
	x, ends, err := wideCodes(c, 3)
	if err != nil {
		return err
	}
	lo, hi := used(c, x, ends[0], ends[1])
	return toBytes(c, x, ends[0], ends[1], lo, hi)
}

// toBytes converts codes of one range to bytes of another one, in fixed-point
// numbers with 16 fraction bits.
func toBytes(c *engine.Call, x []tensor.Q32, least, most, outLeast, outMost float32) error {
	out, err := c.Alloc(0, tensor.QUint8, c.In(0).Shape())
	if err != nil {
		return err
	}
	const places = 16
	in, wide := most-least, outMost-outLeast
	var by, offset int64
	if wide != 0 {
		inverse := float32(255.0 / float64(wide))
		middle := float32(float64(least+most) / 2)
		by = int64(255.0 * (1 << places) * float64(in) / float64(wide))
		offset = int64(float32(middle*inverse)*(1<<places)) - int64(math.Round((1<<places)*(float64(outLeast)*255.0)/float64(wide)))
	}
	y := tensor.Values[tensor.QU8](out)
	for i, v := range x {
		c.Step(i)
		fixed := int64(v)*by>>32 + offset + 1<<(places-1)
		y[i] = tensor.QU8(max(0, min(255, fixed>>places)))
	}
	return setScalars(c, 1, outLeast, outMost)
}

package quant

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of RequantizationRangePerChannel and RequantizePerChannel, whose
// codes have the shape [batch, rows, columns, channels]. The steps in float32
// are those of TensorFlow's mkl_requantization_range_per_channel_op.cc and
// mkl_requantize_per_channel_op.cc; they must stay.

// byChannel returns the codes in input 0, and the ranges of their channels, the
// last dimension, in inputs 1 and 2.
func byChannel(c *engine.Call) (x []tensor.Q32, widest []float32, err error) {
	t, least, most := c.In(0), c.In(1), c.In(2)
	s := t.Shape()
	if t.DType() != tensor.QInt32 || len(s) != 4 {
		return nil, nil, fmt.Errorf("the codes are %v%v; qint32 of 4 dimensions is needed", t.DType(), s)
	}
	n := s[3]
	if least.DType() != tensor.Float32 || most.DType() != tensor.Float32 || least.Len() != n || most.Len() != n {
		return nil, nil, fmt.Errorf("the ranges are %v%v and %v%v for %d channels", least.DType(), least.Shape(), most.DType(), most.Shape(), n)
	}
	widest = make([]float32, n)
	for i := range widest {
		widest[i] = max(abs(tensor.Values[float32](least)[i]), abs(tensor.Values[float32](most)[i]))
	}
	return tensor.Values[tensor.Q32](t), widest, nil
}

// rangePerChannel returns the range that includes the used ranges of all
// channels.
func rangePerChannel(c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	x, widest, err := byChannel(c)
	if err != nil {
		return err
	}
	if len(x) == 0 {
		return fmt.Errorf("there are no codes")
	}
	n, signed, most := len(widest), false, float32(-math.MaxFloat32)
	for k, w := range widest {
		lo, hi := x[k], x[k]
		for i := k; i < len(x); i += n {
			c.Step(i / n)
			lo, hi = min(lo, x[i]), max(hi, x[i])
		}
		signed = signed || lo < 0
		// As in TensorFlow: in single precision, by the scale of the channel.
		largest := max(abs(float32(lo)), abs(float32(hi)))
		most = max(most, largest*(w/float32(1<<31)))
	}
	most = min(most, float32(c.Attrs().Float("clip_value_max", 0)))
	least := float32(0)
	if signed {
		least = -most
	}
	return setScalars(c, 0, least, most)
}

// requantizePerChannel converts 32-bit codes, with a range for each channel, to
// 8-bit codes of one range.
func requantizePerChannel(c *engine.Call) error {
	if err := c.Need(5); err != nil {
		return err
	}
	x, widest, err := byChannel(c)
	if err != nil {
		return err
	}
	to, err := spanAt(c, 3)
	if err != nil {
		return err
	}
	d := c.Attrs().Type("out_type", tensor.QUint8)
	factor, lowest, highest := 255.0, 0.0, 255.0
	switch d {
	case tensor.QUint8:
	case tensor.QInt8:
		factor, lowest, highest = 127, -128, 127
	default:
		return &engine.UnsupportedTypeError{Attr: "out_type", Type: d, Known: []tensor.DType{tensor.QUint8, tensor.QInt8}}
	}
	scales := make([]float32, len(widest))
	for i, w := range widest {
		scales[i] = float32(factor) * (w / max(abs(to.least), abs(to.most)) / float32(1<<31))
	}
	out, err := c.Alloc(0, d, c.In(0).Shape())
	if err != nil {
		return err
	}
	dst := out.Bytes()
	for i, v := range x {
		c.Step(i)
		r := math.RoundToEven(float64(float32(v) * scales[i%len(scales)]))
		if math.IsNaN(r) {
			r = 0
		}
		dst[i] = byte(int(max(lowest, min(r, highest))))
	}
	return setSpan(c, 1, to)
}

package quant

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of QuantizedBatchNormWithGlobalNormalization and
// QuantizedInstanceNorm.

// quantizedBatchNorm normalizes in 32-bit fixed-point numbers, whose range is a
// million in both directions. Larger numbers wrap. Inputs are codes with their
// ranges: images [batch, rows, columns, channels], then means, variances, betas
// and gammas, [channels] each. It follows FixedPointBatchNorm in TensorFlow's
// quantized_batch_norm_op.cc, with its wraps.
func quantizedBatchNorm(c *engine.Call) error {
	if err := c.Need(15); err != nil {
		return err
	}
	x := c.In(0)
	s := x.Shape()
	if len(s) != 4 {
		return fmt.Errorf("images of shape %v, where 4 dimensions are needed", s)
	}
	var codes [5]bytes
	var spans [5]span
	for i := range codes {
		var err error
		if codes[i], err = byteCodes(c, 3*i); err != nil {
			return err
		}
		if spans[i], err = spanAt(c, 3*i+1); err != nil {
			return err
		}
		if d := c.In(3 * i).Shape(); i > 0 && (len(d) != 1 || d[0] != s[3]) || c.In(3*i).DType() != tensor.QUint8 {
			return fmt.Errorf("input %d is %v%v, for images of %v%v", 3*i, c.In(3*i).DType(), d, x.DType(), s)
		}
	}
	var out []tensor.Q32
	if err := wideOut(c, &out)(s); err != nil {
		return err
	}
	to, wide := span{-(1 << 20), 1 << 20}, limitsOf[tensor.Q32]()
	epsilon, scaled := float32(c.Attrs().Float("variance_epsilon", 0)), c.Attrs().Bool("scale_after_normalization")
	scales, offsets := make([]int32, s[3]), make([]int32, s[3])
	for k := range scales {
		var v [5]float32
		for i := 1; i < 5; i++ {
			v[i] = spans[i].float(codes[i].limits, int64(codes[i].at(k)))
		}
		mean, variance, beta, gamma := v[1], v[2], v[3], v[4]
		by := 1 / float32(math.Sqrt(float64(variance+epsilon)))
		if scaled {
			by *= gamma
		}
		scales[k] = int32(to.clamped(wide, by))
		offsets[k] = int32(to.clamped(wide, float32(-mean*by)+beta))
	}
	one := int32(to.clamped(wide, 1))
	for i := range out {
		c.Step(i)
		v := int32(to.clamped(wide, spans[0].float(codes[0].limits, int64(codes[0].at(i)))))
		out[i] = tensor.Q32(v*scales[i%s[3]]/one + offsets[i%s[3]])
	}
	return setSpan(c, 1, to)
}

// prepareInstanceNorm prepares the normalization of each channel of each image
// by its mean and variance.
func prepareInstanceNorm(n *engine.Node) (func(*engine.Call) error, error) {
	a := n.Attrs
	given, to := a.Bool("output_range_given"), span{float32(a.Float("given_y_min", 0)), float32(a.Float("given_y_max", 0))}
	epsilon, least := float32(a.Float("variance_epsilon", 1e-5)), float32(a.Float("min_separation", 1e-3))
	if given && !(to.least < to.most) {
		return nil, fmt.Errorf("given_y_min must be less than given_y_max: %v >= %v", to.least, to.most)
	}
	return func(c *engine.Call) error {
		if err := c.Need(3); err != nil {
			return err
		}
		x := c.In(0)
		s := x.Shape()
		if x.DType() != tensor.QUint8 || len(s) != 4 {
			return fmt.Errorf("images of %v%v, where quint8 of 4 dimensions is needed", x.DType(), s)
		}
		in, err := spanAt(c, 1)
		if err != nil {
			return err
		}
		if !(in.least < in.most) {
			return fmt.Errorf("input_min must be less than input_max: %v >= %v", in.least, in.most)
		}
		out, err := c.Alloc(0, x.DType(), s)
		if err != nil {
			return err
		}
		scale := (in.most - in.least) / 255
		v, channels := tensor.Values[tensor.QU8](x), s[3]
		normed := make([]float32, len(v))
		size := s[1] * s[2] * channels
		for first := 0; first < len(v); first += size {
			for k := first; k < first+channels; k++ {
				c.Check()
				var sum, squares float64
				for i := k; i < first+size; i += channels {
					c.Step(i / channels)
					sum += float64(v[i])
				}
				mean := float32(sum / float64(s[1]*s[2]))
				for i := k; i < first+size; i += channels {
					c.Step(i / channels)
					d := scale * (float32(v[i]) - mean)
					squares += float64(d * d)
				}
				by := 1 / float32(math.Sqrt(float64(float32(squares/float64(s[1]*s[2]))+epsilon)))
				for i := k; i < first+size; i += channels {
					c.Step(i / channels)
					normed[i] = scale * (float32(v[i]) - mean) * by
				}
			}
		}
		to := to
		if !given {
			to = span{math.MaxFloat32, -math.MaxFloat32}
			for i, v := range normed {
				c.Step(i)
				to.least, to.most = min(to.least, v), max(to.most, v)
			}
		}
		if to.most-to.least < least {
			to.most = to.least + least
		}
		f := limitsOf[tensor.QU8]().toCode(to.least, to.most)
		for i, v := range normed {
			c.Step(i)
			tensor.Values[tensor.QU8](out)[i] = tensor.QU8(f.of(v))
		}
		return setSpan(c, 1, to)
	}, nil
}

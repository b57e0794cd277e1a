package image

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// contrastTypes are the types of images that the first version of the op
// accepts.
var contrastTypes = []tensor.DType{tensor.Float32, tensor.Float64, tensor.Int32, tensor.Uint8, tensor.Int16, tensor.Int8}

// limitedContrast multiplies the distance of each channel from its mean by a
// factor, and clips the result to two limits. It is the kernel of
// AdjustContrast. The lower limit is applied last.
func limitedContrast(c *engine.Call) error {
	if err := c.Need(4); err != nil {
		return err
	}
	var numbers [3]float32 // factor, least, most
	for i := range numbers {
		x := c.In(i + 1)
		if x.DType() != tensor.Float32 || x.Len() != 1 {
			return fmt.Errorf("input %d is %v%v, not one float32", i+1, x.DType(), x.Shape())
		}
		numbers[i] = tensor.Values[float32](x)[0]
	}
	in := c.In(0)
	s := in.Shape()
	if len(s) < 3 {
		return fmt.Errorf("images of shape %v, where at least 3 dimensions are needed", s)
	}
	x, err := tensor.Cast(in, tensor.Float32)
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, tensor.Float32, s)
	if err != nil || out.Len() == 0 {
		return err
	}
	src, dst := tensor.Values[float32](x), tensor.Values[float32](out)
	ch := s[len(s)-1]
	image := s[len(s)-3] * s[len(s)-2] * ch
	c.Parallel(len(src)/image, float64(image)*3, func(lo, hi int) {
		mean := make([]float64, ch)
		for n := lo; n < hi; n++ {
			clear(mean)
			for i, v := range src[n*image : (n+1)*image] {
				mean[i%ch] += float64(v) / float64(image/ch)
			}
			for i := n * image; i < (n+1)*image; i++ {
				m := mean[i%ch]
				y := float32((float64(src[i])-m)*float64(numbers[0]) + m)
				dst[i] = max(min(y, numbers[2]), numbers[1])
			}
		}
	})
	return nil
}

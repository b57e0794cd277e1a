package math

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/tensor"
)

// cast computes Cast. castFast and castWhole are for some pairs of
// types; package tensor does all others, with the same results.
func cast(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	x, d := c.In(0), c.Attrs().Type("DstT", tensor.Invalid)
	switch {
	case d == tensor.Invalid:
		return fmt.Errorf("needs the attribute DstT")
	case d == x.DType():
		return c.Forward(0, 0, x.Shape())
	case !tensor.CanCast(x.DType(), d):
		return fmt.Errorf("can't cast %v to %v", x.DType(), d)
	}
	out, err := c.Alloc(0, d, x.Shape())
	if err != nil {
		return err
	}
	if c.Attrs().Bool("Truncate") {
		x = truncated(x, d)
	}
	if castFast(out, x) || castWhole(c, out, x) {
		return nil
	}
	size := d.Size()
	if !c.Large(x.Len(), 3) {
		return tensor.CastRange(out.Bytes(), x, d, 0, x.Len())
	}
	c.Parallel(x.Len(), 3, func(lo, hi int) {
		// The types and ranges are right: CastRange finds no other fault.
		_ = tensor.CastRange(out.Bytes()[lo*size:hi*size], x, d, lo, hi)
	})
	return nil
}

// castFast has loops for the pairs that training meets often. It reports
// whether it has done the cast.
func castFast(out, x *tensor.Tensor) bool {
	switch x.DType() {
	case tensor.Bool:
		if out.DType() == tensor.Float32 {
			dst := tensor.Values[float32](out)
			for i, b := range tensor.Values[bool](x) {
				dst[i] = 0
				if b {
					dst[i] = 1
				}
			}
			return true
		}
	case tensor.Int32:
		if out.DType() == tensor.Float32 {
			dst := tensor.Values[float32](out)
			for i, v := range tensor.Values[int32](x) {
				dst[i] = float32(v)
			}
			return true
		}
	case tensor.Uint8:
		if out.DType() == tensor.Float32 {
			dst := tensor.Values[float32](out)
			for i, v := range tensor.Values[uint8](x) {
				dst[i] = float32(v)
			}
			return true
		}
	case tensor.Float32:
		if out.DType() == tensor.Float64 {
			dst := tensor.Values[float64](out)
			for i, v := range tensor.Values[float32](x) {
				dst[i] = float64(v)
			}
			return true
		}
	case tensor.Float64:
		if out.DType() == tensor.Float32 {
			dst := tensor.Values[float32](out)
			for i, v := range tensor.Values[float64](x) {
				dst[i] = float32(v)
			}
			return true
		}
	}
	return false
}

// bitcast views the bits as another type. If the sizes of the types differ, the
// last dimension holds the parts.
func bitcast(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	x, d := c.In(0), c.Attrs().Type("type", tensor.Invalid)
	dims, err := shape.BitcastShape(x.Shape(), x.DType(), d)
	if err != nil {
		return err
	}
	t, err := tensor.FromBytes(d, x.Bytes(), dims...)
	if err != nil {
		return err
	}
	c.Set(0, t)
	return nil
}

package image

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
)

// extractPatches returns the kernel that moves a window over images of so many
// spatial dimensions. The output has a vector of the window's elements for each
// position. It is the kernel of ExtractImagePatches and ExtractVolumePatches.
// Elements outside of the image are zero.
func extractPatches(spatial int) func(*engine.Call) error {
	return func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		x := c.In(0)
		s := x.Shape()
		if len(s) != spatial+2 || !x.DType().Fixed() {
			return fmt.Errorf("images of %v%v, where %d dimensions are needed", x.DType(), s, spatial+2)
		}
		size, err := shape.PatchSize(c.Attrs(), spatial)
		if err != nil {
			return err
		}
		m, err := shape.MovesOf(c.Attrs(), s, size)
		if err != nil {
			return err
		}
		dims, err := shape.Patches(s, size, m)
		if err != nil {
			return err
		}
		out, err := c.AllocZero(0, x.DType(), dims)
		if err != nil || out.Len() == 0 || x.Len() == 0 {
			return err
		}
		// A flat image has a depth of 1.
		in, k, o, stride, rate, before := [3]int{1, 1, 1}, [3]int{1, 1, 1}, [3]int{1, 1, 1}, [3]int{1, 1, 1}, [3]int{1, 1, 1}, [3]int{}
		for i := range spatial {
			at := 3 - spatial + i
			in[at], k[at], o[at], stride[at], rate[at], before[at] = s[1+i], size[i], m.Out[i], m.Strides[i], m.Rates[i], m.Before[i]
		}
		pixel := s[spatial+1] * x.DType().Size()
		patch := k[0] * k[1] * k[2] * pixel
		src, dst := x.Bytes(), out.Bytes()
		c.Parallel(s[0]*o[0]*o[1]*o[2], float64(patch), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				to := dst[i*patch:][:patch]
				q, b := i%o[2], i/o[2]/o[1]/o[0]
				y, z := i/o[2]%o[1], i/o[2]/o[1]%o[0]
				t := 0
				for dz := range k[0] {
					for dy := range k[1] {
						for dx := range k[2] {
							p := [3]int{z*stride[0] - before[0] + dz*rate[0], y*stride[1] - before[1] + dy*rate[1], q*stride[2] - before[2] + dx*rate[2]}
							if p[0] >= 0 && p[0] < in[0] && p[1] >= 0 && p[1] < in[1] && p[2] >= 0 && p[2] < in[2] {
								copy(to[t:t+pixel], src[(((b*in[0]+p[0])*in[1]+p[1])*in[2]+p[2])*pixel:])
							}
							t += pixel
						}
					}
				}
			}
		})
		return nil
	}
}

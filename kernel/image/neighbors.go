package image

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of NearestNeighbors and NonMaxSuppressionWithOverlaps.

// nearestNeighbors finds the centers that are nearest to each point, and their
// squared distances. The distances are summed in float64 and compared as float32. Of
// equal ones the first center comes first. Points and centers are [n, dims].
func nearestNeighbors(c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	points, centers := c.In(0), c.In(1)
	p, q := points.Shape(), centers.Shape()
	if points.DType() != tensor.Float32 || centers.DType() != tensor.Float32 || len(p) != 2 || len(q) != 2 || p[1] != q[1] {
		return fmt.Errorf("points of %v%v and centers of %v%v", points.DType(), p, centers.DType(), q)
	}
	k, err := shapes.Int(c.In(2), "k")
	if err != nil {
		return err
	}
	if k < 0 || q[0] == 0 {
		return fmt.Errorf("%d of %d centers are asked for", k, q[0])
	}
	n := int(min(k, int64(q[0])))
	index, err := c.Alloc(0, tensor.Int64, tensor.Shape{p[0], n})
	if err != nil {
		return err
	}
	distance, err := c.Alloc(1, tensor.Float32, tensor.Shape{p[0], n})
	if err != nil {
		return err
	}
	x, y, d := tensor.Values[float32](points), tensor.Values[float32](centers), p[1]
	c.Parallel(p[0], float64(q[0]*d), func(lo, hi int) {
		type found struct {
			at       int
			distance float32
		}
		all := make([]found, q[0])
		for i := lo; i < hi; i++ {
			for j := range all {
				var sum float64
				for m := range d {
					v := float64(x[i*d+m]) - float64(y[j*d+m])
					sum += v * v
				}
				all[j] = found{j, float32(sum)}
			}
			slices.SortStableFunc(all, func(a, b found) int { return cmp.Compare(a.distance, b.distance) })
			for j, f := range all[:n] {
				tensor.Values[int64](index)[i*n+j], tensor.Values[float32](distance)[i*n+j] = int64(f.at), f.distance
			}
		}
	})
	return nil
}

// suppressByOverlaps works as [suppress], with overlaps as an input.
func suppressByOverlaps(c *engine.Call) error {
	if err := c.Need(5); err != nil {
		return err
	}
	o, scores := c.In(0), c.In(1)
	n := o.Shape()
	if len(n) != 2 || n[0] != n[1] || o.DType() != tensor.Float32 || scores.DType() != tensor.Float32 || len(scores.Shape()) != 1 || scores.Len() != n[0] {
		return fmt.Errorf("overlaps of %v%v with scores of %v%v", o.DType(), n, scores.DType(), scores.Shape())
	}
	most, err := shapes.Int(c.In(2), "the number of boxes")
	if err != nil {
		return err
	}
	v := tensor.Values[float32](o)
	s := suppression{scores: tensor.Values[float32](scores), interrupted: c.Context().Err, overlapOf: func(i, j int) float32 { return v[i*n[0]+j] }}
	if s.overlap, err = scalar(c, 3); err != nil {
		return err
	}
	if s.score, err = scalar(c, 4); err != nil {
		return err
	}
	if most < 0 {
		return fmt.Errorf("%d boxes are asked for", most)
	}
	s.most = int(min(most, int64(len(s.scores))))
	if err := s.run(); err != nil {
		return err
	}
	return s.outputs(c, 3, most) // the outputs of NonMaxSuppressionV3
}

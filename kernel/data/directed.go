package data

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// directed takes each element from the dataset that the first one names. It is
// the kernel of DirectedInterleaveDataset. stop_on_empty_dataset ends it with
// the first dataset that ends.
func directed(c *engine.Call) error {
	selector, err := datasetIn(c, 0)
	if err != nil {
		return err
	}
	var from []*Dataset
	for i := 1; i < c.NumIn(); i++ {
		d, err := datasetIn(c, i)
		if err != nil {
			return err
		}
		from = append(from, d)
	}
	stop := c.Attrs().Bool("stop_on_empty_dataset")
	c.SetObject(0, of(c, unknown, sourceFunc(func(c *engine.Call, depth int) (iterator, error) {
		choice, err := selector.iterate(c, depth)
		if err != nil {
			return nil, err
		}
		its := make([]iterator, len(from))
		for i, d := range from {
			if its[i], err = d.iterate(c, depth); err != nil {
				return nil, err
			}
		}
		left := len(its)
		return iteratorFunc(func(c *engine.Call) (element, bool, error) {
			for left > 0 {
				e, ok, err := pull(c, choice)
				if err != nil || !ok {
					return nil, false, err
				}
				if len(e) != 1 || e[0].Tensor == nil || e[0].Tensor.DType() != tensor.Int64 || e[0].Tensor.Len() != 1 {
					return nil, false, fmt.Errorf("the selector doesn't return one int64")
				}
				k := tensor.Values[int64](e[0].Tensor)[0]
				if k < 0 || k >= int64(len(its)) {
					return nil, false, fmt.Errorf("the selector returned %d, there are %d datasets", k, len(its))
				}
				if its[k] == nil {
					continue // that dataset has ended: TensorFlow skips the choice
				}
				e, ok, err = pull(c, its[k])
				if ok || err != nil {
					return e, ok, err
				}
				its[k] = nil
				if left--; stop {
					left = 0
				}
			}
			return nil, false, nil
		}), nil
	})))
	return nil
}

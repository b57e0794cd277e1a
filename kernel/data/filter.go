package data

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/internal/philox"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of UniqueDataset, IgnoreErrorsDataset and SamplingDataset.

// uniqueElements leaves out elements that came before. Each element is one tensor
// of integers or strings.
func uniqueElements(c *engine.Call) error {
	in, err := datasetIn(c, 0)
	if err != nil {
		return err
	}
	if len(in.types) != 1 || in.types[0] != tensor.Int32 && in.types[0] != tensor.Int64 && in.types[0] != tensor.String {
		return fmt.Errorf("takes elements of one int32, int64 or string, not %v", in.types)
	}
	c.SetObject(0, of(c, unknown, over(in, func(it iterator) iterator {
		seen, bytes := map[string]bool{}, int64(0)
		return iteratorFunc(func(c *engine.Call) (element, bool, error) {
			for {
				e, ok, err := pull(c, it)
				if err != nil || !ok {
					return nil, false, err
				}
				if len(e) != 1 {
					return nil, false, fmt.Errorf("an element has %d components, not one", len(e))
				}
				key := keyOf(e[0].Tensor)
				if seen[key] {
					continue
				}
				seen[key] = true
				bytes += int64(len(key)) + 48
				return e, true, c.Afford(bytes)
			}
		})
	})))
	return nil
}

// keyOf returns a string that differs for different tensors of one type.
func keyOf(t *tensor.Tensor) string {
	if t == nil {
		return ""
	}
	var key strings.Builder
	fmt.Fprint(&key, t.Shape())
	if t.DType().Fixed() {
		key.Write(t.Bytes())
		return key.String()
	}
	for _, s := range t.Strings() {
		key.WriteString(strconv.Itoa(len(s)))
		key.WriteByte(':')
		key.WriteString(s)
	}
	return key.String()
}

// withoutErrors leaves elements out that can't be computed. The end of the
// context and files that aren't granted stay errors.
func withoutErrors(c *engine.Call) error {
	in, err := datasetIn(c, 0)
	if err != nil {
		return err
	}
	c.SetObject(0, of(c, unknown, over(in, func(it iterator) iterator {
		var last string // an iterator may return the same error for ever
		return iteratorFunc(func(c *engine.Call) (element, bool, error) {
			for {
				e, ok, err := pull(c, it)
				if err == nil {
					return e, ok, nil
				}
				if stop := c.Context().Err(); stop != nil || errors.Is(err, engine.ErrNotGranted) {
					return nil, false, err
				}
				if text := err.Error(); text != last {
					last = text
					fmt.Fprintf(c.Log(), "IgnoreErrorsDataset: %v\n", err)
				}
			}
		})
	})))
	return nil
}

// sampled keeps each element with a probability.
func sampled(c *engine.Call) error {
	in, err := datasetIn(c, 0)
	if err != nil {
		return err
	}
	t := c.In(1)
	if t == nil || t.DType() != tensor.Float32 || t.Len() != 1 {
		return fmt.Errorf("the rate is not one float32")
	}
	rate := tensor.Values[float32](t)[0]
	s, err := twoSeeds(c, 2, false)
	if err != nil {
		return err
	}
	c.SetObject(0, of(c, unknown, over(in, func(it iterator) iterator {
		drawn := s.next()
		return iteratorFunc(func(c *engine.Call) (element, bool, error) {
			for {
				e, ok, err := pull(c, it)
				if err != nil || !ok {
					return nil, false, err
				}
				if philox.Float32(drawn.next()) < rate {
					return e, true, nil
				}
			}
		})
	})))
	return nil
}

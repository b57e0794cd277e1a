package sparse

import (
	"fmt"
	"sync"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of AddSparseToTensorsMap, AddManySparseToTensorsMap and
// TakeManySparseFromTensorsMap.

// tensorsMap stores sparse tensors between the op that adds them and the one
// that takes them, each under a number. It is safe for concurrent use.
type tensorsMap struct {
	mu   sync.Mutex
	next int64
	list map[int64]part
}

// mapOf returns the instance's map with the names of the node's attributes.
// Without a shared name it has the node's name.
func mapOf(c *engine.Call, n *engine.Node) (*tensorsMap, error) {
	name := n.Attrs.String("shared_name", "")
	if name == "" {
		name = n.Name
	}
	o, err := c.Instance().Resource(engine.ResourceKey{Kind: "sparse tensors", Container: n.Attrs.String("container", ""), Name: name}, func() (any, error) {
		return &tensorsMap{list: map[int64]part{}}, nil
	})
	if err != nil {
		return nil, err
	}
	return o.(*tensorsMap), nil
}

// add stores tensors and returns their numbers. Tensors with values get the
// first numbers. This order is TensorFlow's.
func (t *tensorsMap) add(list []part) []int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]int64, len(list))
	for _, empty := range []bool{false, true} {
		for i, p := range list {
			if (p[1].Len() == 0) != empty {
				continue
			}
			for j := range p {
				p[j] = p[j].Clone() // the inputs' memory ends with the call
			}
			out[i] = t.next
			t.list[t.next] = p
			t.next++
		}
	}
	return out
}

// take removes the tensors with these numbers from the map, and returns them.
// After an error the map is unchanged.
func (t *tensorsMap) take(handles []int64) ([]part, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]part, len(handles))
	for i, h := range handles {
		p, ok := t.list[h]
		if !ok {
			return nil, fmt.Errorf("there is no sparse tensor %d in the map, or it was taken already", h)
		}
		out[i] = p
	}
	for _, h := range handles {
		delete(t.list, h)
	}
	return out, nil
}

// addToMap stores a sparse tensor or, if many is set, one for each index of the
// first dimension.
func addToMap(many bool) func(*engine.Node) (func(*engine.Call) error, error) {
	return func(n *engine.Node) (func(*engine.Call) error, error) {
		return func(c *engine.Call) error {
			if err := c.Need(3); err != nil {
				return err
			}
			m, err := input(c, 0, 1, 2)
			if err == nil {
				err = m.check()
			}
			if err != nil {
				return err
			}
			list := []part{{c.In(0), c.In(1), c.In(2)}}
			if many {
				if list, err = rowsOf(c); err != nil {
					return err
				}
			}
			t, err := mapOf(c, n)
			if err != nil {
				return err
			}
			handles := t.add(list)
			if many {
				c.Set(0, tensor.Vector(handles...))
			} else {
				c.Set(0, tensor.Scalar(handles[0]))
			}
			return nil
		}, nil
	}
}

// takeFromMap joins the sparse tensors with the numbers in a vector.
func takeFromMap(n *engine.Node) (func(*engine.Call) error, error) {
	d := n.Attrs.Type("dtype", tensor.Invalid)
	return func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		in := c.In(0)
		if in.DType() != tensor.Int64 || len(in.Shape()) != 1 {
			return fmt.Errorf("takes a vector of int64, not %v%v", in.DType(), in.Shape())
		}
		t, err := mapOf(c, n)
		if err != nil {
			return err
		}
		list, err := t.take(tensor.Values[int64](in))
		if err != nil {
			return err
		}
		return join(c, list, tensor.Shape{len(list)}, d)
	}, nil
}

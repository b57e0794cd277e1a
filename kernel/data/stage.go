package data

import (
	"fmt"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of Stage, Unstage, MapStage, OrderedMapStage and the ops on their
// areas.

// staged returns the kernels of staging areas, which nodes name by attributes.
func staged() []engine.Kernel {
	table := []engine.Kernel{
		{Op: "Stage", Prepare: stage(func(c *engine.Call, q *Queue) error {
			e := owned(c, 0, c.NumIn())
			if err := q.accepts(e); err != nil {
				return err
			}
			return q.put(c, e)
		})},
		{Op: "Unstage", Prepare: stage(func(c *engine.Call, q *Queue) error {
			es, err := q.get(c, 1, false)
			if err != nil {
				return err
			}
			return giveAll(c, es[0])
		})},
		{Op: "StagePeek", Prepare: stage(peekStage)},
		{Op: "StageSize", Prepare: stage(func(c *engine.Call, q *Queue) error {
			q.mu.Lock()
			defer q.mu.Unlock()
			c.Set(0, tensor.Scalar(int32(q.items.len())))
			return nil
		})},
		{Op: "StageClear", Prepare: stage(func(_ *engine.Call, q *Queue) error {
			q.mu.Lock()
			defer q.mu.Unlock()
			q.items, q.bytes = new(fifo), 0
			q.change()
			return nil
		})},
	}
	for _, prefix := range []string{"", "Ordered"} {
		for _, k := range []struct {
			name string
			run  func(*engine.Call, *stagedMap) error
		}{
			{"MapStage", putInMap}, {"MapUnstage", takeFromMap}, {"MapUnstageNoKey", takeAnyFromMap}, {"MapPeek", peekMap},
			{"MapSize", func(c *engine.Call, m *stagedMap) error { return m.size(c, true) }},
			{"MapIncompleteSize", func(c *engine.Call, m *stagedMap) error { return m.size(c, false) }},
			{"MapClear", clearMap},
		} {
			table = append(table, engine.Kernel{Op: prefix + k.name, Prepare: inMap(prefix, k.run)})
		}
	}
	return table
}

// area returns the key of a node's staging area: its shared name, or the node's
// name if it has none.
func area(kind string, n *engine.Node) engine.ResourceKey {
	name := n.Attrs.String("shared_name", "")
	if name == "" {
		name = n.Name
	}
	return engine.ResourceKey{Kind: kind, Container: n.Attrs.String("container", ""), Name: name}
}

// giveAll sets the outputs to the components.
func giveAll(c *engine.Call, e element) error {
	for i, v := range e {
		c.Refs().Output(i, v)
	}
	return nil
}

// stage prepares an op of a staging area, which is a queue.
func stage(run func(*engine.Call, *Queue) error) func(*engine.Node) (func(*engine.Call) error, error) {
	return func(n *engine.Node) (func(*engine.Call) error, error) {
		key, types := area("staging area", n), n.Attrs.Types("dtypes")
		capacity := n.Attrs.Int("capacity", 0)
		if capacity <= 0 {
			capacity = -1
		}
		return func(c *engine.Call) error {
			o, err := c.Instance().Resource(key, func() (any, error) {
				return &Queue{kind: "staging area", name: key.Name, types: types, capacity: capacity, items: new(fifo), changed: make(chan struct{})}, nil
			})
			if err != nil {
				return err
			}
			q := o.(*Queue)
			if !slices.Equal(q.types, types) {
				return fmt.Errorf("the staging area %q holds %v, not %v", key.Name, q.types, types)
			}
			return run(c, q)
		}, nil
	}
}

// peekStage returns the element at an index as soon as it exists. The element
// stays.
func peekStage(c *engine.Call, q *Queue) error {
	at, err := intIn(c, 0, "the index")
	if err != nil {
		return err
	}
	if at < 0 {
		return fmt.Errorf("the index is %d", at)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.items.len() <= at {
		if err := q.wait(c.Context(), "has too few elements"); err != nil {
			return err
		}
	}
	return giveAll(c, (*q.items.(*fifo))[at])
}

// stagedMap is a staging area whose elements have keys; their components may come
// and go one by one. It is safe for use from many goroutines.
type stagedMap struct {
	q       *Queue            // has the lock, the types, the capacity and the bytes of all keys, but no elements
	whole   map[int64]element // complete, but for components that were taken; a zero Value is none
	partial map[int64]element
}

// inMap prepares an op of a staging map. prefix is Ordered or empty, and
// separates the areas of the two kinds.
func inMap(prefix string, run func(*engine.Call, *stagedMap) error) func(*engine.Node) (func(*engine.Call) error, error) {
	return func(n *engine.Node) (func(*engine.Call) error, error) {
		key, types := area(prefix+"staging map", n), n.Attrs.Types("dtypes")
		capacity := n.Attrs.Int("capacity", 0)
		return func(c *engine.Call) error {
			o, err := c.Instance().Resource(key, func() (any, error) {
				q := &Queue{kind: "staging map", name: key.Name, types: types, capacity: capacity, changed: make(chan struct{})}
				return &stagedMap{q: q, whole: map[int64]element{}, partial: map[int64]element{}}, nil
			})
			if err != nil {
				return err
			}
			m := o.(*stagedMap)
			if !slices.Equal(m.q.types, types) {
				return fmt.Errorf("the staging map %q holds %v, not %v", key.Name, m.q.types, types)
			}
			m.q.mu.Lock()
			defer m.q.mu.Unlock()
			return run(c, m)
		}, nil
	}
}

// indices returns the components that input i lists.
func (m *stagedMap) indices(c *engine.Call, i int) ([]int, error) {
	t := c.In(i)
	if t == nil || t.DType() != tensor.Int32 || len(t.Shape()) != 1 {
		return nil, fmt.Errorf("the indices aren't a vector of int32")
	}
	var out []int
	for _, k := range tensor.Values[int32](t) {
		if k < 0 || int(k) >= len(m.q.types) || slices.Contains(out, int(k)) {
			return nil, fmt.Errorf("index %d is none of the %d components, or comes twice", k, len(m.q.types))
		}
		out = append(out, int(k))
	}
	return out, nil
}

func present(v engine.Value) bool { return v.Tensor != nil || v.Object != nil }

// putInMap adds components to a key. A key whose last component comes waits for
// room.
func putInMap(c *engine.Call, m *stagedMap) error {
	key, err := intIn(c, 0, "the key")
	if err != nil {
		return err
	}
	at, err := m.indices(c, 1)
	if err != nil {
		return err
	}
	if len(at) != c.NumIn()-2 || len(at) == 0 {
		return fmt.Errorf("there are %d indices for %d values", len(at), c.NumIn()-2)
	}
	var next element
	var whole bool
	for {
		if next, err = m.joined(c, key, at); err != nil {
			return err
		}
		whole = !slices.ContainsFunc(next, func(v engine.Value) bool { return !present(v) })
		if !whole || m.q.capacity <= 0 || int64(len(m.whole)) < m.q.capacity {
			break
		}
		// Another call may add the same key or component meanwhile.
		if err := m.q.wait(c.Context(), "is full"); err != nil {
			return err
		}
	}
	var added int64
	for _, k := range at {
		added += bytesOf(next[k : k+1])
	}
	keys := int64(len(m.whole) + len(m.partial) + 1)
	if err := c.Afford(m.q.bytes + added + keys*(64+int64(len(m.q.types))*int64(engine.ValueSize))); err != nil {
		return err
	}
	for i, k := range at {
		next[k] = own(c, 2+i)
	}
	m.q.bytes += added
	if !whole {
		m.partial[key] = next
		return nil
	}
	delete(m.partial, key)
	m.whole[key] = next
	m.q.change()
	return nil
}

// joined returns the components of a key that isn't complete, with those from input
// 2 on, whose indices are at. The latter still belong to the op.
func (m *stagedMap) joined(c *engine.Call, key int64, at []int) (element, error) {
	if _, known := m.whole[key]; known {
		return nil, fmt.Errorf("the key %d is in the staging map already", key)
	}
	next := make(element, len(m.q.types))
	copy(next, m.partial[key])
	for i, k := range at {
		v := c.Input(2 + i)
		if v.DType() != m.q.types[k] || present(next[k]) {
			return nil, fmt.Errorf("component %d of key %d is %v, not %v, or is there already", k, key, v.DType(), m.q.types[k])
		}
		next[k] = v
	}
	return next, nil
}

// pick sets outputs from a given one on to components of a key. With take, it
// removes them, and the key with the last.
func (m *stagedMap) pick(c *engine.Call, key int64, at []int, from int, take bool) error {
	e := slices.Clone(m.whole[key])
	for _, k := range at {
		if !present(e[k]) {
			return fmt.Errorf("component %d of key %d was taken", k, key)
		}
	}
	for i, k := range at {
		c.Refs().Output(from+i, e[k])
		if take {
			m.q.bytes -= bytesOf(e[k : k+1])
			e[k] = engine.Value{}
		}
	}
	if !take {
		return nil
	}
	if m.whole[key] = e; slices.IndexFunc(e, present) < 0 {
		delete(m.whole, key)
	}
	m.q.change()
	return nil
}

// keyed returns the components of the key in input 0 as soon as it is complete.
func (m *stagedMap) keyed(c *engine.Call, take bool) error {
	key, err := intIn(c, 0, "the key")
	if err != nil {
		return err
	}
	at, err := m.indices(c, 1)
	if err != nil {
		return err
	}
	for m.whole[key] == nil {
		if err := m.q.wait(c.Context(), fmt.Sprintf("has no key %d", key)); err != nil {
			return err
		}
	}
	return m.pick(c, key, at, 0, take)
}

func takeFromMap(c *engine.Call, m *stagedMap) error { return m.keyed(c, true) }
func peekMap(c *engine.Call, m *stagedMap) error     { return m.keyed(c, false) }

// takeAnyFromMap takes the smallest key. TensorFlow promises any key for
// MapStage and the smallest one for OrderedMapStage.
func takeAnyFromMap(c *engine.Call, m *stagedMap) error {
	at, err := m.indices(c, 0)
	if err != nil {
		return err
	}
	for len(m.whole) == 0 {
		if err := m.q.wait(c.Context(), "is empty"); err != nil {
			return err
		}
	}
	first := true
	var key int64
	for k := range m.whole {
		if first || k < key {
			key, first = k, false
		}
	}
	if err := m.pick(c, key, at, 1, true); err != nil {
		return err
	}
	c.Set(0, tensor.Scalar(key))
	return nil
}

func (m *stagedMap) size(c *engine.Call, whole bool) error {
	n := len(m.partial)
	if whole {
		n = len(m.whole)
	}
	c.Set(0, tensor.Scalar(int32(n)))
	return nil
}

func clearMap(_ *engine.Call, m *stagedMap) error {
	clear(m.whole)
	clear(m.partial)
	m.q.bytes = 0
	m.q.change()
	return nil
}

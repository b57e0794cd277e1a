package engine

import (
	"sync/atomic"

	"github.com/cairnml/cairn/tensor"
)

// The next call reuses objects that kernels make in each call besides tensors,
// and data that they compute from shapes. Calls of one signature mostly have the
// same shapes.

const (
	maxValues = 1 << 12 // values of a slice that an arena keeps
	maxSlices = 32      // slices that it keeps
	maxRows   = 1 << 12 // rows that a buffer keeps views of
)

// Fits checks that n parts of size bytes each are within the limit of the call.
// A kernel calls it before it makes a number of objects that depends on its
// inputs. If they exceed the limit, Fits does not return; see [Call.Scratch].
func (c *Call) Fits(n, size int) {
	if n < 0 || n > maxBytes/max(size, 1) {
		n, size = 1, maxBytes
	}
	if err := c.env.affordScratch(n * size); err != nil {
		panic(refusal{err})
	}
}

func (a *Arena) takeValues(n int) []Value {
	if a != nil && n <= maxValues {
		for i := len(a.values) - 1; i >= 0; i-- {
			if vs := a.values[i]; cap(vs) >= n {
				last := len(a.values) - 1
				a.values[i], a.values[last] = a.values[last], nil
				a.values = a.values[:last]
				return vs[:n]
			}
		}
	}
	return make([]Value, n)
}

// ReleaseAll releases the references of vs, and the slice itself, which the
// caller must not use any more. A later call of [Refs.Values] returns it again.
func (a *Arena) ReleaseAll(vs []Value) {
	for _, v := range vs {
		a.Release(v)
	}
	if a == nil || cap(vs) == 0 || cap(vs) > maxValues || len(a.values) >= maxSlices {
		return
	}
	clear(vs[:cap(vs)])
	a.values = append(a.values, vs[:0])
}

// sees reports whether the buffer has views of the rows of t, which is in its
// memory.
func (b *Buffer) sees(t *tensor.Tensor) bool {
	if b == nil || len(b.rows) == 0 || len(t.Bytes()) == 0 {
		return false
	}
	s, r := t.Shape(), b.rows[0]
	return len(b.rows) == s[0] && r.DType() == t.DType() && r.Shape().Equal(s[1:]) && &r.Bytes()[0] == &t.Bytes()[0]
}

// memo is data that a kernel remembers for the calls of a node.
type memo struct{ last atomic.Pointer[any] }

// Last returns the last argument of [Node.Remember], or nil.
func (n *Node) Last() any {
	if v := n.memo.last.Load(); v != nil {
		return *v
	}
	return nil
}

// Remember stores data that a kernel computed from a call's shapes, for later
// calls with the same shapes. Many goroutines may read it, so it must not
// change. A later call has to compare the shapes.
func (n *Node) Remember(v any) { n.memo.last.Store(&v) }

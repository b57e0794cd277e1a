package text

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernel of Substr.

// substr returns parts of strings, by bytes or characters. Positions and
// lengths broadcast with the strings.
func substr(n *engine.Node) (func(*engine.Call) error, error) {
	chars, err := unit(n)
	if err != nil {
		return nil, err
	}
	part := partOfBytes
	if chars {
		part = partOfChars
	}
	return func(c *engine.Call) error {
		if err := c.Need(3); err != nil {
			return err
		}
		in, err := texts(c, 0)
		if err != nil {
			return err
		}
		pos, err := shapes.AllInts(c.In(1), "the positions")
		if err != nil {
			return err
		}
		lens, err := shapes.AllInts(c.In(2), "the lengths")
		if err != nil {
			return err
		}
		if !c.In(1).Shape().Equal(c.In(2).Shape()) {
			return fmt.Errorf("the positions have shape %v, the lengths %v", c.In(1).Shape(), c.In(2).Shape())
		}
		dims, err := shape.Broadcast(c.In(0).Shape(), c.In(1).Shape())
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, tensor.String, dims)
		if err != nil {
			return err
		}
		a, b := newStretch(c.In(0).Shape(), dims), newStretch(c.In(1).Shape(), dims)
		pace := engine.NewPace(c)
		for i := range out.Strings() {
			k := b.at(i)
			pace.Work(len(in[a.at(i)]) + 64)
			s, ok := part(in[a.at(i)], pos[k], lens[k])
			if !ok {
				return fmt.Errorf("position %d is outside of the string of %d bytes at index %d", pos[k], len(in[a.at(i)]), i)
			}
			out.Strings()[i] = s
		}
		return nil
	}, nil
}

// stretch maps an index of a broadcast result to the index of the tensor's element there.
type stretch struct {
	dims, steps []int
	same        bool
}

// newStretch returns the stretch of a tensor of shape s to a larger one.
func newStretch(s, to tensor.Shape) stretch {
	return stretch{dims: to, steps: shapes.BroadcastStrides(s, to), same: s.Equal(to)}
}

// at returns the index in the tensor for element i of the result.
func (st *stretch) at(i int) int {
	if st.same {
		return i
	}
	k := 0
	for d := len(st.dims) - 1; d >= 0; d-- {
		k += i % st.dims[d] * st.steps[d]
		i /= st.dims[d]
	}
	return k
}

// partOfBytes returns n bytes of s from pos on; a negative pos counts from the end,
// a negative n means all.
func partOfBytes(s string, pos, n int64) (string, bool) {
	if pos < 0 {
		pos += int64(len(s))
	}
	if pos < 0 || pos > int64(len(s)) {
		return "", false
	}
	s = s[pos:]
	if n >= 0 && n < int64(len(s)) {
		s = s[:n]
	}
	return s, true
}

// partOfChars returns n characters of s from character pos on. A negative pos
// counts from the end, and a negative n means none, unlike in partOfBytes.
func partOfChars(s string, pos, n int64) (string, bool) {
	if pos < 0 {
		if pos += int64(countChars(s)); pos < 0 {
			return "", false
		}
	}
	from, ok := skipChars(s, pos)
	if !ok {
		return "", false
	}
	to, _ := skipChars(s[from:], n)
	return s[from : from+to], true
}

// skipChars returns the offset after n characters, and whether there are so
// many.
func skipChars(s string, n int64) (int, bool) {
	i := 0
	for ; n > 0 && i < len(s); n-- {
		for i++; i < len(s) && trails(s[i]); i++ {
		}
	}
	return i, n <= 0
}

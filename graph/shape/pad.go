package shape

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// padRules returns the rules of padding and of its gradient.
func padRules() map[string]Rule {
	return map[string]Rule{
		"Pad": pad, "PadV2": pad, "MirrorPad": pad, "MirrorPadGrad": padGrad,
	}
}

// Paddings reads the numbers of elements before and after each dimension of a
// tensor of rank n, from the elements of a matrix of shape s. Each is 1<<40 at most. This
// limit is Cairn's: it keeps sums of paddings from overflowing.
func Paddings(v []int64, s tensor.Shape, n int) ([][2]int, error) {
	if len(s) != 2 || s[0] != n || s[1] != 2 {
		return nil, fmt.Errorf("the paddings have shape %v, not [%d,2]", s, n)
	}
	out := make([][2]int, n)
	for i := range out {
		b, e := v[2*i], v[2*i+1]
		if b < 0 || e < 0 || b > 1<<40 || e > 1<<40 || b != int64(int(b)) || e != int64(int(e)) {
			return nil, fmt.Errorf("dimension %d has the paddings %d and %d", i, b, e)
		}
		out[i] = [2]int{int(b), int(e)}
	}
	return out, nil
}

// Pad returns the shape of a padded tensor. A negative size of s is unknown; a padding
// makes another unknown size of it.
func Pad(s tensor.Shape, paddings [][2]int) (tensor.Shape, error) {
	out := make(tensor.Shape, len(s))
	for i, n := range s {
		both, err := AddDims(paddings[i][0], paddings[i][1])
		if err != nil {
			return nil, err
		}
		if out[i], err = AddDims(n, both); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Unpad returns the shape of a tensor without its paddings. Unknown sizes are as in [Pad].
func Unpad(s tensor.Shape, paddings [][2]int) (tensor.Shape, error) {
	out := make(tensor.Shape, len(s))
	for i, n := range s {
		d, err := SubDims(n, paddings[i][0]+paddings[i][1])
		if err != nil {
			return nil, fmt.Errorf("dimension %d of size %d is smaller than its paddings", i, n)
		}
		out[i] = d
	}
	return out, nil
}

// MirrorSkip returns 1 if a mode of MirrorPad doesn't repeat the border, or 0
// if it does.
func MirrorSkip(mode string) (int, error) {
	switch mode {
	case "REFLECT":
		return 1, nil
	case "SYMMETRIC":
		return 0, nil
	}
	return 0, fmt.Errorf("mode %q is neither REFLECT nor SYMMETRIC", mode)
}

// Mirror checks that a tensor of shape s has enough elements to mirror for its
// paddings. skip is the result of [MirrorSkip]. Unknown sizes aren't checked.
func Mirror(s tensor.Shape, paddings [][2]int, skip int) error {
	for d, n := range s {
		if most := n - skip; n >= 0 && (paddings[d][0] > most || paddings[d][1] > most) {
			return fmt.Errorf("dimension %d of size %d can be padded by %d at most, not by %d and %d", d, n, most, paddings[d][0], paddings[d][1])
		}
	}
	return nil
}

// padded returns the shape of input 0 and the paddings, if they are known. An
// unknown rank follows from the paddings.
func (c *Inference) padded() (s graph.PartialShape, paddings [][2]int, err error) {
	if err := c.atLeast(2); err != nil {
		return s, nil, err
	}
	ps, err := c.ranked(1, 2)
	if err != nil {
		return s, nil, fmt.Errorf("the paddings: %w", err)
	}
	s = c.shape(0)
	if !s.HasRank() && ps.Dim(0) >= 0 {
		s = graph.OfRank(ps.Dim(0))
	}
	if !s.HasRank() {
		return s, nil, nil
	}
	if _, err := ps.Merge(graph.ShapeOf(s.Rank(), 2)); err != nil {
		return s, nil, fmt.Errorf("the paddings have shape %v, not [%d,2]", ps, s.Rank())
	}
	if v, ok := c.knownInts(1); ok {
		paddings, err = Paddings(v, tensor.Shape{s.Rank(), 2}, s.Rank())
	}
	return s, paddings, err
}

func pad(c *Inference) error { return c.resized(Pad) }

func padGrad(c *Inference) error { return c.resized(Unpad) }

// resized sets output 0 to the shape that f makes of input 0 and the paddings, or to the
// rank alone if they are unknown. For mirrored padding it also checks the sizes.
func (c *Inference) resized(f func(tensor.Shape, [][2]int) (tensor.Shape, error)) error {
	s, paddings, err := c.padded()
	if err != nil || !s.HasRank() {
		return err
	}
	if paddings == nil && s.Rank() > 0 {
		c.set(0, graph.OfRank(s.Rank()))
		return nil
	}
	out, err := f(s.Dims(), paddings)
	if err != nil {
		return err
	}
	c.setDims(0, out...)
	switch c.Op {
	case "MirrorPad", "MirrorPadGrad":
		skip, err := MirrorSkip(c.Attrs.String("mode", "REFLECT"))
		if err != nil {
			return err
		}
		inner := s.Dims()
		if c.Op == "MirrorPadGrad" {
			inner = out
		}
		return Mirror(inner, paddings, skip)
	}
	return nil
}

package text

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The n-grams of StringNGrams: its kernel in split.go reads the attributes and calls run.
// UnicodeEncode uses checkSplits too.

// errWidth returns the error for a width below 1 (split.go) or above maxGram.
func errWidth(w int64) error { return fmt.Errorf("an n-gram of %d strings", w) }

// grams has the attributes of StringNGrams.
type grams struct {
	sep, left, right string
	pad              int64 // pad_width; -1: width-1, so that each string is once the first of an n-gram, and once the last
	widths           []int64
	short            bool // preserve_short_sequences: a row that is too short for any n-gram becomes one
}

// padding returns the number of pads at each end of a row for n-grams of a
// width.
func (g *grams) padding(width int64) int64 {
	if g.pad < 0 {
		return width - 1
	}
	return min(g.pad, width-1)
}

// count returns the number of n-grams of a row.
func (g *grams) count(length, width int64) int64 {
	return max(0, length+2*g.padding(width)-width+1)
}

// maxGram bounds the strings of one n-gram, pads included. The limit is Cairn's, not TensorFlow's.
const maxGram = 1 << 20

// run sets the outputs to the n-grams of rows and to their splits. The n-grams
// of a row are ordered by ngram_widths, then by place.
func (g *grams) run(c *engine.Call, in []string, splits []int64) error {
	if err := checkSplits(splits, len(in)); err != nil {
		return err
	}
	for _, w := range g.widths {
		if w > maxGram {
			return errWidth(w)
		}
	}
	if g.pad > maxGram {
		return fmt.Errorf("pads %d strings wide", g.pad)
	}
	if len(splits) == 0 || len(in) == 0 { // as many empty strings as values, and the same splits, as in TensorFlow
		if _, err := c.AllocZero(0, tensor.String, tensor.Shape{len(in)}); err != nil {
			return err
		}
		c.Pass(1, 1)
		return nil
	}
	ends := make([]int64, len(splits))
	var out []string
	room := budget{c: c}
	for i := 1; i < len(splits); i++ {
		row := in[splits[i-1]:splits[i]]
		before := len(out)
		var err error
		for _, w := range g.widths {
			if out, err = g.row(&room, out, row, w, g.count(int64(len(row)), w)); err != nil {
				return err
			}
		}
		if g.short && len(row) > 0 && len(out) == before {
			if out, err = g.row(&room, out, row, int64(len(row))+2*max(g.pad, 0), 1); err != nil {
				return err
			}
		}
		ends[i] = int64(len(out))
	}
	t, err := tensor.FromStrings(tensor.String, out, len(out))
	if err != nil {
		return err
	}
	c.Set(0, t)
	return shapes.SetInts(c, 1, c.In(1).DType(), ends)
}

// row appends the first n n-grams of a row.
func (g *grams) row(room *budget, out, row []string, width, n int64) ([]string, error) {
	pad := g.padding(width)
	var text []byte
	for i := range n {
		room.c.Check()
		left := max(0, pad-i)
		right := max(0, pad-(n-i-1))
		from := max(0, i-pad)
		size := 16 + left*int64(len(g.left)) + right*int64(len(g.right)) + (width-1)*int64(len(g.sep)) // bytes, 16 of them for the string itself
		for k := from; k < from+width-left-right; k++ {
			size += int64(len(row[k]))
		}
		if err := room.take(int(size)); err != nil {
			return nil, err
		}
		text = text[:0]
		parts := int64(0)
		add := func(s string) {
			if parts++; parts > 1 {
				text = append(text, g.sep...)
			}
			text = append(text, s...)
		}
		for range left {
			add(g.left)
		}
		for k := from; k < from+width-left-right; k++ {
			add(row[k])
		}
		for range right {
			add(g.right)
		}
		out = append(out, string(text))
	}
	return out, nil
}

// checkSplits checks that row splits begin with 0, never fall and end with n.
func checkSplits(splits []int64, n int) error {
	for i, s := range splits {
		if i == 0 && s != 0 || i > 0 && s < splits[i-1] || s > int64(n) {
			return fmt.Errorf("the splits %d don't divide %d values", splits[max(0, i-1):i+1], n)
		}
	}
	if len(splits) > 0 && splits[len(splits)-1] != int64(n) {
		return fmt.Errorf("the splits end with %d, there are %d values", splits[len(splits)-1], n)
	}
	return nil
}

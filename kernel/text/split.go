package text

import (
	"fmt"
	"strings"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/number"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of StringSplit, StringSplitV2 and StringNGrams.

// splitV1 splits at every character of the delimiter. An empty delimiter splits
// a text into its characters. Characters here are bytes, as in TensorFlow.
func splitV1(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	delimiter, err := one(c, 1, "the delimiter")
	if err != nil {
		return err
	}
	as := c.Attrs()
	skip := !as.Has("skip_empty") || as.Bool("skip_empty")
	return splitWith(c, func(dst []string, s string) []string {
		if delimiter == "" {
			for i := range len(s) {
				dst = appendPart(c, dst, s[i:i+1])
			}
			return dst
		}
		if s == "" {
			return dst
		}
		for {
			i := indexByte(s, delimiter)
			part := s
			if i >= 0 {
				part = s[:i]
			}
			if !skip || part != "" {
				dst = appendPart(c, dst, part)
			}
			if i < 0 {
				return dst
			}
			s = s[i+1:]
		}
	})
}

// indexByte returns the index of the first byte in s that is one of bytes, -1
// if there is none.
func indexByte(s, bytes string) int {
	for i := range len(s) {
		if strings.IndexByte(bytes, s[i]) >= 0 {
			return i
		}
	}
	return -1
}

// splitV2 splits at a separator as a whole; an empty one splits at runs of white
// space.
func splitV2(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	sep, err := one(c, 1, "the separator")
	if err != nil {
		return err
	}
	most := c.Attrs().Int("maxsplit", -1)
	return splitWith(c, func(dst []string, s string) []string {
		n := most
		if n == 0 {
			return appendPart(c, dst, s)
		}
		if sep == "" {
			return splitSpaces(c, dst, s, n)
		}
		for ; n != 0; n-- {
			i := strings.Index(s, sep)
			if i < 0 {
				break
			}
			dst = appendPart(c, dst, s[:i])
			s = s[i+len(sep):]
		}
		return appendPart(c, dst, s)
	})
}

// spaces are the bytes of white space.
var spaces = func() (is [256]bool) {
	for _, c := range []byte(number.Space) {
		is[c] = true
	}
	return is
}()

// splitSpaces splits at runs of white space, up to n times unless n is
// negative. The last part is then the rest of the text, which may be empty.
func splitSpaces(c *engine.Call, dst []string, s string, n int64) []string {
	i := 0
	for {
		for i < len(s) && spaces[s[i]] {
			i++
		}
		if n == 0 {
			return appendPart(c, dst, s[i:])
		}
		if i == len(s) {
			return dst
		}
		begin := i
		for i < len(s) && !spaces[s[i]] {
			i++
		}
		dst = appendPart(c, dst, s[begin:i])
		n--
	}
}

// appendPart appends a part, and counts the memory of many.
func appendPart(c *engine.Call, dst []string, part string) []string {
	if len(dst) == cap(dst) && len(dst) >= 1<<10 {
		c.Check()
		c.Reserve(16 * len(dst))
	}
	return append(dst, part)
}

// splitWith makes a sparse matrix of the parts of a vector of strings.
func splitWith(c *engine.Call, split func(dst []string, s string) []string) error {
	in, err := texts(c, 0)
	if err != nil {
		return err
	}
	if r := c.In(0).Rank(); r > 1 {
		return fmt.Errorf("takes a vector of strings, not %d dimensions", r)
	}
	var parts []string
	ends := make([]int, len(in))
	widest := 0
	for i, s := range in {
		before := len(parts)
		parts = split(parts, s)
		ends[i] = len(parts)
		widest = max(widest, ends[i]-before)
		if err := c.Afford(int64(len(parts)) * 32); err != nil {
			return err
		}
	}
	at, err := c.Alloc(0, tensor.Int64, tensor.Shape{len(parts), 2})
	if err != nil {
		return err
	}
	v := tensor.Values[int64](at)
	k := 0
	for i, end := range ends {
		for j := 0; k < end; j++ {
			v[2*k], v[2*k+1] = int64(i), int64(j)
			k++
		}
	}
	values, err := tensor.FromStrings(tensor.String, parts, len(parts))
	if err != nil {
		return err
	}
	c.Set(1, values)
	c.Set(2, tensor.Vector(int64(len(in)), int64(widest)))
	return nil
}

// ngrams makes n-grams of rows of strings, padded at both ends.
func ngrams(n *engine.Node) (func(*engine.Call) error, error) {
	as := n.Attrs
	g := grams{sep: as.String("separator", ""), left: as.String("left_pad", ""), right: as.String("right_pad", ""),
		pad: as.Int("pad_width", 0), widths: as.Ints("ngram_widths"), short: as.Bool("preserve_short_sequences")}
	for _, w := range g.widths {
		if w < 1 {
			return nil, errWidth(w)
		}
	}
	return func(c *engine.Call) error {
		if err := c.Need(2); err != nil {
			return err
		}
		in, err := texts(c, 0)
		if err != nil {
			return err
		}
		splits, err := shapes.Ints(c.In(1), "the splits")
		if err != nil {
			return err
		}
		return g.run(c, in, splits)
	}, nil
}

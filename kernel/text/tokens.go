package text

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// The kernel of RegexSplitWithOffsets, an op of TensorFlow Text.

// pieces are parts of texts, with their beginnings and ends in bytes.
type pieces struct {
	texts      []string
	begin, end []int64
	room       budget
}

// add appends a piece from byte begin to byte end.
func (p *pieces) add(s string, begin, end int) error {
	p.texts, p.begin, p.end = append(p.texts, s), append(p.begin, int64(begin)), append(p.end, int64(end))
	return p.room.take(len(s) + 16)
}

// regexSplit splits texts at the first group of a pattern. A delimiter that
// another pattern matches is a part, too.
func regexSplit(n *engine.Node) (func(*engine.Call) error, error) {
	delimiter, keep := compilePattern, compileWhole
	if re, err := constant(n, 1, compilePattern); re != nil || err != nil {
		delimiter = func(string) (*pattern, error) { return re, err }
	}
	if re, err := constant(n, 2, compileWhole); re != nil || err != nil {
		keep = func(string) (*pattern, error) { return re, err }
	}
	keepSome := func(expression string) (*pattern, error) {
		if expression == "" {
			return nil, nil // not even an empty delimiter is a part
		}
		return keep(expression)
	}
	return func(c *engine.Call) error {
		if err := c.Need(3); err != nil {
			return err
		}
		in, err := texts(c, 0)
		if err != nil {
			return err
		}
		var re [2]*pattern
		for i, compile := range []func(string) (*pattern, error){delimiter, keepSome} {
			expression, err := one(c, 1+i, "the pattern")
			if err == nil {
				re[i], err = compileUntilDone(c, expression, compile)
			}
			if err != nil {
				return err
			}
		}
		p := pieces{room: budget{c: c}}
		splits := make([]int64, 1, len(in)+1)
		for _, s := range in {
			if err := p.split(s, re[0], re[1]); err != nil {
				return err
			}
			splits = append(splits, int64(len(p.texts)))
		}
		c.Set(0, tensor.Vector(p.texts...))
		c.Set(1, tensor.Vector(p.begin...))
		c.Set(2, tensor.Vector(p.end...))
		c.Set(3, tensor.Vector(splits...))
		return nil
	}, nil
}

// split adds the parts of a text.
func (p *pieces) split(s string, delimiter, keep *pattern) error {
	rest, from := 0, 0 // rest is the text still to search, from the start of the next part
	for delimiter.NumSubexp() > 0 {
		// The pattern sees the rest only: a line begins there.
		m := delimiter.first(p.room.c, s[rest:])
		if m == nil {
			break
		}
		at, end := rest+m[2], rest+m[3]
		if m[2] < 0 {
			at, end = from, from // the group isn't part of the match
		}
		if m[1] == 0 {
			return fmt.Errorf("the pattern %v matches nothing at byte %d: the text has no end of parts", delimiter, rest)
		}
		rest += m[1]
		if at > from {
			if err := p.add(s[from:at], from, at); err != nil {
				return err
			}
		}
		from = rest
		if keep != nil && keep.matches(p.room.c, s[at:end]) {
			if err := p.add(s[at:end], at, end); err != nil {
				return err
			}
		}
	}
	if rest < len(s) {
		return p.add(s[rest:], rest, len(s))
	}
	return nil
}

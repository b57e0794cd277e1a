package text

import (
	"fmt"
	"strings"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/summary"
	"github.com/cairnml/cairn/tensor"
)

// The kernel of StringFormat.

// shown returns how many elements of a tensor are written if at most so many stand at each
// end of a dimension; -1 is all.
func shown(s tensor.Shape, most int64) int64 {
	n := int64(1)
	for _, d := range s {
		if most >= 0 {
			d = int(min(int64(d), 2*min(most, 1<<40)))
		}
		n *= int64(d)
	}
	return n
}

// format puts the inputs' elements, shortened, in the places of a template.
func format(c *engine.Call) error {
	if err := c.NeedTensors(0); err != nil {
		return err
	}
	as := c.Attrs()
	template, place, most := as.String("template", "%s"), as.String("placeholder", "%s"), as.Int("summarize", 3)
	if place == "" {
		return fmt.Errorf("the placeholder is empty")
	}
	parts := strings.Split(template, place)
	if len(parts) != c.NumIn()+1 {
		return fmt.Errorf("the template has %d places for %d inputs", len(parts)-1, c.NumIn())
	}
	var b strings.Builder
	for i, p := range parts {
		b.WriteString(p)
		if i == c.NumIn() {
			break
		}
		if err := c.Afford(int64(b.Len()) + 2*shown(c.In(i).Shape(), most)); err != nil {
			return err
		}
		text, err := summary.Nested(c.In(i), most, func(int) error { return c.Context().Err() })
		if err != nil {
			return err
		}
		b.WriteString(text)
		if err := c.Afford(int64(b.Len())); err != nil {
			return err
		}
	}
	c.Set(0, tensor.Scalar(b.String()))
	return nil
}

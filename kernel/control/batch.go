package control

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
)

// The kernel of BatchFunction.

// prepareBatch prepares BatchFunction, which in a server joins the rows of
// simultaneous calls. Here each call is one batch, which computes the same
// rows.
func prepareBatch(n *engine.Node) (func(*engine.Call) error, error) {
	f, err := n.Function("f", nil)
	if err != nil {
		return nil, err
	}
	// batched is the number of inputs that have rows; the others are captures.
	// most is the largest number of rows
	batched, most := len(n.Attrs.Types("Tin")), n.Attrs.Int("max_batch_size", 0)
	split := n.Attrs.Bool("enable_large_batch_splitting")
	return func(c *engine.Call) error {
		if c.NumIn() < batched {
			return fmt.Errorf("takes at least %d inputs, %d were given", batched, c.NumIn())
		}
		rows := 0
		for i := range batched {
			t := c.In(i)
			switch {
			case t == nil || len(t.Shape()) == 0:
				return fmt.Errorf("input %d has no rows that could be in a batch", i)
			case i > 0 && t.Shape()[0] != rows:
				return fmt.Errorf("input %d has %d rows, input 0 has %d", i, t.Shape()[0], rows)
			}
			rows = t.Shape()[0]
		}
		if int64(rows) > most && !split {
			return fmt.Errorf("a batch of %d rows is larger than max_batch_size, %d", rows, most)
		}
		return call(c, f, 0)
	}, nil
}

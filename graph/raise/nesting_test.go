package raise

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cairnml/cairn/internal/testkit/processor"
)

// TestNestedConditionals has conditionals in the branches of others. Each has its own
// predicate and is a result of the one around it.
func TestNestedConditionals(t *testing.T) {
	for _, c := range []struct {
		depth  int
		raised bool
	}{{50, true}, {maxNesting + 1, false}, {2500, false}} {
		t.Run(fmt.Sprint(c.depth), func(t *testing.T) {
			var text strings.Builder
			text.WriteString(placeholders + node("s0", "Switch", float, "x", "p"))
			for i := 1; i < c.depth; i++ {
				p, s := fmt.Sprint("p", i), fmt.Sprint("s", i)
				text.WriteString(node(p, "Placeholder", "dtype=type:DT_BOOL") + node(s, "Switch", float, fmt.Sprint("s", i-1, ":1"), p))
			}
			last := "neg"
			text.WriteString(node(last, "Neg", float, fmt.Sprint("s", c.depth-1, ":1")))
			for i := c.depth - 1; i >= 0; i-- {
				m := fmt.Sprint("m", i)
				text.WriteString(node(m, "Merge", float+" N=i:2", fmt.Sprint("s", i), last))
				last = m
			}
			g := parse(t, text.String())
			var problems Problems
			processor.Bound(t, "raising", time.Second, func() { problems = Graph(g) })
			deep := false
			for _, err := range problems {
				deep = deep || strings.HasPrefix(err.Error(), "it is in over 200 conditionals")
			}
			if deep == c.raised || (len(problems) == 0) != c.raised {
				t.Errorf("the problems are %v", problems)
			}
			if raised := g.Lookup("m0").Op == "IdentityN"; raised != c.raised || raised != strings.Contains(ops(g), "If") {
				t.Errorf("the outermost Merge became %s", g.Lookup("m0").Op)
			}
		})
	}
}

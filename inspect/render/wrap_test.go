package render

import (
	"strings"
	"testing"
	"time"

	"github.com/cairnml/cairn/internal/testkit/processor"
)

func TestWrapBreaksAtBlanks(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""}, {"short", "short"}, {"one two three", "one two|three"}, {"muchlongerthanthat", "muchlongerthanthat"},
		{"a muchlongerthanthat b", "a|muchlongerthanthat|b"}, {"ab  cd  ef gh ij", "ab  cd|ef gh|ij"}, {"日本 日本 日本", "日本|日本|日本"},
	} {
		if got := strings.Join(Wrap(c.in, 8), "|"); got != c.want {
			t.Errorf("%q became %q, want %q", c.in, got, c.want)
		}
	}
}

func TestBreakKeepsEveryLetter(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""}, {"12345678", "12345678"}, {"123456789abcdefgh", "12345678|9abcde|fgh"}, {"ab/cdef/ghij/k", "ab/cdef/|ghij/k"},
		{"a/bcdefghij", "a/bcdefg|hij"}, {"[10,20,30,40]", "[10,20,|30,40]"}, {"模型模型模型", "模型模型|模型"}, {"abcdefge\u0301fg", "abcdefge\u0301|fg"},
	} {
		if got := strings.Join(Break(c.in, 8), "|"); got != c.want {
			t.Errorf("%q became %q, want %q", c.in, got, c.want)
		}
	}
	if got := strings.Join(Break("模型", 1), "|"); got != "模型" && got != "模|型" {
		t.Errorf("%q", got)
	}
}

// A tree on a terminal breaks names; elsewhere each stays whole, for programs.
func TestLongNamesOfATree(t *testing.T) {
	long := strings.Repeat("block/", 20) + "kernel"
	g := &Graph{
		Nodes: []Node{{Title: "root"}, {Kind: Variable, Info: "float32 [2]"}, {Kind: Plain}},
		Edges: []Edge{{From: 0, To: 1, Label: long, Tree: true}, {From: 0, To: 2, Label: "a", Tree: true}, {From: 2, To: 1, Label: "b"}},
	}
	for _, on := range []bool{false, true} {
		var out strings.Builder
		if err := g.Text(&out, &TextOptions{Width: 80, Break: on}); err != nil {
			t.Fatal(err)
		}
		widest := 0
		for l := range strings.Lines(out.String()) {
			widest = max(widest, Width(strings.TrimSuffix(l, "\n")))
		}
		if whole := strings.Contains(out.String(), long); whole == on || on && widest > 80 {
			t.Errorf("broken %v: %d columns:\n%s", on, widest, out.String())
		}
		if joined := strings.ReplaceAll(out.String(), "\n│    ", ""); !strings.Contains(joined, long) {
			t.Errorf("broken %v: the name isn't whole:\n%s", on, out.String())
		}
	}
}

// TestVeryLongTextIsBrokenInLinearTime: names of a file may have megabytes.
func TestVeryLongTextIsBrokenInLinearTime(t *testing.T) {
	const n = 200 << 10
	end := processor.Begin(t, "the work", 5*time.Second)
	for name, c := range map[string]struct {
		got  []string
		want int
	}{
		"words":       {Wrap(strings.Repeat("a ", n), 80), n/39 - 1},
		"wide words":  {Wrap(strings.Repeat("日 ", n/4), 80), n/4/26 - 1},
		"a name":      {Break(strings.Repeat("a", n), 80), n/78 - 1},
		"a wide name": {Break(strings.Repeat("日", n/4), 80), n/4/39 - 1},
		"a letter":    {Break("a"+strings.Repeat("\u0301", n), 80), 1},
	} {
		if len(c.got) < c.want || len(c.got) > c.want+3 {
			t.Errorf("%s: %d lines, want %d", name, len(c.got), c.want)
		}
	}
	end()
}

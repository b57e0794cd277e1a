package render

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Width returns the number of a terminal's columns that s takes.
func Width(s string) int {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return uniseg.StringWidth(s)
		}
	}
	return len(s)
}

// TextOptions are the settings of [Graph.Text]; nil means the defaults.
type TextOptions struct {
	// Color uses the terminal's colours. Default false.
	Color bool
	// ASCII draws the branches with letters that every terminal has.
	// Default false.
	ASCII bool
	// Slots prints every slot variable on a separate line, instead of a word on its
	// variable's. Default false.
	Slots bool
	// Fold shows siblings that look alike, with all below them, once, if the graph has more
	// than 40 nodes: a line has the number of those that follow. Default false.
	Fold bool
	// MaxDepth is the depth of the tree; deeper nodes are counted. Default, if it is 0: 64.
	// A number below 0 shows the root alone.
	MaxDepth int
	// Width is the number of columns to use if possible. Default 80.
	Width int
	// Break breaks names that are too long for a line, as terminals want it.
	// Default false: names stay whole, for programs.
	Break bool
}

var ansi = map[NodeKind]string{Optimizer: "31", Variable: "34", Slot: "33"}

// branches are the pieces that a tree is drawn with.
type branches struct{ tee, last, bar, gap, link string }

// Text draws the graph as an indented tree. A node that was drawn before is
// shown as a link to its first place.
func (g *Graph) Text(w io.Writer, opts *TextOptions) error {
	var o TextOptions
	if opts != nil {
		o = *opts
	}
	b := branches{"├─ ", "└─ ", "│  ", "   ", "→ "}
	if o.ASCII {
		b = branches{"|- ", "`- ", "|  ", "   ", "-> "}
	}
	if o.MaxDepth == 0 {
		o.MaxDepth = 64
	}
	if o.Width <= 0 {
		o.Width = 80
	}
	t := &textTree{w: bufio.NewWriter(w), g: g, o: o, b: b, out: g.out()}
	if o.Fold && len(g.Nodes) > minFolded {
		f := &folder{g: g, exact: true}
		f.sort()
		f.measure()
		t.form = f.form
	}
	if len(g.Nodes) > 0 {
		t.line("", "", g.Nodes[0].Title, g.Nodes[0], "", 0)
		t.children(0, "", 1)
	}
	return t.w.Flush()
}

// textTree writes a graph as text. The tree is for people and in goldens of the command.
type textTree struct {
	w   *bufio.Writer
	g   *Graph
	o   TextOptions
	b   branches
	out [][]Edge // by node
	// form has equal numbers for nodes that look alike with all below them; nil if nothing
	// is folded.
	form []uint64
}

// minFolded is the number of nodes up to which no tree is folded.
const minFolded = 40

// withoutNumbers returns a name without its digits.
func withoutNumbers(name string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, name)
}

// alike returns how many of edges look as the first one, which they follow, and have its
// name but for numbers.
func (t *textTree) alike(edges []Edge) int {
	if t.form == nil || !edges[0].Tree || edges[0].Slot || t.form[edges[0].To] == 0 {
		return 1
	}
	n, name := 1, withoutNumbers(edges[0].Label)
	for n < len(edges) && edges[n].Tree && !edges[n].Slot && t.form[edges[n].To] == t.form[edges[0].To] && withoutNumbers(edges[n].Label) == name {
		n++
	}
	if n < minAlike {
		return 1
	}
	return n
}

// Printable makes s fit to be printed on a line of a terminal, whatever bytes a file
// contains: control characters and bytes that are no UTF-8 are escaped, so that a
// name can neither break the line nor command the terminal.
func Printable(s string) string {
	ok := func(r rune) bool { return r != utf8.RuneError && unicode.IsPrint(r) }
	if strings.IndexFunc(s, func(r rune) bool { return !ok(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case ok(r):
			b.WriteRune(r)
		case r == utf8.RuneError:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func (t *textTree) paint(s, code string) string {
	if !t.o.Color || code == "" || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// line prints a node: its branch, its name and, from column on, its description. If
// that is too long for the line, it continues on lines below, which begin with below.
func (t *textTree) line(branch, below, name string, n Node, slots string, column int) {
	name = Printable(name)
	lines := t.broken(name, Width(branch))
	for i, l := range lines {
		if i > 0 {
			branch = "\n" + below + "  "
		}
		t.w.WriteString(branch + t.paint(l, ansi[n.Kind]))
	}
	used := Width(strings.TrimPrefix(branch, "\n")) + Width(lines[len(lines)-1])
	info := Printable(n.Info)
	if n.Value != "" {
		info += " = " + n.Value
	}
	if slots != "" {
		info += ", slots " + Printable(slots)
	}
	gap := max(2, column-used)
	switch {
	case info == "":
	case used+gap+Width(info) > t.o.Width && Width(below)+4 < used+gap:
		for i, l := range Wrap(info, max(t.o.Width-Width(below)-4, 1)) {
			start := "\n" + below + strings.Repeat(" ", 4+min(i, 1)*2)
			for k, part := range t.broken(l, Width(start)) {
				t.w.WriteString(start + strings.Repeat(" ", 2*min(k, 1)) + t.paint(part, "2"))
			}
		}
	default:
		t.w.WriteString(strings.Repeat(" ", gap))
		t.w.WriteString(t.paint(info, "2"))
	}
	t.w.WriteByte('\n')
}

// broken returns a name that begins at a column in the lines that it takes.
func (t *textTree) broken(name string, column int) []string {
	if !t.o.Break {
		return []string{name}
	}
	return Break(name, max(t.o.Width-column, minBroken))
}

// minBroken is the least number of columns of a line of a broken name, however deep in the tree.
const minBroken = 16

// slots names the slot variables of a variable, if they have no lines.
func (t *textTree) slots(id int) string {
	if t.o.Slots || t.g.Nodes[id].Kind == Optimizer {
		return ""
	}
	var names []string
	for _, e := range t.out[id] {
		if e.Slot {
			names = append(names, e.Label)
		}
	}
	return strings.Join(names, ", ")
}

// children writes the nodes below node id, each line after indent. depth is theirs. Twins are joined
// before empty objects are taken out, so that an object with two names counts once.
func (t *textTree) children(id int, indent string, depth int) {
	edges := slices.DeleteFunc(slices.Clone(t.out[id]), func(e Edge) bool {
		// A slot is shown below its variable; the optimizer only shows that it has
		// some.
		return e.Slot && (!t.o.Slots || !e.Tree && t.g.Nodes[id].Kind == Optimizer)
	})
	if len(edges) == 0 {
		return
	}
	if depth > t.o.MaxDepth {
		fmt.Fprintf(t.w, "%s%s… %d more below\n", indent, t.b.last, len(edges))
		return
	}
	if t.form != nil {
		edges = joinTwins(edges)
	}
	edges, empty := t.foldEmpty(edges)
	names := make([]string, len(edges))
	column := 0
	for i, e := range edges {
		if names[i] = Printable(e.Label); names[i] == "" {
			names[i] = `""` // that a name has an empty part must be seen
		}
		if e.Slot {
			names[i] = "slot " + names[i]
		}
		n := t.g.Nodes[e.To]
		if e.Tree && n.Info != "" {
			column = max(column, Width(names[i]))
		}
	}
	prefix := Width(indent) + Width(t.b.tee)
	column = min(column, max(24, t.o.Width/2-prefix)) + prefix + 2
	for i := 0; i < len(edges); i++ {
		e := edges[i]
		branch, below := t.b.tee, t.b.bar
		if i == len(edges)-1 && len(empty) == 0 {
			branch, below = t.b.last, t.b.gap
		}
		n := t.g.Nodes[e.To]
		if !e.Tree {
			where := t.g.Path(e.To)
			if where == "" {
				where = "the root"
			}
			t.line(indent+branch, indent+below, names[i], Node{Kind: n.Kind, Info: t.b.link + where}, "", 0)
			continue
		}
		t.line(indent+branch, indent+below, names[i], n, t.slots(e.To), column)
		t.children(e.To, indent+below, depth+1)
		if n := t.alike(edges[i:]); n > 1 {
			words := fmt.Sprintf("%s … %s: %d more like %s", names[i+1], names[i+n-1], n-1, names[i])
			i += n - 1
			if i == len(edges)-1 && len(empty) == 0 {
				branch = t.b.last
			} else {
				branch = t.b.tee
			}
			for k, l := range t.broken(words, Width(indent+branch)) {
				if k > 0 {
					l = "\n" + indent + t.b.gap + "  " + t.paint(l, "2")
				} else {
					l = indent + branch + t.paint(l, "2")
				}
				t.w.WriteString(l)
			}
			t.w.WriteByte('\n')
		}
	}
	if len(empty) > 0 {
		t.w.WriteString(indent + t.b.last + t.paint(emptyWords(empty, t.o.Width-prefix), "2") + "\n")
	}
}

// joinTwins puts the names of siblings that are one object on one line: Keras has a
// layer as layer-1 and as layer_with_weights-0.
func joinTwins(edges []Edge) []Edge {
	at := map[int]int{} // the index of an object in out
	out := make([]Edge, 0, len(edges))
	for _, e := range edges {
		if e.Tree && !e.Slot {
			at[e.To] = len(out)
			out = append(out, e)
		}
	}
	if len(out) == 0 {
		return edges
	}
	names := make([]string, len(out))
	for _, e := range edges {
		if i, ok := at[e.To]; ok && !e.Tree && !e.Slot && len(names[i]) < 80 {
			names[i] += ", " + e.Label
		}
	}
	for i := range out {
		out[i].Label += names[i]
	}
	rest := slices.DeleteFunc(slices.Clone(edges), func(e Edge) bool {
		_, twin := at[e.To]
		return twin && !e.Slot
	})
	return append(out, rest...)
}

// minEmpty is the number of objects without values from which on they share a line.
const minEmpty = 3

// foldEmpty takes out the objects that have neither values nor children, if
// they are many: Keras hangs a dozen of them on every layer.
func (t *textTree) foldEmpty(edges []Edge) (rest []Edge, empty []string) {
	isEmpty := func(e Edge) bool {
		n := t.g.Nodes[e.To]
		return e.Tree && n.Kind == Plain && n.Info == "" && len(t.out[e.To]) == 0
	}
	for _, e := range edges {
		if isEmpty(e) {
			empty = append(empty, Printable(e.Label))
		}
	}
	if len(empty) < minEmpty {
		return edges, nil
	}
	return slices.DeleteFunc(edges, isEmpty), empty
}

// emptyWords names as many objects as a line of some width holds.
func emptyWords(names []string, width int) string {
	s := fmt.Sprintf("%d without values: ", len(names))
	for i, n := range names {
		if i > 0 {
			n = ", " + n
		}
		if Width(s)+Width(n) > width-3 {
			if i > 0 {
				s += ", "
			}
			return s + "…"
		}
		s += n
	}
	return s
}

package render

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"strings"
	"unicode/utf8"
)

// Sizes of the picture, in pixels.
const (
	rowHeight  = 26.0
	dotRadius  = 7.0
	letter     = 6.6 // mean width of a letter of 12 pixels
	marginX    = 24.0
	marginTop  = 20.0
	bend       = 34.0 // room for an edge's curve before its label
	legendRoom = 34.0
)

// placed is a node's place in the picture.
type placed struct {
	x, y  float64
	lx    float64 // where the names of the edges to this column begin
	depth int
	label string // of the edge that leads to it
	on    bool   // it is in the tree
}

// SVG draws the graph from left to right: each object a dot, in red the
// optimizer, in blue variables, in orange slot variables, all others black;
// edges carry their names, and those of slot variables are dashed, since these
// are saved only where variable and optimizer both are.
func (g *Graph) SVG(w io.Writer) error {
	b := bufio.NewWriter(w)
	g, crowd := g.thin()
	at, width, height := g.layOut()
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" font-family="Helvetica, Arial, sans-serif" font-size="12">`+"\n",
		width, height, width, height)
	b.WriteString(`<defs><marker id="head" markerWidth="9" markerHeight="8" refX="15" refY="4" orient="auto"><path d="M0 0 L9 4 L0 8 z" fill="#aab0b6"/></marker></defs>` + "\n")
	b.WriteString(`<rect width="100%" height="100%" fill="#ffffff"/>` + "\n")
	// Edges first, so that dots and words lie above them; those that aren't in
	// the tree lowest of all.
	for _, e := range g.Edges {
		if from, to := at[e.From], at[e.To]; !e.Tree && from.on && to.on {
			link(b, e, from, to)
		}
	}
	for _, e := range g.Edges {
		if from, to := at[e.From], at[e.To]; e.Tree && from.on && to.on {
			branch(b, e, from, to)
		}
	}
	parent := make([]bool, len(g.Nodes))
	for _, e := range g.Edges {
		parent[e.From] = parent[e.From] || e.Tree
	}
	for i, n := range g.Nodes {
		p := at[i]
		if !p.on {
			continue
		}
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="%.0f" fill="%s"><title>%s</title></circle>`+"\n", p.x, p.y, dotRadius, colors[n.Kind], text(g.Path(i)))
		if words := nodeWords(i, n); words != "" {
			if parent[i] {
				p.y -= 9 // above the line that leads on
			}
			fmt.Fprintf(b, `<text x="%.1f" y="%.1f" fill="#5f6368" font-size="11">%s</text>`+"\n", p.x+dotRadius+6, p.y+4, text(words))
		}
	}
	legend(b, height, crowd)
	b.WriteString("</svg>\n")
	return b.Flush()
}

// maxSlotLinks is how many edges from optimizers to slot variables a picture
// shows; more would cover everything else.
const maxSlotLinks = 40

// thin is g without what would crowd a picture: a second edge between the same
// two objects becomes a second name on the first, and the edges from optimizers
// to slot variables, crowd in number, stay away where they are many. Each slot
// still hangs on its variable.
func (g *Graph) thin() (out *Graph, crowd int) {
	type pair struct{ from, to int }
	first := map[pair]int{}
	out = &Graph{Nodes: g.Nodes, parent: g.parent, label: g.label}
	for _, e := range g.Edges {
		if e.Slot && !e.Tree {
			crowd++
		}
		if e.Tree {
			first[pair{e.From, e.To}] = len(out.Edges)
			out.Edges = append(out.Edges, e)
		}
	}
	for _, e := range g.Edges {
		i, twin := first[pair{e.From, e.To}]
		switch {
		case e.Tree:
		case twin && !e.Slot && e.From != e.To:
			if len(out.Edges[i].Label) < 80 {
				out.Edges[i].Label += ", " + e.Label
			}
		case !e.Slot || crowd <= maxSlotLinks:
			out.Edges = append(out.Edges, e)
		}
	}
	if crowd <= maxSlotLinks {
		crowd = 0
	}
	return out, crowd
}

// nodeWords is what stands right of a node that no edge leaves, or of the root.
func nodeWords(i int, n Node) string {
	if i == 0 || n.Kind == Optimizer {
		return "" // an optimizer's dashed edges say what slots it has
	}
	if n.Value != "" {
		return n.Info + " = " + n.Value
	}
	return n.Info
}

// layOut gives every node that the root reaches a place: a column by its depth
// in the tree, a row by the order of the leaves.
func (g *Graph) layOut() (at []placed, width, height float64) {
	at = make([]placed, len(g.Nodes))
	if len(at) == 0 {
		return at, 2 * marginX, 2 * marginTop
	}
	kids := make([][]int, len(g.Nodes))
	for _, e := range g.Edges {
		if e.Tree {
			kids[e.From] = append(kids[e.From], e.To)
			at[e.To].label = e.Label
		}
	}
	// Breadth first for depths and the columns' widths, without recursion:
	// a hostile graph may be a chain of any length.
	order := []int{0}
	at[0].on = true
	for i := 0; i < len(order); i++ {
		for _, k := range kids[order[i]] {
			if at[k].on {
				continue
			}
			at[k].on, at[k].depth = true, at[order[i]].depth+1
			order = append(order, k)
		}
	}
	depth := at[order[len(order)-1]].depth
	labels, words := make([]float64, depth+2), make([]float64, depth+2)
	for _, i := range order {
		p := at[i]
		labels[p.depth] = max(labels[p.depth], float64(utf8.RuneCountInString(p.label))*letter)
		w := nodeWords(i, g.Nodes[i])
		if len(kids[i]) > 0 {
			// A node with children on its right keeps its words short of them.
			words[p.depth] = max(words[p.depth], float64(utf8.RuneCountInString(w))*letter+8)
		}
	}
	x := make([]float64, depth+1)
	x[0] = marginX
	for d := 1; d <= depth; d++ {
		x[d] = x[d-1] + dotRadius + max(words[d-1], 8) + bend + labels[d] + 18
	}
	row := 0.0
	rows(0, kids, func(i int, leaf bool, first, last int) {
		if leaf {
			at[i].y = marginTop + row*rowHeight + rowHeight/2
			row++
		} else {
			at[i].y = (at[first].y + at[last].y) / 2
		}
		at[i].x = x[at[i].depth]
		at[i].lx = at[i].x - labels[at[i].depth] - 18
		width = max(width, at[i].x+dotRadius+6+float64(utf8.RuneCountInString(nodeWords(i, g.Nodes[i])))*letter)
	})
	return at, max(width+marginX, 720), 2*marginTop + row*rowHeight + legendRoom
}

// rows visits the tree below root, children before parents, in order and
// without recursion.
func rows(root int, kids [][]int, visit func(i int, leaf bool, first, last int)) {
	type frame struct{ node, next int }
	stack := []frame{{root, 0}}
	for len(stack) > 0 {
		f := &stack[len(stack)-1]
		k := kids[f.node]
		if f.next < len(k) {
			f.next++
			stack = append(stack, frame{k[f.next-1], 0})
			continue
		}
		stack = stack[:len(stack)-1]
		if len(k) == 0 {
			visit(f.node, true, 0, 0)
		} else {
			visit(f.node, false, k[0], k[len(k)-1])
		}
	}
}

// branch draws an edge of the tree: a straight line to the bend, a curve to
// where the column's names begin, a straight line below the name to the node.
func branch(b *bufio.Writer, e Edge, from, to placed) {
	turn := to.lx - bend
	fmt.Fprintf(b, `<path d="M%.1f %.1f H%.1f C%.1f %.1f %.1f %.1f %.1f %.1f H%.1f" fill="none" stroke="#9aa0a6" stroke-width="1.2"%s/>`+"\n",
		from.x+dotRadius, from.y, turn, turn+bend*0.6, from.y, to.lx-bend*0.6, to.y, to.lx, to.y, to.x-dotRadius, dash(e))
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="end" fill="#202124">%s</text>`+"\n", to.x-dotRadius-5, to.y-4, text(e.Label))
}

// link draws an edge that leads to a node which has its place already: a pale
// curve, which dips below the tree where it leads back.
func link(b *bufio.Writer, e Edge, from, to placed) {
	color, head := "#aab0b6", ` marker-end="url(#head)"`
	if e.Slot {
		color, head = "#f4b6b0", ""
	}
	var x1, y1, x2, y2, lx, ly float64 // the curve's handles, the label
	switch {
	case to.x > from.x+1:
		dx := max(40, (to.x-from.x)/2)
		x1, y1, x2, y2 = from.x+dx, from.y, to.x-dx*0.4, to.y+rowHeight*0.6
		lx, ly = (from.x+to.x)/2, (from.y+to.y)/2+12
	case to.x > from.x-1: // the same column: round the right side
		x1, y1, x2, y2 = from.x+34, from.y, to.x+34, to.y
		lx, ly = from.x+30, (from.y+to.y)/2+3
	default:
		dip := 30 + (from.x-to.x)*0.06
		x1, y1, x2, y2 = from.x-20, from.y+dip, to.x+30, to.y+dip
		lx, ly = (from.x+to.x)/2, (from.y+to.y)/2+dip*0.75+11
	}
	fmt.Fprintf(b, `<path d="M%.1f %.1f C%.1f %.1f %.1f %.1f %.1f %.1f" fill="none" stroke="%s" stroke-width="1.1"%s%s><title>%s</title></path>`+"\n",
		from.x, from.y, x1, y1, x2, y2, to.x, to.y, color, dash(e), head, text(e.Label))
	if !e.Slot {
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="middle" fill="#80868b" font-size="10">%s</text>`+"\n", lx, ly, text(e.Label))
	}
}

func dash(e Edge) string {
	if e.Slot {
		return ` stroke-dasharray="4 3"`
	}
	return ""
}

func legend(b *bufio.Writer, height float64, crowd int) {
	x, y := marginX, height-18
	for _, l := range []struct {
		kind NodeKind
		name string
	}{{Plain, "object"}, {Optimizer, "optimizer"}, {Variable, "variable"}, {Slot, "slot variable"}} {
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="5" fill="%s"/><text x="%.1f" y="%.1f" fill="#5f6368" font-size="11">%s</text>`+"\n",
			x, y, colors[l.kind], x+10, y+4, l.name)
		x += 34 + float64(len(l.name))*letter
	}
	if crowd > 0 {
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" fill="#5f6368" font-size="11">%d edges from the optimizer are not drawn</text>`+"\n", x, y+4, crowd)
	}
}

// text escapes words for XML, which has no place for control characters.
func text(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0xfffe || r == 0xffff {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	return html.EscapeString(s)
}

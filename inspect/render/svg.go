package render

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"strings"
)

// Sizes of the picture, in pixels.
const (
	letterSize   = 12.0
	headHeight   = 24.0 // of a block's name
	lineHeight   = 18.0 // of a row
	dotRadius    = 6.0
	rowDot       = 4.0
	pad          = 8.0 // inside a block
	marginX      = 24.0
	marginTop    = 16.0
	titleHeight  = 34.0
	legendHeight = 44.0
	between      = 44.0 // columns, for the edges
	gapY         = 10.0 // blocks of a column
	maxLabel     = 48   // letters of a name
)

// maxSlotLinks is how many dashed edges lead from optimizers to the blocks that
// hold their slot variables; more would cover everything else.
const maxSlotLinks = 12

// SVG draws the graph from left to right: each object a dot with its name, in
// red the optimizer, all others black; its variables are rows in it with blue
// dots, and slot variables orange ones beside these. Their edges are dashed,
// since they are saved only where variable and optimizer both are. What makes a
// picture too large is folded: objects of one form are drawn once, and what has
// no space is counted.
func (g *Graph) SVG(w io.Writer) error {
	b := bufio.NewWriter(w)
	if len(g.Nodes) == 0 {
		b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>` + "\n")
		return b.Flush()
	}
	root, folded := g.fold()
	width, height := root.layOut()
	width = max(width, marginX*2+widthOf(g.Nodes[0].Title, letterSize+2), 560)
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" font-family="Helvetica, Arial, sans-serif" font-size="12">`+"\n",
		width, height, width, height)
	b.WriteString(`<rect width="100%" height="100%" fill="#ffffff"/>` + "\n")
	words(b, marginX, marginTop+14, `font-size="14" fill="#202124"`, g.Nodes[0].Title)
	// Edges first, so that blocks lie above them.
	if folded == 0 {
		g.slotLinks(b, root)
	}
	columns := map[int]float64{} // where a column's blocks end
	root.each(func(k *block) { columns[k.depth] = max(columns[k.depth], k.x+k.w) })
	root.each(func(p *block) {
		for _, k := range p.kids {
			edge(b, p, k, columns[p.depth])
		}
	})
	root.each(func(k *block) { g.draw(b, k) })
	legend(b, height, folded, g.Outside)
	b.WriteString("</svg>\n")
	return b.Flush()
}

// size returns how much of the picture a block takes.
func (b *block) size() (w, h float64) {
	if b.node < 0 {
		return widthOf(b.words(), letterSize)*1.08 + pad, headHeight
	}
	w = 2*dotRadius + 6 + widthOf(b.words(), letterSize)*1.08
	if len(b.rows) == 0 {
		return w + pad, headHeight
	}
	for _, r := range b.rows {
		w = max(w, r.width())
	}
	return w + 2*pad, headHeight + float64(len(b.rows))*lineHeight + pad
}

// words returns the block's label, shortened; a sentence about objects that
// aren't drawn may be longer than a name.
func (b *block) words() string {
	if b.node < 0 {
		return cut(b.label, 2*maxLabel)
	}
	return cut(b.label, maxLabel)
}

// width returns how wide a row is.
func (r row) width() float64 {
	w := 2*rowDot + 6
	if r.name != "" {
		w += widthOf(cut(r.name, maxLabel), letterSize) + 10
	}
	w += widthOf(cut(r.info, maxLabel), letterSize-1)
	for _, s := range r.slots {
		w += slotLead + 2*rowDot + 3 + widthOf(cut(s, maxLabel), letterSize-1)
	}
	return w
}

// slotLead is the length of the dashed line before a slot variable.
const slotLead = 18.0

// draw draws a block.
func (g *Graph) draw(b *bufio.Writer, k *block) {
	head := k.y + headHeight/2
	x := k.x
	if len(k.rows) > 0 {
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="6" fill="#ffffff" stroke="#dadce0"/>`+"\n", k.x, k.y, k.w, k.h)
		x += pad
	}
	if k.node < 0 { // words about objects that aren't drawn
		words(b, x, head+4, `fill="#5f6368" font-style="italic"`, k.words())
		return
	}
	dot(b, x+dotRadius, head, dotRadius, k.kind, g.Path(k.node))
	words(b, x+2*dotRadius+6, head+4, `font-weight="bold" fill="#202124"`, k.words())
	for i, r := range k.rows {
		y := k.y + headHeight + (float64(i)+0.5)*lineHeight
		at := x + 2*rowDot + 6
		if r.node >= 0 {
			dot(b, x+rowDot+2, y, rowDot, r.kind, g.Path(r.node))
		}
		if r.name != "" {
			words(b, at, y+4, `fill="#202124"`, cut(r.name, maxLabel))
			at += widthOf(cut(r.name, maxLabel), letterSize) + 10
		}
		words(b, at, y+4, `fill="#5f6368" font-size="11"`, cut(r.info, maxLabel))
		at += widthOf(cut(r.info, maxLabel), letterSize-1)
		for _, s := range r.slots {
			fmt.Fprintf(b, `<path d="M%.1f %.1f H%.1f" stroke="#9aa0a6"%s/>`+"\n", at+3, y, at+slotLead, dashes)
			at += slotLead
			dot(b, at+rowDot, y, rowDot, Slot, "slot "+s)
			words(b, at+2*rowDot+3, y+4, `fill="#5f6368" font-size="11"`, cut(s, maxLabel))
			at += 2*rowDot + 3 + widthOf(cut(s, maxLabel), letterSize-1)
		}
	}
}

const dashes = ` stroke-dasharray="4 3"`

func dot(b *bufio.Writer, x, y, r float64, kind NodeKind, title string) {
	fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="%.0f" fill="%s"><title>%s</title></circle>`+"\n", x, y, r, colors[kind], text(title))
}

func words(b *bufio.Writer, x, y float64, style, s string) {
	if s != "" {
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" %s>%s</text>`+"\n", x, y, style, text(s))
	}
}

// maxCurves is how many edges leave a block in curves; more share a trunk.
const maxCurves = 8

// edge leads from a block to one below it: straight to where its column ends,
// so that it crosses no other block, then in a curve.
func edge(b *bufio.Writer, from, to *block, turn float64) {
	y1, y2 := from.y+headHeight/2, to.y+headHeight/2
	mid := (turn + to.x) / 2
	if len(from.kids) > maxCurves {
		fmt.Fprintf(b, `<path d="M%.1f %.1f H%.1f V%.1f H%.1f" fill="none" stroke="#9aa0a6" stroke-width="1.2"/>`+"\n",
			from.x+from.w, y1, mid, y2, to.x-3)
		return
	}
	fmt.Fprintf(b, `<path d="M%.1f %.1f H%.1f C%.1f %.1f %.1f %.1f %.1f %.1f" fill="none" stroke="#9aa0a6" stroke-width="1.2"/>`+"\n",
		from.x+from.w, y1, turn, mid, y1, mid, y2, to.x-3, y2)
}

// slotLinks draws pale dashed edges from each optimizer to the blocks that hold
// its slot variables, where these are few.
func (g *Graph) slotLinks(b *bufio.Writer, root *block) {
	home := map[int]*block{} // of each variable that is drawn
	owner := map[int]*block{}
	root.each(func(k *block) {
		if k.kind == Optimizer && k.node >= 0 {
			owner[k.node] = k
		}
		for _, r := range k.rows {
			if len(r.slots) > 0 {
				home[r.node] = k
			}
		}
	})
	variable := map[int]int{} // of each slot variable
	for _, e := range g.Edges {
		if e.Slot && g.Nodes[e.From].Kind != Optimizer {
			variable[e.To] = e.From
		}
	}
	type pair struct{ from, to *block }
	seen := map[pair]bool{}
	var list []pair
	for _, e := range g.Edges {
		from := owner[e.From]
		v, known := variable[e.To]
		if !e.Slot || from == nil || !known || home[v] == nil {
			continue
		}
		if p := (pair{from, home[v]}); !seen[p] {
			seen[p] = true
			list = append(list, p)
		}
	}
	if len(list) > maxSlotLinks {
		return
	}
	for _, p := range list {
		x1, y1 := p.from.x+dotRadius+pad, p.from.y+headHeight/2
		x2, y2 := p.to.x+p.to.w/2, p.to.y+p.to.h
		if p.from.y < p.to.y {
			y2 = p.to.y
		}
		fmt.Fprintf(b, `<path d="M%.1f %.1f C%.1f %.1f %.1f %.1f %.1f %.1f" fill="none" stroke="#f4b6b0" stroke-width="1.2"%s/>`+"\n",
			x1, y1, x1, (y1+y2)/2, x2, (y1+y2)/2, x2, y2, dashes)
	}
}

func legend(b *bufio.Writer, height float64, folded, outside int) {
	x, y := marginX, height-18
	for _, l := range []struct {
		kind NodeKind
		name string
	}{{Plain, "object"}, {Optimizer, "optimizer"}, {Variable, "variable"}, {Slot, "slot variable"}} {
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="5" fill="%s"/>`+"\n", x, y, colors[l.kind])
		words(b, x+10, y+4, `fill="#5f6368" font-size="11"`, l.name)
		x += 34 + widthOf(l.name, 11)
	}
	var notes []string
	if folded > 0 {
		notes = append(notes, fmt.Sprintf("%d objects are folded", folded))
	}
	if outside > 0 {
		notes = append(notes, fmt.Sprintf("%d tensors lie outside the graph", outside))
	}
	words(b, x, y+4, `fill="#5f6368" font-size="11" font-style="italic"`, strings.Join(notes, ", "))
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

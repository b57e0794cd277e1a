package render

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// This file draws the blocks that blocks.go placed, on any Canvas: as SVG and, by package raster, as PNG.

const (
	inkColor   = "#202124"
	wordColor  = "#5f6368"
	edgeColor  = "#9aa0a6"
	frameColor = "#dadce0"
)

func hypot(x, y float64) float64 { return math.Hypot(x, y) }

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
	between      = 44.0 // between columns, for the edges
	gapY         = 10.0 // between blocks of a column
	maxLabel     = 48   // number of letters of a name
)

// maxSlotLinks is the number of dashed edges from optimizers to the blocks with their slot variables
// up to which they are drawn; more would cover everything else.
const maxSlotLinks = 12

// SVG writes the graph as an SVG picture. [Graph.Draw] describes it.
func (g *Graph) SVG(w io.Writer) error { return g.Draw(SVGSurface(w)) }

// Draw draws the graph from left to right: each object a dot with its name, in
// red the optimizer, all others black. Its variables are rows in it with blue
// dots, and slot variables orange ones next to these. Their edges are dashed,
// since they are saved only if variable and optimizer both are. A large picture
// is folded: objects of one form are drawn once, and objects without space are
// counted.
func (g *Graph) Draw(s Surface) error {
	if len(g.Nodes) == 0 {
		c, err := s(1, 1)
		if err != nil {
			return err
		}
		return c.Flush()
	}
	root, folded := g.fold()
	width, height := root.layOut()
	width = max(width, marginX*2+widthOf(g.Nodes[0].Title, letterSize+2), 560)
	c, err := s(width, height)
	if err != nil {
		return err
	}
	c.Text(marginX, marginTop+14, g.Nodes[0].Title, TextStyle{Size: 14, Color: inkColor})
	// Edges first, so that blocks are drawn over them.
	if folded == 0 {
		g.slotLinks(c, root)
	}
	columns := map[int]float64{} // the end of a column's blocks
	root.each(func(k *block) { columns[k.depth] = max(columns[k.depth], k.x+k.w) })
	root.each(func(p *block) {
		for _, k := range p.kids {
			edge(c, p, k, columns[p.depth])
		}
	})
	root.each(func(k *block) { g.draw(c, k) })
	legend(c, height, folded, g.Outside)
	return c.Flush()
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
func (g *Graph) draw(c Canvas, k *block) {
	head := k.y + headHeight/2
	x := k.x
	if len(k.rows) > 0 {
		c.Rect(k.x, k.y, k.w, k.h, 6, "#ffffff", frameColor)
		x += pad
	}
	if k.node < 0 { // words about objects that aren't drawn
		c.Text(x, head+4, k.words(), TextStyle{Size: letterSize, Color: wordColor, Italic: true})
		return
	}
	c.Circle(x+dotRadius, head, dotRadius, colors[k.kind], g.Path(k.node))
	c.Text(x+2*dotRadius+6, head+4, k.words(), TextStyle{Size: letterSize, Color: inkColor, Bold: true})
	for i, r := range k.rows {
		y := k.y + headHeight + (float64(i)+0.5)*lineHeight
		at := x + 2*rowDot + 6
		if r.node >= 0 {
			c.Circle(x+rowDot+2, y, rowDot, colors[r.kind], g.Path(r.node))
		}
		if r.name != "" {
			c.Text(at, y+4, cut(r.name, maxLabel), TextStyle{Size: letterSize, Color: inkColor})
			at += widthOf(cut(r.name, maxLabel), letterSize) + 10
		}
		c.Text(at, y+4, cut(r.info, maxLabel), smallText)
		at += widthOf(cut(r.info, maxLabel), letterSize-1)
		for _, s := range r.slots {
			c.Path(MoveTo(at+3, y).LineTo(at+slotLead, y), Stroke{Color: edgeColor, Width: 1, Dashed: true})
			at += slotLead
			c.Circle(at+rowDot, y, rowDot, colors[Slot], "slot "+s)
			c.Text(at+2*rowDot+3, y+4, cut(s, maxLabel), smallText)
			at += 2*rowDot + 3 + widthOf(cut(s, maxLabel), letterSize-1)
		}
	}
}

var smallText = TextStyle{Size: 11, Color: wordColor}

// maxCurves is the number of edges up to which they leave a block in curves; more share a trunk.
const maxCurves = 8

var edgeStroke = Stroke{Color: edgeColor, Width: 1.2}

// edge leads from a block to one below it: straight to the end of its column,
// so that it crosses no other block, then in a curve.
func edge(c Canvas, from, to *block, turn float64) {
	y1, y2 := from.y+headHeight/2, to.y+headHeight/2
	mid := (turn + to.x) / 2
	if len(from.kids) > maxCurves {
		c.Path(MoveTo(from.x+from.w, y1).LineTo(mid, y1).LineTo(mid, y2).LineTo(to.x-3, y2), edgeStroke)
		return
	}
	c.Path(MoveTo(from.x+from.w, y1).LineTo(turn, y1).CurveTo(mid, y1, mid, y2, to.x-3, y2), edgeStroke)
}

// slotLinks draws pale dashed edges from each optimizer to the blocks that hold
// its slot variables, if these are few.
func (g *Graph) slotLinks(c Canvas, root *block) {
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
		c.Path(MoveTo(x1, y1).CurveTo(x1, (y1+y2)/2, x2, (y1+y2)/2, x2, y2), Stroke{Color: "#f4b6b0", Width: 1.2, Dashed: true})
	}
}

// legend draws the line at the bottom of the picture: the colors, and the numbers of folded objects
// and of tensors outside of the graph.
func legend(c Canvas, height float64, folded, outside int) {
	x, y := marginX, height-18
	for _, l := range []struct {
		kind NodeKind
		name string
	}{{Plain, "object"}, {Optimizer, "optimizer"}, {Variable, "variable"}, {Slot, "slot variable"}} {
		c.Circle(x, y, 5, colors[l.kind], "")
		c.Text(x+10, y+4, l.name, smallText)
		x += 34 + widthOf(l.name, 11)
	}
	var notes []string
	if folded > 0 {
		notes = append(notes, fmt.Sprintf("%d objects are folded", folded))
	}
	if outside > 0 {
		notes = append(notes, fmt.Sprintf("%d tensors lie outside the graph", outside))
	}
	c.Text(x, y+4, strings.Join(notes, ", "), TextStyle{Size: 11, Color: wordColor, Italic: true})
}

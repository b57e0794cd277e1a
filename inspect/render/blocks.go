package render

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
)

// This file folds an object graph into blocks and gives each its place, for svg.go. Limits, sizes and
// places may change, together with the pictures in goldens of the command.

// Limits that keep a picture readable; further objects are counted in words.
const (
	maxBlocks   = 150 // in the picture
	maxSiblings = 60  // below one block
	maxRows     = 24  // variables in one block
	maxLinks    = 6   // links to other objects in one block
	maxEmpty    = 2   // objects without values in one block, by name
	maxColumns  = 40  // levels of blocks
	minAlike    = 4   // siblings of one form that are drawn as one
)

// block is an object in the picture, with its variables and all other children that are a
// single line in it.
type block struct {
	node  int // -1 for words about objects that are left out
	kind  NodeKind
	label string   // of the edge that leads to it
	rows  []row    // its lines, from the top
	kids  []*block // the blocks below it, in their order from the top
	depth int      // edges from the root; the column

	x, y, w, h float64 // its place in the picture
	span       float64 // the height of all that is below it, itself included
}

// row is a line in a block.
type row struct {
	node  int // -1 for words about others
	kind  NodeKind
	name  string
	info  string
	slots []string
}

// This type folds a graph: it makes blocks of it, or finds subtrees that look alike for text.go.
type folder struct {
	g *Graph
	// By node:
	kids   [][]Edge   // in the tree, slot variables left out
	links  [][]Edge   // to objects whose place in the tree is elsewhere
	slots  [][]string // names of a variable's slot variables
	form   []uint64   // equal for subtrees that look the same
	below  []int      // the number of objects below each
	values []int      // the number of variables among them

	folded int  // the number of objects that the picture leaves out
	exact  bool // nodes with different values don't look the same; text.go sets it
}

// fold makes blocks of the graph: an object's variables are rows in it, siblings
// of one form are drawn once, and objects beyond the limits are counted.
func (g *Graph) fold() (root *block, folded int) {
	f := &folder{g: g}
	f.sort()
	f.measure()
	root = &block{kind: g.Nodes[0].Kind, label: "root"}
	count := 1
	for queue := []*block{root}; len(queue) > 0; queue = queue[1:] {
		b := queue[0]
		f.fill(b)
		kids := f.blocksBelow(b)
		if len(kids) == 0 {
			continue
		}
		picked, left := f.pick(b, kids)
		if count+len(picked) > maxBlocks || b.depth+1 >= maxColumns {
			f.summarise(b, kids)
			continue
		}
		f.folded += left
		for _, k := range picked {
			c := &block{node: k.To, label: k.Label, depth: b.depth + 1}
			b.kids = append(b.kids, c)
			if k.To >= 0 {
				c.kind = g.Nodes[k.To].Kind
				queue = append(queue, c)
			}
			count++
		}
	}
	return root, f.folded
}

// sort divides the edges by their role in the picture.
func (f *folder) sort() {
	n := len(f.g.Nodes)
	f.kids, f.links, f.slots = make([][]Edge, n), make([][]Edge, n), make([][]string, n)
	type pair struct{ from, to int }
	twin := map[pair]int{} // the index of the first name in the parent's kids
	for _, e := range f.g.Edges {
		if e.Tree && !e.Slot {
			twin[pair{e.From, e.To}] = len(f.kids[e.From])
			f.kids[e.From] = append(f.kids[e.From], e)
		}
	}
	for _, e := range f.g.Edges {
		switch at, found := twin[pair{e.From, e.To}]; {
		case e.Slot:
			if f.g.Nodes[e.From].Kind != Optimizer {
				f.slots[e.From] = append(f.slots[e.From], e.Label)
			}
		case e.Tree:
		case found && e.From != e.To:
			// A second name for the same object is added to the first.
			if k := &f.kids[e.From][at]; len(k.Label) < 80 {
				k.Label += ", " + e.Label
			}
		default:
			f.links[e.From] = append(f.links[e.From], e)
		}
	}
}

// measure counts the objects below each one and assigns one form to subtrees of
// one look, children before parents and without recursion: a hostile graph may
// be a chain of any length.
func (f *folder) measure() {
	n := len(f.g.Nodes)
	f.form, f.below, f.values = make([]uint64, n), make([]int, n), make([]int, n)
	order := make([]int, 1, n)
	for i := 0; i < len(order); i++ {
		for _, k := range f.kids[order[i]] {
			order = append(order, k.To)
		}
	}
	seed := maphash.MakeSeed()
	for _, i := range slices.Backward(order) {
		var h maphash.Hash
		h.SetSeed(seed)
		o := f.g.Nodes[i]
		fmt.Fprintf(&h, "%d %q %q %d", o.Kind, o.Info, f.slots[i], len(f.links[i]))
		if f.exact {
			fmt.Fprintf(&h, " %q", o.Value)
		}
		for _, k := range f.kids[i] {
			f.below[i] += 1 + f.below[k.To]
			f.values[i] += f.values[k.To]
			h.WriteString(k.Label)
			h.Write(binary.LittleEndian.AppendUint64(nil, f.form[k.To]))
		}
		if o.Kind == Variable || o.Kind == Slot {
			f.values[i]++
		}
		f.form[i] = h.Sum64()
	}
}

// line reports whether an object is a row of its parent's block.
func (f *folder) line(i int) bool {
	return len(f.kids[i]) == 0 && len(f.links[i]) == 0 && f.g.Nodes[i].Kind != Optimizer
}

// empty reports whether an object has nothing to show but its name.
func (f *folder) empty(i int) bool {
	return f.line(i) && f.g.Nodes[i].Kind == Plain && f.g.Nodes[i].Info == ""
}

// blocksBelow lists the children of a block that are blocks themselves.
func (f *folder) blocksBelow(b *block) []Edge {
	var out []Edge
	for _, k := range f.kids[b.node] {
		if !f.line(k.To) {
			out = append(out, k)
		}
	}
	return out
}

// fill makes the rows of a block.
func (f *folder) fill(b *block) {
	words := func(format string, args ...any) row { return row{node: -1, info: fmt.Sprintf(format, args...)} }
	if info := f.g.Nodes[b.node]; b.node > 0 && info.Info != "" {
		b.rows = append(b.rows, words("%s", nodeWords(info)))
	}
	empty, values := 0, 0
	for _, k := range f.kids[b.node] {
		if f.empty(k.To) {
			empty++
		} else if f.line(k.To) {
			values++
		}
	}
	rows := 0
	for _, k := range f.kids[b.node] {
		n := f.g.Nodes[k.To]
		switch {
		case !f.line(k.To) || f.empty(k.To) && empty > maxEmpty:
		case rows == maxRows-1 && values > maxRows:
		case rows == maxRows:
		default:
			rows++
			b.rows = append(b.rows, row{node: k.To, kind: n.Kind, name: k.Label, info: nodeWords(n), slots: f.slots[k.To]})
		}
	}
	if shown := empty; empty > maxEmpty {
		b.rows = append(b.rows, words("%d objects without values", shown))
		f.folded += empty
		empty = 0
	}
	if left := values + empty - rows; left > 0 {
		b.rows = append(b.rows, words("… %d more", left))
		f.folded += left
	}
	links := f.links[b.node]
	for i, e := range links {
		if i == maxLinks-1 && len(links) > maxLinks {
			b.rows = append(b.rows, words("… %d more links", len(links)-i))
			break
		}
		to := f.g.Path(e.To)
		if to == "" {
			to = "the root"
		}
		b.rows = append(b.rows, row{node: -1, name: e.Label, info: "→ " + to})
	}
}

// nodeWords describes an object.
func nodeWords(n Node) string {
	if n.Value != "" {
		return n.Info + " = " + n.Value
	}
	return n.Info
}

// summarise adds a text to a block about the parts that the picture has no
// space for.
func (f *folder) summarise(b *block, kids []Edge) {
	objects, values := 0, 0
	for _, k := range kids {
		objects += 1 + f.below[k.To]
		values += f.values[k.To]
	}
	f.folded += objects
	b.rows = append(b.rows, row{node: -1, info: fmt.Sprintf("… %d objects below, %d of them variables", objects, values)})
}

// pick chooses which of a block's children are drawn, and counts the objects
// that are not: an edge to -1 represents them.
func (f *folder) pick(b *block, kids []Edge) (out []Edge, left int) {
	for i := 0; i < len(kids); {
		last := i
		for last+1 < len(kids) && f.form[kids[last+1].To] == f.form[kids[i].To] {
			last++
		}
		out = append(out, kids[i])
		if n := last - i; n+1 >= minAlike {
			out = append(out, Edge{From: b.node, To: -1, Label: fmt.Sprintf("%s … %s: %d more like %s", kids[i+1].Label, kids[last].Label, n, kids[i].Label)})
			left += f.count(kids[i+1 : last+1])
			i = last + 1
			continue
		}
		i++
	}
	if len(out) > maxSiblings {
		half := maxSiblings / 2
		gone := out[half : len(out)-half+1]
		left += f.count(gone)
		rest := slices.Clone(out[len(out)-half+1:])
		out = append(out[:half:half], Edge{From: b.node, To: -1, Label: fmt.Sprintf("… %d more", len(gone))})
		out = append(out, rest...)
	}
	return out, left
}

// count returns the number of objects that edges lead to, with all below them.
func (f *folder) count(kids []Edge) int {
	n := 0
	for _, k := range kids {
		if k.To >= 0 {
			n += 1 + f.below[k.To]
		}
	}
	return n
}

// each visits a block and all below it, parents first.
func (b *block) each(visit func(*block)) {
	visit(b)
	for _, k := range b.kids {
		k.each(visit) // at most maxColumns deep
	}
}

// cut shortens a long text in its middle.
func cut(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return string(r[:most/2]) + "…" + string(r[len(r)-(most-most/2-1):])
}

// widthOf returns about how many pixels wide a text of a size is drawn, rather
// more than less.
func widthOf(s string, size float64) float64 {
	em := 0.0
	for _, r := range s {
		switch {
		case strings.ContainsRune("iljtfI.,:;|!'()[]/ ", r):
			em += 0.36
		case strings.ContainsRune("mwMW@%", r):
			em += 0.92
		case r >= 'A' && r <= 'Z' || r == '_' || r == '→' || r == '…':
			em += 0.72
			if r == '→' || r == '…' {
				em += 0.3
			}
		case r < 0x2e80:
			em += 0.58
		default:
			em += 1.05
		}
	}
	return em * size
}

// layOut sets the size and the place of every block.
func (root *block) layOut() (width, height float64) {
	var right [maxColumns]float64
	deepest := 0
	root.each(func(b *block) {
		b.w, b.h = b.size()
		right[b.depth] = max(right[b.depth], b.w)
		deepest = max(deepest, b.depth)
	})
	x := marginX
	var at [maxColumns]float64
	for d := range deepest + 1 {
		at[d] = x
		x += right[d] + between
	}
	root.measure()
	root.place(at[:], marginTop+titleHeight)
	return x - between + marginX, marginTop + titleHeight + root.span + legendHeight
}

// measure finds the height that a block and all below it need.
func (b *block) measure() {
	sum := 0.0
	for i, k := range b.kids {
		k.measure()
		if i > 0 {
			sum += gapY
		}
		sum += k.span
	}
	b.span = max(b.h, sum)
}

// maxRise is the number of pixels that a block may be below the top of its span, so that a tall
// picture doesn't begin with blank paper.
const maxRise = 160

// place puts a block in the middle of its span, or not far from its top, and its
// children one below the other.
func (b *block) place(at []float64, top float64) {
	b.x, b.y = at[b.depth], top+min((b.span-b.h)/2, maxRise)
	sum := 0.0
	for i, k := range b.kids {
		if i > 0 {
			sum += gapY
		}
		sum += k.span
	}
	y := top + min((b.span-sum)/2, maxRise)
	for _, k := range b.kids {
		k.place(at, y)
		y += k.span + gapY
	}
}

package render

import (
	"cmp"
	"slices"
)

// place is a box's place in a picture.
type place struct{ x, y, w, h float64 }

// drawnArrow is an arrow with the points that it passes. A tensor that several boxes take has
// its label at the first of its arrows alone.
type drawnArrow struct {
	points         [][2]float64
	label          string
	labelX, labelY float64
}

// layout has the places of a network's boxes and arrows, in pixels of an SVG.
type layout struct {
	boxes         []place // by box of the network
	arrows        []drawnArrow
	width, height float64
}

// slotted is a box, or a point in a row for an arrow that passes between boxes.
type slotted struct {
	box    int     // -1 for an arrow that passes
	w      float64 // width in pixels
	x      float64 // the middle, in pixels; 0 is the middle of the picture until layOut shifts all
	up     []int   // neighbours in the row above
	down   []int   // neighbours in the row below
	weight float64 // for sorting
}

// passWidth is the width in pixels that an arrow that passes takes in a row.
const passWidth = 14.0

// layOut places boxes in rows, so that arrows point downwards, and orders rows so that few
// arrows cross: each box moves to the mean place of its neighbours (barycenters).
func (n *Network) layOut() *layout {
	ranks, back := n.ranks()
	rows := 0
	for _, r := range ranks {
		rows = max(rows, r+1)
	}
	row := make([][]int, rows) // indices into items
	var items []slotted
	add := func(rank, box int, w float64) int {
		items = append(items, slotted{box: box, w: w})
		row[rank] = append(row[rank], len(items)-1)
		return len(items) - 1
	}
	l := &layout{boxes: make([]place, len(n.Boxes))}
	label := n.labels()
	same := slices.Clone(label)
	at := make([]int, len(n.Boxes))
	for i, b := range n.Boxes {
		p := &l.boxes[i]
		p.w = max(widthOf(cut(b.Name, maxBoxLetters), letterSize)*1.08, widthOf(cut(b.Info, maxBoxLetters+6), arrowSize)) + 2*pad
		p.h = boxHeight
		if b.Info != "" {
			p.h += infoHeight
		}
		// A label is placed to the right of the middle, below the box.
		at[i] = add(ranks[i], i, max(p.w, 2*(widthOf(label[i], arrowSize)+10)))
	}
	chain := make([][]int, len(n.Arrows)) // the items that an arrow passes
	for i, a := range n.Arrows {
		from, to := a.From, a.To
		if back[i] {
			from, to = to, from
		}
		if from == to {
			continue
		}
		chain[i] = []int{at[from]}
		for r := ranks[from] + 1; r < ranks[to]; r++ {
			chain[i] = append(chain[i], add(r, -1, passWidth))
		}
		chain[i] = append(chain[i], at[to])
		for k := range len(chain[i]) - 1 {
			up, down := chain[i][k], chain[i][k+1]
			items[up].down = append(items[up].down, down)
			items[down].up = append(items[down].up, up)
		}
	}
	spread(items, row)
	const sweeps = 8
	for s := range sweeps {
		for k := range row {
			r := k
			if s%2 == 1 {
				r = len(row) - 1 - k
			}
			align(items, row[r], s%2 == 0, s < sweeps-2)
		}
	}
	left, right := 0.0, 0.0
	for _, it := range items {
		left, right = min(left, it.x-it.w/2), max(right, it.x+it.w/2)
	}
	y := marginTop + titleHeight
	top := make([]float64, rows)
	bottom := make([]float64, rows)
	for r := range row {
		high := 0.0
		for _, i := range row[r] {
			if b := items[i].box; b >= 0 {
				high = max(high, l.boxes[b].h)
			}
		}
		top[r], bottom[r] = y, y+high
		for _, i := range row[r] {
			if b := items[i].box; b >= 0 {
				p := &l.boxes[b]
				p.x, p.y = items[i].x-left+marginX-p.w/2, y+(high-p.h)/2
			}
		}
		y += high + rankGap
	}
	for i, c := range chain {
		if c == nil {
			continue
		}
		var d drawnArrow
		for k, id := range c {
			x, r := items[id].x-left+marginX, 0
			if b := items[id].box; b >= 0 {
				if k == 0 {
					d.points = append(d.points, [2]float64{x, l.boxes[b].y + l.boxes[b].h})
				} else {
					d.points = append(d.points, [2]float64{x, l.boxes[b].y})
				}
				continue
			}
			r = ranks[firstOf(n, i, back)] + k
			d.points = append(d.points, [2]float64{x, top[r]}, [2]float64{x, bottom[r]})
		}
		if back[i] {
			slices.Reverse(d.points)
		}
		if b := n.Arrows[i].From; label[b] != "" && !back[i] {
			d.label, d.labelX, d.labelY = label[b], l.boxes[b].x+l.boxes[b].w/2+5, l.boxes[b].y+l.boxes[b].h+13
			label[b] = ""
		} else if n.Arrows[i].Label != "" && same[b] == "" {
			end := d.points[len(d.points)-1]
			d.label, d.labelX, d.labelY = n.Arrows[i].Label, end[0]+5, end[1]-9
		}
		l.arrows = append(l.arrows, d)
	}
	l.width, l.height = right-left+2*marginX, y-rankGap+marginTop+16
	return l
}

// firstOf returns the box at the upper end of an arrow.
func firstOf(n *Network, arrow int, back []bool) int {
	if back[arrow] {
		return n.Arrows[arrow].To
	}
	return n.Arrows[arrow].From
}

// labels returns for each box the label of its arrows, "" if they differ.
func (n *Network) labels() []string {
	out := make([]string, len(n.Boxes))
	seen := make([]bool, len(n.Boxes))
	for _, a := range n.Arrows {
		switch {
		case !seen[a.From]:
			seen[a.From], out[a.From] = true, a.Label
		case out[a.From] != a.Label:
			out[a.From] = ""
		}
	}
	return out
}

// ranks returns each box's row, and which arrows point upwards because they close a
// cycle. A box without arrows into it is placed just above the first that needs it.
func (n *Network) ranks() (ranks []int, back []bool) {
	out := make([][]int, len(n.Boxes)) // arrows
	for i, a := range n.Arrows {
		out[a.From] = append(out[a.From], i)
	}
	back = make([]bool, len(n.Arrows))
	const (
		unseen = iota
		open
		done
	)
	state := make([]uint8, len(n.Boxes))
	var order []int // children before parents
	type frame struct{ box, next int }
	for b := range n.Boxes {
		if state[b] != unseen {
			continue
		}
		state[b] = open
		for stack := []frame{{b, 0}}; len(stack) > 0; {
			f := &stack[len(stack)-1]
			if f.next == len(out[f.box]) {
				state[f.box] = done
				order = append(order, f.box)
				stack = stack[:len(stack)-1]
				continue
			}
			i := out[f.box][f.next]
			f.next++
			switch to := n.Arrows[i].To; state[to] {
			case open:
				back[i] = true
			case unseen:
				state[to] = open
				stack = append(stack, frame{to, 0})
			}
		}
	}
	ranks = make([]int, len(n.Boxes))
	entered := make([]bool, len(n.Boxes))
	for _, b := range slices.Backward(order) {
		for _, i := range out[b] {
			if to := n.Arrows[i].To; !back[i] {
				ranks[to] = max(ranks[to], ranks[b]+1)
				entered[to] = true
			}
		}
	}
	for b := range n.Boxes {
		if entered[b] {
			continue
		}
		first := -1
		for _, i := range out[b] {
			if to := n.Arrows[i].To; !back[i] && (first < 0 || ranks[to] < first) {
				first = ranks[to]
			}
		}
		ranks[b] = max(first-1, 0)
	}
	return ranks, back
}

// spread places the items of each row side by side, around 0.
func spread(items []slotted, row [][]int) {
	for _, r := range row {
		total := -boxGap
		for _, i := range r {
			total += items[i].w + boxGap
		}
		x := -total / 2
		for _, i := range r {
			items[i].x = x + items[i].w/2
			x += items[i].w + boxGap
		}
	}
}

// align moves a row's items towards the mean of their neighbours above or below. It may
// sort them first. Items keep their distance.
func align(items []slotted, row []int, above, sort bool) {
	for _, i := range row {
		near := items[i].up
		if !above {
			near = items[i].down
		}
		items[i].weight = items[i].x
		if len(near) > 0 {
			sum := 0.0
			for _, k := range near {
				sum += items[k].x
			}
			items[i].weight = sum / float64(len(near))
		}
	}
	if sort {
		slices.SortStableFunc(row, func(a, b int) int { return cmp.Compare(items[a].weight, items[b].weight) })
	}
	// Place from the left, then undo the part that was pushed too far.
	shift := 0.0
	for k, i := range row {
		x := items[i].weight
		if k > 0 {
			before := items[row[k-1]]
			x = max(x, before.x+(before.w+items[i].w)/2+boxGap)
		}
		items[i].x = x
		shift += x - items[i].weight
	}
	for _, i := range row {
		items[i].x -= shift / float64(len(row))
	}
}

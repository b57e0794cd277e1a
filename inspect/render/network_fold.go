package render

import (
	"fmt"
	"strings"
)

// Limits of folding. They may change, together with the goldens.
const (
	minRepeats = 3   // times that a part follows itself before it is drawn once
	maxPeriod  = 200 // boxes in such a part
)

// fold returns the network with parts that repeat drawn once, if it has more than
// limit boxes. Parts repeat if their boxes, in order, have the same kinds, Infos, labels of arrows,
// and names without digits and "_". A network that is still too large has its middle left out.
func (n *Network) fold(limit int) *Network {
	if len(n.Boxes) <= limit {
		return n
	}
	ranks, _ := n.ranks()
	order := make([]int, 0, len(n.Boxes))
	rows := make([][]int, len(n.Boxes)+1)
	for b, r := range ranks {
		rows[r] = append(rows[r], b)
	}
	for _, r := range rows {
		order = append(order, r...)
	}
	words := make([]string, len(order)) // equal for boxes that look alike, in order
	in := make([]string, len(n.Boxes))  // the labels of the arrows into each box
	for _, a := range n.Arrows {
		in[a.To] += "\x00" + a.Label
	}
	for k, b := range order {
		x := n.Boxes[b]
		name := strings.Map(func(r rune) rune {
			if '0' <= r && r <= '9' || r == '_' {
				return -1
			}
			return r
		}, x.Name)
		words[k] = fmt.Sprintf("%d\x00%s\x00%s%s", x.Kind, name, x.Info, in[b])
	}
	out := &Network{Title: n.Title}
	to := make([]int, len(n.Boxes)) // the new box of each
	put := func(b Box) int {
		out.Boxes = append(out.Boxes, b)
		return len(out.Boxes) - 1
	}
	leave := func(boxes []int, words string) {
		first, last := n.Boxes[boxes[0]].Name, n.Boxes[boxes[len(boxes)-1]].Name
		at := put(Box{FoldedBox, words, cut(first, 20) + " … " + cut(last, 20)})
		for _, b := range boxes {
			to[b] = at
		}
	}
	for k := 0; k < len(order); {
		period, times := repeats(words[k:])
		if times < minRepeats {
			to[order[k]] = put(n.Boxes[order[k]])
			k++
			continue
		}
		for _, b := range order[k : k+period] {
			to[b] = put(n.Boxes[b])
		}
		what := fmt.Sprintf("%d more like the %d before", times-1, period)
		if period == 1 {
			what = fmt.Sprintf("%d more like the one before", times-1)
		}
		leave(order[k+period:k+period*times], what)
		k += period * times
	}
	type pair struct{ from, to int }
	seen := map[pair]bool{}
	for _, a := range n.Arrows {
		p := pair{to[a.From], to[a.To]}
		if p.from == p.to || seen[p] {
			continue
		}
		seen[p] = true
		out.Arrows = append(out.Arrows, Arrow{p.from, p.to, a.Label})
	}
	if len(out.Boxes) > maxBlocks {
		return out.cutMiddle(maxBlocks)
	}
	return out
}

// cutMiddle replaces the boxes in the middle by one that counts them.
func (n *Network) cutMiddle(most int) *Network {
	gone := len(n.Boxes) - most + 1
	start := most / 2
	out := &Network{Title: n.Title}
	to := make([]int, len(n.Boxes))
	for i, b := range n.Boxes {
		switch {
		case i < start || i >= start+gone:
			out.Boxes = append(out.Boxes, b)
		case i == start:
			out.Boxes = append(out.Boxes, Box{FoldedBox, fmt.Sprintf("%d more", gone), cut(b.Name, 20) + " … " + cut(n.Boxes[start+gone-1].Name, 20)})
		}
		to[i] = len(out.Boxes) - 1
	}
	seen := map[[2]int]bool{}
	for _, a := range n.Arrows {
		p := [2]int{to[a.From], to[a.To]}
		if p[0] != p[1] && !seen[p] {
			seen[p] = true
			out.Arrows = append(out.Arrows, Arrow{p[0], p[1], a.Label})
		}
	}
	return out
}

// repeats returns the part at the beginning of words that follows itself most: its
// length and the number of its repetitions. If several cover as much, it is the shortest.
func repeats(words []string) (period, times int) {
	best := 0
	for p := 1; p <= maxPeriod && p*minRepeats <= len(words); p++ {
		same := 0
		for p+same < len(words) && words[same] == words[same+p] {
			same++
		}
		if t := same/p + 1; t >= minRepeats && t*p > best {
			best, period, times = t*p, p, t
		}
	}
	return period, times
}

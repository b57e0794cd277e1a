package main

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/cairnml/cairn/inspect/render"
)

// table prints rows in columns. On a terminal that is too narrow for a name, or for
// another text, that text gets one or several separate lines, and the columns after it
// stay in place. Elsewhere every row is one line, for programs.
//
// The verbs ls, stat, show --sizes and run --profile print tables. Their form is in goldens.
type table struct {
	head  []string
	right []bool             // for each column, whether it is aligned to the right
	rows  [][]string         // each of len(head) cells
	each  iter.Seq[[]string] // if not nil, makes the rows anew instead of holding them
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) all() iter.Seq[[]string] {
	if t.each != nil {
		return t.each
	}
	return slices.Values(t.rows)
}

func (t *table) print(a *app) {
	widths := make([]int, len(t.head))
	for i, h := range t.head {
		widths[i] = render.Width(h)
	}
	for r := range t.all() {
		for i, c := range r {
			widths[i] = max(widths[i], render.Width(c))
		}
	}
	if a.outTTY {
		t.narrow(widths, a.width)
	}
	write := func(r []string, paint string) {
		var b strings.Builder
		from, used := 0, 0 // offset of the column; length of the written part of the line
		for i, c := range r {
			wide := render.Width(c)
			pad := strings.Repeat(" ", max(0, widths[i]-wide))
			switch {
			case wide > widths[i]:
				if used > 0 {
					b.WriteByte('\n')
				}
				b.WriteString(strings.Repeat(" ", max(0, min(from, a.width-wide))) + strings.Join(render.Break(c, a.width), "\n  "))
				if i+1 < len(r) {
					b.WriteByte('\n')
				}
				used = 0
			case t.right[i]:
				b.WriteString(strings.Repeat(" ", from-used) + pad + c)
				used = from + widths[i]
			default:
				b.WriteString(strings.Repeat(" ", from-used) + c)
				used = from + wide
			}
			from += widths[i] + 2
		}
		line := strings.TrimRight(b.String(), " ")
		if paint != "" && a.color {
			line = paint + line + "\x1b[0m"
		}
		a.out.Write([]byte(line + "\n"))
	}
	write(t.head, "\x1b[1m")
	for r := range t.all() {
		write(r, "")
	}
}

// narrow reduces the columns' widths, in cells of the terminal, until a line fits into width: the
// names' first, then the other texts', the widest one first. Columns of numbers keep theirs.
func (t *table) narrow(widths []int, width int) {
	const least = 12
	over := 2*len(widths) - 2 - width
	for _, w := range widths {
		over += w
	}
	take := func(i, least int) {
		n := max(0, min(over, widths[i]-least))
		widths[i] -= n
		over -= n
	}
	take(0, least)
	texts := []int{}
	for i, right := range t.right {
		if i > 0 && !right {
			texts = append(texts, i)
		}
	}
	slices.SortFunc(texts, func(a, b int) int { return cmp.Compare(widths[b], widths[a]) })
	for _, i := range texts {
		take(i, render.Width(t.head[i]))
	}
}

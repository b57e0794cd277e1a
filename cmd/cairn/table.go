package main

import (
	"iter"
	"slices"
	"strings"

	"github.com/cairnml/cairn/internal/app/render"
)

// table prints rows in columns. On a terminal that is too narrow for a name the
// name gets a line of its own, the other columns stay in place; elsewhere every
// row is one line, for programs.
type table struct {
	head  []string
	right []bool // columns aligned to the right
	rows  [][]string
	each  iter.Seq[[]string] // where not nil, makes the rows anew instead of holding them
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
		rest := 0
		for _, w := range widths[1:] {
			rest += 2 + w
		}
		widths[0] = min(widths[0], max(a.width-rest, 12))
	}
	write := func(r []string, paint string) {
		var b strings.Builder
		b.WriteString(r[0])
		used := render.Width(r[0])
		if used > widths[0] {
			b.WriteByte('\n')
			used = 0
		}
		b.WriteString(strings.Repeat(" ", widths[0]-used))
		for i, c := range r[1:] {
			pad := strings.Repeat(" ", widths[i+1]-render.Width(c))
			if t.right[i+1] {
				c = pad + c
			} else {
				c += pad
			}
			b.WriteString("  " + c)
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

package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/inspect/render"
	"github.com/cairnml/cairn/tensorfile"
)

// The verb ls folds long lists on a terminal (printFolded). Scripts don't see this form, so it
// may change, together with fold_test.go.

// minAlike is the smallest number of tensors that share a line of a folded list.
const minAlike = 4

// foldedLine is a line of a folded list: one tensor, or several whose names differ in
// numbers alone.
type foldedLine struct {
	name  string           // with ranges in place of numbers: "layers/{0…95}/kernel"
	first tensorfile.Entry // of its tensors; all have its type and shape
	count int              // number of tensors
	bytes int64            // of all tensors
}

// numberedName is a name taken apart at its numbers: texts[0] numbers[0] texts[1] … The
// numbers stay as they are written, because 07 and 7 are two names.
type numberedName struct{ texts, numbers []string }

func splitNumbers(name string) numberedName {
	var n numberedName
	digit := func(c byte) bool { return '0' <= c && c <= '9' }
	for start, i := 0, 0; ; {
		for i < len(name) && !digit(name[i]) {
			i++
		}
		n.texts = append(n.texts, name[start:i])
		if i == len(name) {
			return n
		}
		start = i
		for i < len(name) && digit(name[i]) {
			i++
		}
		n.numbers = append(n.numbers, name[start:i])
		start = i
	}
}

// foldEntries groups the entries of a list by type, shape and name without its numbers. A group of
// minAlike entries or more becomes one line if its numbers are all combinations of the values at each
// position. Any other group of that size is split by its last number, and its parts are tried again.
// Smaller groups become a line for each entry. A line takes the place of its first entry.
func foldEntries(list tensorfile.Entries) []foldedLine {
	type member struct {
		at    int
		entry tensorfile.Entry
		name  numberedName
	}
	groups := map[string][]member{}
	var order []string
	at := 0
	for e := range list.All() {
		n := splitNumbers(tensorfile.Short(e.Name))
		key := fmt.Sprintf("%v %v %q", e.DType, e.Shape, n.texts)
		if len(groups[key]) == 0 {
			order = append(order, key)
		}
		groups[key] = append(groups[key], member{at, e, n})
		at++
	}
	type placed struct {
		at int
		foldedLine
	}
	var out []placed
	// fold makes lines of members, whose numbers from position free on are equal.
	var fold func(members []member, free int)
	fold = func(members []member, free int) {
		values := make([][]string, free)
		combinations := 1
		for i := range values {
			seen := map[string]bool{}
			for _, m := range members {
				if v := m.name.numbers[i]; !seen[v] {
					seen[v] = true
					values[i] = append(values[i], v)
				}
			}
			combinations = min(combinations*len(values[i]), len(members)+1)
		}
		if len(members) >= minAlike && combinations == len(members) {
			line := foldedLine{first: members[0].entry, count: len(members)}
			var b strings.Builder
			for i, text := range members[0].name.texts {
				b.WriteString(text)
				switch {
				case i < free && len(values[i]) > 1:
					b.WriteString("{" + numberRange(values[i]) + "}")
				case i < len(members[0].name.numbers):
					b.WriteString(members[0].name.numbers[i])
				}
			}
			line.name = b.String()
			for _, m := range members {
				line.bytes += m.entry.Bytes
			}
			out = append(out, placed{members[0].at, line})
			return
		}
		if free == 0 || len(members) < minAlike {
			for _, m := range members {
				out = append(out, placed{m.at, foldedLine{tensorfile.Short(m.entry.Name), m.entry, 1, m.entry.Bytes}})
			}
			return
		}
		parts := map[string][]member{}
		var keys []string
		for _, m := range members {
			k := m.name.numbers[free-1]
			if len(parts[k]) == 0 {
				keys = append(keys, k)
			}
			parts[k] = append(parts[k], m)
		}
		for _, k := range keys {
			fold(parts[k], free-1)
		}
	}
	for _, key := range order {
		fold(groups[key], len(groups[key][0].name.numbers))
	}
	slices.SortStableFunc(out, func(a, b placed) int { return cmp.Compare(a.at, b.at) })
	lines := make([]foldedLine, len(out))
	for i, p := range out {
		lines[i] = p.foldedLine
	}
	return lines
}

// numberRange writes values in order: "0…95" for neighbours, "1,3,8" for others.
func numberRange(values []string) string {
	var b strings.Builder
	for i := 0; i < len(values); {
		last := i
		for last+1 < len(values) && follows(values[last], values[last+1]) {
			last++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(values[i])
		switch {
		case last == i+1:
			b.WriteString("," + values[last])
		case last > i:
			b.WriteString("…" + values[last])
		}
		i = last + 1
	}
	return b.String()
}

// follows reports whether b is the number after a, written alike.
func follows(a, b string) bool {
	n, err := strconv.ParseUint(a, 10, 63)
	return err == nil && fmt.Sprintf("%0*d", len(a), n+1) == b
}

// printFolded prints a list for people, with one line for entries that look
// alike.
func printFolded(a *app, list tensorfile.Entries, variables map[string]string) {
	t := &table{head: []string{"NAME", "DTYPE", "SHAPE", "TENSORS", "BYTES"}, right: []bool{false, false, false, true, true}}
	t.withVariables(variables)
	folded := false
	for _, l := range foldEntries(list) {
		row := []string{render.Printable(l.name), l.first.DType.String(), l.first.Shape.String(), fmt.Sprint(l.count), fmt.Sprint(l.bytes)}
		folded = folded || l.count > 1
		if variables != nil {
			v := variables[l.first.Name]
			if l.count > 1 {
				v += " …"
			}
			row = slices.Insert(row, 1, render.Printable(v))
		}
		t.rows = append(t.rows, row)
	}
	t.print(a)
	if folded {
		a.note("tensors that look alike share a line; --all lists each")
	}
}

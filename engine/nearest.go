package engine

import (
	"sort"
	"strings"
)

// nearest picks up to three names close to name: by edit distance, ignoring
// case, at most a third of the length away.
func nearest(name string, names []string) []string {
	type scored struct {
		name string
		dist int
	}
	if len(name) > 100 {
		return nil
	}
	var close []scored
	lower := strings.ToLower(name)
	for _, n := range names {
		if d := editDistance(lower, strings.ToLower(n)); d <= max(1, len(n)/3) {
			close = append(close, scored{n, d})
		}
	}
	sort.SliceStable(close, func(i, j int) bool { return close[i].dist < close[j].dist })
	var out []string
	for _, c := range close[:min(3, len(close))] {
		out = append(out, c.name)
	}
	return out
}

func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diag
			if a[i] != b[j] {
				cost++
			}
			diag = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}

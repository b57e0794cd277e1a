package checkpoint

import (
	"cmp"
	"slices"
)

// Bounds on the work of finding similar names, which come from files.
const (
	maxSimilar    = 3
	maxCandidates = 20000
	maxNameLength = 128
)

// nearest are the names most like one, best first: the fewest edits, if that is
// less than half of it.
func nearest(name string, names []string) []string {
	type near struct {
		name string
		d    int
	}
	var best []near
	for i, n := range names {
		if i == maxCandidates {
			break
		}
		if n == name {
			continue
		}
		limit := max(len(name), len(n)) / 2
		if diff := len(name) - len(n); diff > limit || -diff > limit {
			continue
		}
		if d := edits(tail(name), tail(n)); d <= limit {
			best = append(best, near{n, d})
		}
	}
	slices.SortStableFunc(best, func(a, b near) int { return cmp.Compare(a.d, b.d) })
	if len(best) > maxSimilar {
		best = best[:maxSimilar]
	}
	out := make([]string, len(best))
	for i, b := range best {
		out[i] = b.name
	}
	return out
}

// tail is the end of a long name, where names differ most.
func tail(s string) string {
	if len(s) > maxNameLength {
		return s[len(s)-maxNameLength:]
	}
	return s
}

// edits is the Levenshtein distance.
func edits(a, b string) int {
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
			row[j+1] = min(cost, row[j]+1, diag+1)
		}
	}
	return row[len(b)]
}

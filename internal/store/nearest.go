package store

import (
	"cmp"
	"slices"
	"strings"
)

// maxCompare bounds the names that are measured by edit distance; beyond, only
// names that contain the wanted one are found.
const maxCompare = 20_000

// Nearest finds up to n of the names that are most like name: those that hold
// it, or its last parts, first, then those a few letters away.
func Nearest(name string, names []string, n int) []string {
	type scored struct {
		name  string
		score int
	}
	if name == "" {
		return nil
	}
	var found []scored
	low := strings.ToLower(name)
	last := low[strings.LastIndex(low, "/")+1:]
	limit := max(2, len(name)/3)
	for i, c := range names {
		l := strings.ToLower(c)
		switch {
		case l == low:
			found = append(found, scored{c, 0})
		case strings.Contains(l, low):
			found = append(found, scored{c, 1 + len(c) - len(name)})
		case i < maxCompare && len(l) < 4*len(low)+64:
			d := distance(low, l, limit)
			if tail := lastParts(l, strings.Count(low, "/")+1); d > limit && tail != l {
				// The beginning of a path is often left out.
				if t := distance(low, tail, limit); t <= limit {
					found = append(found, scored{c, 100 + 10*t + len(l)})
					continue
				}
			}
			if d <= limit {
				found = append(found, scored{c, 100 + d})
			} else if len(last) > 2 && strings.Contains(l, last) {
				found = append(found, scored{c, 1000 + d})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int { return cmp.Compare(a.score, b.score) })
	var out []string
	for _, s := range found[:min(n, len(found))] {
		out = append(out, s.name)
	}
	return out
}

// lastParts is the last n parts of a path.
func lastParts(path string, n int) string {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '/' {
			if n--; n == 0 {
				return path[i+1:]
			}
		}
	}
	return path
}

// distance is the number of letters to put in, take out, change or swap to make
// b of a; anything above limit may be returned as limit+1.
func distance(a, b string, limit int) int {
	if d := len(a) - len(b); d > limit || -d > limit {
		return limit + 1
	}
	two, one, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range one {
		one[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(row[j-1]+1, one[j]+1, one[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], two[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > limit {
			return limit + 1
		}
		two, one, row = one, row, two
	}
	return one[len(b)]
}

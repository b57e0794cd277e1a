// Package nearest finds the names that a person may have meant: every error
// about a missing name lists them. Many packages use it.
package nearest

import (
	"cmp"
	"slices"
	"strings"
)

// The order of suggestions is in goldens of errors; nothing else depends on it, so the rules may change.

// Names come from files, so the work that they can cause is bounded. Of the names that aren't compared, one
// is still found if it contains the wanted one. The bounds may change.
const (
	maxMeasured = 20_000 // names that are compared byte by byte
	maxLength   = 128    // bytes of a name that are compared
)

// Scores of the kinds of similarity, the best lowest. The score of a name that contains the wanted one is
// the length of the rest.
const (
	byLetters = 100_000
	byPart    = 200_000
)

// Names finds up to n of names that are most like name, best first: those that
// contain it, those a few letters away from it or from its end (the beginning
// of a path is often left out), then those that share its last part. If no name
// is similar the list is empty.
func Names(name string, names []string, n int) []string {
	type scored struct {
		name  string
		score int
	}
	if name == "" || n <= 0 {
		return nil
	}
	want := strings.ToLower(name)
	last := want[strings.LastIndexByte(want, '/')+1:]
	parts := strings.Count(want, "/") + 1
	limit := max(2, min(len(want), maxLength)/2)
	var found []scored
	for i, c := range names {
		have := strings.ToLower(c)
		switch {
		case have == want:
			found = append(found, scored{c, 0})
		case strings.Contains(have, want):
			found = append(found, scored{c, 1 + len(have) - len(want)})
		case i >= maxMeasured:
		default:
			d := Distance(want, have, limit)
			if end := lastParts(have, parts); end != have {
				d = min(d, Distance(want, end, limit)+1)
			}
			switch {
			case d <= limit:
				found = append(found, scored{c, byLetters + d})
			case len(last) > 2 && strings.Contains(have, last):
				found = append(found, scored{c, byPart + len(have)})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int { return cmp.Compare(a.score, b.score) })
	if len(found) > 0 && found[0].score < byPart {
		// After a good guess the distant ones only distract.
		far := max(byLetters, found[0].score) + max(2, 2*(found[0].score-byLetters))
		found = slices.DeleteFunc(found, func(s scored) bool { return s.score > far })
	}
	out := make([]string, min(n, len(found)))
	for i := range out {
		out[i] = found[i].name
	}
	return out
}

// lastParts returns the last n parts of a path.
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

// Distance returns the number of bytes to insert, delete, change or swap with
// their neighbour to turn a into b; anything above limit is limit+1. For long
// names only the ends are compared, because names differ most there.
func Distance(a, b string, limit int) int {
	a, b = end(a), end(b)
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
	return min(one[len(b)], limit+1)
}

func end(s string) string { return s[max(0, len(s)-maxLength):] }

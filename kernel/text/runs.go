package text

import (
	"regexp/syntax"
	"unicode/utf8"
)

// runs matches one character of a class, or a run of them.
type runs struct {
	ascii  [utf8.RuneSelf]bool
	class  []rune // pairs: the first and the last of a range
	many   bool
	groups int // number of groups, each of which is the whole match
}

// runsOf returns the runs that an expression matches, nil if it matches
// anything else.
func runsOf(re *syntax.Regexp) *runs {
	r := new(runs)
	for re.Op == syntax.OpCapture {
		re = re.Sub[0]
		r.groups++
	}
	if re.Op == syntax.OpPlus && re.Flags&syntax.NonGreedy == 0 {
		re, r.many = re.Sub[0], true
	}
	switch {
	case re.Op == syntax.OpCharClass:
		r.class = re.Rune
	case re.Op == syntax.OpLiteral && len(re.Rune) == 1 && re.Flags&syntax.FoldCase == 0:
		r.class = []rune{re.Rune[0], re.Rune[0]}
	default:
		return nil
	}
	for c := range rune(utf8.RuneSelf) {
		r.ascii[c] = r.in(c)
	}
	return r
}

// in reports whether c is in the class.
func (r *runs) in(c rune) bool {
	for i := 0; i+1 < len(r.class); i += 2 {
		if r.class[i] <= c && c <= r.class[i+1] {
			return true
		}
	}
	return false
}

// at reports whether the character at an offset is in the class, and returns
// its number of bytes.
func (r *runs) at(s string, i int) (size int, matches bool) {
	if b := s[i]; b < utf8.RuneSelf {
		return 1, r.ascii[b]
	}
	c, size := utf8.DecodeRuneInString(s[i:])
	return size, r.in(c)
}

// checkEvery is the number of bytes after which a search for runs checks the context.
const checkEvery = 1 << 20

// each works as pattern.each.
func (r *runs) each(c checker, s string, all bool, f func(at []int) error) error {
	at := make([]int, 2*(r.groups+1))
	next := checkEvery // offset of the next check
	for i := 0; i < len(s); {
		if i >= next {
			c.Check()
			next = i + checkEvery
		}
		size, matches := r.at(s, i)
		if !matches {
			i += size
			continue
		}
		end := i + size
		for r.many && end < len(s) {
			if size, matches = r.at(s, end); !matches {
				break
			}
			if end += size; end >= next {
				c.Check()
				next = end + checkEvery
			}
		}
		for k := 0; k < len(at); k += 2 {
			at[k], at[k+1] = i, end
		}
		if err := f(at); err != nil || !all {
			return err
		}
		i = end
	}
	return nil
}

package text

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"regexp/syntax"
	"sync"
	"unicode/utf8"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/internal/await"
)

// RegexReplace, RegexFullMatch, their Static forms and RegexSplitWithOffsets use these
// patterns. Matches must stay those of RE2, TensorFlow's library.

// pattern is a regular expression whose searches end with the context of a
// call.
//
// Go's regexp can't be interrupted, unless it reads the text from an
// io.RuneReader. Searches that may take long do so; all others use strings,
// which is faster. Searches for runs are fast enough without a checker: they read
// each character at most twice.
type pattern struct {
	*regexp.Regexp
	runs *runs // nil unless the expression matches single characters or runs of them
	size int   // instructions of the program
	span int   // length of the longest match in characters, math.MaxInt if it is unbounded
	// later finds matches after the first character of a text; see from.
	later func() (*regexp.Regexp, error)
}

// maxPattern is the length of the longest expression, whose compilation can't
// be interrupted. RE2, within the memory that TensorFlow allows it, compiles
// 349,525 instructions at most.
const maxPattern = 1 << 15

// maxSteps is the most work of a search that needn't check the context: characters
// times instructions. A step takes about 10 ns.
const maxSteps = 1 << 21

// maxRanges is the largest number of ranges of characters in an expression. RE2 compiles each
// of them to one instruction or more.
const maxRanges = 349_525

// compilePattern compiles an expression that is searched for.
func compilePattern(s string) (*pattern, error) { return compile(s, false) }

// compileWhole compiles an expression that matches whole texts.
func compileWhole(s string) (*pattern, error) { return compile(s, true) }

// compile compiles s; a whole pattern matches only entire texts.
func compile(s string, whole bool) (*pattern, error) {
	if len(s) > maxPattern {
		return nil, fmt.Errorf("the expression has %d bytes (want %d at most)", len(s), maxPattern)
	}
	tree, err := syntax.Parse(s, syntax.Perl) // parsed alone: inside (?:...), `a)(b` would be valid
	if err != nil {
		return nil, err
	}
	if n := ranges(tree); n > maxRanges {
		return nil, fmt.Errorf("the expression has %d ranges of characters (want %d at most)", n, maxRanges)
	}
	p := &pattern{span: longest(tree)}
	if whole {
		p.Regexp, err = regexp.Compile(`\A(?:` + s + `)\z`)
	} else {
		p.runs = runsOf(tree)
		p.Regexp, err = regexp.Compile(s)
	}
	if err != nil {
		return nil, err
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, err
	}
	p.size = len(prog.Inst)
	p.later = sync.OnceValues(func() (*regexp.Regexp, error) {
		return regexp.Compile(`\A(?s:.)(?s:.*?)(` + s + `)`)
	})
	return p, nil
}

// shortPattern is the length of the longest expression whose compilation takes no more than
// some milliseconds.
const shortPattern = 1 << 10

// compileUntilDone calls compile and waits until it returns or the call's context ends.
func compileUntilDone(c *engine.Call, s string, compile func(string) (*pattern, error)) (p *pattern, err error) {
	if len(s) <= shortPattern || len(s) > maxPattern {
		return compile(s)
	}
	type result struct {
		p   *pattern
		err error
	}
	done := make(chan result, 1)
	if err := await.Do(c.Context(), func() {
		p, err := compile(s)
		done <- result{p, err}
	}); err != nil {
		return nil, err
	}
	r := <-done
	return r.p, r.err
}

// ranges returns the number of ranges of characters in an expression.
func ranges(re *syntax.Regexp) int {
	n := len(re.Rune) / 2
	for _, sub := range re.Sub {
		n += ranges(sub)
	}
	return n
}

// longest returns the number of characters of the longest match of an expression, math.MaxInt if
// there is none.
func longest(re *syntax.Regexp) int {
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1
	case syntax.OpStar, syntax.OpPlus:
		if longest(re.Sub[0]) == 0 {
			return 0
		}
		return math.MaxInt
	case syntax.OpRepeat:
		one := longest(re.Sub[0])
		if re.Max < 0 && one > 0 || re.Max > 0 && one > math.MaxInt/re.Max {
			return math.MaxInt
		}
		return one * max(re.Max, 0)
	case syntax.OpAlternate:
		most := 0
		for _, sub := range re.Sub {
			most = max(most, longest(sub))
		}
		return most
	case syntax.OpConcat, syntax.OpCapture, syntax.OpQuest:
		sum := 0
		for _, sub := range re.Sub {
			n := longest(sub)
			if n > math.MaxInt-sum {
				return math.MaxInt
			}
			sum += n
		}
		return sum
	}
	return 0 // an empty match
}

// checker panics if the call's context has ended, which ends a search.
type checker interface{ Check() }

// matches reports whether the pattern matches a part of a text.
func (p *pattern) matches(c checker, s string) bool {
	if len(s) <= maxSteps/p.size {
		return p.MatchString(s)
	}
	return p.MatchReader(p.reader(c, s))
}

// first returns the beginnings and ends of the first match and its groups, nil
// if there is none.
func (p *pattern) first(c checker, s string) []int {
	if len(s) <= maxSteps/p.size {
		return p.FindStringSubmatchIndex(s)
	}
	return p.FindReaderSubmatchIndex(p.reader(c, s))
}

// each calls f for all matches in s, or for the first one, until f returns an
// error. f gets the beginnings and ends of the match and its groups, in a slice
// that is valid during the call.
func (p *pattern) each(c checker, s string, all bool, f func(at []int) error) error {
	switch {
	case p.runs != nil:
		return p.runs.each(c, s, all, f)
	case !all:
		if at := p.first(c, s); at != nil {
			return f(at)
		}
		return nil
	case len(s) <= maxSteps/p.size/max(1, min(p.span, len(s))):
		// The search from each of the matches' ends may go through a whole span.
		for _, at := range p.FindAllStringSubmatchIndex(s, -1) {
			if err := f(at); err != nil {
				return err
			}
		}
		return nil
	}
	last := -1 // end of the match before
	for pos := 0; pos <= len(s); {
		at, err := p.from(c, s, pos)
		if at == nil {
			return err
		}
		// As in regexp: an empty match directly after another match doesn't count.
		accept := at[1] != pos || at[0] != last
		if at[1] > pos {
			pos = at[1]
		} else {
			_, size := utf8.DecodeRuneInString(s[pos:])
			pos += max(1, size)
		}
		last = at[1]
		if accept {
			if err := f(at); err != nil {
				return err
			}
		}
		c.Check()
	}
	return nil
}

// from returns the first match at an offset or after it. Go can't search from an
// offset: the search begins one character earlier, for \b and ^, and skips it.
func (p *pattern) from(c checker, s string, pos int) ([]int, error) {
	if pos == 0 {
		return p.FindReaderSubmatchIndex(p.reader(c, s)), nil
	}
	_, size := utf8.DecodeLastRuneInString(s[:pos])
	before := pos - size
	re, err := p.later()
	if err != nil {
		return nil, err
	}
	at := re.FindReaderSubmatchIndex(p.reader(c, s[before:]))
	if at == nil {
		return nil, nil
	}
	at = at[2:]
	for i := range at {
		if at[i] >= 0 {
			at[i] += before
		}
	}
	return at, nil
}

// textReader reads the characters of a text, and checks the context.
type textReader struct {
	rest     string
	c        checker
	n, every int
}

// reader returns a reader of s that checks the context about every 2^18 steps of the search.
func (p *pattern) reader(c checker, s string) *textReader {
	return &textReader{rest: s, c: c, every: max(1, 1<<18/p.size)}
}

// ReadRune returns the next character, U+FFFD for a byte that is none.
func (r *textReader) ReadRune() (rune, int, error) {
	if r.n++; r.n%r.every == 0 {
		r.c.Check()
	}
	if r.rest == "" {
		return 0, 0, io.EOF
	}
	c, size := utf8.DecodeRuneInString(r.rest)
	r.rest = r.rest[size:]
	return c, size, nil
}

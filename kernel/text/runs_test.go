package text

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestRunsAreTheExpressionsMatches checks that the search without package regexp finds the same matches.
func TestRunsAreTheExpressionsMatches(t *testing.T) {
	texts := []string{"", "a", "abc", "!a!!b", "ab  c\t\n d", "äöü aä", "\xff\xfea\xff", "a\xe4", "x\x00y", "ééé", "日本語 a", "\ufffd\xff"}
	for expression, fast := range map[string]bool{
		"[!\"#$%&()*+,-./:;<=>?@\\[\\\\\\]^_`{|}~']": true, `\s+`: true, "a": true, "[^a-z]": true, "[^a-z]+": true, "(a+)": true, "(([äé]))": true,
		`\W+`: true, `[\x{fffd}]`: true, "ä+": true, `\pL+`: true,
		"a+?": false, "(a)+": false, "ab": false, "a*": false, "(?i)a": false, "(?i)ä": false, "(?i)s+": false, "a|bc": false, "^a": false, `\b`: false, ".": false, "a|b": true,
	} {
		p, err := compilePattern(expression)
		if err != nil {
			t.Fatal(err)
		}
		if (p.runs != nil) != fast {
			t.Errorf("%s: runs %v", expression, p.runs)
		}
		for _, s := range texts {
			for _, most := range []int{-1, 1} {
				want := fmt.Sprint(regexp.MustCompile(expression).FindAllStringSubmatchIndex(s, most))
				got := [][]int{}
				if err := p.each(steps{}, s, most < 0, func(at []int) error {
					got = append(got, append([]int(nil), at...))
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				if fmt.Sprint(got) != want {
					t.Errorf("%s in %q: %v, want %s", expression, s, got, want)
				}
			}
		}
	}
}

// steps is a call whose context never ends.
type steps struct{}

func (steps) Check() {}

// TestSearchesThatCanEndFindTheSameMatches checks that a search which looks at its context finds
// the matches of one that doesn't.
func TestSearchesThatCanEndFindTheSameMatches(t *testing.T) {
	texts := []string{"", "a", "abc", "aaa", "!a!!b", "ab  c\t\n d\nab", "äöü aä", "\xff\xfea\xff", "a\xe4", "x\x00y", "ééé", "日本語 a", "abababab", "aab aab"}
	for _, expression := range []string{"a*", "a*?", "(a)|(b)", "^a", "(?m)^a", "a$", "(?m)a$", `\b`, `\B`, `\ba`, ".", "(?s).", "a*b|a", "(a*)(b*)", "()", "^", "$", `\A`, `\z`, "[^b]*", "(?i)A(B)?", "x*y*", "(?U)a+", "é|"} {
		p, err := compilePattern(expression)
		if err != nil {
			t.Fatal(err)
		}
		p.runs, p.size = nil, maxSteps+1
		for _, s := range texts {
			want := fmt.Sprint(regexp.MustCompile(expression).FindAllStringSubmatchIndex(s, -1))
			got := [][]int{}
			if err := p.each(steps{}, s, true, func(at []int) error {
				got = append(got, append([]int(nil), at...))
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(got) != want {
				t.Errorf("%s in %q: %v, want %s", expression, s, got, want)
			}
			if got, want := p.matches(steps{}, s), p.MatchString(s); got != want {
				t.Errorf("%s in %q: %v, want %v", expression, s, got, want)
			}
		}
	}
}

// ended is a call whose context has ended.
type ended struct{}

func (ended) Check() { panic("ended") }

// TestSearchesEndWithTheContext checks that expressions which take minutes stop at once.
func TestSearchesEndWithTheContext(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	for _, expression := range []string{"a*b|a", "(a*)*b", "(a|aa)+$|b", strings.Repeat("a?", 500) + strings.Repeat("a", 500), "(x+x+)+y", "((a{0,100}){0,10})b"} {
		p, err := compilePattern(expression)
		if err != nil {
			t.Fatal(err)
		}
		for name, search := range map[string]func(){
			"each":    func() { _ = p.each(ended{}, long, true, func([]int) error { return nil }) },
			"first":   func() { p.first(ended{}, long+"c") },
			"matches": func() { p.matches(ended{}, long+"c") },
		} {
			begin := time.Now()
			func() {
				defer func() { _ = recover() }()
				search()
			}()
			if d := time.Since(begin); d > 2*time.Second {
				t.Errorf("%.20s: %s took %v after the context's end", expression, name, d)
			}
		}
	}
}

// TestSearchesForRunsEndWithTheContext checks that a search for single characters, or for runs
// of them, looks at the context within one long text.
func TestSearchesForRunsEndWithTheContext(t *testing.T) {
	long := strings.Repeat("a", 4<<20)
	for _, expression := range []string{"b", "b+", "a+", "[^b]+"} {
		p, err := compilePattern(expression)
		if err != nil {
			t.Fatal(err)
		}
		stopped := false
		func() {
			defer func() { stopped = recover() != nil }()
			_ = p.each(ended{}, long, true, func([]int) error { return nil })
		}()
		if !stopped {
			t.Errorf("%s: the search went on to the end of the text", expression)
		}
	}
}

// TestHugeClassesAreRefused checks that expressions with more ranges of characters than RE2
// compiles are errors.
func TestHugeClassesAreRefused(t *testing.T) {
	if _, err := compilePattern(strings.Repeat(`[\pL\pN]`, 4096)); err == nil {
		t.Error("compiled, want an error as in TensorFlow")
	}
	if _, err := compilePattern(strings.Repeat(`[\pL\pN]`, 200)); err != nil {
		t.Error(err)
	}
}

package text

import (
	"fmt"
	"regexp"
	"testing"
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
				if err := p.each(s, most < 0, func(at []int) error {
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

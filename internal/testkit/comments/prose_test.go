package comments

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cairnml/cairn/internal/testkit/sources"
)

var lower = flag.Bool("lower", false, "lower the ceilings in testdata/prose.txt to the present counts")

// ceiling is the number of counted constructions in 1,000 words that a directory may have. The
// standard library's net, encoding, go and runtime have 1.4 to 1.9.
const ceiling = 1.5

// constructions are turns of phrase that CONTRIBUTING.md's section on style replaces: nouns
// define, if and when introduce conditions, and the verbs are those of the standard library.
var constructions = regexp.MustCompile(`(?i)` + strings.Join([]string{
	`\bwhat\b`,
	`\b(gives?|gave)\b`,
	`\b(lie|lies|lay|lain)\b`,
	`\bstands?\b`,
	`\b(goes?|going|went) on\b`,
	`\bheld (against|to)\b`, `\bholds? \w+ against\b`,
	`\blooks? (out|after)\b`,
	`\b(behind|beside)\b`,
	`\b(says?|said|tells?)\b`,
	`\b(nobody|somebody|whoever)\b`,
	`\btakes? (\w+ ){1,3}along\b`,
	`\b(its|their) like\b`,
	`\bof (its|their) own\b`,
}, "|"))

// conditional finds "where", unless a noun before it shows that it means a place. Formulas
// have it too: "x*y, where x is the larger one".
var (
	conditional = regexp.MustCompile(`(?i)\bwhere\b`)
	placed      = regexp.MustCompile(`(?i)(\b(place|places|position|positions|point|points|offset|offsets|index|line|file|directory|folder|step|byte|node|site|spot|from|of|know|knows|shows?|case|cases)|[-=+*/)\]]|\d),? $`)
)

// count returns the number of words and of counted constructions in a text.
func count(text string) (words, found int) {
	words = len(strings.Fields(text))
	found = len(constructions.FindAllStringIndex(text, -1))
	for _, at := range conditional.FindAllStringIndex(text, -1) {
		before := strings.Join(strings.Fields(text[max(0, at[0]-60):at[0]]), " ") + " "
		if !placed.MatchString(before) {
			found++
		}
	}
	return words, found
}

// prose returns the texts of a file that people read: comments, or the whole of a document.
func prose(t *testing.T, f *sources.File) string {
	t.Helper()
	var b strings.Builder
	switch f.Ext() {
	case ".go":
		for _, c := range f.Syntax(t).Comments {
			b.WriteString(c.Text() + "\n")
		}
	case ".py":
		for _, m := range pythonComment.FindAllSubmatch(f.Text(t), -1) {
			b.Write(bytes.Join(m[1:], nil))
			b.WriteByte('\n')
		}
	case ".md":
		b.Write(f.Text(t))
	}
	return b.String()
}

// hasProse reports whether a file's prose is checked: not that of these tests, of fixtures and of
// the generated pages of the command.
func hasProse(f *sources.File) bool {
	return !f.Below(self, "docs/cli") && (!f.In("testdata") || f.Ext() == ".py")
}

var pythonComment = regexp.MustCompile(`(?s)(?:^|\n)[ \t]*#([^\n]*)|"""(.*?)"""`)

// TestProseHasFewConstructions counts constructions in each directory. Those in testdata/prose.txt
// may have as many as it says, all others 1.5 in 1,000 words. A ceiling is never raised.
func TestProseHasFewConstructions(t *testing.T) {
	words, found := map[string]int{}, map[string]int{}
	for _, f := range sources.All(t) {
		if !hasProse(f) {
			continue
		}
		folder, _, _ := strings.Cut(f.Dir(), "/testdata")
		w, n := count(prose(t, f))
		words[folder] += w
		found[folder] += n
	}
	ceilings := readCeilings(t)
	for folder := range ceilings {
		if words[folder] == 0 {
			t.Errorf("testdata/prose.txt has a ceiling for %s, which has no prose; run go test -lower", folder)
		}
	}
	allWords, allFound := 0, 0
	for folder, n := range words {
		allWords, allFound = allWords+n, allFound+found[folder]
		limit, listed := ceilings[folder]
		if !listed {
			limit = ceiling
		}
		if allowed := int(math.Ceil(limit * float64(n) / 1000)); found[folder] > allowed {
			t.Errorf("%s: %d counted constructions in %d words, want at most %d; CONTRIBUTING.md has the rules, prose_test.go the list", folder, found[folder], n, allowed)
		}
	}
	t.Logf("%d words, %.2f constructions in 1,000", allWords, 1000*float64(allFound)/float64(allWords))
	if allWords < 300_000 {
		t.Fatalf("only %d words were looked at", allWords)
	}
	if *lower {
		lowerCeilings(t, words, found, ceilings)
	}
}

const ceilingsFile = "testdata/prose.txt"

func readCeilings(t *testing.T) map[string]float64 {
	ceilings := map[string]float64{}
	text, err := os.ReadFile(ceilingsFile)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) != 2 || fields[0] == "#" {
			continue
		}
		limit, err := strconv.ParseFloat(fields[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		ceilings[fields[0]] = limit
	}
	return ceilings
}

func lowerCeilings(t *testing.T, words, found map[string]int, ceilings map[string]float64) {
	var list []string
	for folder, old := range ceilings {
		if words[folder] == 0 {
			continue
		}
		now := math.Ceil(10000*float64(found[folder])/float64(words[folder])) / 10
		if limit := min(old, now); limit > ceiling {
			list = append(list, fmt.Sprintf("%s %.1f\n", folder, limit))
		}
	}
	slices.Sort(list)
	text := "# directory, counted constructions in 1,000 words of comments and documents\n" + strings.Join(list, "")
	if err := os.WriteFile(ceilingsFile, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestCountOfConstructions shows which texts are counted.
func TestCountOfConstructions(t *testing.T) {
	for text, want := range map[string]int{
		"weight is the initial value of a variable":       0,
		"weight is what a variable begins with":           1,
		"the place where the value is stored":             0,
		"nil where there is none":                         1,
		"gives the value that lies behind it":             3,
		"The file says so.":                               1,
		"x*y, where x is the larger one":                  1,
		"it returns the value and stores it in the cache": 0,
	} {
		if _, got := count(text); got != want {
			t.Errorf("%q: %d constructions, want %d", text, got, want)
		}
	}
}

package comments

import (
	"regexp"
	"strings"
	"testing"

	"github.com/cairnml/cairn/internal/testkit/sources"
)

var (
	glossaryRow = regexp.MustCompile(`(?m)^\| ([^|]+) \| ([^|]+) \|$`)
	notTerms    = regexp.MustCompile(`\*Not: ([^*]+)\.\*`)
)

// entry is a row of the glossary.
type entry struct {
	term, meaning string
	not           []string // synonyms that texts don't use
}

// readGlossary reads the section "Glossary" of ARCHITECTURE.md.
func readGlossary(t *testing.T) []entry {
	t.Helper()
	_, section, ok := strings.Cut(sources.Read(t, "ARCHITECTURE.md"), "## Glossary\n")
	if !ok {
		t.Fatal("ARCHITECTURE.md has no section Glossary")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var list []entry
	for _, m := range glossaryRow.FindAllStringSubmatch(section, -1) {
		if m[1] == "term" || strings.Trim(m[1], "-") == "" {
			continue
		}
		e := entry{term: m[1], meaning: m[2]}
		if not := notTerms.FindStringSubmatch(m[2]); not != nil {
			e.not = strings.Split(not[1], ", ")
		}
		list = append(list, e)
	}
	return list
}

// phrase matches words with any space between them, in any case, also in the plural.
func phrase(words string) *regexp.Regexp {
	quoted := strings.Fields(words)
	for i, w := range quoted {
		quoted[i] = regexp.QuoteMeta(w)
	}
	return regexp.MustCompile(`(?i)\b` + strings.Join(quoted, `\s+`) + `s?\b`)
}

// TestTextsUseTheGlossary checks comments and documents for the synonyms that the glossary
// excludes.
func TestTextsUseTheGlossary(t *testing.T) {
	glossary := readGlossary(t)
	excluded := map[string]*regexp.Regexp{}
	use := map[string]string{}
	for _, e := range glossary {
		for _, n := range e.not {
			excluded[n], use[n] = phrase(n), e.term
		}
	}
	if len(glossary) < 40 || len(excluded) < 10 {
		t.Fatalf("the glossary has %d terms with %d synonyms: has its form changed?", len(glossary), len(excluded))
	}
	files := 0
	for _, f := range sources.All(t) {
		if !hasProse(f) || f.Name == "ARCHITECTURE.md" {
			continue
		}
		text := prose(t, f)
		if text != "" {
			files++
		}
		for n, re := range excluded {
			if re.MatchString(text) {
				t.Errorf("%s: %q: the glossary's term is %q", f.Name, n, use[n])
			}
		}
	}
	if files < 2000 {
		t.Fatalf("only %d files were checked", files)
	}
}

// TestGlossaryIsInOrder checks that the glossary has each term once, and that each meaning is
// short.
func TestGlossaryIsInOrder(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range readGlossary(t) {
		if seen[e.term] {
			t.Errorf("%q is twice in the glossary", e.term)
		}
		seen[e.term] = true
		for sentence := range strings.SplitSeq(notTerms.ReplaceAllString(e.meaning, ""), ". ") {
			if n := len(strings.Fields(sentence)); n > 20 {
				t.Errorf("%q: a sentence of %d words, want at most 20", e.term, n)
			}
		}
	}
}

// TestPhrases shows which texts contain an excluded phrase.
func TestPhrases(t *testing.T) {
	re := phrase("graph of objects")
	for text, want := range map[string]bool{
		"the graph\nof objects":     true,
		"Graphs of objects":         false,
		"the object graph":          false,
		"a subgraph of objects":     false,
		"the Graph  of  Objects.":   true,
		"the graph, of objects too": false,
	} {
		if got := re.MatchString(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

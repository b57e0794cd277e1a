package comments

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairnml/cairn/internal/testkit/sources"
)

// TestTheListOfPromisesIsWhole checks testdata/promises.txt: what the project promises against wrong
// and silent results, each with the tests that show it. They exist, and so do the parts of the interop
// run that are named by their files.
func TestTheListOfPromisesIsWhole(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "promises.txt"))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]map[string]bool{}
	seen := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		promise, shown, ok := strings.Cut(line, "\t")
		if !ok || promise == "" || shown == "" {
			t.Errorf("the line %q has another form (want a promise, a tab and tests)", line)
			continue
		}
		if seen[promise] {
			t.Errorf("%q stands in two lines", promise)
		}
		seen[promise] = true
		for name := range strings.SplitSeq(shown, ", ") {
			if strings.HasSuffix(name, ".go") {
				if _, err := os.Stat(filepath.Join(sources.Root(t), filepath.FromSlash(name))); err != nil {
					t.Errorf("%q: %v", promise, err)
				}
				continue
			}
			m := qualified.FindStringSubmatch(name)
			if m == nil || m[0] != name {
				t.Errorf("%q: %q names no test", promise, name)
				continue
			}
			if known[m[1]] == nil {
				known[m[1]] = testsOf(t, m[1])
			}
			if !known[m[1]][m[2]] {
				t.Errorf("%q: %s is no test", promise, name)
			}
		}
	}
	if len(seen) < 50 {
		t.Errorf("the list has %d promises", len(seen))
	}
}

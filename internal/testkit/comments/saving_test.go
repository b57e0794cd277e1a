package comments

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cairnml/cairn/internal/testkit/sources"
)

// savingTests is the number of test methods in tf_keras's files about saving.
const savingTests = 280

// qualified is a test of ours with the directory of its package: "keras/saving.TestX".
var qualified = regexp.MustCompile(`\b([a-z][a-z0-9/_]*)\.(Test[A-Z]\w*)`)

// TestTheListOfTfKerasTestsIsWhole checks testdata/tf_keras_saving.txt: each test of
// tf_keras is listed once, with tests that exist or with a reason.
func TestTheListOfTfKerasTestsIsWhole(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "tf_keras_saving.txt"))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]map[string]bool{}
	seen := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		name, ours, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		file, method, pair := strings.Cut(name, ".py::")
		if !ok || !pair || !strings.HasPrefix(file, "tf_keras/") || strings.Count(method, ".") != 1 {
			t.Errorf("the line %q has another form", line)
			continue
		}
		if seen[name] {
			t.Errorf("%s stands in two lines", name)
		}
		seen[name] = true
		names := qualified.FindAllStringSubmatch(ours, -1)
		for _, m := range names {
			if known[m[1]] == nil {
				known[m[1]] = testsOf(t, m[1])
			}
			if !known[m[1]][m[2]] {
				t.Errorf("%s: %s is no test", name, m[0])
			}
		}
		if why, none := cutReason(ours); none {
			if len(strings.Fields(why)) < 4 {
				t.Errorf("%s: %q is no reason", name, why)
			}
			continue
		}
		if len(names) == 0 || strings.Join(strings.Split(ours, ", "), "") != joined(names) {
			t.Errorf("%s: %q is no list of tests", name, ours)
		}
	}
	if len(seen) != savingTests {
		t.Errorf("there are %d tests, want %d", len(seen), savingTests)
	}
}

// cutReason returns why a line names no test.
func cutReason(ours string) (why string, none bool) {
	for _, word := range []string{"none: ", "missing: "} {
		if why, none = strings.CutPrefix(ours, word); none {
			return why, true
		}
	}
	return "", false
}

func joined(names [][]string) string {
	var b strings.Builder
	for _, m := range names {
		b.WriteString(m[0])
	}
	return b.String()
}

// testsOf returns the names of the tests in a directory of the repository.
func testsOf(t *testing.T, folder string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, f := range sources.Go(t, (*sources.File).Test) {
		if f.Dir() != folder {
			continue
		}
		for _, d := range f.Syntax(t).Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
				out[fn.Name.Name] = true
			}
		}
	}
	return out
}

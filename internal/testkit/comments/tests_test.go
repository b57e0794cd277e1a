package comments

import (
	"regexp"
	"strings"
	"testing"

	"github.com/cairnml/cairn/internal/testkit/sources"
)

var testName = regexp.MustCompile("`(Test[A-Z]\\w*)`")

// TestTheListOfTestsNamesThoseThatExist checks the names in docs/tensorflow-tests.md.
func TestTheListOfTestsNamesThoseThatExist(t *testing.T) {
	text := sources.Read(t, "docs/tensorflow-tests.md")
	var all strings.Builder
	for _, f := range sources.Go(t, (*sources.File).Test) {
		all.Write(f.Text(t))
	}
	names := testName.FindAllStringSubmatch(text, -1)
	if len(names) < 50 {
		t.Errorf("there are only %d names", len(names))
	}
	for _, m := range names {
		if !strings.Contains(all.String(), "func "+m[1]+"(") {
			t.Errorf("docs/tensorflow-tests.md names %s, which is no test", m[1])
		}
	}
}

package comments

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var testName = regexp.MustCompile("`(Test[A-Z]\\w*)`")

// TestTheListOfTestsNamesThoseThatExist checks the names in docs/tensorflow-tests.md.
func TestTheListOfTestsNamesThoseThatExist(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	text, err := os.ReadFile(filepath.Join(root, "docs", "tensorflow-tests.md"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	err = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		all.Write(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	names := testName.FindAllStringSubmatch(string(text), -1)
	if len(names) < 50 {
		t.Errorf("there are only %d names", len(names))
	}
	for _, m := range names {
		if !strings.Contains(all.String(), "func "+m[1]+"(") {
			t.Errorf("docs/tensorflow-tests.md names %s, which is no test", m[1])
		}
	}
}

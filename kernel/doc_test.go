package kernel_test

import (
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"testing"

	"github.com/cairnml/cairn/kernel"
)

// TestFamiliesAreDescribed checks that the package comment has a line for each family, that
// each family is a directory, and that All has the kernels of every directory.
func TestFamiliesAreDescribed(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	described := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^  - (\w+): \w`).FindAllStringSubmatch(f.Doc.Text(), -1) {
		described[m[1]] = true
	}
	joined := map[string]bool{}
	for name := range kernel.Families() {
		joined[name] = true
		if !described[name] {
			t.Errorf("the package comment has no line for %s", name)
		}
	}
	for name := range described {
		if !joined[name] {
			t.Errorf("the package comment describes %s, which isn't a family", name)
		}
	}
	folders, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range folders {
		if name := d.Name(); d.IsDir() && name != "internal" && name != "testdata" && !joined[name] {
			t.Errorf("Families lacks %s", name)
		}
	}
}

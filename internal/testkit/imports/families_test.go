package imports

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/cairnml/cairn/internal/testkit/sources"
	"github.com/cairnml/cairn/kernel"
)

// mechanisms are files that name ops of one family and have another purpose than its rules.
var mechanisms = map[string]string{
	"grad/call.go": "gradients of functions, for every op that calls one",
	"grad/dims.go": "shapes that rules of all families need",
}

// TestFilesAreNamedByFamilies checks that the rules of a family's ops are found by its name:
// a file of graph/shape or grad whose ops are of one family has the name of the family, a
// name that begins with it, or that of a file with the kernels.
func TestFilesAreNamedByFamilies(t *testing.T) {
	family := map[string]string{}
	for name, table := range kernel.Families() {
		for _, k := range table {
			family[k.Op] = name
		}
	}
	used := map[string]bool{}
	for _, dir := range []string{"graph/shape", "grad"} {
		files, err := filepath.Glob(filepath.Join(sources.Root(t), dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no files: %v", dir, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			all, most, count := countFamilies(t, file, family)
			name := strings.TrimSuffix(filepath.Base(file), ".go")
			_, err := os.Stat(filepath.Join(sources.Root(t), "kernel", most, name+".go"))
			if count < 5 || 4*count < 3*all || strings.HasPrefix(name, most) || err == nil {
				continue
			}
			key := dir + "/" + name + ".go"
			if used[key] = true; mechanisms[key] == "" {
				t.Errorf("%s has rules of %d ops, %d of them of kernel/%s: give it that name, or one that begins with it", key, all, count, most)
			}
		}
	}
	for key := range mechanisms {
		if !used[key] {
			t.Errorf("%s needs no exception", key)
		}
	}
}

// countFamilies returns the number of ops that a file names, the family of most of them, and
// the number of those.
func countFamilies(t *testing.T, file string, family map[string]string) (all int, most string, count int) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	counts, seen := map[string]int{}, map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		op, _ := strconv.Unquote(lit.Value)
		if name := family[op]; name != "" && !seen[op] {
			seen[op] = true
			all++
			if counts[name]++; counts[name] > count {
				most, count = name, counts[name]
			}
		}
		return true
	})
	return all, most, count
}

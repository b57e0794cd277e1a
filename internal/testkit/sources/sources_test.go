package sources_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"

	"github.com/cairnml/cairn/internal/testkit/sources"
)

// TestAllFindsTheFiles checks the properties of some files of the repository.
func TestAllFindsTheFiles(t *testing.T) {
	files := map[string]*sources.File{}
	for _, f := range sources.All(t) {
		files[f.Name] = f
	}
	for _, c := range []struct {
		name                           string
		test, nested, program, notTest bool
	}{
		{name: "doc.go", notTest: true},
		{name: "cairn_test.go", test: true},
		{name: "internal/crc32c/_asm/main.go", nested: true},
		{name: "test/outside/model_test.go", test: true, nested: true},
		{name: ".ci/crosscheck/main.go", nested: true, notTest: true},
		{name: "internal/testkit/sources/sources.go", notTest: true},
		{name: "ops/raw/gen.go", program: true, notTest: true},
	} {
		f := files[c.name]
		if f == nil {
			t.Errorf("%s was not found", c.name)
			continue
		}
		if f.Test() != c.test || f.Nested() != c.nested || f.Program(t) != c.program || sources.NotTest(f) != c.notTest {
			t.Errorf("%s: test %v, nested %v, program %v, not a test %v", c.name, f.Test(), f.Nested(), f.Program(t), sources.NotTest(f))
		}
		if at := sources.Position(f.Syntax(t)); at.Filename != c.name || at.Line != sources.Line(f.Syntax(t)) {
			t.Errorf("%s: its package clause is at %s", c.name, at)
		}
		if first, second := f.Syntax(t), f.Syntax(t); first != second {
			t.Errorf("%s is parsed twice", c.name)
		}
	}
	for _, name := range []string{"README.md", "internal/testkit/comments/testdata/promises.txt"} {
		if files[name] == nil {
			t.Errorf("%s was not found", name)
		}
	}
	for name := range files {
		if f := files[name]; f.In(".git") || f.In(".github") {
			t.Errorf("%s is in a hidden directory", name)
		}
	}
	if tests := sources.Go(t, (*sources.File).Test); len(tests) < 500 || slices.ContainsFunc(tests, func(f *sources.File) bool { return !f.Test() }) {
		t.Errorf("Go returned %d tests", len(tests))
	}
}

// TestReceiverExported checks receivers of each form.
func TestReceiverExported(t *testing.T) {
	for src, want := range map[string]bool{
		"func F() {}":         true,
		"func (T) F() {}":     true,
		"func (t *T) F() {}":  true,
		"func (T[A]) F() {}":  true,
		"func (*T[A, B]) F()": true,
		"func (t) F() {}":     false,
		"func (*t[A]) F() {}": false,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "f.go", "package p\n"+src, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := sources.ReceiverExported(file.Decls[0].(*ast.FuncDecl)); got != want {
			t.Errorf("%s: %v, want %v", src, got, want)
		}
	}
}

package signatures

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/internal/testkit/sources"
)

// model are the packages that model code calls in every line, mostly without
// options: there they may be left out.
var model = []string{"ops", "grad", "function"}

// faults returns the signatures of a file in dir that violate the rule.
func faults(position func(ast.Node) token.Position, file *ast.File, dir string) (list []string) {
	add := func(d *ast.FuncDecl, format string, args ...any) {
		p := position(d)
		list = append(list, fmt.Sprintf("%s:%d: %s: %s", p.Filename, p.Line, d.Name.Name, fmt.Sprintf(format, args...)))
	}
	for _, decl := range file.Decls {
		d, ok := decl.(*ast.FuncDecl)
		if !ok || !d.Name.IsExported() || !sources.ReceiverExported(d) {
			continue
		}
		params := d.Type.Params.List
		for i, p := range params {
			typ, variadic := p.Type, false
			if e, ok := typ.(*ast.Ellipsis); ok {
				typ, variadic = e.Elt, true
			}
			star, pointer := typ.(*ast.StarExpr)
			if pointer {
				typ = star.X
			}
			name := typeName(typ)
			switch {
			case variadic && strings.HasSuffix(name, "Option"):
				add(d, "options are a struct, not functions of type %s", name)
			case !strings.HasSuffix(name, "Options"):
			case !pointer:
				add(d, "options are given by a pointer, *%s, so that nil means the defaults", name)
			case i != len(params)-1 || len(p.Names) > 1:
				add(d, "*%s is not the last parameter", name)
			case variadic && !slices.Contains(model, dir):
				add(d, "...*%s: only the packages %s let options be left out; take *%s", name, strings.Join(model, ", "), name)
			case !variadic && slices.Contains(model, dir):
				add(d, "*%s: in the packages %s options can be left out; take ...*%s", name, strings.Join(model, ", "), name)
			}
		}
	}
	return list
}

// typeName returns the name of a type, without its package and type arguments.
func typeName(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.Ident:
		return t.Name
	case *ast.SelectorExpr:
		return t.Sel.Name
	case *ast.IndexExpr:
		return typeName(t.X)
	}
	return ""
}

// TestOptionsHaveOneForm checks the exported functions of packages that programs import.
func TestOptionsHaveOneForm(t *testing.T) {
	seen := 0
	for _, f := range sources.Go(t, sources.NotTest) {
		if f.In("internal") || f.Below("cmd", "interop", "bench", "test", "examples", "docs", ".ci") {
			continue
		}
		seen++
		for _, fault := range faults(sources.Position, f.Syntax(t), f.Dir()) {
			t.Error(fault)
		}
	}
	if seen < 100 {
		t.Errorf("%d files were looked at; the walk begins in the wrong place", seen)
	}
}

func TestTheRuleSeesEveryOtherForm(t *testing.T) {
	for src, want := range map[string]string{
		"func F(a int, o *FOptions) {}":                  "",
		"func F(a int, o FOptions) {}":                   "by a pointer",
		"func F(o *p.FOptions, a int) {}":                "not the last",
		"func F(a int, o ...*FOptions) {}":               "let options be left out",
		"func F(a int, o ...Option) {}":                  "not functions",
		"func f(o FOptions) {}":                          "",
		"type t int\nfunc (t) F(o FOptions) {}":          "",
		"type T[E any] int\nfunc (T[E]) F(o Options) {}": "by a pointer",
	} {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, "f.go", "package x\n"+src, 0)
		if err != nil {
			t.Fatal(err)
		}
		position := func(n ast.Node) token.Position { return fset.Position(n.Pos()) }
		got := strings.Join(faults(position, file, "x"), "\n")
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", src, got, want)
		}
	}
	fset := token.NewFileSet()
	file, _ := parser.ParseFile(fset, "f.go", "package ops\nfunc F(o *Options) {}\nfunc G(o ...*Options) {}", 0)
	position := func(n ast.Node) token.Position { return fset.Position(n.Pos()) }
	if got := faults(position, file, "ops"); len(got) != 1 || !strings.Contains(got[0], "F: ") {
		t.Errorf("ops: %q", got)
	}
}

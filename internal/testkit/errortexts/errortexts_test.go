package errortexts

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var root = filepath.Join("..", "..", "..")

// text is the format of one error.
type text struct {
	folder, format string
	file           string
	line           int
}

// makers matches the functions whose first string argument is an error's text: those of the
// standard library and the module's own.
var makers = regexp.MustCompile(`^(Errorf|errorf|New|newError|.*[eE]rrorf|[cC]orruptf?|[iI]nvalidf?|[mM]alformedf?|[rR]efusef?|[fF]ailf?|[fF]aultf?|wrongf?|damagedf?)$`)

// texts returns the texts of all errors that the module makes, tests aside.
func texts(t *testing.T) (list []text) {
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		switch {
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_") || d.Name() == "testdata" || slices.Contains(aside, name)):
			return filepath.SkipDir
		case d.IsDir(), !strings.HasSuffix(name, ".go"), strings.HasSuffix(name, "_test.go"):
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, p, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !makesError(call.Fun) {
				return true
			}
			for _, arg := range call.Args[:min(2, len(call.Args))] {
				if format, ok := literal(arg); ok {
					list = append(list, text{path.Dir(name), format, name, fset.Position(arg.Pos()).Line})
					break
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 3000 {
		t.Fatalf("only %d texts were found", len(list))
	}
	return list
}

// aside are folders whose errors no user of the module sees.
var aside = []string{"internal/testkit", "internal/gen", "interop", "bench", "test", "examples"}

func makesError(fun ast.Expr) bool {
	switch f := fun.(type) {
	case *ast.Ident:
		return f.Name != "New" && makers.MatchString(f.Name)
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok && f.Sel.Name == "New" {
			return x.Name == "errors"
		}
		return makers.MatchString(f.Sel.Name)
	}
	return false
}

// literal returns the value of a string literal, or of several that are joined.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		s, err := strconv.Unquote(e.Value)
		return s, err == nil
	case *ast.BinaryExpr:
		x, okX := literal(e.X)
		y, okY := literal(e.Y)
		switch {
		case okX && okY:
			return x + y, true
		case okX:
			return x + "%s", true
		case okY:
			return "%s" + y, true
		}
	}
	return "", false
}

// rules are the forms that an error's text must not have.
var rules = []struct {
	name    string
	pattern *regexp.Regexp
}{
	{"ends in a full stop or a line's end", regexp.MustCompile(`[.\n]$`)},
	{`begins with "failed", "error" or "unable"`, regexp.MustCompile(`(?i)^(failed|error|unable|could not)( to)?\b[^-]`)},
	{"has a Go type", regexp.MustCompile(`\b(interface ?\{|reflect\.)`)},
	{"has an exclamation mark", regexp.MustCompile(`!($|\s)`)},
	{"has a word that CONTRIBUTING.md replaces", regexp.MustCompile(`(?i)\b(what|gives?|gave|lie|lies|stands?|behind|beside|nobody|somebody|whoever|tells?)\b|\bgo(es)? on\b|\bholds? \w+ against\b|\bof (its|their) own\b`)},
}

// TestErrorsHaveOneStyle checks the text of every error.
func TestErrorsHaveOneStyle(t *testing.T) {
	for _, e := range texts(t) {
		for _, r := range rules {
			if m := r.pattern.FindString(e.format); m != "" {
				t.Errorf("%s:%d: %q %s (%q)", e.file, e.line, e.format, r.name, m)
			}
		}
	}
}

package errortexts

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/internal/testkit/sources"
)

// text is the format of one error.
type text struct {
	folder, format string
	file           string
	line           int
}

// makers matches the functions whose argument is an error's text: those of the standard library and
// the module's own.
var makers = regexp.MustCompile(`^(Errorf|errorf|New|newError|.*[eE]rrorf|[cC]orruptf?|[iI]nvalidf?|[mM]alformedf?|[rR]efusef?|[fF]ailf?|[fF]aultf?|wrongf?|damagedf?|errUnsupported|faultAt|npyErr|problem|usagef)$`)

// texts returns the texts of all errors that the module makes, tests aside.
func texts(t *testing.T) (list []text) {
	for _, f := range sources.Go(t, sources.NotTest) {
		if f.Below(aside...) || f.Below(".ci") {
			continue
		}
		add := func(at ast.Expr, format string) {
			list = append(list, text{f.Dir(), format, f.Name, sources.Line(at)})
		}
		ast.Inspect(f.Syntax(t), func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if !makesError(n.Fun) {
					break
				}
				if at, format, ok := format(n); ok {
					add(at, format)
				}
			case *ast.CompositeLit: // &CorruptError{File: name, What: "the index is empty"}
				if name, ok := n.Type.(*ast.Ident); ok && strings.HasSuffix(name.Name, "Error") {
					addStrings(n, add)
				}
			case *ast.FuncDecl: // the method of such a type
				if n.Name.Name == "Error" && n.Recv != nil {
					addStrings(n.Body, add)
				}
			}
			return true
		})
	}
	if len(list) < 3000 {
		t.Fatalf("only %d texts were found", len(list))
	}
	return list
}

// addStrings adds the strings below a node, except separators.
func addStrings(n ast.Node, add func(ast.Expr, string)) {
	ast.Inspect(n, func(n ast.Node) bool {
		if x, ok := n.(ast.Expr); ok {
			if s, ok := literal(x); ok && strings.Contains(strings.TrimSpace(s), " ") {
				add(x, s)
				return false
			}
		}
		return true
	})
}

// aside are directories whose errors no user of the module sees.
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

// format returns the text of an error: the first literal among the first three arguments, unless
// that is the word of an operation and another literal follows: errorf("Map", "the function is nil").
func format(call *ast.CallExpr) (at ast.Expr, text string, ok bool) {
	for _, arg := range call.Args[:min(3, len(call.Args))] {
		s, literal := literal(arg)
		if literal && (!ok || word.MatchString(text)) {
			at, text, ok = arg, s, true
		}
	}
	return at, text, ok
}

var word = regexp.MustCompile(`^[\w.]+$`)

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
	in      func(folder string) bool // nil: in every directory
}{
	{"has a Go option, which the command can't set", regexp.MustCompile(`(Options|Edits)\.[A-Z]`), command},
	{"has a flag, which a Go program can't set", regexp.MustCompile(`(^|[ (])--?[a-z]+\b`), func(folder string) bool { return !command(folder) }},
	{"ends in a full stop or a line's end", regexp.MustCompile(`[.\n]$`), nil},
	{`begins with "failed", "error" or "unable"`, regexp.MustCompile(`(?i)^(failed|error|unable|could not)( to)?\b[^-]`), nil},
	{"has a Go type", regexp.MustCompile(`\b(interface ?\{|reflect\.)`), nil},
	{"has an exclamation mark", regexp.MustCompile(`!($|\s)`), nil},
	{"has a word that CONTRIBUTING.md replaces", regexp.MustCompile(`(?i)\b(what|gives?|gave|lie|lies|stands?|behind|beside|nobody|somebody|whoever|tells?)\b|\bgo(es)? on\b|\bholds? \w+ against\b|\bof (its|their) own\b`), nil},
}

var update = flag.Bool("update", false, "write testdata/errors.txt")

const golden = "testdata/errors.txt"

// TestErrorsAreListed compares the texts of all errors, by package, with a list of them. So a review
// sees each text that changes.
func TestErrorsAreListed(t *testing.T) {
	byFolder := map[string]map[string]bool{}
	for _, e := range texts(t) {
		if !letters.MatchString(verb.ReplaceAllString(e.format, "")) || word.MatchString(e.format) {
			continue // the text comes from elsewhere
		}
		if byFolder[e.folder] == nil {
			byFolder[e.folder] = map[string]bool{}
		}
		byFolder[e.folder][strings.ReplaceAll(e.format, "\n", `\n`)] = true
	}
	var b strings.Builder
	for _, folder := range slices.Sorted(maps.Keys(byFolder)) {
		fmt.Fprintf(&b, "## %s\n", folder)
		for _, format := range slices.Sorted(maps.Keys(byFolder[folder])) {
			fmt.Fprintln(&b, format)
		}
	}
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(b.String(), "\n")); diff != "" {
		t.Errorf("the texts differ from %s, which go test -update writes (-listed +present):\n%s", golden, diff)
	}
}

var (
	letters = regexp.MustCompile(`[A-Za-z]`)
	verb    = regexp.MustCompile(`%[-+# 0-9.\[\]]*[a-zA-Z]`)
)

// TestFormat shows which argument of a call is an error's text.
func TestFormat(t *testing.T) {
	for src, want := range map[string]string{
		`fmt.Errorf("a %d of %s", 1, "b")`:         "a %d of %s",
		`errorf("Map", "the function is nil")`:     "the function is nil",
		`l.errorf(s, "Map", "the count is %d", n)`: "the count is %d",
		`corruptf(7, "a count of " + "%d", n)`:     "a count of %d",
		`errors.New("found")`:                      "found",
		`fail(err, name)`:                          "",
	} {
		call, err := parser.ParseExpr(src)
		if err != nil {
			t.Fatal(err)
		}
		if _, got, ok := format(call.(*ast.CallExpr)); got != want || ok != (want != "") {
			t.Errorf("%s: %q, want %q", src, got, want)
		}
	}
}

// command reports whether the errors of a directory are those of the command
// alone.
func command(folder string) bool {
	return folder == "cmd/cairn" || strings.HasPrefix(folder, "cmd/cairn/")
}

// TestErrorsHaveOneStyle checks the text of every error.
func TestErrorsHaveOneStyle(t *testing.T) {
	for _, e := range texts(t) {
		for _, r := range rules {
			if r.in != nil && !r.in(e.folder) {
				continue
			}
			if m := r.pattern.FindString(e.format); m != "" {
				t.Errorf("%s:%d: %q %s (%q)", e.file, e.line, e.format, r.name, m)
			}
		}
	}
}

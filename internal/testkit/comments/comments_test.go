package comments

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/internal/testkit/sources"
)

// self is the directory of these tests, which contain the words that they
// exclude.
const self = "internal/testkit/comments"

// faults returns the violations of the rules by a file, a line each.
func faults(name string, file *ast.File, line func(ast.Node) int) (list []string) {
	add := func(n ast.Node, format string, args ...any) {
		list = append(list, fmt.Sprintf("%s:%d: %s", name, line(n), fmt.Sprintf(format, args...)))
	}
	test := strings.HasSuffix(name, "_test.go")
	undocumented := func(id *ast.Ident, docs ...*ast.CommentGroup) {
		if test || file.Name.Name == "main" || !id.IsExported() {
			return
		}
		if !slices.ContainsFunc(docs, func(d *ast.CommentGroup) bool { return d.Text() != "" }) {
			add(id, "%s has no doc comment", id.Name)
		}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if sources.ReceiverExported(d) {
				undocumented(d.Name, d.Doc)
			}
			words := strings.Fields(d.Doc.Text())
			if len(words) > 1 && words[0] == d.Name.Name && (words[1] == "is" || words[1] == "are") {
				add(d.Doc, "%q: say what the function returns or does", strings.Join(words[:2], " "))
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					undocumented(s.Name, d.Doc, s.Doc, s.Comment)
				case *ast.ValueSpec:
					for _, id := range s.Names {
						undocumented(id, d.Doc, s.Doc, s.Comment)
					}
				}
			}
		}
	}
	return list
}

// notTheFields are words for which the field has terms of its own: packages are
// no rooms, variables are made, values are pending, restores are half done, faults
// are reported, objects accept an edge.
var notTheFields = regexp.MustCompile(`(?i)\b(rooms?|born|torn|told|claim(s|ed)?)\b`)

// elsewhere are those of them that mean nothing else in what runs, where memory may
// have room for a value.
var elsewhere = regexp.MustCompile(`(?i)\b(born|torn|told|claim(s|ed)?)\b`)

// writers are the directories of what reads and writes checkpoints, "." the root's own
// files.
var writers = []string{".", "tensor", "vfs", "bundle", "trackable", "checkpoint", "dataset", "keras", "cmd", "docs"}

// TestWordsAreTheFields looks at comments, identifiers and documents of every
// directory.
func TestWordsAreTheFields(t *testing.T) {
	files := 0
	for _, f := range sources.All(t) {
		top, _, below := strings.Cut(f.Name, "/")
		if !below {
			top = "."
		}
		notTheFields := notTheFields
		if !slices.Contains(writers, top) {
			notTheFields = elsewhere
		}
		switch {
		case f.In("testdata"), f.Dir() == self, f.Name == "RATIONALE.md", f.Name == "CHANGELOG.md":
		case f.Ext() == ".md":
			files++
			if w := notTheFields.Find(f.Text(t)); w != nil {
				t.Errorf("%s: %q", f.Name, w)
			}
		case f.Ext() == ".go" && !f.Test():
			files++
			file := f.Syntax(t)
			for _, c := range file.Comments {
				if w := notTheFields.FindString(c.Text()); w != "" {
					t.Errorf("%s:%d: %q in a comment", f.Name, sources.Line(c), w)
				}
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && notTheFields.MatchString(id.Name) {
					t.Errorf("%s:%d: identifier %s", f.Name, sources.Line(id), id.Name)
				}
				return true
			})
		}
	}
	if files < 900 {
		t.Fatalf("only %d files were looked at", files)
	}
}

// TestComments checks every Go file of the repository, those of nested modules too.
func TestComments(t *testing.T) {
	for _, f := range sources.Go(t) {
		if f.In("testdata") {
			continue
		}
		for _, fault := range faults(f.Name, f.Syntax(t), sources.Line) {
			t.Error(fault)
		}
	}
}

// TestFaultsAreFound gives the rules a file that breaks each of them.
func TestFaultsAreFound(t *testing.T) {
	const text = `package p

type T struct{}

// U is a type.
type U struct{}

// Len is the length.
func (U) Len() int { return 0 }

// names are the names.
func names() {}

func F() {}

func (U) M() {}

func (u) M() {}

// A group.
const (
	A = 1
	B = 2
)

var V, w int

// Name returns what is there.
func Name() {}
`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"p.go:3: T has no doc comment",
		`p.go:8: "Len is": say what the function returns or does`,
		`p.go:11: "names are": say what the function returns or does`,
		"p.go:14: F has no doc comment",
		"p.go:16: M has no doc comment",
		"p.go:26: V has no doc comment",
	}
	line := func(n ast.Node) int { return fset.Position(n.Pos()).Line }
	if got := faults("p.go", file, line); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

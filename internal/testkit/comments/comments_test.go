package comments

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var root = filepath.Join("..", "..", "..")

// faults returns what the rules have against a file, a line each.
func faults(fset *token.FileSet, file *ast.File) (list []string) {
	add := func(n ast.Node, format string, args ...any) {
		p := fset.Position(n.Pos())
		list = append(list, fmt.Sprintf("%s:%d: %s", filepath.ToSlash(p.Filename), p.Line, fmt.Sprintf(format, args...)))
	}
	test := strings.HasSuffix(fset.Position(file.Pos()).Filename, "_test.go")
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
			if receiverExported(d) {
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

// receiverExported reports whether a function has no receiver, or one of an
// exported type.
func receiverExported(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	for {
		switch t := typ.(type) {
		case *ast.StarExpr:
			typ = t.X
		case *ast.IndexExpr:
			typ = t.X
		case *ast.IndexListExpr:
			typ = t.X
		case *ast.Ident:
			return t.IsExported()
		default:
			return false
		}
	}
}

// notTheFields are words for which the field has terms of its own: packages are
// no rooms, variables are made, values are pending, restores are half done, faults
// are reported, objects accept an edge.
var notTheFields = regexp.MustCompile(`(?i)\b(rooms?|born|torn|told|claim(s|ed)?)\b`)

// elsewhere are those of them that mean nothing else in what runs, where memory may
// have room for a value.
var elsewhere = regexp.MustCompile(`(?i)\b(born|torn|told|claim(s|ed)?)\b`)

// writers are the folders of what reads and writes checkpoints, "." the root's own
// files.
var writers = []string{".", "tensor", "vfs", "bundle", "trackable", "checkpoint", "dataset", "keras", "cmd", "docs"}

// TestWordsAreTheFields looks at comments, identifiers and documents of every folder.
func TestWordsAreTheFields(t *testing.T) {
	files := 0
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		top, _, below := strings.Cut(name, "/")
		if !below && !d.IsDir() {
			top = "."
		}
		notTheFields := notTheFields
		if !slices.Contains(writers, top) {
			notTheFields = elsewhere
		}
		switch {
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || name == path.Join("internal", "testkit", "comments")):
			return filepath.SkipDir
		case d.IsDir(), top == "." && (name == "RATIONALE.md" || name == "CHANGELOG.md"):
			return nil
		case strings.HasSuffix(name, ".md"):
			text, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			files++
			if w := notTheFields.Find(text); w != nil {
				t.Errorf("%s: %q", name, w)
			}
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, p, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			files++
			for _, c := range file.Comments {
				if w := notTheFields.FindString(c.Text()); w != "" {
					t.Errorf("%s:%d: %q in a comment", name, fset.Position(c.Pos()).Line, w)
				}
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && notTheFields.MatchString(id.Name) {
					t.Errorf("%s:%d: identifier %s", name, fset.Position(id.Pos()).Line, id.Name)
				}
				return true
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 900 {
		t.Fatalf("only %d files were looked at", files)
	}
}

// TestComments holds every Go file of the repository to the rules, those of the
// nested modules too.
func TestComments(t *testing.T) {
	files := 0
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(p, ".go"):
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, p, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files++
		for _, f := range faults(fset, file) {
			t.Error(strings.TrimPrefix(f, filepath.ToSlash(root)+"/"))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 100 {
		t.Fatalf("only %d files were found", files)
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
	if got := faults(fset, file); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

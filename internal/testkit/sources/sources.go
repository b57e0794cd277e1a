// Package sources finds and parses the files of the repository, for the tests that check comments,
// documents, error texts, imports and signatures. A file is read and parsed once in a process.
package sources

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// File is a file of the repository.
type File struct {
	Name string // the path below the root, with slashes: "tensor/shape.go"

	module string // the directory of its module, "" for the root's
	read   func() ([]byte, error)
	parse  func() (*ast.File, error)
}

var fset = token.NewFileSet()

// Root returns the directory of the repository. The go command runs a test in its directory, below
// it.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "ARCHITECTURE.md")); err == nil {
			return dir
		}
		above := filepath.Dir(dir)
		if above == dir {
			t.Fatal("sources: no directory above the test has an ARCHITECTURE.md")
		}
		dir = above
	}
}

// Read returns the bytes of the file with this path below the root.
func Read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(Root(t), filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var (
	once  sync.Once
	found []*File
	fault error
)

// All returns the files of the repository, ordered by name: those of nested modules, testdata
// and .ci too, but not those of other hidden directories. The caller must not change the slice.
func All(t testing.TB) []*File {
	t.Helper()
	root := Root(t)
	once.Do(func() { found, fault = walk(root) })
	if fault != nil {
		t.Fatal(fault)
	}
	if len(found) < 3000 {
		t.Fatalf("sources: only %d files were found", len(found))
	}
	return found
}

// Go returns the Go files for which all conditions are true.
func Go(t testing.TB, conditions ...func(*File) bool) (list []*File) {
	t.Helper()
	for _, f := range All(t) {
		if f.Ext() == ".go" && !slices.ContainsFunc(conditions, func(c func(*File) bool) bool { return !c(f) }) {
			list = append(list, f)
		}
	}
	return list
}

// NotTest reports whether the file is neither a test nor below testdata or a directory whose name
// begins with an underscore.
func NotTest(f *File) bool {
	return !f.Test() && !f.In("testdata") && !slices.ContainsFunc(strings.Split(f.Dir(), "/"), func(e string) bool { return strings.HasPrefix(e, "_") })
}

func walk(root string) (list []*File, err error) {
	modules := map[string]string{".": ""} // of directories
	err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if d.IsDir() {
			if strings.HasPrefix(d.Name(), ".") && name != "." && name != ".ci" {
				return fs.SkipDir
			}
			if name != "." {
				modules[name] = modules[path.Dir(name)]
				if _, err := os.Stat(filepath.Join(p, "go.mod")); err == nil {
					modules[name] = name
				}
			}
			return nil
		}
		f := &File{Name: name, module: modules[path.Dir(name)]}
		f.read = sync.OnceValues(func() ([]byte, error) { return os.ReadFile(p) })
		f.parse = sync.OnceValues(func() (*ast.File, error) {
			text, err := f.read()
			if err != nil {
				return nil, err
			}
			return parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		})
		list = append(list, f)
		return nil
	})
	return list, err
}

// Dir returns the directory of the file, "." for the root.
func (f *File) Dir() string { return path.Dir(f.Name) }

// Ext returns the extension of the file, such as ".go".
func (f *File) Ext() string { return path.Ext(f.Name) }

// Test reports whether the file is a Go test.
func (f *File) Test() bool { return strings.HasSuffix(f.Name, "_test.go") }

// In reports whether one of the file's directories has this name.
func (f *File) In(folder string) bool {
	return slices.Contains(strings.Split(f.Dir(), "/"), folder)
}

// Below reports whether the file is in one of these directories or below it.
func (f *File) Below(folders ...string) bool {
	return slices.ContainsFunc(folders, func(d string) bool { return strings.HasPrefix(f.Name, d+"/") })
}

// Nested reports whether the file is part of a nested module.
func (f *File) Nested() bool { return f.module != "" }

// Text returns the bytes of the file.
func (f *File) Text(t testing.TB) []byte {
	t.Helper()
	text, err := f.read()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Syntax returns the parsed file, with comments. The caller must not change it.
func (f *File) Syntax(t testing.TB) *ast.File {
	t.Helper()
	file, err := f.parse()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// Program reports whether the file is run by itself, as a generator is, and belongs to no package.
func (f *File) Program(t testing.TB) bool {
	t.Helper()
	file := f.Syntax(t)
	for _, group := range file.Comments {
		for _, c := range group.List {
			if c.Pos() < file.Package && c.Text == "//go:build ignore" {
				return true
			}
		}
	}
	return false
}

// Position returns the place of a node of a file that this package parsed.
func Position(n ast.Node) token.Position { return fset.Position(n.Pos()) }

// Line returns the line of a node of a file that this package parsed.
func Line(n ast.Node) int { return Position(n).Line }

// ReceiverExported reports whether a function has no receiver, or one of an exported type.
func ReceiverExported(d *ast.FuncDecl) bool {
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

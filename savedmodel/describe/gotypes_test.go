package describe_test

import (
	"bytes"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/savedmodel/describe"
)

const models = "../../savedmodel/testdata/models"

// checker type-checks packages that import this module.
func checker(t *testing.T) *types.Config {
	t.Helper()
	var errs bytes.Buffer
	cmd := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}", "github.com/cairnml/cairn")
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("there is no go command to compile with: %v\n%s", err, &errs)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if path, file, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			files[path] = file
		}
	}
	open := func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }
	return &types.Config{Importer: importer.ForCompiler(token.NewFileSet(), "gc", open)}
}

// TestGoTypesCompile: the package that is printed for a model is valid Go,
// whatever its signatures are called.
func TestGoTypesCompile(t *testing.T) {
	dirs, err := filepath.Glob(models + "/*/saved_model.pb")
	if err != nil || len(dirs) < 15 {
		t.Fatal(dirs, err)
	}
	sources := map[string][]byte{}
	for _, file := range dirs {
		fsys := os.DirFS(filepath.Dir(file))
		m, err := savedmodel.Read(t.Context(), fsys, nil)
		if err != nil {
			t.Fatal(err)
		}
		d, err := describe.Describe(t.Context(), fsys, m, kernel.All())
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range d.MetaGraphs {
			if sources[file+strings.Join(g.Tags, ",")], err = g.GoTypes("model"); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
	odd := &describe.MetaGraph{Tags: []string{`a"b`, "`"}, Signatures: []describe.Signature{
		{Name: "", Inputs: []describe.Tensor{{Name: "-"}, {Name: ""}, {Name: "a`b\"c"}, {Name: "7"}, {Name: "x y"}, {Name: "x_y", DType: "\n"}, {Name: "type"}}},
		{Name: "Model"}, {Name: "load"}, {Name: "load"}, {Name: "call"}, {Name: "call_signature"}, {Name: "Close"}, {Name: "close_signature"}, {Name: "日本", Outputs: []describe.Tensor{{Name: "語"}}},
	}}
	if sources["odd names"], err = odd.GoTypes("model"); err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(sources["odd names"], []byte("`cairn:\"-,\"`")) {
		t.Errorf("the input \"-\" has no field:\n%s", sources["odd names"])
	}
	config := checker(t)
	for name, src := range sources {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, "model.go", src, parser.ParseComments)
		if err == nil && !ast.IsGenerated(f) {
			t.Errorf("%s: tools don't see that it is generated:\n%.100s", name, src)
		}
		if err == nil {
			_, err = config.Check("model", fset, []*ast.File{f}, nil)
		}
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, src)
		}
	}
	if _, err := odd.GoTypes("func"); err == nil {
		t.Error("a keyword was taken for a package's name")
	}
}

// TestTextFitsEightyColumns: lines that could be broken are.
func TestTextFitsEightyColumns(t *testing.T) {
	for _, name := range []string{"keras_mlp", "hub", "lstm", "tf1_graphs"} {
		fsys := os.DirFS(filepath.Join(models, name))
		m, err := savedmodel.Read(t.Context(), fsys, nil)
		if err != nil {
			t.Fatal(err)
		}
		d, err := describe.Describe(t.Context(), fsys, m, kernel.All())
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := d.Text(&b, &describe.TextOptions{}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > 80 {
				t.Errorf("%s: %d columns: %s", name, n, line)
			}
		}
	}
}

// TestAnAssetOfSeveralObjectsIsShownOnce: tables that read one file have an asset
// each.
func TestAnAssetOfSeveralObjectsIsShownOnce(t *testing.T) {
	fsys := os.DirFS(filepath.Join(models, "table"))
	m, err := savedmodel.Read(t.Context(), fsys, nil)
	if err != nil {
		t.Fatal(err)
	}
	d, err := describe.Describe(t.Context(), fsys, m, kernel.All())
	if err != nil {
		t.Fatal(err)
	}
	d.MetaGraphs[0].Assets = []describe.Asset{{Name: "words.txt", Bytes: 3}, {Name: "ids.txt", Bytes: 2}, {Name: "words.txt", Bytes: 3}}
	var b strings.Builder
	if err := d.Text(&b, &describe.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); strings.Count(text, "words.txt") != 1 || strings.Count(text, "ids.txt") != 1 {
		t.Error(text)
	}
}

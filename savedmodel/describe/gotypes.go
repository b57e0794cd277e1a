package describe

import (
	"bytes"
	"fmt"
	"go/format"
	"go/token"
	"strconv"
	"strings"
	"unicode"

	"github.com/cairnml/cairn/trackable"
)

// GoTypes returns the source of a Go package that calls the MetaGraph's
// signatures: a struct for the inputs of each and one for its outputs, and a
// function that loads the model and binds them. It compiles as it stands.
func (x *MetaGraph) GoTypes(pkg string) ([]byte, error) {
	if !token.IsIdentifier(pkg) {
		return nil, fmt.Errorf("%q can't be a Go package's name", pkg)
	}
	g := &goWriter{taken: map[string]bool{"Model": true, "Load": true}}
	g.printf("// Package %s calls a SavedModel's signatures. `cairn show --go` wrote it.\npackage %s\n\n", pkg, pkg)
	g.printf("import (\n\"context\"\n\"io/fs\"\n\n\"github.com/cairnml/cairn\"\n")
	g.printf("\"github.com/cairnml/cairn/savedmodel\"\n\"github.com/cairnml/cairn/tensor\"\n)\n\n")
	type call struct{ field, in, out, signature string }
	var calls []call
	var types goWriter
	types.taken = g.taken
	for _, s := range x.Signatures {
		base := g.unique(exported(s.Name))
		c := call{base, g.unique(base + "Inputs"), g.unique(base + "Outputs"), s.Name}
		types.structOf(c.in, "what the signature "+strconv.Quote(s.Name)+" takes", flat(s.Inputs))
		types.structOf(c.out, "what the signature "+strconv.Quote(s.Name)+" gives", flat(s.Outputs))
		calls = append(calls, c)
	}
	g.printf("// Model is a loaded model, with a function for each of its signatures. They may be\n// called from many goroutines.\ntype Model struct {\n*savedmodel.Model\n\n")
	for _, c := range calls {
		g.printf("%s func(context.Context, %s) (%s, error)\n", g.field(c.field), c.in, c.out)
	}
	g.printf("}\n\n// Load loads the model from its directory.\nfunc Load(ctx context.Context, dir fs.FS) (*Model, error) {\n")
	g.printf("m, err := cairn.Load(ctx, dir, %s)\nif err != nil {\nreturn nil, err\n}\n", optionsOf(x.Tags))
	g.printf("x := &Model{Model: m}\n")
	for _, c := range calls {
		g.printf("if x.%s, err = cairn.Bind[%s, %s](m, %q); err != nil {\nreturn nil, err\n}\n", g.field(c.field), c.in, c.out, c.signature)
	}
	g.printf("return x, nil\n}\n\n%s", types.b.String())
	if !strings.Contains(types.b.String(), "tensor.Tensor") {
		return format.Source(bytes.Replace(g.b.Bytes(), []byte("\"github.com/cairnml/cairn/tensor\"\n"), nil, 1))
	}
	return format.Source(g.b.Bytes())
}

func optionsOf(tags []string) string {
	var b strings.Builder
	b.WriteString("&savedmodel.LoadOptions{Tags: []string{")
	for i, t := range tags {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Quote(t))
	}
	return b.String() + "}}"
}

type goWriter struct {
	b     bytes.Buffer
	taken map[string]bool
}

func (g *goWriter) printf(format string, args ...any) { fmt.Fprintf(&g.b, format, args...) }

// field keeps clear of the names that the embedded model has.
func (g *goWriter) field(name string) string {
	switch name {
	case "Call", "Function", "Instantiate", "MetaGraph", "Model", "Prune", "Signature", "Variable", "VariableOf", "Variables", "Close":
		return name + "Signature"
	}
	return name
}

// unique returns name, or name with a number where it is taken.
func (g *goWriter) unique(name string) string {
	for n, base := 2, name; g.taken[name]; n++ {
		name = base + strconv.Itoa(n)
	}
	g.taken[name] = true
	return name
}

// structOf writes a struct with a field for each tensor.
func (g *goWriter) structOf(name, about string, list []Tensor) {
	g.printf("// %s is %s.\ntype %s struct {\n", name, about, name)
	fields := goWriter{taken: map[string]bool{}}
	for _, t := range list {
		if t.Name == "-" || t.Name == "" {
			g.printf("// %q can't be a field: call the signature with a map.\n", t.Name)
			continue
		}
		f := fields.unique(exported(t.Name))
		tag := ""
		if trackable.SnakeCase(f) != t.Name {
			tag = goTag(t.Name)
		}
		g.printf("%s *tensor.Tensor %s // %s%s\n", f, tag, strings.ReplaceAll(typeWords(t), "\n", " "), defaultWords(t))
	}
	g.printf("}\n\n")
}

func defaultWords(t Tensor) string {
	if t.Default == "" {
		return ""
	}
	return ", may be nil"
}

// goTag returns the tag that names a field.
func goTag(name string) string {
	tag := "cairn:" + strconv.Quote(name)
	if strconv.CanBackquote(tag) {
		return "`" + tag + "`"
	}
	return strconv.Quote(tag)
}

func flat(list []Tensor) []Tensor {
	var out []Tensor
	for _, t := range list {
		if t.Parts != nil {
			out = append(out, flat(t.Parts)...)
			continue
		}
		out = append(out, t)
	}
	return out
}

// exported makes an exported Go name of any name.
func exported(name string) string {
	var b strings.Builder
	up := true
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			up = true
			continue
		case up && b.Len() == 0 && !unicode.IsUpper(unicode.ToUpper(r)):
			b.WriteByte('X') // a digit, or a letter without case
			b.WriteRune(r)
		case up:
			b.WriteRune(unicode.ToUpper(r))
		default:
			b.WriteRune(r)
		}
		up = false
	}
	if b.Len() == 0 {
		return "X"
	}
	return b.String()
}

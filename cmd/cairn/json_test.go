package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// jsonShape is the description of a verb in docs/json.md.
type jsonShape struct {
	array  bool
	fields map[string]string // type by dotted name
	always map[string]bool   // fields without a ?
}

// readShapes reads docs/json.md.
func readShapes(t *testing.T) map[string]*jsonShape {
	t.Helper()
	text, err := os.ReadFile("../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	shapes := map[string]*jsonShape{}
	row := regexp.MustCompile("^\\| `([a-z_.0-9]+)`( \\?)? \\| ([^|]*) \\|")
	var verbs []string
	for line := range strings.Lines(strings.ReplaceAll(string(text), "\r\n", "\n")) {
		switch {
		case strings.HasPrefix(line, "## "):
			verbs = strings.Split(strings.TrimSpace(line[3:]), ", ")
			for _, v := range verbs {
				shapes[v] = &jsonShape{fields: map[string]string{}, always: map[string]bool{}}
			}
		case strings.HasPrefix(line, "An array"):
			for _, v := range verbs {
				shapes[v].array = true
			}
		default:
			if m := row.FindStringSubmatch(line); m != nil {
				for _, v := range verbs {
					shapes[v].fields[m[1]] = strings.TrimSpace(m[3])
					shapes[v].always[m[1]] = m[2] == ""
				}
			}
		}
	}
	return shapes
}

// check compares a value with the documentation below a dotted name.
func (s *jsonShape) check(t *testing.T, args []string, prefix string, v map[string]any) {
	t.Helper()
	for key, x := range v {
		name := prefix + key
		words, known := s.fields[name]
		if !known {
			t.Errorf("%v: docs/json.md doesn't know the field %s", args, name)
			continue
		}
		got := "null"
		switch x := x.(type) {
		case string:
			got = "string"
		case float64:
			got = "number"
		case bool:
			got = "boolean"
		case map[string]any:
			got = "object"
			if key != "outputs" || prefix != "" {
				s.check(t, args, name+".", x)
			}
		case []any:
			got = "array"
			for _, e := range x {
				if o, ok := e.(map[string]any); ok && name != "values" && key != "children" && key != "slots" && key != "parts" {
					s.check(t, args, name+".", o)
				}
			}
		}
		documented := func(kind string) bool { return strings.HasPrefix(kind, got) || strings.HasSuffix(kind, got) }
		if name != "values" && !slices.ContainsFunc(strings.Split(words, ", "), documented) {
			t.Errorf("%v: %s is a %s, docs/json.md says %s", args, name, got, words)
		}
	}
	for name, always := range s.always {
		rest, below := strings.CutPrefix(name, prefix)
		if _, there := v[rest]; always && below && !strings.Contains(rest, ".") && !there {
			t.Errorf("%v: the field %s is missing", args, name)
		}
	}
}

func TestJSONIsAsDocumented(t *testing.T) {
	shapes := readShapes(t)
	if len(shapes) != 14 {
		t.Fatalf("docs/json.md describes %v", slices.Sorted(maps.Keys(shapes)))
	}
	dir, fix := t.TempDir(), "testdata/tf2.21/"
	lost := filepath.Join(dir, "lost")
	if err := os.CopyFS(lost, os.DirFS(fix+"guide")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(lost, "ckpt-2.data-00000-of-00001")); err != nil {
		t.Fatal(err)
	}
	words := filepath.Join(dir, "words.json")
	if err := os.WriteFile(words, []byte(`{"inputs": ["a", "b"]}`), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"ls", fix + "guide"}, {"ls", fix + "slices/s"}, {"ls", fix + "v1/model.ckpt"}, {"ls", fix + "dtypes/all", "int"},
		{"cat", fix + "dtypes/all"}, {"cat", fix + "names"}, {"cat", fix + "names", "global_step"}, {"cat", fix + "names", "dense/*"},
		{"stat", fix + "names"}, {"stat", fix + "dtypes/all"}, {"stat", fix + "names", "bias"},
		{"show", fix + "guide"}, {"show", fix + "names"}, {"show", fix + "keras3/ckpt-1"}, {"show", fix + "saved_model"},
		{"show", models + "keras_mlp"}, {"show", models + "tf1_graphs"}, {"show", models + "tf1_sparse"}, {"show", models + "table"},
		{"scan", "testdata/hostile"}, {"scan", models + "module", models + "hub"},
		{"verify", fix + "guide"}, {"verify", fix + "bad/index", fix + "bad/data", fix + "guide"}, {"verify", filepath.Join(lost, "ckpt-2")}, {"verify", fix + "gone"},
		{"diff", fix + "guide/ckpt-1", fix + "guide/ckpt-2"}, {"diff", fix + "guide/ckpt-1", fix + "guide/ckpt-1"}, {"diff", fix + "guide/ckpt-1", fix + "objects/o"}, {"diff", fix + "names", fix + "guide"},
		{"convert", fix + "guide", dir + "/a.npz"}, {"convert", fix + "guide", dir + "/a.safetensors"},
		{"edit", fix + "guide", dir + "/b", "--drop", "SLOT", "--cast", "step=int64", "--rename", "net=model"}, {"edit", fix + "guide", "--dry-run", "--drop", "kernel"},
		{"merge", fix + "parts/p0", fix + "parts/p1", dir + "/c"}, {"merge", fix + "guide", fix + "objects/o", dir + "/d", "--join", "a,b"},
		{"run", models + "table", "--inputs", words}, {"run", models + "table", "--inputs", words, "--repeat", "3", "--profile", dir + "/trace.json"},
		{"run", models + "table", "--inputs", words, "--outputs", dir + "/out.npz"},
		{"recover", fix + "guide/ckpt-1", fix + "guide/ckpt-2"}, {"version"}, {"--version"},
	} {
		out, stderr, code := cairn(t, append(args, "--json")...)
		var v any
		if err := json.Unmarshal([]byte(out), &v); err != nil || code > 1 && args[1] != fix+"gone" {
			t.Errorf("%v: code %d, %v\n%s%s", args, code, err, out, stderr)
			continue
		}
		verb := strings.TrimLeft(args[0], "-")
		s := shapes[verb]
		list, array := v.([]any)
		if array != s.array {
			t.Errorf("%v: an array: %v, docs/json.md says %v", args, array, s.array)
			continue
		}
		if !array {
			list = []any{v}
		}
		for _, e := range list {
			o, ok := e.(map[string]any)
			if !ok {
				t.Fatalf("%v: %v is no object", args, e)
			}
			s.check(t, args, "", o)
		}
	}
}

package scan_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cairnml/cairn/internal/testkit/packed"
	"github.com/cairnml/cairn/savedmodel/scan"
)

const fixtures = "testdata/tf2.21/"

func TestCleanApplicationsAreSilent(t *testing.T) {
	for name, files := range map[string][]string{
		"keras2": {"saved_model.pb", "keras_metadata.pb"}, "keras3": {"saved_model.pb"},
	} {
		dir := fstest.MapFS{}
		for _, f := range files {
			dir[f] = &fstest.MapFile{Data: packed.Read(t, fixtures+name+"_mobilenet."+f+".gz")}
		}
		r, err := scan.Dir(t.Context(), dir, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if worst, _ := r.Worst(); worst > scan.Note || r.Nodes < 1000 {
			t.Errorf("%s: %d nodes, %v", name, r.Nodes, r.Findings)
		}
	}
}

func TestLambdaLayersInFilesOfKerasAreFound(t *testing.T) {
	for _, version := range []string{"keras2", "keras3"} {
		for _, suffix := range []string{".keras", ".h5"} {
			for _, kind := range []string{"lambda", "plain"} {
				name := version + "_" + kind + suffix
				b, err := os.ReadFile(fixtures + name)
				if err != nil {
					t.Fatal(err)
				}
				r, err := scan.Bytes(t.Context(), b, name, nil)
				if err != nil {
					t.Fatal(err)
				}
				found := len(r.Findings) > 0 && r.Findings[0].Rule == "keras-code" && r.Findings[0].Severity == scan.High && strings.Contains(r.Findings[0].Message, `Lambda layer "shout" carries a Python function as bytecode`)
				if found != (kind == "lambda") || !found && len(r.Findings) > 0 {
					t.Errorf("%s: %v", name, r.Findings)
				}
			}
		}
	}
}

// TestLambdaLayersInSavedModelsAreFound, by the metadata that Keras 2 writes.
func TestLambdaLayersInSavedModelsAreFound(t *testing.T) {
	const metadata = `{"name": "shout", "class_name": "Lambda", "config": {"name": "shout", "function": {"class_name": "__tuple__", "items": ["4wEA", null, null]}, "function_type": "lambda", "module": "__main__"}}`
	model := "meta_graphs { object_graph_def { nodes { user_object { identifier: '_tf_keras_layer' metadata: '" + metadata + "' } } } }"
	r, err := scan.Bytes(t.Context(), []byte(model), "m.pbtxt", nil)
	if err != nil || len(r.Findings) != 1 || r.Findings[0].Severity != scan.High || r.Findings[0].Message != `the Lambda layer "shout" carries a Python function as bytecode` {
		t.Error(r, err)
	}
}

func archive(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, err := z.Create(files[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(files[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestDescriptionsOfKerasAreScanned(t *testing.T) {
	h5 := func(text string) []byte {
		return []byte("\x89HDF\r\n\x1a\n\x00{\x00{\"a\x00model_config\x00" + text + "\x00\x00")
	}
	for _, c := range []struct {
		name string
		b    []byte
		want string // of the first finding, "" for none; an error after "!"
	}{
		{"a function's name", archive(t, "config.json", `{"class_name": "Lambda", "config": {"name": "l", "function": "shout", "function_type": "function"}}`), `warning keras-code the Lambda layer "l" calls a Python function`},
		{"a Lambda by escapes", archive(t, "config.json", `{"class_name": "L\u0061mbda", "config": {"name": "l", "function": ["x", null, null]}}`), `high keras-code the Lambda layer "l" carries a Python function as bytecode`},
		{"a system's function", archive(t, "config.json", `{"layers": [{"module": "os", "class_name": "function", "config": "system"}]}`), `high keras-code loading imports system of the Python module "os"`},
		{"a function of Python's own", archive(t, "config.json", `[{"module": "builtins", "class_name": "builtin_function_or_method", "config": "exec"}]`), `high keras-code loading finds Python's exec`},
		{"somebody's layer", archive(t, "config.json", `{"module": "lab.layers", "class_name": "Attention", "config": {}}`), `warning keras-code loading imports Attention of the Python module "lab.layers"`},
		{"a layer of Keras", archive(t, "config.json", `{"module": "keras.layers", "class_name": "Dense", "config": {}}`), ""},
		{"no JSON", archive(t, "config.json", `{`), "high malformed config.json is no JSON"},
		{"a pickle beside it", archive(t, "config.json", `{}`, "assets/x.pkl", "x"), `warning extra-file "assets/x.pkl" can carry a program`},
		{"a way out", archive(t, "config.json", `{}`, "../../x", "x"), `warning suspicious-name the name of the file of the archive "../../x" holds a step to the directory above`},
		{"two descriptions", archive(t, "config.json", `{}`, "config.json", `{}`), "high malformed the archive holds two files config.json"},
		{"another archive", archive(t, "a.npy", "x"), "!a zip archive without config.json, so no model of Keras"},
		{"HDF5 in another order", h5(`{"config": {"layers": [{"config": {"function": ["x"], "name": "l"}, "class_name": "Lambda"}]}}`), `high keras-code the Lambda layer "l" carries a Python function as bytecode`},
		{"HDF5 without a description", h5("gzip'ed"), "!model_config, whose text can't be found"},
		{"an ONNX model", []byte("\x08\x07"), "!it is an ONNX model"},
	} {
		name := c.name
		if strings.HasPrefix(c.want, "!it is an ONNX") {
			name = "m.onnx"
		}
		r, err := scan.Bytes(t.Context(), c.b, name, nil)
		if want, fails := strings.CutPrefix(c.want, "!"); fails {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, %v", c.name, r, err)
			}
			continue
		}
		got := ""
		if err == nil && len(r.Findings) > 0 {
			f := r.Findings[0]
			got = f.Severity.String() + " " + f.Rule + " " + f.Message
		}
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
	}
}

func TestBrokenDescriptionsCostLittle(t *testing.T) {
	b := append([]byte("\x89HDF\r\n\x1a\n"), bytes.Repeat([]byte(`{"`), 1<<20)...)
	begin := time.Now()
	if _, err := scan.Bytes(t.Context(), b, "x.h5", nil); err == nil || errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("it takes %v", took)
	}
	deep := archive(t, "config.json", strings.Repeat(`[`, 9_999)+strings.Repeat(`]`, 9_999))
	if _, err := scan.Bytes(t.Context(), deep, "x.keras", nil); err != nil {
		t.Error(err)
	}
}

// FuzzBytes: any file is scanned or refused.
func FuzzBytes(f *testing.F) {
	for _, name := range []string{"keras2_lambda.keras", "keras3_lambda.h5"} {
		b, err := os.ReadFile(fixtures + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte("\x89HDF\r\n\x1a\n{\"class_name\": \"Lambda\", \"config\": {\"name\": [1]}}"))
	f.Add([]byte("\x0a\x12\x0a\x01a\x12\x09WriteFile\x1a\x02^b\x0a\x0d\x0a\x01b\x12\x04NoOp\x1a\x02^a"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := scan.Bytes(t.Context(), b, "x", nil)
		if err == nil && r == nil {
			t.Fatal("neither a report nor an error")
		}
	})
}

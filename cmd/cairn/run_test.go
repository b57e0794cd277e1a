package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairnml/cairn/tensor"
)

const models = "../../savedmodel/testdata/models/"

func TestRunCallsASignature(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.json")
	for _, text := range []string{`{"inputs": {"x": [[1, 2, 3]]}}`, `{"inputs": [[1, 2, 3]]}`, `{"inputs": [[1, 2, 3]], "signature_name": "serving_default"}`} {
		if err := os.WriteFile(in, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		out, errOut, code := cairn(t, "run", models+"module", "--inputs", in)
		if want := `{"outputs":{"total":179700.0,"y":[[11.0,42.0,93.0]]}}` + "\n"; out != want || code != 0 {
			t.Errorf("%s gave %q (%d, %s), want %q", text, out, code, errOut, want)
		}
	}
	for _, c := range []struct{ args, want string }{
		{"module", `the input "x" is missing`},
		{"module --signature serve", "serving_default"},
		{"tf1_graphs --tags train", `"serve" "gpu"`},
		{"nothing", "nothing: there is no such file or directory"},
		{"module/variables", "variables: the directory holds none of saved_model.pb"},
		{".", "holds SavedModels, in assets, "},
		{"module --inputs run_test.go", "run_test.go: neither a request as JSON, .npz, .npy, PNG, JPEG nor .csv"},
		{"module --input x=1 --inputs run_test.go", "--inputs and --input both set the inputs"},
		{"module --input z=1", `--input: there is no input "z"; the signature takes "x"`},
		{"module --input x=[[1,2,\"a\"]]", `--input: x[0][2]: the string "a" can't be a float32 (want a number)`},
		{"module --input x=[[1,2,3]] --pixels 1", "--pixels takes two numbers"},
		{"module --outputs x.txt", ".npz, .json and .png"},
		{"module --signature serving_defalt", "serving_default"},
		{"module --outputs x.npz --picture y", "--picture is for"},
		{"module --repeat -1", "--repeat"},
	} {
		args := strings.Fields(c.args)
		args[0] = models + args[0]
		if _, errOut, code := cairn(t, append([]string{"run"}, args...)...); code != 2 || !strings.Contains(errOut, c.want) {
			t.Errorf("run %s: %d, %s, want %q", c.args, code, errOut, c.want)
		}
	}
}

// TestRunWithoutVariablesSaysWhatIsMissing: the message names the checkpoint, and no option of a
// program.
func TestRunWithoutVariablesSaysWhatIsMissing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "m")
	if err := os.CopyFS(dir, os.DirFS(models+"module")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "variables")); err != nil {
		t.Fatal(err)
	}
	_, errOut, code := cairn(t, "run", dir, "--input", "x=[[1, 2, 3]]")
	if want := dir + ": the checkpoint variables/variables is missing"; code != 2 || !strings.Contains(errOut, want) || strings.Contains(errOut, "Options") {
		t.Errorf("%d, %s, want %q", code, errOut, want)
	}
}

// TestRunAnswersAsServing: each request in its own form, and nothing of it is
// ignored.
func TestRunAnswersAsServing(t *testing.T) {
	for _, c := range []struct {
		model, args, request string
		want                 string // on stdout, or on stderr after "!"
	}{
		{"keras_mlp", "", `{"inputs": [[0, 0, 0, 0]]}`, `{"outputs":[[0.`},
		{"keras_mlp", "", `{"instances": [[0, 0, 0, 0]]}`, `{"predictions":[[0.`},
		{"keras_mlp", "", `{"instances": [{"hidden_input": [0, 0, 0, 0]}], "signature_name": "serving_default"}`, `{"predictions":[[0.`},
		{"keras_mlp", "--json", `{"instances": [[0, 0, 0, 0]]}`, `{"predictions":[[0.`},
		{"keras_mlp", "", `{"instances": [["NaN", 0, 0, 0]]}`, `{"predictions":[[NaN,NaN`},
		{"keras_mlp", "--json", `{"instances": [["NaN", 0, 0, 0]]}`, `{"predictions":[["NaN","NaN"`},
		{"module", "", `{"instances": [[1, 2, 3]]}`, `!output "total": a scalar has no rows; use "inputs" in place of "instances"`},
		{"keras_mlp", "", `{"inputs": [[0, 0, 0, 0]]} {"inputs": [[1, 1, 1, 1]]}`, "!stdin: byte 27: something follows the end of the request"},
		{"keras_mlp", "", `{"inputs": [[0, 0, 0, 0]], "signature_name": "other"}`, `!"other"`},
		{"keras_mlp", "--signature serving_default", `{"inputs": [[0, 0, 0, 0]], "signature_name": "other"}`, `!--signature is "serving_default", and the request asks for "other"`},
		{"keras_mlp", "", `{"inputs": [[0, 0, 0, 0]], "output_filter": "x"}`, `!a request has no field "output_filter"`},
		{"keras_mlp", "", `{"inputs": [[0, 0, 0]]}`, "!stdin: inputs: the shape is [1,3] (want float32[?,4])"},
		{"keras_mlp", "", `{"inputs": [[0, 0, 0, 1e40]]}`, "!stdin: inputs[0][3]: 1e40 is out of float32's range"},
	} {
		out, errOut, code := cairnFrom(t, strings.NewReader(c.request), append([]string{"run", models + c.model, "--inputs", "-"}, strings.Fields(c.args)...)...)
		if want, fails := strings.CutPrefix(c.want, "!"); fails {
			if code != 2 || !strings.Contains(errOut, want) || out != "" {
				t.Errorf("%s: %d, %q, %s, want %s", c.request, code, out, errOut, want)
			}
		} else if code != 0 || !strings.HasPrefix(out, c.want) {
			t.Errorf("%s: %d, %s, %s, want %s", c.request, code, out, errOut, c.want)
		}
	}
}

func TestRunTakesLiterals(t *testing.T) {
	for _, literal := range []string{"x=[[1,2,3]]", "[[1, 2, 3]]"} {
		out, errOut, code := cairn(t, "run", models+"module", "--input", literal)
		if want := `{"outputs":{"total":179700.0,"y":[[11.0,42.0,93.0]]}}` + "\n"; code != 0 || out != want {
			t.Errorf("%s: %d, %s, %s", literal, code, out, errOut)
		}
	}
}

// TestRunReadsWhatTheFileHolds checks that the contents of a file determine its
// kind: its name doesn't, and it may be a pipe.
func TestRunReadsWhatTheFileHolds(t *testing.T) {
	x := tensor.Must(tensor.New([]float32{1, 2, 3}, 1, 3))
	var npy, npz bytes.Buffer
	if err := tensor.WriteNPY(&npy, x, nil); err != nil {
		t.Fatal(err)
	}
	z := tensor.NewNPZWriter(&npz, nil)
	if err := errors.Join(z.Add("x", x), z.Close()); err != nil {
		t.Fatal(err)
	}
	in := filepath.Join(t.TempDir(), "in")
	for name, b := range map[string][]byte{".json": []byte(`{"inputs": [[1, 2, 3]]}`), ".npy": npy.Bytes(), ".npz": npz.Bytes()} {
		if err := os.WriteFile(in, b, 0o666); err != nil {
			t.Fatal(err)
		}
		const want = `{"outputs":{"total":179700.0,"y":[[11.0,42.0,93.0]]}}` + "\n"
		if out, errOut, code := cairn(t, "run", models+"module", "--inputs", in); out != want || code != 0 {
			t.Errorf("%s in a file gave %q (%d, %s)", name, out, code, errOut)
		}
		if out, errOut, code := cairnFrom(t, bytes.NewReader(b), "run", models+"module", "--inputs", "-"); out != want || code != 0 {
			t.Errorf("%s from stdin gave %q (%d, %s)", name, out, code, errOut)
		}
	}
}

func TestRunWritesWhatItReads(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.json"), filepath.Join(dir, "out.npz")
	if err := os.WriteFile(in, []byte(`{"inputs": {"x": [[1, 2, 3]]}}`), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, errOut, code := cairn(t, "run", models+"module", "--inputs", in, "--outputs", out); code != 0 {
		t.Fatal(errOut)
	}
	text, errOut, code := cairn(t, "cat", out, "y")
	if code != 0 || !strings.Contains(text, "11") {
		t.Error(text, errOut)
	}
	if _, errOut, code := cairn(t, "run", models+"module", "--inputs", in, "--outputs", out); code != 2 {
		t.Errorf("a file was replaced unasked: %s", errOut)
	}
}

// TestRunMeasures: latencies and the table go to stderr, the trace to its file.
func TestRunMeasures(t *testing.T) {
	dir := t.TempDir()
	in, trace := filepath.Join(dir, "in.json"), filepath.Join(dir, "trace.json")
	if err := os.WriteFile(in, []byte(`{"inputs": {"hidden_input": [[1, 2, 3, 4]]}}`), 0o666); err != nil {
		t.Fatal(err)
	}
	out, errOut, code := cairn(t, "run", models+"keras_mlp", "--inputs", in, "--repeat", "20", "--profile", trace)
	if code != 0 || !strings.Contains(errOut, "20 calls: p50 ") || !strings.Contains(errOut, "MatMul ") || !strings.HasPrefix(out, `{"outputs":`) {
		t.Errorf("%d\n%s\n%s", code, out, errOut)
	}
	b, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Events []struct{ Name, Ph string } `json:"traceEvents"`
	}
	if err := json.Unmarshal(b, &v); err != nil || len(v.Events) == 0 || v.Events[0].Ph != "X" {
		t.Errorf("%v: %.200s", err, b)
	}
}

// TestRunDrawsAPicture: an output that is one goes to a .png.
func TestRunDrawsAPicture(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.json"), filepath.Join(dir, "out.png")
	if err := os.WriteFile(in, []byte(`{"inputs": {"hidden_input": [[1, 2, 3, 4], [0, 0, 0, 0]]}}`), 0o666); err != nil {
		t.Fatal(err)
	}
	_, errOut, code := cairn(t, "run", models+"keras_mlp", "--inputs", in, "-o", out)
	if code != 0 || !strings.Contains(errOut, "1 is white") {
		t.Fatal(errOut)
	}
	f, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if img, err := png.Decode(f); err != nil || img.Bounds().Dx() != 2 || img.Bounds().Dy() != 2 {
		t.Error(img, err)
	}
}

// fileReader makes a SavedModel whose signature reads the file of that name, or
// with a text writes it.
func fileReader(t *testing.T, name, text string) string {
	t.Helper()
	dir := t.TempDir()
	node := `node { name: "file" op: "ReadFile" input: "name" }`
	target := "file:0"
	if text != "" {
		node = `node { name: "text" op: "Const" attr { key: "dtype" value { type: DT_STRING } } attr { key: "value" value { tensor { dtype: DT_STRING tensor_shape {} string_val: "` + text + `" } } } }
			node { name: "file" op: "WriteFile" input: "name" input: "text" }
			node { name: "done" op: "Identity" input: "text" input: "^file" attr { key: "T" value { type: DT_STRING } } }`
		target = "done:0"
	}
	model := `saved_model_schema_version: 1 meta_graphs { meta_info_def { tags: "serve" } graph_def {
		node { name: "name" op: "Const" attr { key: "dtype" value { type: DT_STRING } } attr { key: "value" value { tensor { dtype: DT_STRING tensor_shape {} string_val: "` + name + `" } } } }
		` + node + ` } signature_def { key: "serving_default" value { outputs { key: "y" value { name: "` + target + `" dtype: DT_STRING tensor_shape {} } } } } }`
	if err := os.WriteFile(filepath.Join(dir, "saved_model.pbtxt"), []byte(model), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestRunGrantsDirectories(t *testing.T) {
	data := t.TempDir()
	file := filepath.ToSlash(filepath.Join(data, "jobs.txt"))
	if err := os.WriteFile(file, []byte("tea"), 0o666); err != nil {
		t.Fatal(err)
	}
	absolute, relative, writer := fileReader(t, file, ""), fileReader(t, "jobs.txt", ""), fileReader(t, file, "coffee")
	for _, c := range []struct {
		args []string
		want string // on stdout, or on stderr after "!"
	}{
		{[]string{absolute, "--grant-read", data}, `tea`},
		{[]string{absolute, "--grant-read", "/"}, `tea`},
		{[]string{absolute, "--grant-write", data}, `tea`},
		{[]string{relative, "--grant-read", data}, `tea`},
		{[]string{absolute}, `!cairn: ReadFile node "file" wants to read the file "` + file + `", which is out of its reach; --grant-read DIR lets it, if the file is below DIR`},
		{[]string{absolute, "--grant-read", models}, `!ReadFile node "file" wants to read the file "` + file + `"`},
		{[]string{writer, "--grant-read", data}, `!WriteFile node "file" wants to write the file "` + file + `", which is out of its reach; --grant-write DIR lets it`},
		{[]string{absolute, "--grant-read", data + "/none"}, `!--grant-read ` + data + `/none: there is no such directory`},
		{[]string{absolute, "--grant-write", data + "/none"}, `!--grant-write ` + data + `/none: there is no such directory`},
		{[]string{absolute, "--grant-read", file}, `!--grant-read ` + file + `: it is not a directory`},
		{[]string{writer, "--grant-write", data}, `coffee`},
		{[]string{absolute, "--grant-read", data}, `coffee`},
	} {
		out, errOut, code := cairn(t, append([]string{"run"}, c.args...)...)
		want, fails := strings.CutPrefix(c.want, "!")
		switch {
		case fails && (code != 2 || !strings.Contains(errOut, want)):
			t.Errorf("%v: %d, %s, want %s", c.args, code, errOut, want)
		case fails && (strings.Contains(errOut, "Options") || strings.Contains(errOut, "GrantDirs")):
			t.Errorf("%v: a shell has no options of Go's: %s", c.args, errOut)
		case !fails && (code != 0 || !strings.Contains(out, want)):
			t.Errorf("%v: %d, %s, %s, want %s", c.args, code, out, errOut, want)
		}
	}
}

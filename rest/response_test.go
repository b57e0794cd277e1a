package rest

import (
	"encoding/hex"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/cairnml/cairn/tensor"
)

func TestResponsesAreServings(t *testing.T) {
	inf := float32(math.Inf(1))
	y := mustTensor([]float32{0.1, inf, 3, 4e9}, 2, 2)
	for _, c := range []struct {
		name  string
		form  Form
		quote bool
		out   map[string]*tensor.Tensor
		want  string // the document, or an error
	}{
		{"one output has no name", Columns, false, map[string]*tensor.Tensor{"y": y}, `{"outputs":[[0.1,Infinity],[3.0,4e+09]]}`},
		{"digits as Serving's", Columns, false, map[string]*tensor.Tensor{"y": tensor.Vector[float32](9000000, 999999, 0.5, .0003, .00003, 555557.5)}, `{"outputs":[9e+06,999999.0,0.5,0.0003,3e-05,555557.5]}`},
		{"words as strings", Columns, true, map[string]*tensor.Tensor{"y": y}, `{"outputs":[[0.1,"Infinity"],[3.0,4e+09]]}`},
		{"several outputs", Columns, false, map[string]*tensor.Tensor{"z": tensor.Scalar[int64](1 << 60), "y": tensor.Vector(true)}, `{"outputs":{"y":[true],"z":1152921504606846976}}`},
		{"rows", Rows, false, map[string]*tensor.Tensor{"y": y}, `{"predictions":[[0.1,Infinity],[3.0,4e+09]]}`},
		{"rows of several outputs", Rows, false, map[string]*tensor.Tensor{"y": y, "n": tensor.Vector[int32](5, 6)}, `{"predictions":[{"n":5,"y":[0.1,Infinity]},{"n":6,"y":[3.0,4e+09]}]}`},
		{"strings", Columns, false, map[string]*tensor.Tensor{"y": texts([]string{"é", "\xff"}, 2)}, `{"outputs":["é",{"b64":"/w=="}]}`},
		{"strings by name", Columns, false, map[string]*tensor.Tensor{"y_bytes": texts([]string{"a"}, 1)}, `{"outputs":[{"b64":"YQ=="}]}`},
		{"complex numbers", Rows, false, map[string]*tensor.Tensor{"y": tensor.Vector(1+2i, -1i)}, `{"predictions":[[1.0,2.0],[0.0,-1.0]]}`},
		{"no rows", Rows, false, map[string]*tensor.Tensor{"y": tensor.Must(tensor.Zeros(tensor.Float32, 0, 2))}, `{"predictions":[]}`},
		{"a scalar by row", Rows, false, map[string]*tensor.Tensor{"y": tensor.Scalar[int8](1)}, `output "y": a scalar has no rows; use "inputs" in place of "instances"`},
		{"rows of several numbers", Rows, false, map[string]*tensor.Tensor{"y": tensor.Vector[int8](1, 2), "z": tensor.Vector[int8](1)}, `output "z": it has 1 rows, and "y" has 2; use "inputs" in place of "instances"`},
		{"a resource", Columns, false, map[string]*tensor.Tensor{"y": tensor.Must(tensor.FromStrings(tensor.Resource, []string{""}, 1))}, `output "y": a resource can't be written as JSON`},
		{"many empty lists", Columns, false, map[string]*tensor.Tensor{"y": tensor.Must(tensor.Zeros(tensor.Float32, 1<<30, 0))}, `output "y": the shape [1073741824,0] is too many empty lists`},
		{"nothing", Columns, false, nil, "there are no outputs to write"},
	} {
		var b strings.Builder
		err := WritePredictResponse(&b, c.form, c.out, &WriteOptions{Quote: c.quote})
		got := strings.TrimSuffix(b.String(), "\n")
		if err != nil {
			if got != "" {
				t.Errorf("%s: an error after %q", c.name, got)
			}
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestASingleOutputsNameIsWrittenOnRequest(t *testing.T) {
	var b strings.Builder
	if err := WritePredictResponse(&b, Columns, map[string]*tensor.Tensor{"y": tensor.Scalar[int8](1)}, &WriteOptions{Names: true}); err != nil || b.String() != "{\"outputs\":{\"y\":1}}\n" {
		t.Error(b.String(), err)
	}
}

func TestLiteralsAreParsed(t *testing.T) {
	got, err := ParseTensor([]byte(" [[1, 2]]\n"), spec("x", tensor.Int8, -1, 2))
	if err != nil || !got.Equal(mustTensor([]int8{1, 2}, 1, 2)) {
		t.Error(got, err)
	}
	for text, want := range map[string]string{
		"": "x: the JSON ends early (want a value)", "[1, 2] 3": "x: something follows the end of the value", "[1, 300]": "x[1]: 300 is out of range (an int8 holds -128 to 127)",
		"[1]": "x: the shape is [1] (want int8[?,2])", "hello": "x: the JSON is broken: got 'h' (want a value)",
	} {
		if _, err := ParseTensor([]byte(text), spec("x", tensor.Int8, -1, 2)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// example221 is TensorFlow's encoding of the features of
// TestExamplesAreTensorFlowsMessages, by SerializeToString(deterministic=True).
const example221 = "0a5b0a160a03616765120f1a0d0a0b1fffffffffffffffffff010a110a07636f756e74727912060a040a024e4f0a080a046e6f6e6512000a0d0a0372617712060a040a0200ff0a150a0573636f7265120c120a0a080000c03f000000c0"

func TestExamplesAreTensorFlowsMessages(t *testing.T) {
	r, err := ParseRequest([]byte(`{"signature_name": "c", "context": {"score": [1.5, -2e0], "country": "NO"}, "examples": [{"raw": {"b64": "AP8="}, "none": [], "age": [31, -1]}, {"b": [true, 2]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Serialized()
	if err != nil {
		t.Fatal(err)
	}
	if list := got.Strings(); len(list) != 2 || hex.EncodeToString([]byte(list[0])) != example221 {
		t.Errorf("%x", list)
	}
	context, examples, err := r.Examples()
	if err != nil {
		t.Fatal(err)
	}
	if want := (Example{{Name: "country", Bytes: []string{"NO"}}, {Name: "score", Floats: []float32{1.5, -2}}}); !reflect.DeepEqual(context, want) {
		t.Errorf("context %v", context)
	}
	if want := (Example{{Name: "b", Ints: []int64{1, 2}}}); len(examples) != 2 || !reflect.DeepEqual(examples[1], want) {
		t.Errorf("examples %v", examples)
	}
	var b strings.Builder
	if err := WriteExamplesRequest(&b, "c", context, examples, nil); err != nil {
		t.Fatal(err)
	}
	const want = `{"signature_name":"c","context":{"country":["NO"],"score":[1.5,-2.0]},"examples":[{"age":[31,-1],"none":[],"raw":["\u0000ÿ"]},{"b":[1,2]}]}` + "\n"
	if got := strings.Replace(b.String(), `{"b64":"AP8="}`, `"\u0000ÿ"`, 1); got != want {
		t.Errorf("%s, want %s", b.String(), want)
	}
}

func TestWrongExamplesAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{"examples": []}`:                                  "examples: the list of examples is empty",
		`{"examples": {"a": 1}}`:                            "examples: got an object (want a list of examples)",
		`{"examples": [1]}`:                                 "examples[0]: 1 can't be an example (want an object of features)",
		`{"examples": [{"a": [1, 2.5]}]}`:                   "examples[0].a[1]: the feature's values are numbers with a point and whole numbers; a feature has values of one kind",
		`{"examples": [{"a": [[1]]}]}`:                      "examples[0].a[0]: a list can't be a feature's value (want a number, a string or a list of them)",
		`{"examples": [{"a": null}]}`:                       "examples[0].a: null can't be a feature's value (want a number, a string or a list of them)",
		`{"examples": [{"a": 9223372036854775808}]}`:        "examples[0].a: 9223372036854775808 is out of range (an int64 holds -9223372036854775808 to 9223372036854775807)",
		`{"examples": [{"a": 1e39}]}`:                       "examples[0].a: 1e39 is out of float32's range",
		`{"examples": [{"a": 1, "a": 2}]}`:                  `examples[0]: the feature "a" appears twice`,
		`{"context": {"a": 1}, "examples": [{}, {"a": 2}]}`: `examples[1]: the feature "a" is in "context" too`,
		`{"context": [], "examples": [{}]}`:                 "context: a list can't be an example (want an object of features)",
		`{"context": {}}`:                                   `byte 0: a request holds "instances" or "inputs", or for classify and regress "examples"`,
		`{"inputs": 1}`:                                     `byte 11: classify and regress take "examples", and the request holds "inputs"`,
	} {
		r, err := ParseRequest([]byte(text))
		if err == nil {
			_, err = r.Serialized()
		}
		if err == nil || err.Error() != want && !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestTheContextIsNotRepeatedWithoutBound: each example has the context's
// features, so that a short request could fill the memory.
func TestTheContextIsNotRepeatedWithoutBound(t *testing.T) {
	text := `{"context": {"a": "` + strings.Repeat("x", 1<<20) + `"}, "examples": [{}` + strings.Repeat(",{}", 1000) + `]}`
	r, err := ParseRequest([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Serialized(); err == nil || !strings.Contains(err.Error(), "once each has the context's features") {
		t.Error(err)
	}
}

func TestResultsOfClassifyAndRegress(t *testing.T) {
	out := map[string]*tensor.Tensor{"classes": texts([]string{"a", "b", "c", "\xff"}, 2, 2), "scores": mustTensor([]float32{1, 0.25, 0, float32(math.NaN())}, 2, 2)}
	classes, err := Classes(out, 2)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := WriteClassifyResponse(&b, classes, nil); err != nil {
		t.Fatal(err)
	}
	if want := `{"results":[[["a",1.0],["b",0.25]],[["c",0.0],[{"b64":"/w=="},NaN]]]}` + "\n"; b.String() != want {
		t.Errorf("%s, want %s", b.String(), want)
	}
	back, err := ReadClassifyResponse(strings.NewReader(b.String()), nil)
	if err != nil || len(back) != 2 || back[0][1] != (Class{"b", 0.25}) || back[1][1].Label != "\xff" {
		t.Error(back, err)
	}
	values, err := Regressions(map[string]*tensor.Tensor{"outputs": mustTensor([]float32{1.5, 2}, 2, 1)}, 2)
	if err != nil {
		t.Fatal(err)
	}
	b.Reset()
	if err := WriteRegressResponse(&b, values, nil); err != nil || b.String() != "{\"results\":[1.5,2.0]}\n" {
		t.Error(b.String(), err)
	}
	if got, err := ReadRegressResponse(strings.NewReader(b.String()), nil); err != nil || !reflect.DeepEqual(got, values) {
		t.Error(got, err)
	}
	for _, c := range []struct {
		out  map[string]*tensor.Tensor
		n    int
		want string
	}{
		{nil, 1, "neither"}, {out, 3, "for 3 examples"}, {map[string]*tensor.Tensor{"scores": tensor.Vector[float32](1)}, 1, "[examples,classes]"},
		{map[string]*tensor.Tensor{"scores": mustTensor([]float64{1}, 1, 1)}, 1, "float64"},
	} {
		if _, err := Classes(c.out, c.n); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	for _, x := range []*tensor.Tensor{nil, tensor.Vector[float32](1), tensor.Vector(1.0, 2), mustTensor([]float32{1, 2}, 1, 2)} {
		if _, err := Regressions(map[string]*tensor.Tensor{"outputs": x}, 2); err == nil {
			t.Errorf("%v are the values of two examples", x)
		}
	}
}

func TestErrorsOfServersAreErrors(t *testing.T) {
	var b strings.Builder
	if err := WriteError(&b, errors.New("no \"x\"\xff")); err != nil || b.String() != "{\"error\":\"no \\\"x\\\"\ufffd\"}\n" {
		t.Error(b.String(), err)
	}
	var remote *RemoteError
	if _, _, err := ReadPredictResponse(strings.NewReader(b.String()), nil, nil); !errors.As(err, &remote) || remote.Message != "no \"x\"\ufffd" {
		t.Error(err)
	}
	for text, want := range map[string]string{
		`{}`: "either", `{"outputs": 1, "predictions": [1]}`: "either", `{"output": 1}`: "did you mean outputs",
		`{"outputs": {"y": 1, "z": 2}}`: `outputs: there is no output "z"`, `{"predictions": [["a"]]}`: "predictions[0][0]: the string",
	} {
		if _, _, err := ReadPredictResponse(strings.NewReader(text), []Spec{spec("y", tensor.Float32)}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestAnAnswerWithoutRowsIsRead(t *testing.T) {
	got, form, err := ReadPredictResponse(strings.NewReader(`{"predictions": []}`), []Spec{spec("y", tensor.Float32, -1, 2)}, nil)
	if err != nil || form != Rows || !got["y"].Shape().Equal(tensor.Shape{0, 2}) {
		t.Error(got, form, err)
	}
}

// failing is a connection that breaks.
type failing struct{ left int }

func (f *failing) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errors.New("broken")
	}
	return len(b), nil
}

func TestWritingStopsAtTheFirstError(t *testing.T) {
	big := map[string]*tensor.Tensor{"y": tensor.Must(tensor.Zeros(tensor.Float32, 1<<20, 2))}
	for _, form := range []Form{Rows, Columns} {
		if err := WritePredictResponse(&failing{100_000}, form, big, nil); err == nil || err.Error() != "broken" {
			t.Error(err)
		}
	}
}

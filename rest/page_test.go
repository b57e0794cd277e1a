package rest

import (
	"math"
	"strings"
	"testing"

	"github.com/cairnml/cairn/tensor"
)

// TestTheExamplesOfServingsPage reads the requests of TensorFlow Serving's page api_rest.md, and
// writes its responses.
func TestTheExamplesOfServingsPage(t *testing.T) {
	names := []Spec{spec("tag", tensor.String), spec("signal", tensor.Int64), spec("sensor", tensor.Float32)}
	sensors := map[string]*tensor.Tensor{
		"tag": texts([]string{"foo", "bar"}, 2), "signal": mustTensor([]int64{1, 2, 3, 4, 5, 3, 4, 1, 2, 5}, 2, 5),
		"sensor": mustTensor([]float32{1, 2, 3, 4, 4, 5, 6, 8}, 2, 2, 2),
	}
	for _, c := range []struct {
		name, json string
		specs      []Spec
		form       Form
		want       map[string]*tensor.Tensor
	}{
		{"3 scalar tensors", `{"instances": [ "foo", "bar", "baz" ]}`, []Spec{spec("x", tensor.String)}, Rows, map[string]*tensor.Tensor{"x": texts([]string{"foo", "bar", "baz"}, 3)}},
		{"2 tensors of [1, 2]", `{"instances": [ [[1, 2]], [[3, 4]] ]}`, []Spec{spec("x", tensor.Float32)}, Rows, map[string]*tensor.Tensor{"x": mustTensor([]float32{1, 2, 3, 4}, 2, 1, 2)}},
		{"three named inputs by row", `{"instances": [
			{"tag": "foo", "signal": [1, 2, 3, 4, 5], "sensor": [[1, 2], [3, 4]]},
			{"tag": "bar", "signal": [3, 4, 1, 2, 5], "sensor": [[4, 5], [6, 8]]}]}`, names, Rows, sensors},
		{"three named inputs by column", `{"inputs": {"tag": ["foo", "bar"], "signal": [[1, 2, 3, 4, 5], [3, 4, 1, 2, 5]],
			"sensor": [[[1, 2], [3, 4]], [[4, 5], [6, 8]]]}}`, names, Columns, sensors},
		{"inputs of other first sizes", `{"inputs": {"a": [1, 2, 3], "b": 5}}`, []Spec{spec("a", tensor.Uint32), spec("b", tensor.Uint8)}, Columns,
			map[string]*tensor.Tensor{"a": tensor.Vector[uint32](1, 2, 3), "b": tensor.Scalar[uint8](5)}},
		{"half plus three", `{"instances": [1.0,2.0,5.0]}`, []Spec{spec("x", tensor.Float32)}, Rows, map[string]*tensor.Tensor{"x": tensor.Vector[float32](1, 2, 5)}},
		{"the table's booleans", `{"inputs": [true, false]}`, []Spec{spec("x", tensor.Bool)}, Columns, map[string]*tensor.Tensor{"x": tensor.Vector(true, false)}},
		{"the table's whole numbers", `{"inputs": [1, -10, 0]}`, []Spec{spec("x", tensor.Int16)}, Columns, map[string]*tensor.Tensor{"x": tensor.Vector[int16](1, -10, 0)}},
		{"the table's decimal numbers", `{"inputs": [1.1, -10.0, 0, 1e-3, 2E+2]}`, []Spec{spec("x", tensor.Float64)}, Columns, map[string]*tensor.Tensor{"x": tensor.Vector(1.1, -10, 0, 1e-3, 200)}},
		{"base64 with spaces and lines", `{"inputs": {"b64": "aGVs bG8=\n"}}`, []Spec{spec("x", tensor.String)}, Columns, map[string]*tensor.Tensor{"x": texts([]string{"hello"})}},
	} {
		r, err := ParseRequest([]byte(c.json))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got, err := r.Tensors(c.specs)
		if err != nil || r.Form() != c.form {
			t.Errorf("%s: %v, by %v", c.name, err, r.Form())
			continue
		}
		for name, want := range c.want {
			if !got[name].Equal(want) {
				t.Errorf("%s: %s is %v, want %v", c.name, name, got[name], want)
			}
		}
	}
}

// TestTheExamplesOfServingsPageForClassify reads those of classify and regress.
func TestTheExamplesOfServingsPageForClassify(t *testing.T) {
	for _, c := range []struct {
		json, signature string
		want            []Example
	}{
		{`{"signature_name": "classify_objects", "examples": [
			{"image": { "b64": "aW1hZ2UgYnl0ZXM=" }, "caption": "seaside"},
			{"image": { "b64": "YXdlc29tZSBpbWFnZSBieXRlcw==" }, "caption": "mountains"}]}`, "classify_objects", []Example{
			{{Name: "caption", Bytes: []string{"seaside"}}, {Name: "image", Bytes: []string{"image bytes"}}},
			{{Name: "caption", Bytes: []string{"mountains"}}, {Name: "image", Bytes: []string{"awesome image bytes"}}},
		}},
		{`{"signature_name": "tensorflow/serving/regress", "examples": [{"x": 1.0}, {"x": 2.0}]}`, "tensorflow/serving/regress",
			[]Example{{{Name: "x", Floats: []float32{1}}}, {{Name: "x", Floats: []float32{2}}}}},
		{`{"examples": [{"sensor_readings": [ 1.0, -3.14, Infinity, -Infinity ], "on": true}]}`, "",
			[]Example{{{Name: "on", Ints: []int64{1}}, {Name: "sensor_readings", Floats: []float32{1, -3.14, float32(math.Inf(1)), float32(math.Inf(-1))}}}}},
	} {
		r, err := ParseRequest([]byte(c.json))
		if err != nil {
			t.Fatal(err)
		}
		_, got, err := r.Examples()
		if err != nil || r.Signature != c.signature || len(got) != len(c.want) {
			t.Errorf("%s: %v, %q, %v", c.json, got, r.Signature, err)
			continue
		}
		for i := range got {
			if string(got[i].Marshal()) != string(c.want[i].Marshal()) {
				t.Errorf("%s: example %d is %v, want %v", c.json, i, got[i], c.want[i])
			}
		}
	}
	var b strings.Builder
	if err := WritePredictResponse(&b, Rows, map[string]*tensor.Tensor{"y": tensor.Vector[float32](3.5, 4, 5.5)}, nil); err != nil || b.String() != "{\"predictions\":[3.5,4.0,5.5]}\n" {
		t.Error(b.String(), err)
	}
	b.Reset()
	if err := WriteRegressResponse(&b, []float32{3.5, 4}, nil); err != nil || b.String() != "{\"results\":[3.5,4.0]}\n" {
		t.Error(b.String(), err)
	}
	b.Reset()
	if err := WriteClassifyResponse(&b, [][]Class{{{"", 1}, {"b", 0.5}}, {{"c", -1}}}, nil); err != nil || b.String() != "{\"results\":[[[\"\",1.0],[\"b\",0.5]],[[\"c\",-1.0]]]}\n" {
		t.Error(b.String(), err)
	}
}

package feed

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
)

func inputs(d ...tensor.DType) (out []savedmodel.TensorInfo) {
	for i, d := range d {
		out = append(out, savedmodel.TensorInfo{Name: string(rune('a' + i)), DType: d})
	}
	return out
}

func TestJSONTakesTheTypesOfTheInputs(t *testing.T) {
	in, err := ParseJSON([]byte(`{"inputs": {"a": [[1, 2.5], ["NaN", "-Infinity"]], "b": [9007199254740993], "c": ["x", {"b64": "AP8="}], "d": [true], "e": 18446744073709551615}}`),
		inputs(tensor.Float32, tensor.Int64, tensor.String, tensor.Bool, tensor.Uint64))
	if err != nil {
		t.Fatal(err)
	}
	a := tensor.Values[float32](in["a"])
	if !in["a"].Shape().Equal(tensor.Shape{2, 2}) || a[1] != 2.5 || a[2] == a[2] || !math.IsInf(float64(a[3]), -1) {
		t.Error(in["a"])
	}
	if tensor.Values[int64](in["b"])[0] != 9007199254740993 || in["c"].Strings()[1] != "\x00\xff" || !tensor.Values[bool](in["d"])[0] || tensor.Values[uint64](in["e"])[0] != math.MaxUint64 {
		t.Error(in)
	}
	if in, err = ParseJSON([]byte(`{"instances": [{"a": [1], "b": 1}, {"a": [2], "b": 2}]}`), inputs(tensor.Float64, tensor.Int8)); err != nil || !in["a"].Shape().Equal(tensor.Shape{2, 1}) || !in["b"].Equal(tensor.Vector[int8](1, 2)) {
		t.Error(in, err)
	}
}

func TestWrongJSONIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: "neither", `{"inputs": {"a": [[1], 2]}}`: "as deep", `{"inputs": {"a": [[1], [2, 3]]}}`: "as long",
		`{"inputs": {"b": 300}}`: "no int8", `{"inputs": {"b": 1.5}}`: "invalid", `{"inputs": {"a": "x"}}`: "no float32",
		`{"inputs": {"z": 1}}`: `no input "z": the signature takes "a", "b"`, `{"inputs": 1}`: "2 inputs", `{"instances": [{"a": 1}, {"b": 1}]}`: "instance 1",
		`{"inputs": 1, "instances": []}`: "both",
	} {
		if _, err := ParseJSON([]byte(text), inputs(tensor.Float32, tensor.Int8)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestOutputsAreServingsJSON(t *testing.T) {
	v, err := JSON(map[string]*tensor.Tensor{
		"a": tensor.Must(tensor.New([]float32{0.1, float32(math.Inf(1))}, 2, 1)), "b": tensor.Scalar[int64](1 << 60), "c": tensor.Must(tensor.FromStrings(tensor.String, []string{"é", "\xff"}, 2)),
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(v)
	if want := `{"outputs":{"a":[[0.1],["Infinity"]],"b":1152921504606846976,"c":["é",{"b64":"/w=="}]}}`; err != nil || string(b) != want {
		t.Errorf("%s, want %s (%v)", b, want, err)
	}
}

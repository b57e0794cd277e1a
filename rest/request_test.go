package rest

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/cairnml/cairn/tensor"
)

func mustTensor[T tensor.Element](v []T, dims ...int) *tensor.Tensor {
	return tensor.Must(tensor.New(v, dims...))
}

func texts(v []string, dims ...int) *tensor.Tensor {
	return tensor.Must(tensor.FromStrings(tensor.String, v, dims...))
}

// spec returns a Spec of any shape.
func spec(name string, d tensor.DType, dims ...int) Spec {
	s := Spec{Name: name, DType: d}
	if dims != nil {
		s.Shape = dims
	}
	return s
}

func TestRequestsOfServingAreRead(t *testing.T) {
	x := []Spec{spec("x", tensor.Int32)}
	f := []Spec{spec("x", tensor.Float32)}
	str := []Spec{spec("x", tensor.String)}
	three := []Spec{spec("a", tensor.Int32), spec("b", tensor.String), spec("c", tensor.Float64)}
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name, json string
		specs      []Spec
		form       Form
		want       map[string]*tensor.Tensor
	}{
		{"rows without a name", `{"instances": [[1,2],[3,4],[5,6]]}`, x, Rows, map[string]*tensor.Tensor{"x": mustTensor([]int32{1, 2, 3, 4, 5, 6}, 3, 2)}},
		{"rows of scalars", `{"instances": [1,2,3]}`, x, Rows, map[string]*tensor.Tensor{"x": tensor.Vector[int32](1, 2, 3)}},
		{"whole and decimal numbers", `{"instances": [1, 2.0, 3, 5.003, 0.0, 1e2, -0]}`, f, Rows, map[string]*tensor.Tensor{"x": tensor.Vector[float32](1, 2, 3, 5.003, 0, 100, float32(math.Copysign(0, -1)))}},
		{"bytes in rows", `{"instances": [{"b64": "aGVsbG8="}, {"b64": "d29ybGQ="}]}`, str, Rows, map[string]*tensor.Tensor{"x": texts([]string{"hello", "world"}, 2)}},
		{"bytes in lists", `{"instances": [[{"b64": "aGVsbG8="}], [{"b64": "d29ybGQ"}]]}`, str, Rows, map[string]*tensor.Tensor{"x": texts([]string{"hello", "world"}, 2, 1)}},
		{"bytes under a name", `{"instances": [{"x": [[{"b64": "aGVsbG8="}], [{"b64": "d29ybGQ="}]]}]}`, str, Rows, map[string]*tensor.Tensor{"x": texts([]string{"hello", "world"}, 1, 2, 1)}},
		{"several inputs by row", `{"instances": [{"a": [[1,2]], "b": ["foo"], "c": [NaN, 1]}, {"b": ["bar"], "c": [2.0, -Infinity], "a": [[3,4]]}]}`, three, Rows,
			map[string]*tensor.Tensor{"a": mustTensor([]int32{1, 2, 3, 4}, 2, 1, 2), "b": texts([]string{"foo", "bar"}, 2, 1), "c": mustTensor([]float64{nan, 1, 2, -inf}, 2, 2)}},
		{"several inputs by column", `{"inputs": {"a": [[1,2]], "b": {"b64": "aGVsbG8="}, "c": 5}}`, three, Columns,
			map[string]*tensor.Tensor{"a": mustTensor([]int32{1, 2}, 1, 2), "b": texts([]string{"hello"}), "c": tensor.Scalar(5.0)}},
		{"a column without a name", `{"inputs": [[1,2]]}`, x, Columns, map[string]*tensor.Tensor{"x": mustTensor([]int32{1, 2}, 1, 2)}},
		{"a scalar without a name", `{"inputs": 7}`, x, Columns, map[string]*tensor.Tensor{"x": tensor.Scalar[int32](7)}},
		{"bytes without a name", `{"inputs": {"b64": "AP8="}}`, str, Columns, map[string]*tensor.Tensor{"x": texts([]string{"\x00\xff"})}},
		{"an input called b64", `{"inputs": {"b64": ["a"]}}`, []Spec{spec("b64", tensor.String)}, Columns, map[string]*tensor.Tensor{"b64": texts([]string{"a"}, 1)}},
		{"no inputs", `{"inputs": {}}`, nil, Columns, map[string]*tensor.Tensor{}},
		{"an optional input left out", `{"inputs": {"x": 1}}`, append([]Spec{{Name: "y", DType: tensor.Bool, Optional: true}}, x...), Columns, map[string]*tensor.Tensor{"x": tensor.Scalar[int32](1)}},
		{"an empty list of known rank", `{"inputs": []}`, []Spec{spec("x", tensor.Float32, -1, 4)}, Columns, map[string]*tensor.Tensor{"x": tensor.Must(tensor.Zeros(tensor.Float32, 0, 4))}},
		{"empty lists of unknown rank", `{"inputs": [[],[]]}`, f, Columns, map[string]*tensor.Tensor{"x": tensor.Must(tensor.Zeros(tensor.Float32, 2, 0))}},
		{"words as strings", `{"inputs": ["NaN", "Infinity", "-Infinity"]}`, f, Columns, map[string]*tensor.Tensor{"x": tensor.Vector(float32(nan), float32(inf), float32(-inf))}},
		{"a byte order mark", "\ufeff{\"inputs\": 1}\r\n", x, Columns, map[string]*tensor.Tensor{"x": tensor.Scalar[int32](1)}},
		{"escapes", `{"inputs": "a\u00e9\n\"\\\/\ud83d\ude00\ufffd"}`, str, Columns, map[string]*tensor.Tensor{"x": texts([]string{"aé\n\"\\/😀\ufffd"})}},
	} {
		r, err := ParseRequest([]byte(c.json))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got, err := r.Tensors(c.specs)
		if err != nil || r.Form() != c.form || len(got) != len(c.want) {
			t.Errorf("%s: %v, %v, %v", c.name, r.Form(), got, err)
			continue
		}
		for name, want := range c.want {
			if !same(got[name], want) {
				t.Errorf("%s: %s is %v%v %v, want %v%v %v", c.name, name, got[name].DType(), got[name].Shape(), got[name], want.DType(), want.Shape(), want)
			}
		}
	}
}

// same compares tensors; NaNs are equal whatever their bits.
func same(a, b *tensor.Tensor) bool {
	if a == nil || a.DType() != b.DType() || !a.Shape().Equal(b.Shape()) {
		return false
	}
	if a.Equal(b) {
		return true
	}
	return a.Text(nil) == b.Text(nil)
}

// TestEveryTypeIsWrittenAndRead: values of each type, the extremes among them,
// survive both forms.
func TestEveryTypeIsWrittenAndRead(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	f32nan, f32inf := float32(nan), float32(inf)
	for _, x := range []*tensor.Tensor{
		mustTensor([]bool{true, false}, 2),
		tensor.Vector[int8](-128, 127), tensor.Vector[int16](-32768, 32767), tensor.Vector[int32](math.MinInt32, math.MaxInt32), tensor.Vector[int64](math.MinInt64, math.MaxInt64),
		tensor.Vector[uint8](0, 255), tensor.Vector[uint16](0, 65535), tensor.Vector[uint32](0, math.MaxUint32), tensor.Vector[uint64](0, math.MaxUint64),
		tensor.Vector(tensor.ToI4(-8), tensor.ToI4(7)), tensor.Vector(tensor.ToU4(0), tensor.ToU4(15)), tensor.Vector(tensor.ToI2(-2), tensor.ToI2(1)), tensor.Vector(tensor.ToU2(3)),
		tensor.Vector[tensor.Q8](-128, 127), tensor.Vector[tensor.QU8](255), tensor.Vector[tensor.Q16](-32768), tensor.Vector[tensor.QU16](65535), tensor.Vector[tensor.Q32](math.MinInt32),
		tensor.Vector(0.1, 1, -math.MaxFloat64, math.SmallestNonzeroFloat64, nan, inf, -inf, math.Copysign(0, -1), 1<<53, 1e22),
		tensor.Vector(float32(0.1), 16777216, math.MaxFloat32, math.SmallestNonzeroFloat32, f32nan, f32inf, -f32inf),
		tensor.Vector(tensor.ToF16(0.1), tensor.ToF16(65504), tensor.ToF16(f32nan), tensor.ToF16(f32inf)),
		tensor.Vector(tensor.ToBF16(0.1), tensor.ToBF16(3e38), tensor.ToBF16(-f32inf)),
		tensor.Vector(tensor.ToF8E5M2(57344), tensor.ToF8E5M2(f32inf)), tensor.Vector(tensor.ToF8E4M3FN(448), tensor.ToF8E4M3FN(f32nan)),
		tensor.Vector(tensor.ToF8E4M3FNUZ(240)), tensor.Vector(tensor.ToF8E4M3B11FNUZ(30)), tensor.Vector(tensor.ToF8E5M2FNUZ(0.1)), tensor.Vector(tensor.ToF4E2M1FN(6), tensor.ToF4E2M1FN(-0.5)),
		tensor.Vector(complex(1.5, -2), complex(nan, inf)), tensor.Vector(complex(float32(0.1), 3e38)),
		texts([]string{"", "a\"\\\x00é", "\xff\xfe", "{\"b64\": \"x\"}"}, 4),
	} {
		n := x.Len()
		for _, shape := range [][]int{{n}, {n, 1}, {n, 1, 1}, {1, n}} {
			y := tensor.Must(x.Reshape(shape...))
			for _, form := range []Form{Rows, Columns} {
				for _, quote := range []bool{false, true} {
					var b strings.Builder
					if err := WritePredictRequest(&b, "sig", form, map[string]*tensor.Tensor{"x": y}, &WriteOptions{Quote: quote}); err != nil {
						t.Fatal(err)
					}
					r, err := ReadRequest(strings.NewReader(b.String()), nil)
					if err != nil {
						t.Fatalf("%s: %v", b.String(), err)
					}
					got, err := r.Tensors([]Spec{spec("x", x.DType())})
					if err != nil || r.Signature != "sig" || !same(got["x"], y) {
						t.Errorf("%v: %s is read as %v (%v)", y.DType(), b.String(), got["x"], err)
					}
					b.Reset()
					if err := WritePredictResponse(&b, form, map[string]*tensor.Tensor{"x_bytes": y}, &WriteOptions{Quote: quote}); err != nil {
						t.Fatal(err)
					}
					back, f, err := ReadPredictResponse(strings.NewReader(b.String()), []Spec{spec("x_bytes", x.DType())}, nil)
					if err != nil || f != form || !same(back["x_bytes"], y) {
						t.Errorf("%v: %s is read as %v (%v)", y.DType(), b.String(), back, err)
					}
				}
			}
		}
	}
}

func TestWhatCantBeHeldIsAnErrorWithItsPath(t *testing.T) {
	ab := []Spec{spec("a", tensor.Float32), spec("b", tensor.Int8)}
	one := func(d tensor.DType) []Spec { return []Spec{spec("x", d)} }
	for _, c := range []struct {
		json  string
		specs []Spec
		want  string
	}{
		// The document.
		{``, ab, "byte 0: the request is empty (want a JSON object)"},
		{`[1]`, ab, "byte 0: the request is a list (want a JSON object)"},
		{`{"inputs": 1} {"inputs": 2}`, one(tensor.Int8), "byte 14: something follows the end of the request"},
		{"{\"inputs\": 1}\x00", one(tensor.Int8), "byte 13: something follows the end of the request"},
		{`{"inputs": 1, "inputs": 2}`, one(tensor.Int8), `byte 14: the field "inputs" appears twice`},
		{`{"instance": [1]}`, one(tensor.Int8), `byte 1: a request has no field "instance"; the fields are signature_name, instances, inputs, examples, context; did you mean instances?`},
		{`{}`, ab, `byte 0: a request holds "instances" or "inputs", or for classify and regress "examples"`},
		{`{"inputs": 1, "instances": [1]}`, ab, `byte 27: a request holds either "inputs" or "instances", not both`},
		{`{"inputs": 1, "context": {}}`, ab, `byte 25: "context" belongs to "examples", and the request holds "inputs"`},
		{`{"signature_name": 5, "inputs": 1}`, ab, "signature_name: 5 is no name (want a string)"},
		{`{"examples": [{}]}`, ab, `byte 13: predict takes "instances" or "inputs", and the request holds "examples"`},
		// Syntax.
		{`{"inputs": [1, 2`, ab, "byte 16: the JSON ends early (want ',' or ']')"},
		{`{"inputs": [1 2]}`, ab, "byte 14: the JSON is broken: got '2' (want ',' or ']')"},
		{`{"inputs": [1,]}`, ab, "byte 14: the JSON is broken: got ']' (want a value)"},
		{`{"inputs": {"a": 1,}}`, ab, "byte 19: the JSON is broken: got '}' (want a field's name in quotes)"},
		{`{"inputs": 01}`, ab, "byte 11: the number begins with a needless 0"},
		{`{"inputs": 1.}`, ab, "byte 13: the JSON is broken: got '}' (want a digit after the point)"},
		{`{"inputs": +1}`, ab, "byte 11: the JSON is broken: got '+' (want a value)"},
		{`{"inputs": nan}`, ab, "byte 11: the JSON is broken: got 'n' (want a value)"},
		{`{"inputs": "abc}`, ab, "byte 11: the JSON ends inside of a string"},
		{`{"inputs": ` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`, one(tensor.Int8), "byte 273: lists and objects nest deeper than 262"},
		{`{"inputs": ` + strings.Repeat("[", 260) + strings.Repeat("]", 260) + `}`, one(tensor.Int8), "lists nest deeper than 254"},
		// Names.
		{`{"inputs": {"a": 1, "c": 2}}`, ab, `inputs: there is no input "c"; the signature has "a", "b"`},
		{`{"inputs": {"a": 1}}`, ab, `inputs: the input "b" is missing`},
		{`{"inputs": {"a": 1, "b": 1, "a": 2}}`, ab, "inputs.a: the name appears twice"},
		{`{"inputs": [1]}`, ab, "inputs: a list has no name (want an object, since the signature has 2 inputs)"},
		{`{"inputs": 1}`, nil, "inputs: 1 has no name (want an object, since the signature has no inputs)"},
		{`{"inputs": {"x": 1}}`, nil, `inputs: there is no input "x"; the signature has none`},
		{`{"instances": [{"a": 1, "b": 2}, {"a": 1}]}`, ab, `instances[1]: the input "b" is missing`},
		{`{"instances": [{"a": 1, "b": 2}, {"a": 1, "a": 1, "b": 2}]}`, ab, "instances[1].a: the name appears twice"},
		{`{"instances": [{"a": 1, "b": 2}, 5]}`, ab, "instances[1]: got 5 after rows that are objects"},
		{`{"instances": [1, {"x": 1}]}`, one(tensor.Int8), "instances[1]: got an object after rows that are no objects"},
		{`{"instances": 1}`, one(tensor.Int8), "instances: got 1 (want a list of rows)"},
		{`{"instances": []}`, one(tensor.Int8), "instances: the list of rows is empty"},
		// Values.
		{`{"inputs": {"a": 1, "b": [[1, 300]]}}`, ab, "inputs.b[0][1]: 300 is out of range (an int8 holds -128 to 127)"},
		{`{"inputs": 1.5}`, one(tensor.Int8), "inputs: 1.5 can't be an int8 (want a whole number, without point or exponent)"},
		{`{"inputs": 8}`, one(tensor.Int4), "inputs: 8 is out of range (an int4 holds -8 to 7)"},
		{`{"inputs": -1}`, one(tensor.Uint4), "inputs: -1 is out of range (a uint4 holds 0 to 15)"},
		{`{"inputs": 18446744073709551616}`, one(tensor.Uint64), "inputs: 18446744073709551616 is out of range (a uint64 holds 0 to 18446744073709551615)"},
		{`{"inputs": 99999999999999999999999}`, one(tensor.Int64), "inputs: 99999999999999999999999 is out of range (an int64 holds -9223372036854775808 to 9223372036854775807)"},
		{`{"inputs": true}`, one(tensor.Int32), "inputs: true can't be an int32 (want a whole number)"},
		{`{"inputs": 1}`, one(tensor.Bool), "inputs: 1 can't be a bool (want true or false)"},
		{`{"inputs": null}`, one(tensor.Float32), "inputs: null can't be a float32 (want a number)"},
		{`{"inputs": "x"}`, one(tensor.Float32), `inputs: the string "x" can't be a float32 (want a number)`},
		{`{"inputs": 1e39}`, one(tensor.Float32), "inputs: 1e39 is out of float32's range"},
		{`{"inputs": -1e999}`, one(tensor.Float64), "inputs: -1e999 is out of float64's range"},
		{`{"inputs": 16777217}`, one(tensor.Float32), "inputs: 16777217 has no exact float32 (the nearest is 16777216); with a point, as in 16777217.0, it is rounded"},
		{`{"inputs": 9007199254740993}`, one(tensor.Float64), "inputs: 9007199254740993 has no exact float64 (the nearest is 9007199254740992); with a point, as in 9007199254740993.0, it is rounded"},
		{`{"inputs": 65520.0}`, one(tensor.Float16), "inputs: 65520.0 is out of float16's range"},
		{`{"inputs": 2049}`, one(tensor.Float16), "inputs: 2049 has no exact float16 (the nearest is 2048); with a point, as in 2049.0, it is rounded"},
		{`{"inputs": 7.0}`, one(tensor.Float4E2M1FN), "inputs: 7.0 is out of float4_e2m1fn's range"},
		{`{"inputs": NaN}`, one(tensor.Float4E2M1FN), "inputs: float4_e2m1fn has no NaN"},
		{`{"inputs": Infinity}`, one(tensor.Float8E4M3FN), "inputs: float8_e4m3fn has no Infinity"},
		{`{"inputs": -Infinity}`, one(tensor.Float4E2M1FN), "inputs: float4_e2m1fn has no -Infinity"},
		{`{"inputs": NaN}`, one(tensor.Int32), "inputs: NaN can't be an int32 (want a whole number, without point or exponent)"},
		{`{"inputs": 1}`, one(tensor.Complex64), "inputs: 1 can't be a complex64 (want [real, imaginary])"},
		{`{"inputs": [1, 2, 3]}`, one(tensor.Complex64), "inputs: a list of more than two numbers can't be a complex64 (want [real, imaginary])"},
		{`{"inputs": [[1, 2], [3]]}`, one(tensor.Complex64), "inputs[1]: a list of 1 can't be a complex64 (want [real, imaginary])"},
		{`{"inputs": [[1, "a"]]}`, one(tensor.Complex64), `inputs[0][1]: the string "a" can't be a complex64 (want a number)`},
		{`{"inputs": 1}`, one(tensor.String), `inputs: 1 can't be a string (want a string, or {"b64": "…"})`},
		{`{"inputs": [{"b64": "x", "c": 1}]}`, one(tensor.String), `inputs[0]: an object can't be a string (want {"b64": "…"} and nothing else in it)`},
		{`{"inputs": [{}]}`, one(tensor.String), `inputs[0]: an object can't be a string (want {"b64": "…"} and nothing else in it)`},
		{`{"inputs": {"b64": "a*b="}}`, one(tensor.String), `inputs: "a*b=" is no base64`},
		{`{"inputs": {"b64": "aGVsbG9="}}`, one(tensor.String), `inputs: "aGVsbG9=" is no base64`}, // bits are left over
		{`{"inputs": [{"b64": "aGVsbG8="}]}`, one(tensor.Float32), "inputs[0]: an object can't be a float32 (want a number)"},
		{"{\"inputs\": \"\xff\"}", one(tensor.String), `inputs: the string is no UTF-8; bytes that are no text are given as {"b64": "…"}`},
		{"{\"inputs\": \"a\nb\"}", one(tensor.String), `inputs: a string holds the control character 0x0a (want an escape such as \n)`},
		{`{"inputs": "\ud83d"}`, one(tensor.String), `inputs: a string has the escape "\\ud83d\"}", which is no character`},
		{`{"inputs": "\x"}`, one(tensor.String), `inputs: a string holds the escape "\\x", which JSON lacks`},
		{`{"inputs": 1}`, one(tensor.Resource), "inputs: a resource can't be given as JSON"},
		// Shapes.
		{`{"instances": [[1,2],[3,4],[5,6,7]]}`, one(tensor.Int32), "instances[2]: the list has more than 2 elements; lists must be rectangular"},
		{`{"instances": [[1,2],[3]]}`, one(tensor.Int32), "instances[1]: the list has 1 element, the ones before it have 2; lists must be rectangular"},
		{`{"instances": [[1,2],[3,4],[[5,6]]]}`, one(tensor.Int32), "instances[2][0]: got a list next to values that are no lists; lists must be rectangular"},
		{`{"instances": [1, [1]]}`, one(tensor.Int32), "instances[1]: got a list next to values that are no lists; lists must be rectangular"},
		{`{"inputs": [[1], 2]}`, one(tensor.Int32), "inputs[1]: got 2 next to lists; lists must be rectangular"},
		{`{"inputs": [[], [1]]}`, one(tensor.Int32), "inputs[1]: the list has more than 0 elements; lists must be rectangular"},
		{`{"instances": [{"a": [1], "b": 1}, {"a": [1, 2], "b": 1}]}`, ab, "instances[1].a: the list has more than 1 element; lists must be rectangular"},
		{`{"inputs": [[1, 2, 3]]}`, []Spec{spec("x", tensor.Float32, -1, 4)}, "inputs: the shape is [1,3] (want float32[?,4])"},
		{`{"instances": [{"x": 5}]}`, []Spec{spec("x", tensor.Float32, -1, 4)}, "instances.x: the shape is [1] (want float32[?,4])"},
		{`{"inputs": [5]}`, []Spec{spec("x", tensor.Float32, []int{}...)}, "inputs: the shape is [1] (want float32[])"},
		{`{"inputs": {"a b": [1], "a b": 2}}`, []Spec{spec("a b", tensor.Int8)}, `inputs["a b"]: the name appears twice`},
	} {
		r, err := ParseRequest([]byte(c.json))
		if err == nil {
			_, err = r.Tensors(c.specs)
		}
		switch {
		case err == nil:
			t.Errorf("%s is taken, want %q", c.json, c.want)
		case err.Error() != c.want && !(strings.HasPrefix(c.want, "lists nest") && strings.HasSuffix(err.Error(), c.want)):
			t.Errorf("%.80s\ngives %q\nwant  %q", c.json, err, c.want)
		case !errors.As(err, new(*Error)):
			t.Errorf("%T", err)
		}
	}
}

func TestLongDocumentsAreRefused(t *testing.T) {
	if _, err := ReadRequest(strings.NewReader(`{"inputs": 1}`), &ReadOptions{MaxBytes: 12}); err == nil || err.Error() != "the document is longer than 12 bytes" {
		t.Error(err)
	}
	if _, err := ReadRequest(strings.NewReader(`{"inputs": 1}`), &ReadOptions{MaxBytes: 13}); err != nil {
		t.Error(err)
	}
}

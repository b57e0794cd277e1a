package rest

import (
	"bytes"
	"errors"
	"testing"

	"github.com/cairnml/cairn/tensor"
)

// FuzzRequest checks that any bytes are read or refused with an Error, within
// memory in proportion. A request that is read is written and read again.
func FuzzRequest(f *testing.F) {
	for _, s := range []string{
		`{"instances": [{"a": [1], "b": "x", "c": [[1, 2]], "d": 7}]}`, `{"inputs": {"a": [NaN, "Infinity"], "b": {"b64": "AA=="}, "c": [1, 2], "d": -8}}`,
		`{"signature_name": "\u00e9", "examples": [{"a": [1.5]}, {"b": true}], "context": {"c": "x"}}`, `{"inputs": {"a": [[]], "b": [], "c": [], "d": []}}`,
	} {
		f.Add([]byte(s))
	}
	specs := []Spec{spec("a", tensor.Float32), spec("b", tensor.String), spec("c", tensor.Complex64), {Name: "d", DType: tensor.Int4, Optional: true}}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := ParseRequest(b)
		if err == nil && r.Form() == Examples {
			fuzzExamples(t, r)
			return
		}
		var in map[string]*tensor.Tensor
		if err == nil {
			in, err = r.Tensors(specs)
		}
		if err != nil {
			if !errors.As(err, new(*Error)) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		var out bytes.Buffer
		if err := WritePredictRequest(&out, r.Signature, r.Form(), in, nil); err != nil {
			t.Fatal(err)
		}
		again, err := ParseRequest(out.Bytes())
		if err != nil {
			t.Fatalf("%s: %v", out.Bytes(), err)
		}
		back, err := again.Tensors(specs)
		if err != nil || len(back) != len(in) || again.Signature != r.Signature {
			t.Fatalf("%s: %v", out.Bytes(), err)
		}
		for name, x := range in {
			if x.Len() > 0 && !same(back[name], x) {
				t.Fatalf("%s: %v becomes %v", name, x, back[name])
			}
		}
	})
}

func fuzzExamples(t *testing.T, r *Request) {
	context, examples, err := r.Examples()
	if err != nil {
		return
	}
	var out bytes.Buffer
	if err := WriteExamplesRequest(&out, r.Signature, context, examples, nil); err != nil {
		t.Fatal(err)
	}
	again, err := ParseRequest(out.Bytes())
	if err != nil {
		t.Fatalf("%s: %v", out.Bytes(), err)
	}
	x, err := r.Serialized()
	y, err2 := again.Serialized()
	if (err == nil) != (err2 == nil) || err == nil && !x.Equal(y) {
		t.Fatalf("%s: %v, %v", out.Bytes(), err, err2)
	}
}

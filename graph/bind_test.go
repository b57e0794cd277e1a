package graph

import (
	"strings"
	"testing"

	"github.com/cairnml/cairn/tensor"
)

func facts(types ...tensor.DType) []Fact {
	out := make([]Fact, len(types))
	for i, t := range types {
		out[i].DType = t
	}
	return out
}

func TestBindInfersAndCompletesAttributes(t *testing.T) {
	f32, i32 := tensor.Float32, tensor.Int32
	for _, c := range []struct {
		op    string
		attrs Attrs
		in    []Fact
		full  string
		out   string
	}{
		{"MatMul", Attrs{Bool("transpose_b", true)}, facts(f32, f32),
			"transpose_a=false transpose_b=true T=float32 grad_a=false grad_b=false", "float32"},
		{"ConcatV2", nil, facts(f32, f32, f32, i32), "N=3 T=float32 Tidx=int32", "float32"},
		{"Split", Attrs{Int("num_split", 2)}, facts(i32, f32), "num_split=2 T=float32", "float32 float32"},
		{"IdentityN", nil, facts(f32, i32), "T=[float32 int32]", "float32 int32"},
		{"Const", Attrs{Tensor("value", tensor.Scalar[float32](1)), Type("dtype", f32)}, nil, "", "float32"},
		{"Sum", Attrs{String("_class", "x")}, facts(f32, i32), "keep_dims=false T=float32 Tidx=int32 _class=x", "float32"},
	} {
		full, out, err := LookupOp(c.op).Bind(c.attrs, c.in)
		if err != nil {
			t.Errorf("%s: %v", c.op, err)
			continue
		}
		if c.full != "" && full.Describe() != c.full {
			t.Errorf("%s: attributes %q, want %q", c.op, full.Describe(), c.full)
		}
		var types []string
		for _, f := range out {
			types = append(types, f.DType.String())
		}
		if got := strings.Join(types, " "); got != c.out {
			t.Errorf("%s: outputs %q, want %q", c.op, got, c.out)
		}
	}
}

func TestBindRefusesWhatTheDefinitionDoesNotAllow(t *testing.T) {
	f32, i32 := tensor.Float32, tensor.Int32
	for _, c := range []struct {
		op    string
		attrs Attrs
		in    []Fact
		want  string
	}{
		{"MatMul", Attrs{Int("transpose_a", 1)}, facts(f32, f32), "transpose_a is a bool, not a int"},
		{"MatMul", Attrs{Bool("transpose_c", true)}, facts(f32, f32), "no attribute transpose_c"},
		{"MatMul", nil, facts(f32), "takes 2 inputs, 1 were given"},
		{"MatMul", nil, facts(f32, f32, f32), "takes 2 inputs, 3 were given"},
		{"MatMul", nil, facts(f32, i32), "types differ: float32 and int32"},
		{"MatMul", nil, facts(tensor.String, tensor.String), "T is string, not one of"},
		{"Cast", nil, facts(f32), "needs the attribute DstT"},
		{"Split", Attrs{Int("num_split", 0)}, facts(i32, f32), "below the minimum 1"},
		{"Conv2D", Attrs{Ints("strides", 1, 1, 1, 1), String("padding", "MAYBE")}, facts(f32, f32), "is \"MAYBE\", not one of"},
		{"Assign", nil, facts(f32, f32), "must be a reference"},
		{"PlaceholderV2", Attrs{Type("dtype", tensor.Invalid), Shape("shape", ShapeOf())}, nil, "no type of elements"},
		{"PlaceholderV2", Attrs{Type("dtype", 101), Shape("shape", ShapeOf())}, nil, "no type of elements"},
		{"PlaceholderV2", Attrs{Type("dtype", 999), Shape("shape", ShapeOf())}, nil, "no type of elements"},
		{"MatMul", Attrs{{Name: "T"}}, facts(f32, f32), "T is a type, not a none"},
	} {
		_, _, err := LookupOp(c.op).Bind(c.attrs, c.in)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.op, err, c.want)
		}
	}
}

func TestAnAttributeOfWhichNothingIsSaidHasItsDefault(t *testing.T) {
	attrs, _, err := LookupOp("MatMul").Bind(Attrs{{Name: "transpose_a"}}, facts(tensor.Float32, tensor.Float32))
	if err != nil {
		t.Fatal(err)
	}
	if a, _ := attrs.Lookup("transpose_a"); a.Kind != AttrBool || attrs.Bool("transpose_a") {
		t.Errorf("transpose_a is %v", a)
	}
}

func TestListsOfInputsAreAsLongAsTheirDefaultsSay(t *testing.T) {
	s := tensor.String
	in := facts(s, s, s) // no keys, and no defaults
	attrs, _, err := LookupOp("ParseSingleSequenceExample").Bind(nil, in)
	if err != nil {
		t.Fatal(err)
	}
	if n := attrs.Int("Ncontext_sparse", -1); n != 0 {
		t.Errorf("Ncontext_sparse is %d", n)
	}
}

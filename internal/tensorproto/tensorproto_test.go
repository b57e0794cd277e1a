package tensorproto

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
)

type entry struct {
	DType string          `json:"dtype"`
	Shape []int           `json:"shape"`
	Made  bool            `json:"made"`
	Proto []byte          `json:"proto"`
	Data  json.RawMessage `json:"data"`
}

func entries(t testing.TB) []entry {
	b, err := os.ReadFile("testdata/tf2.21/tensors.json")
	if err != nil {
		t.Fatal(err)
	}
	var out []entry
	if err := json.Unmarshal(b, &out); err != nil || len(out) < 100 {
		t.Fatal(len(out), err)
	}
	return out
}

func TestTensorsAreTensorFlows(t *testing.T) {
	for _, e := range entries(t) {
		var m pb.TensorProto
		if err := m.Unmarshal(e.Proto); err != nil {
			t.Fatal(err)
		}
		allowance := int64(1 << 10)
		got, err := Decode(&m, &allowance)
		if err != nil {
			t.Errorf("%s%v: %v", e.DType, e.Shape, err)
			continue
		}
		if got.DType().String() != e.DType || !got.Shape().Equal(e.Shape) {
			t.Errorf("%s%v is read as %v%v", e.DType, e.Shape, got.DType(), got.Shape())
		}
		if got.DType() == tensor.String {
			var want [][]byte
			if err := json.Unmarshal(e.Data, &want); err != nil {
				t.Fatal(err)
			}
			if !slices.EqualFunc(got.Strings(), want, func(a string, b []byte) bool { return a == string(b) }) {
				t.Errorf("%s%v: %q, want %q", e.DType, e.Shape, got.Strings(), want)
			}
		} else {
			var want []byte
			if err := json.Unmarshal(e.Data, &want); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(native(got.Bytes(), got.DType()), want) {
				t.Errorf("%s%v: % x, want % x", e.DType, e.Shape, got.Bytes(), want)
			}
		}
		if !e.Made {
			continue
		}
		p, err := Encode(got)
		if err != nil {
			t.Errorf("%s%v: %v", e.DType, e.Shape, err)
		} else if b := p.Marshal(); !bytes.Equal(b, e.Proto) {
			t.Errorf("%s%v is written as\n% x, want\n% x", e.DType, e.Shape, b, e.Proto)
		}
	}
}

func TestVariantsAndResourcesAreKept(t *testing.T) {
	for _, m := range []*pb.TensorProto{
		{Dtype: pb.DataType(tensor.Variant), TensorShape: EncodeShape(tensor.Shape{2}), VariantVal: []*pb.VariantTensorDataProto{{TypeName: "a"}, {TypeName: "b", Metadata: []byte{1}}}},
		{Dtype: pb.DataType(tensor.Resource), TensorShape: EncodeShape(nil), ResourceHandleVal: []*pb.ResourceHandleProto{{Name: "v", HashCode: 3}}},
	} {
		allowance := int64(0)
		got, err := Decode(m, &allowance)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Encode(got)
		if err != nil || !bytes.Equal(p.Marshal(), m.Marshal()) {
			t.Errorf("%v: %v, % x", got.DType(), err, p.Marshal())
		}
	}
}

func TestContentIsShared(t *testing.T) {
	b := tensor.Vector[float32](1, 2, 3, 4).Bytes()
	allowance := int64(0)
	got, err := Decode(&pb.TensorProto{Dtype: 1, TensorShape: EncodeShape(tensor.Shape{4}), TensorContent: b}, &allowance)
	if err != nil {
		t.Fatal(err)
	}
	if &got.Bytes()[0] != &b[0] && !hostBig {
		t.Error("the elements are copied")
	}
}

func TestStringsOfContentAreRead(t *testing.T) {
	m := &pb.TensorProto{Dtype: 7, TensorShape: EncodeShape(tensor.Shape{2}), TensorContent: []byte("\x01\x02abb")}
	allowance := int64(0)
	got, err := Decode(m, &allowance)
	if err != nil || !slices.Equal(got.Strings(), []string{"a", "bb"}) {
		t.Errorf("%v %v", got, err)
	}
}

func TestWrongTensorsAreRefused(t *testing.T) {
	shape := func(dims ...int) *pb.TensorShapeProto {
		s := &pb.TensorShapeProto{}
		for _, d := range dims {
			s.Dim = append(s.Dim, &pb.Dim{Size: int64(d)})
		}
		return s
	}
	for _, c := range []struct {
		name string
		m    pb.TensorProto
		want string
	}{
		{"no type", pb.TensorProto{}, "no type of elements"},
		{"reference type", pb.TensorProto{Dtype: 101}, "no type of elements"},
		{"unknown rank", pb.TensorProto{Dtype: 1, TensorShape: &pb.TensorShapeProto{UnknownRank: true}}, "no rank"},
		{"unknown size", pb.TensorProto{Dtype: 1, TensorShape: shape(-1)}, "dimension 0 of a tensor is -1"},
		{"huge", pb.TensorProto{Dtype: 1, TensorShape: shape(1<<30, 1<<30, 1<<30)}, "more elements"},
		{"content too short", pb.TensorProto{Dtype: 1, TensorShape: shape(2), TensorContent: make([]byte, 7)}, "7 bytes of float32 for 2 elements"},
		{"content too long", pb.TensorProto{Dtype: 1, TensorShape: shape(1), TensorContent: make([]byte, 8)}, "8 bytes"},
		{"no bool", pb.TensorProto{Dtype: 10, TensorShape: shape(2), TensorContent: []byte{1, 2}}, "neither 0 nor 1"},
		{"int8 out of range", pb.TensorProto{Dtype: 6, TensorShape: shape(1), IntVal: []int32{128}}, "can't hold"},
		{"half a complex number", pb.TensorProto{Dtype: 8, TensorShape: shape(1), ScomplexVal: []float32{1}}, "1 parts"},
		{"cut strings", pb.TensorProto{Dtype: 7, TensorShape: shape(1), TensorContent: []byte{5, 'a'}}, "cut off"},
		{"more than strings", pb.TensorProto{Dtype: 7, TensorShape: shape(1), TensorContent: []byte{0, 'a'}}, "follow"},
		{"rank", pb.TensorProto{Dtype: 1, TensorShape: shape(make([]int, 255)...)}, "255 dimensions"},
	} {
		allowance := int64(1 << 20)
		_, err := Decode(&c.m, &allowance)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestExpansionIsBounded(t *testing.T) {
	allowance := int64(100)
	m := &pb.TensorProto{Dtype: 1, TensorShape: EncodeShape(tensor.Shape{21}), FloatVal: []float32{1}}
	if _, err := Decode(m, &allowance); err != nil || allowance != 20 {
		t.Fatal(err, allowance)
	}
	_, err := Decode(m, &allowance)
	var e *SizeError
	if !errors.As(err, &e) || e.Bytes != 80 || e.Limit != 20 {
		t.Error(err)
	}
	m.TensorShape = EncodeShape(tensor.Shape{1 << 29})
	if _, err := Decode(m, &allowance); !errors.As(err, &e) {
		t.Error(err)
	}
	if allowance != 20 {
		t.Error("a refused tensor is charged")
	}
}

func TestExactTakesNeitherMoreNorFewer(t *testing.T) {
	m := &pb.TensorProto{FloatVal: []float32{1, 2}}
	if _, err := Exact(m, tensor.Float32, tensor.Shape{2}); err != nil {
		t.Error(err)
	}
	for _, n := range []int{1, 3} {
		if _, err := Exact(m, tensor.Float32, tensor.Shape{n}); err == nil || !strings.Contains(err.Error(), "2 values") {
			t.Errorf("%d elements: %v", n, err)
		}
	}
	if _, err := Exact(&pb.TensorProto{Dtype: 3}, tensor.Float32, nil); err == nil || !strings.Contains(err.Error(), "the values are int32") {
		t.Error(err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, e := range entries(f) {
		f.Add(e.Proto)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var m pb.TensorProto
		if m.Unmarshal(b) != nil {
			return
		}
		allowance := int64(1 << 16)
		got, err := Decode(&m, &allowance)
		if err != nil {
			return
		}
		p, err := Encode(got)
		if err != nil {
			return // an encoded variant that is none
		}
		again, err := Decode(p, &allowance)
		if err != nil || again.DType() != got.DType() || !again.Shape().Equal(got.Shape()) || !bytes.Equal(again.Bytes(), got.Bytes()) {
			t.Errorf("%v is read again as %v: %v", got, again, err)
		}
	})
}

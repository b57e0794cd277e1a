package graph

import (
	"reflect"
	"testing"

	"github.com/cairnml/cairn/internal/pb"
)

// TestShapesOfAnAttribute: the fast decoder returns the same as the message, or
// leaves the attribute to it.
func TestShapesOfAnAttribute(t *testing.T) {
	dim := func(n int64) *pb.Dim { return &pb.Dim{Size: n} }
	shape := func(dims ...*pb.Dim) *pb.TensorShapeProto { return &pb.TensorShapeProto{Dim: dims} }
	many := make([]*pb.Dim, 255)
	for i := range many {
		many[i] = dim(1)
	}
	for _, c := range []struct {
		name  string
		list  pb.AttrValueListValue
		short bool
	}{
		{"one", pb.AttrValueListValue{Shape: []*pb.TensorShapeProto{shape(dim(-1), dim(0), dim(7))}}, true},
		{"a scalar", pb.AttrValueListValue{Shape: []*pb.TensorShapeProto{shape()}}, true},
		{"several", pb.AttrValueListValue{Shape: []*pb.TensorShapeProto{shape(dim(300)), {UnknownRank: true}, shape(), shape(dim(1), dim(2))}}, true},
		{"none", pb.AttrValueListValue{}, false},
		{"a named dimension", pb.AttrValueListValue{Shape: []*pb.TensorShapeProto{shape(&pb.Dim{Size: 2, Name: "batch"})}}, false},
		{"an unknown rank with dimensions", pb.AttrValueListValue{Shape: []*pb.TensorShapeProto{{UnknownRank: true, Dim: []*pb.Dim{dim(1)}}}}, false},
		{"a negative size", pb.AttrValueListValue{Shape: []*pb.TensorShapeProto{shape(dim(-2))}}, false},
		{"too many dimensions", pb.AttrValueListValue{Shape: []*pb.TensorShapeProto{shape(many...)}}, false},
		{"unknown fields", pb.AttrValueListValue{Shape: []*pb.TensorShapeProto{{Unknown: []byte{0x78, 1}}}}, false},
		{"types too", pb.AttrValueListValue{Shape: []*pb.TensorShapeProto{shape()}, Type: []pb.DataType{1}}, false},
		{"numbers", pb.AttrValueListValue{I: []int64{1, 2}}, false},
	} {
		v := &pb.AttrValue{Which: pb.AttrValueList, List: &c.list}
		b := v.Marshal()
		got, ok := shapesOf(b)
		if ok != c.short {
			t.Errorf("%s: the short way takes it: %v", c.name, ok)
		}
		for n := range b {
			if _, ok := shapesOf(b[:n]); ok {
				t.Errorf("%s: %d of %d bytes are taken for a list", c.name, n, len(b))
			}
		}
		if !ok {
			continue
		}
		want, err := new(reader).attr("a", v, AttrNone, 0)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want.value) {
			t.Errorf("%s: %v, want %v", c.name, got, want.value)
		}
	}
}

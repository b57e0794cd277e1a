package pb

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
)

// fresh lists an empty message of every type.
func fresh() []Message {
	var out []Message
	for _, name := range Names() {
		out = append(out, New(name))
	}
	return out
}

func TestFieldsAreWrittenByNumber(t *testing.T) {
	// The header of a bundle with one data file, byte for byte.
	h := BundleHeaderProto{NumShards: 1, Version: &VersionDef{Producer: 1}}
	if got, want := h.Marshal(), []byte{0x08, 0x01, 0x1a, 0x02, 0x08, 0x01}; !bytes.Equal(got, want) {
		t.Errorf("header % x, want % x", got, want)
	}
	// A scalar's shape is there though it is empty; zeros are not.
	e := BundleEntryProto{Dtype: 1, Shape: &TensorShapeProto{}, Size: 4, Crc32c: 0x04030201}
	if got, want := e.Marshal(), []byte{0x08, 0x01, 0x12, 0x00, 0x28, 0x04, 0x35, 1, 2, 3, 4}; !bytes.Equal(got, want) {
		t.Errorf("entry % x, want % x", got, want)
	}
	// A length of 0 is not an absent one; a full extent is an empty message.
	s := TensorSliceProto{Extent: []*Extent{{}, {HasLength: true}, {Start: 3, Length: 5, HasLength: true}}}
	if got, want := s.Marshal(), []byte{0x0a, 0, 0x0a, 2, 0x10, 0, 0x0a, 4, 0x08, 3, 0x10, 5}; !bytes.Equal(got, want) {
		t.Errorf("slice % x, want % x", got, want)
	}
	if got, want := (&TrackableObject{HasCheckpointValues: &BoolValue{}}).Marshal(), []byte{0x2a, 0}; !bytes.Equal(got, want) {
		t.Errorf("has_checkpoint_values false: % x, want % x", got, want)
	}
	// Negative numbers take ten bytes.
	if got := len((&TensorShapeProto{Dim: []*Dim{{Size: -1}}}).Marshal()); got != 2+11 {
		t.Errorf("a dimension of -1 takes %d bytes", got)
	}
}

func TestUnknownFieldsAreKept(t *testing.T) {
	e := BundleEntryProto{Dtype: 1, Size: 4}
	b := e.Marshal()
	b = protowire.AppendTag(b, 100, protowire.BytesType)
	b = protowire.AppendBytes(b, []byte("later version"))
	b = protowire.AppendTag(b, 101, protowire.Fixed64Type)
	b = protowire.AppendFixed64(b, 7)
	// A known number with another wire type is unknown, too.
	b = protowire.AppendTag(b, 5, protowire.Fixed32Type)
	b = protowire.AppendFixed32(b, 7)
	var got BundleEntryProto
	if err := got.Unmarshal(b); err != nil {
		t.Fatal(err)
	}
	if got.Size != 4 || !bytes.Equal(got.Marshal(), b) {
		t.Errorf("% x is written again as % x", b, got.Marshal())
	}
}

func TestBothFormsOfNumberListsAreRead(t *testing.T) {
	var packed, plain []byte
	packed = protowire.AppendTag(packed, 5, protowire.BytesType)
	packed = protowire.AppendBytes(packed, protowire.AppendFixed32(protowire.AppendFixed32(nil, 0x3f800000), 0x40000000))
	for _, v := range []uint32{0x3f800000, 0x40000000} {
		plain = protowire.AppendTag(plain, 5, protowire.Fixed32Type)
		plain = protowire.AppendFixed32(plain, v)
	}
	for _, b := range [][]byte{packed, plain} {
		var m TensorProto
		if err := m.Unmarshal(b); err != nil || cmp.Diff(m.FloatVal, []float32{1, 2}) != "" {
			t.Errorf("% x: %v, %v", b, m.FloatVal, err)
		}
		if !bytes.Equal(m.Marshal(), packed) {
			t.Errorf("written as % x", m.Marshal())
		}
	}
}

func TestRepeatedSingleFieldsMerge(t *testing.T) {
	a := (&SavedTensorSlices{Data: &SavedSlice{Name: "a"}}).Marshal()
	b := (&SavedTensorSlices{Data: &SavedSlice{Slice: &TensorSliceProto{}}}).Marshal()
	var m SavedTensorSlices
	if err := m.Unmarshal(append(a, b...)); err != nil || m.Data.Name != "a" || m.Data.Slice == nil {
		t.Errorf("%+v, %v", m.Data, err)
	}
}

func TestFaultsAreNamed(t *testing.T) {
	deep := []byte{}
	for range 150 {
		inner := protowire.AppendBytes(protowire.AppendTag(nil, 15, protowire.BytesType), deep)
		deep = protowire.AppendBytes(protowire.AppendTag(nil, 3, protowire.BytesType), inner)
	}
	for _, c := range []struct {
		name string
		m    Message
		in   []byte
		want string
	}{
		{"cut off", new(BundleEntryProto), []byte{0x08}, "BundleEntryProto.dtype"},
		{"length beyond the end", new(BundleEntryProto), []byte{0x12, 5, 0}, "BundleEntryProto.shape"},
		{"field number 0", new(BundleEntryProto), []byte{0x00, 0}, "BundleEntryProto at byte 0"},
		{"inside", new(BundleEntryProto), []byte{0x28, 1, 0x12, 3, 0x12, 1, 0x08}, "BundleEntryProto.shape:TensorShapeProto.dim:Dim.size at byte 6"},
		{"list", new(TensorProto), []byte{0x2a, 3, 1, 2, 3}, "TensorProto.float_val"},
		{"too deep", new(VariantTensorDataProto), deep, "nested more than 100 deep"},
	} {
		err := c.m.Unmarshal(c.in)
		var d *DecodeError
		if !errors.As(err, &d) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestMapsKeepTheirOrder(t *testing.T) {
	n := NodeDef{Name: "n", Attr: []*AttrValueEntry{
		{Key: "z", Value: &AttrValue{Which: AttrValueI, I: 1}},
		{Key: "a", Value: &AttrValue{Which: AttrValueB}},
		{Key: "z", Value: &AttrValue{Which: AttrValueI, I: 3}},
	}}
	want := []byte{0x0a, 1, 'n', 0x2a, 7, 0x0a, 1, 'z', 0x12, 2, 0x18, 1, 0x2a, 7, 0x0a, 1, 'a', 0x12, 2, 0x28, 0, 0x2a, 7, 0x0a, 1, 'z', 0x12, 2, 0x18, 3}
	if got := n.Marshal(); !bytes.Equal(got, want) {
		t.Errorf("% x, want % x", got, want)
	}
	var m NodeDef
	if err := m.Unmarshal(want); err != nil || !bytes.Equal(m.Marshal(), want) {
		t.Errorf("written again as % x, %v", m.Marshal(), err)
	}
	if v, ok := Lookup(m.Attr, "z"); !ok || v.I != 3 {
		t.Errorf("z is %+v, %v; the last entry counts", v, ok)
	}
	if v, ok := Lookup(m.Attr, "y"); ok {
		t.Errorf("y is %+v", v)
	}
	SortEntries(m.Attr)
	names := []*StringEntry{{Key: ""}, {Key: "seed"}, {Key: "b"}, {Key: "seed2"}}
	SortEntries(names)
	if names[0].Key != "b" || names[1].Key != "seed2" || names[2].Key != "seed" || names[3].Key != "" {
		t.Errorf("sorted: %v", names)
	}
	if m.Attr[0].Key != "a" || m.Attr[1].Value.I != 1 || m.Attr[2].Value.I != 3 {
		t.Errorf("sorted: %+v", m.Attr)
	}
}

func TestMapEntriesAreWrittenWhole(t *testing.T) {
	// Protobuf writes key and value of an entry even if they are zero.
	f := FunctionDef{
		ResourceArgUniqueId: []*Uint32Uint32Entry{{}},
		ArgAttr:             []*Uint32ArgAttrsEntry{{Key: 1}},
		Ret:                 []*StringEntry{{Key: "a"}},
	}
	want := []byte{0x22, 5, 0x0a, 1, 'a', 0x12, 0, 0x3a, 4, 0x08, 1, 0x12, 0, 0x42, 4, 0x08, 0, 0x10, 0}
	if got := f.Marshal(); !bytes.Equal(got, want) {
		t.Errorf("% x, want % x", got, want)
	}
	// One that leaves its value out has an empty one.
	var n NodeDef
	if err := n.Unmarshal([]byte{0x2a, 3, 0x0a, 1, 'a'}); err != nil || n.Attr[0].Value == nil {
		t.Errorf("%+v, %v", n.Attr, err)
	}
}

func TestOneofsHoldOneMember(t *testing.T) {
	// The last member of a oneof counts; a message that comes twice is merged,
	// unless another member came between.
	shape := []byte{0x3a, 4, 0x12, 2, 0x08, 1}
	for _, c := range []struct {
		name string
		in   [][]byte
		want AttrValue
	}{
		{"nothing", nil, AttrValue{}},
		{"zero", [][]byte{{0x18, 0}}, AttrValue{Which: AttrValueI}},
		{"two", [][]byte{{0x18, 5}, {0x12, 1, 'x'}}, AttrValue{Which: AttrValueS, S: []byte("x")}},
		{"merged", [][]byte{shape, shape}, AttrValue{Which: AttrValueShape, Shape: &TensorShapeProto{Dim: []*Dim{{Size: 1}, {Size: 1}}}}},
		{"parted", [][]byte{shape, {0x28, 1}, shape}, AttrValue{Which: AttrValueShape, Shape: &TensorShapeProto{Dim: []*Dim{{Size: 1}}}}},
	} {
		var m AttrValue
		if err := m.Unmarshal(bytes.Join(c.in, nil)); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if d := cmp.Diff(c.want, m); d != "" {
			t.Errorf("%s:\n%s", c.name, d)
		}
	}
	// A member that is a message and was left nil is an empty one.
	if got := (&AttrValue{Which: AttrValueShape}).Marshal(); !bytes.Equal(got, []byte{0x3a, 0}) {
		t.Errorf("an empty shape is written as % x", got)
	}
	// Signed integers of a structured value are written zigzag.
	if got := (&StructuredValue{Which: StructuredValueInt64Value, Int64Value: -1}).Marshal(); !bytes.Equal(got, []byte{0x60, 1}) {
		t.Errorf("-1 is written as % x", got)
	}
}

func TestEnumsHaveTensorFlowsNames(t *testing.T) {
	if s := DataTypeFloat.String(); s != "DT_FLOAT" {
		t.Errorf("DataTypeFloat is %s", s)
	}
	if s := DataType(77).String(); s != "77" {
		t.Errorf("an unknown type is %s", s)
	}
	if s := TypeSpecProtoTypeSpecClassRaggedTensorSpec.String(); s != "RAGGED_TENSOR_SPEC" {
		t.Errorf("RaggedTensorSpec is %s", s)
	}
}

func TestLengthsAreComputedOnce(t *testing.T) {
	// Were the lengths of all messages inside one computed at each level, a list
	// nested 100 deep would take a hundred times as long.
	v := &StructuredValue{Which: StructuredValueInt64Value, Int64Value: 1}
	for range 40 {
		v = &StructuredValue{Which: StructuredValueListValue, ListValue: &ListValue{Values: []*StructuredValue{v, {}}}}
	}
	b := v.Marshal()
	var m StructuredValue
	if err := m.Unmarshal(b); err != nil || !bytes.Equal(m.Marshal(), b) {
		t.Fatalf("%v", err)
	}
	var s sizes
	v.size(&s)
	if s.n != 40*3 {
		t.Errorf("%d lengths are noted for the 120 messages inside", s.n)
	}
}

// FuzzMessages decodes arbitrary bytes as every message. Accepted ones are
// encoded again and must decode to the same.
func FuzzMessages(f *testing.F) {
	f.Add((&TrackableObjectGraph{Nodes: []*TrackableObject{{Children: []*ObjectReference{{NodeId: 1, LocalName: "a"}}, HasCheckpointValues: &BoolValue{Value: true}}}}).Marshal())
	f.Add((&BundleEntryProto{Dtype: 1, Shape: &TensorShapeProto{Dim: []*Dim{{Size: 3}}}, Crc32c: 5, Slices: []*TensorSliceProto{{Extent: []*Extent{{Start: 1, Length: 2, HasLength: true}}}}}).Marshal())
	f.Add((&SavedTensorSlices{Data: &SavedSlice{Name: "a", Data: &TensorProto{IntVal: []int32{-1, 3}, BoolVal: []bool{true}, DcomplexVal: []float64{1}, StringVal: [][]byte{[]byte("x")}}}}).Marshal())
	f.Add((&NodeDef{Name: "n", Attr: []*AttrValueEntry{{Key: "k", Value: &AttrValue{Which: AttrValueList, List: &AttrValueListValue{Type: []DataType{1, 2}, Func: []*NameAttrList{{Name: "f"}}}}}}}).Marshal())
	f.Add((&SavedObject{Which: SavedObjectVariable, Variable: &SavedVariable{Dtype: 1}, SaveableObjects: []*SaveableObjectEntry{{Key: "s"}}}).Marshal())
	f.Fuzz(func(t *testing.T, b []byte) {
		for i, m := range fresh() {
			if m.Unmarshal(b) != nil {
				continue
			}
			once := m.Marshal()
			again := fresh()[i]
			if err := again.Unmarshal(once); err != nil {
				t.Fatalf("%T: % x was accepted, % x is refused: %v", m, b, once, err)
			}
			if !bytes.Equal(once, again.Marshal()) {
				t.Fatalf("%T: % x is encoded as % x, then as % x", m, b, once, again.Marshal())
			}
		}
	})
}

func BenchmarkGraphUnmarshal(b *testing.B) {
	g := &TrackableObjectGraph{}
	for range 20000 {
		g.Nodes = append(g.Nodes, &TrackableObject{
			Children:            []*ObjectReference{{NodeId: 1, LocalName: "kernel"}, {NodeId: 2, LocalName: "bias"}},
			Attributes:          []*SerializedTensor{{Name: "VARIABLE_VALUE", FullName: "net/dense/kernel", CheckpointKey: "net/l1/kernel/.ATTRIBUTES/VARIABLE_VALUE"}},
			HasCheckpointValues: &BoolValue{Value: true},
		})
	}
	raw := g.Marshal()
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		var m TrackableObjectGraph
		if err := m.Unmarshal(raw); err != nil {
			b.Fatal(err)
		}
	}
}

package pb

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
)

// message is what every generated type has.
type message interface {
	Unmarshal([]byte) error
	Marshal() []byte
}

// fresh lists the messages that stand at the top of something in a file.
func fresh() []message {
	return []message{
		new(BundleHeaderProto), new(BundleEntryProto), new(SavedTensorSlices), new(TrackableObjectGraph),
		new(TensorProto), new(VariantTensorDataProto), new(RegisteredSaver), new(TensorSliceProto),
	}
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
		m    message
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

// FuzzMessages decodes arbitrary bytes as every message. What is accepted is
// encoded again and must decode to the same.
func FuzzMessages(f *testing.F) {
	f.Add((&TrackableObjectGraph{Nodes: []*TrackableObject{{Children: []*ObjectReference{{NodeId: 1, LocalName: "a"}}, HasCheckpointValues: &BoolValue{Value: true}}}}).Marshal())
	f.Add((&BundleEntryProto{Dtype: 1, Shape: &TensorShapeProto{Dim: []*Dim{{Size: 3}}}, Crc32c: 5, Slices: []*TensorSliceProto{{Extent: []*Extent{{Start: 1, Length: 2, HasLength: true}}}}}).Marshal())
	f.Add((&SavedTensorSlices{Data: &SavedSlice{Name: "a", Data: &TensorProto{IntVal: []int32{-1, 3}, BoolVal: []bool{true}, DcomplexVal: []float64{1}, StringVal: [][]byte{[]byte("x")}}}}).Marshal())
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

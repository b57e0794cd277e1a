package pb

import (
	"bytes"
	"errors"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// TestFieldsStepsThroughWhatAMessageHolds checks long and short fields, numbers and
// bytes; those of other types are skipped, and the iteration ends at one that can't be
// decoded.
func TestFieldsStepsThroughWhatAMessageHolds(t *testing.T) {
	long := bytes.Repeat([]byte("x"), 300)
	var b []byte
	b = protowire.AppendVarint(protowire.AppendTag(b, 1, protowire.VarintType), 1<<40)
	b = protowire.AppendFixed32(protowire.AppendTag(b, 2, protowire.Fixed32Type), 7)
	b = protowire.AppendBytes(protowire.AppendTag(b, 3, protowire.BytesType), nil)
	b = protowire.AppendFixed64(protowire.AppendTag(b, 4, protowire.Fixed64Type), 7)
	b = protowire.AppendString(protowire.AppendTag(b, 5, protowire.BytesType), "short")
	b = protowire.AppendBytes(protowire.AppendTag(b, 1000, protowire.BytesType), long)
	f := Fields{Rest: b}
	for _, want := range []struct {
		number protowire.Number
		varint uint64
		bytes  []byte
	}{{1, 1 << 40, nil}, {3, 0, []byte{}}, {5, 0, []byte("short")}, {1000, 0, long}} {
		if !f.Next() || f.Number != want.number || want.bytes == nil && f.Varint != want.varint || (f.Bytes == nil) != (want.bytes == nil) || f.Text() != string(want.bytes) {
			t.Errorf("field %d: %d, %q; want %v", f.Number, f.Varint, f.Bytes, want)
		}
	}
	if f.Next() || f.Bad {
		t.Errorf("after the last: %+v", f)
	}
	for end := range len(b) {
		f := Fields{Rest: b[:end]}
		for f.Next() {
		}
		var known bool
		for _, whole := range []int{0, 7, 12, 14, 23, 30} {
			known = known || end == whole
		}
		if f.Bad == known {
			t.Errorf("the first %d bytes: bad is %t", end, f.Bad)
		}
	}
}

// TestFieldsOfEveryLength checks adjacent fields with a length, at the lengths and
// numbers at which their encoding grows. A cut anywhere is a fault, unless between
// two.
func TestFieldsOfEveryLength(t *testing.T) {
	var b []byte
	type field struct {
		number protowire.Number
		length int
	}
	var want []field
	ends := map[int]int{0: 0} // after so many bytes, so many fields
	for _, n := range []protowire.Number{1, 2, 15, 16, 2047, 2048} {
		for _, length := range []int{0, 1, 126, 127, 128, 129} {
			want = append(want, field{n, length})
			b = protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), bytes.Repeat([]byte{byte(n)}, length))
			ends[len(b)] = len(want)
		}
	}
	for end := range len(b) + 1 {
		f := Fields{Rest: b[:end:end]}
		n := 0
		for ; f.Next(); n++ {
			w := want[n]
			if f.Number != w.number || f.Bytes == nil || !bytes.Equal(f.Bytes, bytes.Repeat([]byte{byte(w.number)}, w.length)) {
				t.Fatalf("field %d is number %d with %q, want %v", n, f.Number, f.Bytes, w)
			}
		}
		if whole, ok := ends[end]; f.Bad == ok || ok && n != whole {
			t.Errorf("the first %d bytes have %d fields, bad is %t", end, n, f.Bad)
		}
	}
	// Field number zero is none, with a length or without.
	for _, b := range [][]byte{{2, 1, 'x'}, {0, 1}} {
		if f := (Fields{Rest: b}); f.Next() || !f.Bad {
			t.Errorf("%v: %+v", b, f)
		}
	}
}

// TestUnmarshalButLeavesAFieldEncoded checks that the fields before, between and after
// are decoded, and that the offset of a fault is that in the whole message.
func TestUnmarshalButLeavesAFieldEncoded(t *testing.T) {
	one, two := &NodeDef{Name: "one"}, &NodeDef{Name: "two", Op: "NoOp"}
	pieces := [][]byte{
		(&GraphDef{Versions: &VersionDef{Producer: 7}}).Marshal(),
		(&GraphDef{Node: []*NodeDef{one}}).Marshal(),
		{15<<3 | 5, 1, 2, 3, 4}, // unknown, of four bytes
		(&GraphDef{Node: []*NodeDef{two}}).Marshal(),
		(&GraphDef{Version: 3, Versions: &VersionDef{MinConsumer: 5}}).Marshal(),
	}
	b := bytes.Join(pieces, nil)
	var g GraphDef
	left, err := UnmarshalBut(&g, b, 1)
	if err != nil || len(left) != 2 || !bytes.Equal(left[0], one.Marshal()) || !bytes.Equal(left[1], two.Marshal()) {
		t.Fatalf("%q, %v", left, err)
	}
	if len(g.Node) > 0 || g.Versions.Producer != 7 || g.Versions.MinConsumer != 5 || g.Version != 3 || !bytes.Equal(g.Unknown, pieces[2]) {
		t.Errorf("%+v, %+v", g, g.Versions)
	}
	var e *DecodeError
	if _, err := UnmarshalBut(new(GraphDef), append(b, 4<<3|2, 9), 1); !errors.As(err, &e) || e.Offset != len(b) {
		t.Errorf("a fault at byte %d: %v", len(b), err)
	}
	if _, err := UnmarshalBut(new(GraphDef), append(b, 1<<3|2, 9), 1); !errors.As(err, &e) || e.Offset != len(b) {
		t.Errorf("a fault at byte %d: %v", len(b), err)
	}
}

package pb

import (
	"bytes"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// TestFieldsStepsThroughWhatAMessageHolds: long and short, numbers and bytes, those of
// other types left out, up to what can't be decoded.
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

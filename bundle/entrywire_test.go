package bundle

import (
	"fmt"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
)

// TestEntriesAreDecodedAsTheirMessageIs truncates entries at every byte, puts
// other bytes in each place, and compares the decoder of entries with that of
// the whole message. Both must accept and refuse the same, and return the same
// fields.
func TestEntriesAreDecodedAsTheirMessageIs(t *testing.T) {
	dims := func(sizes ...int64) *pb.TensorShapeProto {
		s := &pb.TensorShapeProto{}
		for _, n := range sizes {
			s.Dim = append(s.Dim, &pb.Dim{Size: n})
		}
		return s
	}
	whole := (&pb.BundleEntryProto{Dtype: 1, Shape: dims(2, 300), ShardId: 1, Offset: 1 << 40, Size: 2400, Crc32c: 0xdeadbeef}).Marshal()
	sliced := (&pb.BundleEntryProto{Dtype: 9, Shape: dims(4), Slices: []*pb.TensorSliceProto{
		{Extent: []*pb.Extent{{Length: 2, HasLength: true}}},
		{Extent: []*pb.Extent{{Start: 2, Length: 2, HasLength: true}}},
	}}).Marshal()
	unknown := slices.Clone(whole)
	unknown = protowire.AppendVarint(protowire.AppendTag(unknown, 9, protowire.VarintType), 300)
	unknown = protowire.AppendBytes(protowire.AppendTag(unknown, 100, protowire.BytesType), []byte("abc"))
	unknown = protowire.AppendFixed64(protowire.AppendTag(unknown, 11, protowire.Fixed64Type), 7)
	unknown = protowire.AppendFixed32(protowire.AppendTag(unknown, 12, protowire.Fixed32Type), 7)
	odd := protowire.AppendVarint(protowire.AppendTag(dims(5).Marshal(), 4, protowire.VarintType), 1) // a field that shapes don't have
	odd = protowire.AppendBytes(protowire.AppendTag(odd, 5, protowire.BytesType), dims(7).Marshal()[2:])
	odd = protowire.AppendBytes(protowire.AppendTag(odd, 2, protowire.BytesType), protowire.AppendVarint(protowire.AppendTag(dims(3).Marshal()[2:], 4, protowire.VarintType), 9))
	oddShape := protowire.AppendBytes(protowire.AppendTag((&pb.BundleEntryProto{Dtype: 4, Size: 15}).Marshal(), 2, protowire.BytesType), odd)
	taken, refused := 0, 0
	check := func(what string, b []byte) {
		var want pb.BundleEntryProto
		oracle := want.Unmarshal(slices.Clone(b))
		var got entryFields
		err := decodeEntry(&got, b, nil)
		_, perr := new(record).parse("t", b, 2, nil)
		sound := err == nil
		if sound && got.shapeErr == nil { // slices are decoded one by one, when the shape is known
			sound = eachSlice(b, got.shape, func(int, Slice) error { return nil }) == nil
		}
		switch {
		case err != nil && oracle == nil, sound && oracle != nil && got.shapeErr == nil:
			t.Errorf("%s: %x: decoded with %v, the message with %v", what, b, err, oracle)
		case oracle != nil:
			if refused++; err == nil {
				break
			}
			if perr == nil {
				t.Errorf("%s: %x: the record was taken", what, b)
			}
		case int32(got.dtype) != int32(want.Dtype) || got.shard != want.ShardId || got.offset != want.Offset || got.size != want.Size || got.crc != want.Crc32c:
			t.Errorf("%s: %x: %+v, want %+v", what, b, got, want)
		case got.shapeErr == nil && !sameShape(got.shape, want.Shape):
			t.Errorf("%s: %x: the shape %v, want %+v", what, b, got.shape, want.Shape)
		case got.shapeErr != nil && sameShape(nil, want.Shape):
			t.Errorf("%s: %x: %v", what, b, got.shapeErr)
		default:
			taken++
		}
	}
	for name, b := range map[string][]byte{"whole": whole, "sliced": sliced, "unknown": unknown, "unknown in the shape": oddShape} {
		for n := range len(b) + 1 {
			check(fmt.Sprintf("%s cut at %d", name, n), b[:n])
		}
		for i := range b {
			for v := range 256 {
				other := slices.Clone(b)
				other[i] = byte(v)
				check(fmt.Sprintf("%s with byte %d", name, i), other)
			}
		}
	}
	if taken < 1000 || refused < 1000 {
		t.Errorf("%d entries were taken, %d refused", taken, refused)
	}
	rank := make([]int64, tensor.MaxRank+1)
	for i := range rank {
		rank[i] = 1
	}
	for n, want := range map[int]bool{tensor.MaxRank: true, tensor.MaxRank + 1: false} {
		var rec record
		if _, err := rec.parse("t", (&pb.BundleEntryProto{Dtype: 1, Shape: dims(rank[:n]...), Size: 4}).Marshal(), 1, nil); (err == nil && rec.err == nil) != want {
			t.Errorf("%d dimensions: %v, %v", n, err, rec.err)
		}
	}
	for what, e := range map[string]*pb.BundleEntryProto{
		"a size below 0": {Dtype: 1, Size: -4}, "an offset below 0": {Dtype: 1, Offset: -4, Size: 4}, "a data file that isn't there": {Dtype: 1, ShardId: 1, Size: 4},
		"a data file below 0": {Dtype: 1, ShardId: -1, Size: 4}, "a size that isn't the shape's": {Dtype: 1, Shape: dims(2), Size: 4},
	} {
		var rec record
		if _, err := rec.parse("t", e.Marshal(), 1, nil); err == nil && rec.err == nil {
			t.Errorf("%s was taken", what)
		}
	}
}

// sameShape reports whether a decoded shape is its message's.
func sameShape(got tensor.Shape, want *pb.TensorShapeProto) bool {
	if want == nil {
		return len(got) == 0
	}
	return !want.UnknownRank && slices.EqualFunc(got, want.Dim, func(n int, d *pb.Dim) bool { return int64(n) == d.Size })
}

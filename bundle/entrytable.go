package bundle

import (
	"encoding/binary"
	"io"
	"math/bits"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/table"
	"github.com/cairnml/cairn/tensor"
)

// An entryTable holds the entries of an index that is being made. They stay encoded,
// since an index can have millions and a decoded one takes ten times the memory.
type entryTable struct {
	rows   [][]indexRow // so that growing copies nothing
	n      int          // the number of entries
	bytes  int          // of the messages
	byKey  keyTable
	arena  []byte               // memory for the next messages
	sliced map[int32]*slicedRow // tensors stored in slices, by the number of their entry
}

// indexRow is an entry: its key, and its message unless it lists slices.
type indexRow struct{ key, raw string }

// slicedRow is the message of a tensor stored in slices, in parts, since slices
// come one by one.
type slicedRow struct {
	kind   string // dtype and shape, which all slices share
	head   []byte // the fields before the slices
	slices []byte
	tail   []byte // fields that are not known here
}

func (t *entryTable) has(key string) bool {
	_, ok := t.byKey.find(key, t.key)
	return ok
}

// tensor returns the row of a tensor stored in slices, and whether there is an
// entry at all.
func (t *entryTable) tensor(key string) (s *slicedRow, there bool) {
	i, there := t.byKey.find(key, t.key)
	return t.sliced[int32(i)], there
}

// key returns the key of an entry.
func (t *entryTable) key(i int) string { return t.row(i).key }

func (t *entryTable) row(i int) *indexRow { return &t.rows[i>>chunkShift][i&(1<<chunkShift-1)] }

// keep copies b to permanent memory.
func (t *entryTable) keep(b []byte) string {
	if len(b) > cap(t.arena)-len(t.arena) {
		t.arena = make([]byte, 0, max(keyArena, len(b)))
	}
	n := len(t.arena)
	t.arena = append(t.arena, b...)
	return view(t.arena[n:])
}

// add adds an entry with a new key.
func (t *entryTable) add(key string, raw []byte) {
	t.byKey.add(t.n, key)
	if t.n>>chunkShift == len(t.rows) {
		size := 1 << chunkShift
		if t.n == 0 {
			size = 16 // most checkpoints are small
		}
		t.rows = append(t.rows, make([]indexRow, 0, size))
	}
	last := &t.rows[len(t.rows)-1]
	*last = append(*last, indexRow{key: key, raw: t.keep(raw)})
	t.bytes += len(raw)
	t.n++
}

// addSliced adds the entry of a tensor that is stored in slices.
func (t *entryTable) addSliced(key string, s *slicedRow) {
	if t.sliced == nil {
		t.sliced = make(map[int32]*slicedRow)
	}
	t.sliced[int32(t.n)] = s
	t.add(key, nil)
}

// size returns the approximate size of the encoded index in bytes. In a name, mostly only an
// object's number and the text after it differ from the previous one.
func (t *entryTable) size() int { return t.bytes + 40*t.n + 1<<10 }

// write writes the index, sorted.
func (t *entryTable) write(f io.Writer, header *pb.BundleHeaderProto) error {
	order := sortedKeys(t.n, t.key)
	w := table.NewWriter(f)
	if err := w.Add(nil, header.Marshal()); err != nil {
		return err
	}
	for _, o := range order {
		r := t.row(int(o.n))
		raw := bytesOf(r.raw)
		if s := t.sliced[o.n]; s != nil {
			raw = slices.Concat(s.head, s.slices, s.tail)
		}
		if err := w.Add(bytesOf(r.key), raw); err != nil {
			return err
		}
	}
	return w.Finish()
}

// A location is the place of a tensor's bytes, and their masked checksum.
type location struct {
	shard        int
	offset, size int64 // bytes
	crc          uint32
}

// set puts the location into a message.
func (l location) set(e *pb.BundleEntryProto) {
	e.ShardId, e.Offset, e.Size, e.Crc32c = int32(l.shard), l.offset, l.size, l.crc
}

// appendKind appends the fields of an entry for the tensor's type and shape. The
// encoding equals that of pb.BundleEntryProto, without ten allocations for each
// of millions of small tensors.
func appendKind(b []byte, d tensor.DType, shape tensor.Shape) []byte {
	b = appendNumber(b, 1, int64(d))
	n := 0
	for _, d := range shape {
		n += 2 + dimSize(d)
	}
	b = protowire.AppendTag(b, 2, protowire.BytesType) // of a scalar, too
	b = protowire.AppendVarint(b, uint64(n))
	for _, d := range shape {
		b = protowire.AppendTag(b, 2, protowire.BytesType)
		b = protowire.AppendVarint(b, uint64(dimSize(d)))
		b = appendNumber(b, 1, int64(d))
	}
	return b
}

// dimSize returns how long an encoded dimension is.
func dimSize(d int) int {
	if d == 0 {
		return 0
	}
	return 1 + (bits.Len64(uint64(d))+6)/7
}

// locationMost is how many bytes a location's fields have at most.
const locationMost = 3*(1+binary.MaxVarintLen64) + 5

// append appends the fields that follow those of appendKind.
func (l location) append(b []byte) []byte {
	b = appendNumber(b, 3, int64(l.shard))
	b = appendNumber(b, 4, l.offset)
	b = appendNumber(b, 5, l.size)
	if l.crc != 0 {
		b = protowire.AppendTag(b, 6, protowire.Fixed32Type)
		b = protowire.AppendFixed32(b, l.crc)
	}
	return b
}

// appendNumber appends a field unless it is zero.
func appendNumber(b []byte, field protowire.Number, v int64) []byte {
	if v == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), uint64(v))
}

// appendSlice appends a field of an entry that lists a slice.
func appendSlice(b []byte, s Slice) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, 7, protowire.BytesType), sliceProto(s).Marshal())
}

// newSlicedRow returns the row of a tensor in slices, which names a data file
// although it has no bytes there.
func newSlicedRow(d tensor.DType, full tensor.Shape, shard int) *slicedRow {
	kind := appendKind(nil, d, full)
	return &slicedRow{kind: string(kind), head: location{shard: shard}.append(kind)}
}

// slicedRowOf takes an encoded entry apart. Its slices stay encoded, as they
// are: decoded they take thirty times the memory. The function shard returns the new
// number of a data file.
func slicedRowOf(raw []byte, shard func(int32) int) (*slicedRow, error) {
	s := new(slicedRow)
	var rest []byte
	for b := raw; len(b) > 0; {
		num, _, n := protowire.ConsumeField(b)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		if num == 7 {
			s.slices = append(s.slices, b[:n]...)
		} else {
			rest = append(rest, b[:n]...)
		}
		b = b[n:]
	}
	var e pb.BundleEntryProto
	if err := e.Unmarshal(rest); err != nil {
		return nil, err
	}
	s.kind = string((&pb.BundleEntryProto{Dtype: e.Dtype, Shape: e.Shape}).Marshal())
	e.ShardId = int32(shard(e.ShardId))
	s.tail, e.Unknown = e.Unknown, nil
	s.head = e.Marshal()
	return s, nil
}

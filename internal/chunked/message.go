package chunked

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/internal/pb"
)

// message is an encoded message into which chunks are merged while a file is joined. It
// remains bytes until a path leads into it. Then split divides it into its fields, so that
// chunks can be merged into these. This isn't the split of a model into chunks.
type message struct {
	parts  [][]byte                      // its encoding, one after the other; once it has fields, the parts after them
	fields []field                       // in order; nil until split is called
	byNum  map[protowire.Number][]int    // indices in fields of those with a length
	byKey  map[protowire.Number]*entries // of map fields
}

// entries are those of a map field.
type entries struct {
	at map[string]int // the index in fields for the encoded key
	n  int            // how many of the message's entries are in at; later ones were merged since
}

// field is one field of a message: the bytes with their tag, or, once chunks were merged into it, a
// message. One with neither was merged into an earlier field, and takes no bytes.
type field struct {
	raw []byte
	num protowire.Number
	sub *message // nil: raw
}

// merge appends an encoded message: a parser of the joined bytes merges the two.
func (m *message) merge(b []byte) { m.parts = append(m.parts, b) }

// set replaces the contents by b, for a chunk that is the value of a field of bytes and no
// message.
func (m *message) set(b []byte) { *m = message{parts: [][]byte{b}} }

// split splits the message into its fields. Parts that were merged later are split by the next call.
func (m *message) split() error {
	if m.byNum == nil {
		m.byNum = map[protowire.Number][]int{}
	}
	for _, b := range m.parts {
		for len(b) > 0 {
			num, typ, n := protowire.ConsumeTag(b)
			if n < 0 {
				return protowire.ParseError(n)
			}
			k := protowire.ConsumeFieldValue(num, typ, b[n:])
			if k < 0 {
				return protowire.ParseError(k)
			}
			if typ == protowire.BytesType {
				m.byNum[num] = append(m.byNum[num], len(m.fields))
			}
			m.fields = append(m.fields, field{raw: b[: n+k : n+k], num: num})
			b = b[n+k:]
		}
	}
	m.parts = nil
	return nil
}

// find returns the message at the end of a path, creating it if it doesn't
// exist.
func (m *message) find(path []*pb.FieldIndex) (*message, error) {
	for i := 0; i < len(path); i++ {
		if path[i] == nil || path[i].Which != pb.FieldIndexField {
			return nil, errors.New("a path doesn't begin with a field's number")
		}
		num := protowire.Number(path[i].Field)
		if !num.IsValid() {
			return nil, fmt.Errorf("there are no fields of the number %d", path[i].Field)
		}
		if err := m.split(); err != nil {
			return nil, fmt.Errorf("a message with field %d: %w", num, err)
		}
		var err error
		var next *pb.FieldIndex
		if i+1 < len(path) {
			next = path[i+1]
		}
		switch {
		case next != nil && next.Which == pb.FieldIndexIndex:
			m, err = m.element(num, next.Index)
			i++
		case next != nil && next.Which == pb.FieldIndexMapKey:
			m, err = m.value(num, next.MapKey)
			i++
		default:
			m, err = m.single(num)
		}
		if err != nil {
			return nil, err
		}
	}
	return m, nil
}

// at returns the message in field i of fields, which must have a length: one of those in byNum.
func (m *message) at(i int) *message {
	f := &m.fields[i]
	if f.sub == nil {
		_, _, n := protowire.ConsumeTag(f.raw)
		b, _ := protowire.ConsumeBytes(f.raw[n:])
		f.sub, f.raw = &message{parts: [][]byte{b}}, nil
	}
	return f.sub
}

// add appends a field with an empty message.
func (m *message) add(num protowire.Number) *message {
	m.byNum[num] = append(m.byNum[num], len(m.fields))
	m.fields = append(m.fields, field{num: num, sub: &message{}})
	return m.fields[len(m.fields)-1].sub
}

// single returns the message of a field that isn't repeated. If it occurs
// several times, all are one message.
func (m *message) single(num protowire.Number) (*message, error) {
	list := m.byNum[num]
	if len(list) == 0 {
		return m.add(num), nil
	}
	first := m.at(list[0])
	for _, i := range list[1:] {
		more := m.at(i)
		first.merge(more.append(nil))
		m.fields[i] = field{num: num}
	}
	if len(list) > 1 {
		m.byNum[num] = list[:1]
		delete(m.byKey, num) // the others are no entries any more
	}
	return first, nil
}

// element returns an element of a repeated field; the one after the last is
// created.
func (m *message) element(num protowire.Number, i uint64) (*message, error) {
	list := m.byNum[num]
	switch {
	case i < uint64(len(list)):
		return m.at(list[i]), nil
	case i == uint64(len(list)):
		return m.add(num), nil
	}
	return nil, fmt.Errorf("a chunk is element %d of field %d, which has %d", i, num, len(list))
}

// value returns the value of a map's key; an entry that isn't there is made.
func (m *message) value(num protowire.Number, k *pb.MapKey) (*message, error) {
	key, err := encodeKey(k)
	if err != nil {
		return nil, err
	}
	if m.byKey == nil {
		m.byKey = map[protowire.Number]*entries{}
	}
	known := m.byKey[num]
	if known == nil {
		known = &entries{at: map[string]int{}}
		m.byKey[num] = known
	}
	for list := m.byNum[num]; known.n < len(list); known.n++ {
		i := list[known.n]
		e := m.at(i)
		if err := e.split(); err != nil {
			return nil, fmt.Errorf("an entry of the map %d: %w", num, err)
		}
		for _, f := range e.fields {
			if f.num == 1 && f.raw != nil {
				known.at[string(f.raw)] = i
			}
		}
	}
	i, ok := known.at[string(key)]
	if !ok {
		m.add(num).merge(key)
		i = len(m.fields) - 1
		known.at[string(key)] = i
		known.n++
	}
	e := m.at(i)
	if err := e.split(); err != nil {
		return nil, fmt.Errorf("an entry of the map %d: %w", num, err)
	}
	return e.single(2)
}

// encodeKey returns a key as an entry of a map has it: field 1.
func encodeKey(k *pb.MapKey) ([]byte, error) {
	varint := func(v uint64) ([]byte, error) {
		return protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), v), nil
	}
	if k == nil {
		return nil, errors.New("a path through a map without a key")
	}
	switch k.Which {
	case pb.MapKeyS:
		return protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), k.S), nil
	case pb.MapKeyBoolean:
		return varint(protowire.EncodeBool(k.Boolean))
	case pb.MapKeyUi32:
		return varint(uint64(k.Ui32))
	case pb.MapKeyUi64:
		return varint(k.Ui64)
	case pb.MapKeyI32:
		return varint(uint64(int64(k.I32)))
	case pb.MapKeyI64:
		return varint(uint64(k.I64))
	}
	return nil, errors.New("a path through a map without a key")
}

// size returns the length of the encoded message.
func (m *message) size() (n int) {
	for i := range m.fields {
		f := &m.fields[i]
		if n += len(f.raw); f.sub != nil {
			n += protowire.SizeTag(f.num) + protowire.SizeBytes(f.sub.size())
		}
	}
	for _, p := range m.parts {
		n += len(p)
	}
	return n
}

// append appends the encoded message to b. The fields keep their order, unknown ones too, and
// parts that were merged later come last. A parser merges them, as TensorFlow's merge.cc does
// with each chunk.
func (m *message) append(b []byte) []byte {
	for i := range m.fields {
		f := &m.fields[i]
		if b = append(b, f.raw...); f.sub != nil {
			b = protowire.AppendTag(b, f.num, protowire.BytesType)
			b = protowire.AppendVarint(b, uint64(f.sub.size()))
			b = f.sub.append(b)
		}
	}
	for _, p := range m.parts {
		b = append(b, p...)
	}
	return b
}

package pb

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Source is an encoded message in memory or in a file, of which parts are read on
// demand. The zero Source is an empty message. Packages savedmodel, graph and tensorfile
// read messages in this way: they need not decode a large one as a whole.
type Source struct {
	data      []byte
	file      io.ReaderAt // if data is nil
	off, size int64       // in the file
}

// InMemory returns a message that is b.
func InMemory(b []byte) Source { return Source{data: b, size: int64(len(b))} }

// InFile returns the message of that length which file holds. Nothing is read yet.
func InFile(file io.ReaderAt, size int64) Source { return Source{file: file, size: size} }

// Len returns the length of the encoded message.
func (s Source) Len() int64 { return s.size }

// Slice returns the n bytes at off. The caller has checked that the message has them.
func (s Source) Slice(off, n int64) Source {
	if s.file == nil {
		return InMemory(s.data[off : off+n : off+n])
	}
	return Source{file: s.file, off: s.off + off, size: n}
}

// Read returns the encoded message. It shares the memory of a message in memory, and is
// the caller's alone if it comes from a file.
func (s Source) Read() ([]byte, error) {
	if s.file == nil {
		return s.data, nil
	}
	b := make([]byte, s.size)
	return b, s.readAt(b, 0)
}

// ReadInto works like Read, but uses buf if that has room for the message.
func (s Source) ReadInto(buf []byte) ([]byte, error) {
	if s.file == nil {
		return s.data, nil
	}
	buf = slices.Grow(buf[:0], int(s.size))[:s.size]
	return buf, s.readAt(buf, 0)
}

func (s Source) readAt(b []byte, off int64) error {
	n, err := s.file.ReadAt(b, s.off+off)
	switch {
	case n == len(b):
		return nil
	case err == nil || err == io.EOF:
		return io.ErrUnexpectedEOF
	}
	return err
}

// Join concatenates the parts. Encoded messages one after the other encode the message that
// they are merged to.
func Join(parts []Source) (Source, error) {
	if len(parts) == 1 {
		return parts[0], nil
	}
	var all []byte
	for _, p := range parts {
		b, err := p.Read()
		if err != nil {
			return Source{}, err
		}
		all = append(all, b...)
	}
	return InMemory(all), nil
}

// Parts steps through the varints of a message and the fields that have a length, without
// reading the latter. Fields of a fixed size (float, double, fixed32, fixed64) and groups are
// passed over. At the end, Err is the error of a message that can't be decoded or read.
type Parts struct {
	// Number is the field's number.
	Number protowire.Number
	// Varint is the value of a varint field; of one that has a length, it is the length.
	Varint uint64
	// Part is the value of a field that has a length. It is valid if Whole is set.
	Part Source
	// Whole reports whether the field has a length.
	Whole bool
	// Err is the error that ended the iteration; nil at the message's end.
	Err error

	from        Source
	begin, next int64  // of the field and of the one after it
	large       []byte // a part that is larger than the window
	window      []byte // the part of the message read
	at          int64  // its offset
}

// Parts returns the steps through the message's fields.
func (s Source) Parts() *Parts {
	p := &Parts{from: s}
	if s.file == nil {
		p.window = s.data
	}
	return p
}

// Over ends p's steps and returns those through the fields of s. They use p's buffers, so that
// many messages of a file need one window. p may be nil.
func (p *Parts) Over(s Source) *Parts {
	if p == nil || s.file == nil || p.from.file == nil {
		return s.Parts()
	}
	*p = Parts{from: s, window: p.window[:0], large: p.large}
	return p
}

// windowSize is the number of bytes read at once to find lengths and numbers.
const windowSize = 8 << 10

// peek returns the bytes from an offset on, at least n unless the message ends.
func (p *Parts) peek(off int64, n int) ([]byte, error) {
	n = int(min(int64(n), p.from.size-off))
	if off >= p.at && off+int64(n) <= p.at+int64(len(p.window)) {
		return p.window[off-p.at:], nil
	}
	if cap(p.window) < windowSize {
		p.window = make([]byte, windowSize)
	}
	p.window = p.window[:min(int64(cap(p.window)), p.from.size-off)]
	p.at = off
	if err := p.from.readAt(p.window, off); err != nil {
		p.window = p.window[:0]
		return nil, err
	}
	return p.window, nil
}

// Head returns the beginning of the part, n bytes if it has as many. n is at most
// windowSize if the message is in a file. The bytes are valid until the next step.
func (p *Parts) Head(n int) ([]byte, error) {
	n = int(min(int64(n), p.Part.size))
	b, err := p.peek(p.Offset(), n)
	if err != nil {
		return nil, err
	}
	return b[:n:n], nil
}

// Offset returns the offset of the part in the message.
func (p *Parts) Offset() int64 { return p.next - p.Part.size }

// Bytes returns the part. The bytes are valid until the next step.
func (p *Parts) Bytes() ([]byte, error) {
	if p.from.file == nil || p.Part.size <= windowSize {
		return p.Head(int(p.Part.size))
	}
	p.large = slices.Grow(p.large[:0], int(p.Part.size))[:p.Part.size]
	return p.large, p.Part.readAt(p.large, 0)
}

// ErrFields reports that a message can't be split into fields.
var ErrFields = errors.New("its fields can't be told apart")

// Next steps to the next varint or field with a length, and reports whether there is one. All
// other fields are passed over.
func (p *Parts) Next() bool {
	const most = 2 * 10 // a tag and a number
	for p.Err == nil && p.next < p.from.size {
		p.begin = p.next
		var b []byte
		if b, p.Err = p.peek(p.next, most); p.Err != nil {
			break
		}
		number, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			p.Err = ErrFields
			break
		}
		p.Number, p.Whole = number, typ == protowire.BytesType
		value := p.next + int64(n)
		switch b = b[n:]; typ {
		case protowire.VarintType, protowire.BytesType:
			v, n := protowire.ConsumeVarint(b)
			value += int64(max(n, 0))
			switch {
			case n < 0, p.Whole && v > uint64(p.from.size-value):
				p.Err = ErrFields
				return false
			case p.Whole:
				p.Part = p.from.Slice(value, int64(v))
				value += int64(v)
			}
			p.Varint, p.next = v, value
			return true
		default:
			if p.next, p.Err = p.skip(number, typ, value); p.Err != nil {
				return false
			}
		}
	}
	return false
}

// maxGroups bounds the groups in each other, as other readers of messages do.
const maxGroups = 10_000

// skip returns the offset after a group or a field of a fixed size, whose value begins at an
// offset. Varints and fields with a length occur inside of a group only. A group's fields
// are read one by one, as those of a message: a group takes time in proportion to its bytes.
func (p *Parts) skip(number protowire.Number, typ protowire.Type, at int64) (int64, error) {
	var open []protowire.Number // groups that have not ended
	for {
		switch typ {
		case protowire.Fixed32Type:
			at += 4
		case protowire.Fixed64Type:
			at += 8
		case protowire.StartGroupType:
			if open = append(open, number); len(open) > maxGroups {
				return at, ErrFields
			}
		case protowire.EndGroupType:
			if len(open) == 0 || open[len(open)-1] != number {
				return at, ErrFields
			}
			open = open[:len(open)-1]
		default:
			b, err := p.peek(at, binary.MaxVarintLen64)
			if err != nil {
				return at, err
			}
			v, n := protowire.ConsumeVarint(b)
			if n < 0 {
				return at, ErrFields
			}
			if at += int64(n); typ == protowire.BytesType {
				if v > uint64(p.from.size-at) {
					return at, ErrFields
				}
				at += int64(v)
			}
		}
		if at > p.from.size || len(open) > 0 && at == p.from.size {
			return at, ErrFields
		}
		if len(open) == 0 {
			return at, nil
		}
		b, err := p.peek(at, binary.MaxVarintLen64)
		if err != nil {
			return at, err
		}
		var n int
		if number, typ, n = protowire.ConsumeTag(b); n < 0 {
			return at, ErrFields
		}
		at += int64(n)
	}
}

// Split calls each for every field that has a length and one of the numbers. The rest is the
// message without these fields: all others in their order, byte for byte. Bytes after the
// first fault are in the rest too, so that its reader reports it.
func (s Source) Split(each func(*Parts) error, numbers ...protowire.Number) (rest Source, err error) {
	var others []Source
	from := int64(0) // start of the bytes after the last field that was taken
	p := s.Parts()
	for p.Next() {
		if !p.Whole || !slices.Contains(numbers, p.Number) {
			continue
		}
		if p.begin > from {
			others = append(others, s.Slice(from, p.begin-from))
		}
		from = p.next
		if err := each(p); err != nil {
			return Source{}, err
		}
	}
	if p.Err != nil && p.Err != ErrFields {
		return Source{}, p.Err
	}
	if from < s.size {
		others = append(others, s.Slice(from, s.size-from))
	}
	return Join(others)
}

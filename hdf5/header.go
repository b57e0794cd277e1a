package hdf5

import "fmt"

// The types of header messages that this package reads or writes. They are part of the
// format.
const (
	msgNil          = 0x00
	msgDataspace    = 0x01
	msgLinkInfo     = 0x02
	msgDatatype     = 0x03
	msgFillOld      = 0x04
	msgFill         = 0x05
	msgLink         = 0x06
	msgExternal     = 0x07
	msgLayout       = 0x08
	msgGroupInfo    = 0x0a
	msgFilters      = 0x0b
	msgAttribute    = 0x0c
	msgContinuation = 0x10
	msgSymbolTable  = 0x11
	msgAttrInfo     = 0x15
)

// Flags of a message.
const (
	flagConstant = 1 << 0 // the message never changes
	flagShared   = 1 << 1 // the body contains the message's location
)

// A message is one part of an object's header.
type message struct {
	kind  uint16
	flags uint8 // flagConstant, flagShared
	body  []byte
	addr  uint64 // of the body
}

// A header is an object: its messages describe it.
type header struct {
	addr     uint64
	messages []message
}

// find returns the first message of a kind, nil if there is none.
func (h *header) find(kind uint16) *message {
	for i := range h.messages {
		if h.messages[i].kind == kind {
			return &h.messages[i]
		}
	}
	return nil
}

// firstHeaderRead is how many bytes of a header are read at once, before its size is known.
const firstHeaderRead = 512

// block is a run of messages: the one in the header's beginning, or a continuation.
type block struct{ addr, size uint64 }

// header reads the header of the object at an address.
func (f *File) header(m *meter, addr uint64) (*header, error) {
	b, err := f.readUpTo(m, addr, firstHeaderRead, "an object header")
	if err != nil {
		return nil, err
	}
	if len(b) >= 4 && string(b[:4]) == "OHDR" {
		return f.header2(m, addr, b)
	}
	return f.header1(m, addr, b)
}

// header1 reads a header of version 1, whose first bytes are b.
func (f *File) header1(m *meter, addr uint64, b []byte) (*header, error) {
	c := f.cursor(b, addr)
	version := c.u8()
	c.skip(1 + 2 + 4) // reserved, number of messages, links to the object
	size := uint64(c.u32())
	c.skip(4)
	if err := c.err(); err != nil {
		return nil, err
	}
	if version != 1 {
		return nil, &CorruptError{Offset: f.base + int64(addr), What: fmt.Sprintf("no object header: it has version %d", version)}
	}
	h := &header{addr: addr}
	next := func(c *cursor) (message, bool) {
		if c.Len() < 8 {
			return message{}, false
		}
		kind, size, flags := c.u16(), c.u16(), c.u8()
		c.skip(3)
		addr := uint64(c.Offset() - f.base)
		return message{kind, flags, c.Bytes(uint64(size)), addr}, true
	}
	first := block{addr + 16, size}
	return h, f.blocks(m, h, first, b[16:], next, func(bl block) (*cursor, error) {
		b, err := f.read(m, bl.addr, bl.size, "a continuation of an object header")
		return f.cursor(b, bl.addr), err
	})
}

// header2 reads a header of version 2, whose first bytes are b.
func (f *File) header2(m *meter, addr uint64, b []byte) (*header, error) {
	c := f.cursor(b, addr)
	c.skip(4)
	version, flags := c.u8(), c.u8()
	if version != 2 {
		return nil, &UnsupportedError{Feature: fmt.Sprintf("an object header of version %d (1 and 2 are)", version)}
	}
	if flags&(1<<5) != 0 {
		c.skip(4 * 4) // times
	}
	if flags&(1<<4) != 0 {
		c.skip(2 + 2) // how many attributes are stored in the header
	}
	size := c.uint(1 << (flags & 3))
	if err := c.err(); err != nil {
		return nil, err
	}
	prefix := uint64(len(b) - c.Len())
	if size > f.size {
		return nil, &CorruptError{Offset: f.base + int64(addr), What: fmt.Sprintf("an object header of %d bytes", size)}
	}
	if whole := prefix + size + 4; whole > uint64(len(b)) {
		var err error
		if b, err = f.read(m, addr, whole, "an object header"); err != nil {
			return nil, err
		}
	} else {
		b = b[:whole]
	}
	if _, err := f.checked(b, addr, "OHDR", "an object header"); err != nil {
		return nil, err
	}
	h := &header{addr: addr}
	prefixed := 4 // bytes before a message's body
	if flags&(1<<2) != 0 {
		prefixed += 2
	}
	next := func(c *cursor) (message, bool) {
		if c.Len() < prefixed {
			return message{}, false // a gap
		}
		kind, size, flags := c.u8(), c.u16(), c.u8()
		c.skip(prefixed - 4) // the order of creation
		addr := uint64(c.Offset() - f.base)
		return message{uint16(kind), flags, c.Bytes(uint64(size)), addr}, true
	}
	first := block{addr + prefix, size}
	return h, f.blocks(m, h, first, b[prefix:prefix+size], next, func(bl block) (*cursor, error) {
		return f.checksummed(m, bl.addr, bl.size, "OCHK", "a continuation of an object header")
	})
}

// messageSize is the approximate memory of a message besides its body.
const messageSize = 64

// blocks takes the messages of a header's first block, of which have is the beginning, and
// those of its continuations.
func (f *File) blocks(m *meter, h *header, first block, have []byte, next func(*cursor) (message, bool), open func(block) (*cursor, error)) error {
	var c *cursor
	if uint64(len(have)) >= first.size {
		c = f.cursor(have[:first.size], first.addr)
	} else {
		b, err := f.read(m, first.addr, first.size, "an object header")
		if err != nil {
			return err
		}
		c = f.cursor(b, first.addr)
	}
	seen := map[uint64]bool{first.addr: true}
	var todo []block
	for {
		for c.Len() > 0 {
			msg, ok := next(c)
			if err := c.err(); err != nil {
				return err
			}
			if !ok {
				break
			}
			switch msg.kind {
			case msgNil:
			case msgContinuation:
				body := f.cursor(msg.body, msg.addr)
				bl := block{body.addr(), body.length()}
				if err := body.err(); err != nil {
					return err
				}
				if seen[bl.addr] {
					return &CorruptError{Offset: f.base + int64(msg.addr), What: "an object header continues in itself"}
				}
				seen[bl.addr] = true
				todo = append(todo, bl)
			default:
				if err := m.take(messageSize, "an object header"); err != nil {
					return err
				}
				h.messages = append(h.messages, msg)
			}
		}
		if len(todo) == 0 {
			return nil
		}
		var err error
		if c, err = open(todo[0]); err != nil {
			return err
		}
		todo = todo[1:]
	}
}

// resolve returns the message itself in place of one that is stored with another object, as
// the type of a dataset may be.
func (f *File) resolve(m *meter, msg message) (message, error) {
	if msg.flags&flagShared == 0 {
		return msg, nil
	}
	c := f.cursor(msg.body, msg.addr)
	version, kind := c.u8(), c.u8()
	switch {
	case version == 1:
		c.skip(6)
	case version == 2, version == 3 && kind == 2:
	default:
		return msg, &UnsupportedError{Feature: "messages in the file's heap of shared messages"}
	}
	addr := c.addr()
	if err := c.err(); err != nil {
		return msg, err
	}
	h, err := f.header(m, addr)
	if err != nil {
		return msg, err
	}
	real := h.find(msg.kind)
	if real == nil || real.flags&flagShared != 0 {
		return msg, &CorruptError{Offset: f.base + int64(msg.addr), What: "a shared message is not where it should be"}
	}
	return *real, nil
}

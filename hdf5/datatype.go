package hdf5

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/cairnml/cairn/tensor"
)

// A Class is a kind of element. The numbers are those of the format.
type Class uint8

// The classes of elements.
const (
	Integer   Class = 0
	Float     Class = 1
	Time      Class = 2
	String    Class = 3 // of a fixed number of bytes
	Bitfield  Class = 4
	Opaque    Class = 5 // bytes that mean nothing to HDF5
	Compound  Class = 6 // named members, as a struct
	Reference Class = 7 // to objects or regions of the file
	Enum      Class = 8 // integers with names
	Sequence  Class = 9 // of varying length; strings among them
	Array     Class = 10
)

var classNames = []string{"integer", "float", "time", "string", "bit field", "opaque", "compound", "reference", "enum", "sequence", "array"}

// String returns the class in words.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return fmt.Sprintf("class(%d)", uint8(c))
}

// A Type describes how the elements of a dataset or an attribute are stored.
type Type struct {
	Class Class
	// Size is how many bytes an element takes. An element of varying length takes the size
	// of its place in the heap.
	Size int
	// DType is the element type of the tensor that the elements become: numbers, half
	// precision, bfloat16 and float8_e5m2 as floats of those bits, complex numbers as h5py
	// stores them (a compound of r and i), booleans as h5py stores them (an enum of FALSE
	// and TRUE), and strings. It is Invalid for all others, which only ReadRaw reads.
	DType tensor.DType
	// Text is the form of stored strings, if DType is String.
	Text TextKind
	// Tag is the tag of an opaque type.
	Tag string

	swapped           bool   // big-endian
	signed            bool   // an integer
	space, terminated bool   // a fixed string is padded with spaces, or ends at a NUL
	words             string // for errors
}

// TextKind is a form of stored strings.
type TextKind uint8

// How strings are stored. The zero value is h5py's default for str; h5py stores bytes as
// VariableASCII and numpy's arrays of bytes as FixedASCII.
const (
	VariableUTF8  TextKind = iota // each in the heap
	VariableASCII                 // the same, marked as ASCII
	FixedUTF8                     // padded with NULs to the longest
	FixedASCII                    // the same, marked as ASCII
)

// String returns the type in words.
func (t Type) String() string {
	if t.words != "" {
		return t.words
	}
	if t.DType != tensor.Invalid {
		return t.DType.String()
	}
	return t.Class.String()
}

// variable reports whether the elements are strings in the heap.
func (t *Type) variable() bool { return t.DType == tensor.String && t.Text <= VariableASCII }

// width returns the width of the parts of an element whose bytes are reversed in the file, on
// a little-endian machine; below 2 if none are.
func (t *Type) width() int {
	if t.DType == tensor.Invalid || t.DType == tensor.String {
		return 1
	}
	return t.DType.Swap()
}

// maxTypeDepth is how deep types may be nested in each other. The limit is Cairn's, not the format's.
const maxTypeDepth = 8

// datatype decodes a datatype message.
func (f *File) datatype(m *meter, msg message) (Type, error) {
	msg, err := f.resolve(m, msg)
	if err != nil {
		return Type{}, err
	}
	c := f.cursor(msg.body, msg.addr)
	t, err := decodeType(c, maxTypeDepth)
	if err == nil {
		err = c.err()
	}
	return t, err
}

// decodeType decodes a type and leaves the cursor after it.
func decodeType(c *cursor, depth int) (Type, error) {
	from := c.Offset()
	corrupt := func(format string, args ...any) (Type, error) {
		if err := c.err(); err != nil {
			return Type{}, err
		}
		return Type{}, &CorruptError{Offset: from, What: fmt.Sprintf(format, args...)}
	}
	if depth == 0 {
		return Type{}, &UnsupportedError{Feature: fmt.Sprintf("types nested more than %d deep", maxTypeDepth)}
	}
	head := c.u8()
	flags := uint32(c.uint(3))
	size := c.u32()
	version := head >> 4
	if c.Err() != nil || version < 1 || version > 4 || size == 0 && Class(head&15) != String || size > 1<<31-1 {
		return corrupt("a datatype of version %d and %d bytes", version, size)
	}
	t := Type{Class: Class(head & 15), Size: int(size)}
	switch t.Class {
	case Integer, Bitfield:
		t.swapped, t.signed = flags&1 != 0, flags&8 != 0
		offset, precision := c.u16(), c.u16()
		if t.Class == Integer && offset == 0 && int(precision) == 8*t.Size {
			t.DType = integers[integer{t.Size, t.signed}]
		}
		if t.DType == tensor.Invalid {
			t.words = fmt.Sprintf("a %v of %d bits in %d bytes", t.Class, precision, t.Size)
		}
	case Float:
		t.swapped = flags&1 != 0
		l := layoutOfFloat{size: t.Size, sign: uint8(flags >> 8)}
		offset, precision := c.u16(), c.u16()
		l.exponentAt, l.exponentBits = c.u8(), c.u8()
		l.mantissaAt, l.mantissaBits = c.u8(), c.u8()
		l.bias = c.u32()
		if offset == 0 && int(precision) == 8*t.Size && flags>>4&3 == 2 && flags&(1<<6) == 0 {
			t.DType = floats[l]
		}
		if t.DType == tensor.Invalid {
			t.words = fmt.Sprintf("a float of %d bits, %d of them exponent, %d mantissa", precision, l.exponentBits, l.mantissaBits)
		}
	case Time:
		c.skip(2)
	case String:
		t.DType, t.Text = tensor.String, FixedUTF8
		if flags>>4&15 == 0 {
			t.Text = FixedASCII
		}
		t.space, t.terminated = flags&15 == 2, flags&15 == 0
		t.words = fmt.Sprintf("strings of %d bytes", t.Size)
	case Opaque:
		tag := string(c.Bytes(uint64(flags & 0xff)))
		t.Tag, _, _ = strings.Cut(tag, "\x00")
		t.words = fmt.Sprintf("opaque bytes, %d an element", t.Size)
	case Compound:
		return decodeCompound(c, t, version, int(flags&0xffff), depth)
	case Reference:
		t.words = "references"
	case Enum:
		return decodeEnum(c, t, version, int(flags&0xffff), depth)
	case Sequence:
		base, err := decodeType(c, depth-1)
		if err != nil {
			return Type{}, err
		}
		if flags&15 == 1 {
			t.DType, t.words = tensor.String, "strings"
			if flags>>8&15 == 0 {
				t.Text = VariableASCII
			}
		} else {
			t.words = "sequences of " + base.String()
		}
	case Array:
		rank := int(c.u8())
		if version < 3 {
			c.skip(3)
		}
		n := uint64(1)
		for range min(rank, maxRank) {
			var over uint64
			if over, n = bits.Mul64(n, uint64(c.u32())); over != 0 {
				return corrupt("an array type is too large")
			}
		}
		if version < 3 {
			c.skip(4 * min(rank, maxRank))
		}
		base, err := decodeType(c, depth-1)
		if err != nil {
			return Type{}, err
		}
		if rank > maxRank {
			return corrupt("an array type of %d dimensions", rank)
		}
		t.words = fmt.Sprintf("arrays of %d %v", n, base)
	default:
		return Type{}, &UnsupportedError{Feature: fmt.Sprintf("the class %d of datatypes", uint8(t.Class))}
	}
	return t, nil
}

type integer struct {
	size   int
	signed bool
}

var integers = map[integer]tensor.DType{
	{1, true}: tensor.Int8, {2, true}: tensor.Int16, {4, true}: tensor.Int32, {8, true}: tensor.Int64,
	{1, false}: tensor.Uint8, {2, false}: tensor.Uint16, {4, false}: tensor.Uint32, {8, false}: tensor.Uint64,
}

// layoutOfFloat describes the positions of the parts of a float.
type layoutOfFloat struct {
	size                     int // bytes; all others are bits
	sign                     uint8
	exponentAt, exponentBits uint8
	mantissaAt, mantissaBits uint8
	bias                     uint32
}

var floats = map[layoutOfFloat]tensor.DType{
	{8, 63, 52, 11, 0, 52, 1023}: tensor.Float64,
	{4, 31, 23, 8, 0, 23, 127}:   tensor.Float32,
	{2, 15, 10, 5, 0, 10, 15}:    tensor.Float16,
	{2, 15, 7, 8, 0, 7, 127}:     tensor.BFloat16,
	{1, 7, 2, 5, 0, 2, 15}:       tensor.Float8E5M2,
}

// decodeCompound decodes the members of a compound.
func decodeCompound(c *cursor, t Type, version uint8, n, depth int) (Type, error) {
	var words []string
	var members []Type
	var names []string
	var offsets []uint64
	for range n {
		start := c.Len()
		name := c.text()
		if version < 3 {
			c.skip(-(start - c.Len()) & 7)
		}
		var offset uint64
		if version < 3 {
			offset = uint64(c.u32())
		} else {
			offset = c.uint(bytesFor(uint64(t.Size)))
		}
		if version == 1 {
			if rank := c.u8(); rank > 0 {
				return Type{}, &UnsupportedError{Feature: "compounds with members that are arrays"}
			}
			c.skip(3 + 4 + 4 + 4*4)
		}
		if err := c.err(); err != nil {
			return Type{}, err
		}
		member, err := decodeType(c, depth-1)
		if err != nil {
			return Type{}, err
		}
		if offset > uint64(t.Size) || uint64(member.Size) > uint64(t.Size)-offset {
			return Type{}, &CorruptError{Offset: c.Offset(), What: fmt.Sprintf("member %.300q is beyond its compound", name)}
		}
		members, names, offsets = append(members, member), append(names, name), append(offsets, offset)
		if len(words) < 8 {
			words = append(words, fmt.Sprintf("%.40s %v", name, member))
		}
	}
	t.words = "compounds of " + strings.Join(words, ", ")
	if len(members) > len(words) {
		t.words += fmt.Sprintf(" and %d more", len(members)-len(words))
	}
	if n == 2 && names[0] == "r" && names[1] == "i" && members[0] == members[1] &&
		offsets[0] == 0 && offsets[1] == uint64(members[0].Size) && t.Size == 2*members[0].Size {
		switch members[0].DType {
		case tensor.Float32:
			t.DType = tensor.Complex64
		case tensor.Float64:
			t.DType = tensor.Complex128
		}
		if t.DType != tensor.Invalid {
			t.swapped, t.words = members[0].swapped, ""
		}
	}
	return t, c.err()
}

// decodeEnum decodes the names and values of an enum.
func decodeEnum(c *cursor, t Type, version uint8, n, depth int) (Type, error) {
	base, err := decodeType(c, depth-1)
	if err != nil {
		return Type{}, err
	}
	if base.Class != Integer || base.Size != t.Size {
		return Type{}, &CorruptError{Offset: c.Offset(), What: fmt.Sprintf("an enum of %v", base)}
	}
	var names []string
	for range n {
		start := c.Len()
		names = append(names, c.text())
		if version < 3 {
			c.skip(-(start - c.Len()) & 7)
		}
		if err := c.err(); err != nil {
			return Type{}, err
		}
	}
	values := c.Bytes(uint64(n) * uint64(t.Size))
	t.words = fmt.Sprintf("an enum of %d names", n)
	t.swapped = base.swapped
	if t.Size == 1 && n == 2 && string(values) == "\x00\x01" && names[0] == "FALSE" && names[1] == "TRUE" {
		t.DType, t.words = tensor.Bool, ""
	}
	return t, c.err()
}

// bytesFor returns how many bytes a number up to n takes.
func bytesFor(n uint64) int { return max(1, (bits.Len64(n)+7)/8) }

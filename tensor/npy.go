package tensor

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// NPYError reports why a .npy or .npz file can't be read, or why a tensor can't
// be written to one.
type NPYError struct {
	Name string // the array's name in an .npz, empty otherwise
	What string // the fault
	Err  error  // the cause, or nil
}

// Error returns the format, the array's name in an .npz, and the fault.
func (e *NPYError) Error() string {
	s := "npy: "
	if e.Name != "" {
		s = fmt.Sprintf("npz: %q: ", e.Name)
	}
	s += e.What
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *NPYError) Unwrap() error { return e.Err }

func npyErr(format string, args ...any) error { return &NPYError{What: fmt.Sprintf(format, args...)} }

// NPYOptions are the options for converting tensors to numpy arrays; nil means
// the defaults.
type NPYOptions struct {
	// Lossy lets strings that end in NUL bytes be written: numpy's fixed-width
	// strings drop those. Default: such a string is an error.
	Lossy bool
}

// NPYType returns the element type that a tensor of type d has as a numpy array:
// bfloat16, float8 and float4 widen to float32, int4 and int2 to int8 (unsigned
// to uint8), quantized types become their plain integers. Variant and resource
// have none, which is an error.
func NPYType(d DType) (DType, error) {
	switch d {
	case BFloat16, Float8E5M2, Float8E4M3FN, Float8E4M3FNUZ, Float8E4M3B11FNUZ, Float8E5M2FNUZ, Float4E2M1FN:
		return Float32, nil
	case Int4, Int2, QInt8:
		return Int8, nil
	case Uint4, Uint2, QUint8:
		return Uint8, nil
	case QInt16:
		return Int16, nil
	case QUint16:
		return Uint16, nil
	case QInt32:
		return Int32, nil
	case Variant, Resource:
		return Invalid, npyErr("numpy has no arrays of %v", d)
	}
	if !d.Valid() {
		return Invalid, npyErr("%v is no element type", d)
	}
	return d, nil
}

var npyMagic = []byte("\x93NUMPY")

// maxNPYHeader bounds the header's length. The limit is Cairn's and may change: numpy refuses
// headers above 10,000 bytes by default, and one of 254 dimensions takes less than 6,000.
const maxNPYHeader = 1 << 16

// npyCodes are numpy's type strings, as WriteNPY writes them: byte order, kind, bytes. The
// reader ignores the byte order in them.
var npyCodes = map[DType]string{
	Float16: "<f2", Float32: "<f4", Float64: "<f8", Complex64: "<c8", Complex128: "<c16", Bool: "|b1",
	Int8: "|i1", Int16: "<i2", Int32: "<i4", Int64: "<i8", Uint8: "|u1", Uint16: "<u2", Uint32: "<u4", Uint64: "<u8",
}

var bigEndianHost = binary.NativeEndian.Uint16([]byte{1, 0}) != 1

// WriteNPY writes t as numpy's save does, byte for byte: version 1.0, little-
// endian, C order. Types that numpy lacks are widened, see [NPYType]; strings
// become an S array, as wide as the longest.
func WriteNPY(w io.Writer, t *Tensor, opts *NPYOptions) error {
	header, d, width, err := npyHeader(t, opts)
	if err != nil {
		return err
	}
	if _, err := w.Write(header); err != nil {
		return err
	}
	if d == String {
		return writeFixedStrings(w, t.strings(), width)
	}
	swap := bigEndianHost && d.Swap() > 1
	if d == t.dtype && !swap {
		_, err := w.Write(t.data)
		return err
	}
	size := d.Size()
	buf := alloc(min(t.Len(), 16*castChunk) * size)
	for lo := 0; lo < t.Len(); lo += 16 * castChunk {
		hi := min(lo+16*castChunk, t.Len())
		b := buf[:(hi-lo)*size]
		if err := CastRange(b, t, d, lo, hi); err != nil {
			return err
		}
		if swap {
			swapBytes(b, d.Swap())
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// npyHeader returns everything before the data, the type the data is written as
// and for strings their common width.
func npyHeader(t *Tensor, opts *NPYOptions) (header []byte, d DType, width int, err error) {
	if d, err = NPYType(t.dtype); err != nil {
		return nil, d, 0, err
	}
	descr := npyCodes[d]
	if d == String {
		width = 1
		for i, s := range t.strings() {
			if strings.HasSuffix(s, "\x00") && (opts == nil || !opts.Lossy) {
				return nil, d, 0, npyErr("string %d ends in a NUL byte, which a numpy S array would lose", i)
			}
			width = max(width, len(s))
		}
		descr = fmt.Sprintf("|S%d", width)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr)
	for i, n := range t.shape {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, n)
	}
	if t.Rank() == 1 {
		b.WriteByte(',')
	}
	b.WriteString("), }")
	if t.Rank() > 0 {
		// numpy leaves space for the first size to grow in place to 21 digits.
		b.WriteString(strings.Repeat(" ", 21-len(fmt.Sprint(t.shape[0]))))
	}
	prefix := len(npyMagic) + 2 + 2
	pad := 64 - (prefix+b.Len()+1)%64
	b.WriteString(strings.Repeat(" ", pad) + "\n")
	header = append(header, npyMagic...)
	header = append(header, 1, 0)
	header = binary.LittleEndian.AppendUint16(header, uint16(b.Len()))
	return append(header, b.String()...), d, width, nil
}

func writeFixedStrings(w io.Writer, strs []string, width int) error {
	buf := make([]byte, 0, 1<<16)
	for _, s := range strs {
		for pad := width - len(s); len(s) > 0 || pad > 0; {
			if len(buf) == cap(buf) {
				if _, err := w.Write(buf); err != nil {
					return err
				}
				buf = buf[:0]
			}
			space := cap(buf) - len(buf)
			if len(s) > 0 {
				n := min(space, len(s))
				buf = append(buf, s[:n]...)
				s = s[n:]
				continue
			}
			n := min(space, pad)
			pad -= n
			buf = buf[:len(buf)+n]
			clear(buf[len(buf)-n:])
		}
	}
	_, err := w.Write(buf)
	return err
}

// NPYHeader is the description of the array in a .npy file.
type NPYHeader struct {
	Version [2]byte // 1.0, 2.0 or 3.0
	DType   DType   // String for S and U arrays
	Shape   Shape
	Fortran bool  // first dimension fastest
	Size    int64 // bytes of data that follow the header

	bigEndian bool
	unicode   bool // strings of UTF-32
	width     int  // bytes of one element in the file
	length    int  // of magic and header
}

// ReadNPYHeader reads the header of a .npy file and leaves r at the data.
// Structured, object, date and void arrays are refused, since no tensor holds
// them.
func ReadNPYHeader(r io.Reader) (*NPYHeader, error) {
	var pre [12]byte
	if _, err := io.ReadFull(r, pre[:8]); err != nil {
		return nil, &NPYError{What: "no .npy file: it is shorter than the magic", Err: noEOF(err)}
	}
	if string(pre[:6]) != string(npyMagic) {
		return nil, npyErr("no .npy file: it starts with %q, not %q", pre[:6], npyMagic)
	}
	h := &NPYHeader{Version: [2]byte{pre[6], pre[7]}}
	var n, lenBytes int
	switch h.Version {
	case [2]byte{1, 0}:
		lenBytes = 2
	case [2]byte{2, 0}, [2]byte{3, 0}:
		lenBytes = 4
	default:
		return nil, npyErr("version %d.%d of the format is not known; 1.0, 2.0 and 3.0 are", pre[6], pre[7])
	}
	if _, err := io.ReadFull(r, pre[8:8+lenBytes]); err != nil {
		return nil, &NPYError{What: "the file ends within the header", Err: noEOF(err)}
	}
	if lenBytes == 2 {
		n = int(binary.LittleEndian.Uint16(pre[8:]))
	} else if v := binary.LittleEndian.Uint32(pre[8:]); v > maxNPYHeader {
		return nil, npyErr("a header of %d bytes; the most is %d", v, maxNPYHeader)
	} else {
		n = int(v)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, &NPYError{What: "the file ends within the header", Err: noEOF(err)}
	}
	h.length = 8 + lenBytes + n
	if err := h.parse(string(text)); err != nil {
		return nil, err
	}
	return h, nil
}

// noEOF turns the end of the input into an unexpected one.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// ReadNPY reads one array. Storage is allocated as the data comes in, so a header that
// declares more data than there is costs no memory. S arrays become strings without their
// trailing NULs, U arrays UTF-8 strings.
func ReadNPY(r io.Reader) (*Tensor, error) {
	h, err := ReadNPYHeader(r)
	if err != nil {
		return nil, err
	}
	return h.readData(r, false)
}

// readData reads the array's elements; sized means that the data is known to
// exist, so that its storage can be allocated at once.
func (h *NPYHeader) readData(r io.Reader, sized bool) (*Tensor, error) {
	if h.Size > maxAlloc {
		return nil, npyErr("%d bytes of data are more than this platform can hold", h.Size)
	}
	if h.DType == String {
		return h.readStrings(r, sized)
	}
	data, err := readBytes(r, int(h.Size), sized)
	if err != nil {
		return nil, err
	}
	return FromBytes(h.DType, h.toHost(data), h.Shape...)
}

// toHost turns an array's bytes into a tensor's: native byte order, booleans 0
// and 1, the last dimension fastest. It works in place but for the last.
func (h *NPYHeader) toHost(data []byte) []byte {
	if h.bigEndian != bigEndianHost {
		swapBytes(data, h.DType.Swap())
	}
	if h.DType == Bool {
		for i, b := range data {
			data[i] = b2u(b != 0)
		}
	}
	if h.Fortran && len(h.Shape) > 1 && len(data) > 0 {
		c := alloc(len(data))
		fromFortran(h.Shape, func(from, to int) {
			copy(c[to*h.width:(to+1)*h.width], data[from*h.width:])
		})
		data = c
	}
	return data
}

func (h *NPYHeader) readStrings(r io.Reader, sized bool) (*Tensor, error) {
	n, err := h.Shape.NumElements()
	if err != nil {
		return nil, err
	}
	if h.width == 0 { // such strings take no bytes of the file, whatever number the header declares
		const most = 1 << 20 // Cairn's limit
		if n > most {
			return nil, npyErr("%d empty strings without a byte of data", n)
		}
		return FromStrings(String, make([]string, n), h.Shape...)
	}
	var strs []string
	if sized {
		strs = make([]string, 0, n)
	}
	for elem := make([]byte, min(h.width, 1<<16)); len(strs) < n; {
		var s string
		if h.width <= cap(elem) {
			elem = elem[:h.width]
			if _, err := io.ReadFull(r, elem); err != nil {
				return nil, &NPYError{What: "the file ends within the data", Err: noEOF(err)}
			}
			s, err = h.text(elem)
		} else {
			var b []byte
			if b, err = readBytes(r, h.width, sized); err == nil {
				s, err = h.text(b)
			}
		}
		if err != nil {
			return nil, err
		}
		strs = append(strs, s)
	}
	if h.Fortran && len(h.Shape) > 1 && n > 0 {
		c := make([]string, n)
		fromFortran(h.Shape, func(from, to int) { c[to] = strs[from] })
		strs = c
	}
	return FromStrings(String, strs, h.Shape...)
}

// text returns one element of an S or U array as a string.
func (h *NPYHeader) text(b []byte) (string, error) {
	if !h.unicode {
		n := len(b)
		for n > 0 && b[n-1] == 0 {
			n--
		}
		return string(b[:n]), nil
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if h.bigEndian {
		order = binary.BigEndian
	}
	n := len(b) / 4
	for n > 0 && order.Uint32(b[4*(n-1):]) == 0 {
		n--
	}
	s := make([]byte, 0, n)
	for i := range n {
		c := order.Uint32(b[4*i:])
		if c > math.MaxInt32 || !utf8.ValidRune(rune(c)) {
			return "", npyErr("%#x in a U array is no Unicode character", c)
		}
		s = utf8.AppendRune(s, rune(c))
	}
	return string(s), nil
}

// readBytes reads n bytes into storage aligned for every element type. Unless
// sized, it grows as data arrives, from 1 MiB on.
func readBytes(r io.Reader, n int, sized bool) ([]byte, error) {
	first := n
	if !sized {
		first = min(n, 1<<20)
	}
	buf := alloc(first)
	for at := 0; ; {
		m, err := io.ReadFull(r, buf[at:])
		at += m
		if err != nil {
			return nil, &NPYError{What: fmt.Sprintf("the file ends within the data: %d of %d bytes are there", at, n), Err: noEOF(err)}
		}
		if at == n {
			return buf, nil
		}
		bigger := alloc(min(n, 2*len(buf)))
		copy(bigger, buf)
		buf = bigger
	}
}

// fromFortran calls move for each element of a tensor of shape s: from counts
// with the first dimension fastest, to with the last.
func fromFortran(s Shape, move func(from, to int)) {
	n, _ := s.NumElements()
	stride := make([]int, len(s)) // of the result, in elements
	for i, at := len(s)-1, 1; i >= 0; i-- {
		stride[i] = at
		at *= s[i]
	}
	index := make([]int, len(s))
	to := 0
	for from := range n {
		move(from, to)
		for i := range index {
			index[i]++
			to += stride[i]
			if index[i] < s[i] {
				break
			}
			to -= stride[i] * s[i]
			index[i] = 0
		}
	}
}

// swapBytes turns the byte order of every word of the given width.
func swapBytes(b []byte, width int) {
	switch width {
	case 0, 1:
	case 2:
		for i := 0; i+2 <= len(b); i += 2 {
			b[i], b[i+1] = b[i+1], b[i]
		}
	default:
		for ; len(b) >= width; b = b[width:] {
			slices.Reverse(b[:width])
		}
	}
}

package rest

import (
	"encoding/base64"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cairnml/cairn/tensor"
)

// WriteOptions are the settings for writing a document; nil means the defaults.
type WriteOptions struct {
	// Quote writes NaN, Infinity and -Infinity as strings, so that every parser of
	// JSON takes the document. Default: bare, as Serving writes them.
	Quote bool
	// Names writes the name of a single output too. Default: it is left out, as
	// Serving does.
	Names bool
}

// writer writes JSON in parts; the first error sticks.
type writer struct {
	w     io.Writer
	b     []byte // not yet written to w
	quote bool   // WriteOptions.Quote
	names bool   // WriteOptions.Names
	err   error  // the first error, which end returns
}

func newWriter(w io.Writer, opts *WriteOptions) *writer {
	out := &writer{w: w}
	if opts != nil {
		out.quote, out.names = opts.Quote, opts.Names
	}
	return out
}

// flushAt is the number of bytes from which on the buffer is written. It doesn't change the document.
const flushAt = 32 << 10

// flush writes the buffer to the output, if it is large.
func (w *writer) flush(least int) {
	if len(w.b) < least || w.err != nil {
		return
	}
	_, w.err = w.w.Write(w.b)
	w.b = w.b[:0]
}

// end finishes the document.
func (w *writer) end() error {
	w.raw("\n")
	w.flush(0)
	return w.err
}

func (w *writer) raw(s string) { w.b = append(w.b, s...) }

// key writes a field's name and the colon.
func (w *writer) key(name string) {
	w.text(name)
	w.raw(":")
}

// text writes a string, which must be UTF-8.
func (w *writer) text(s string) {
	if !utf8.ValidString(s) && w.err == nil {
		w.err = fmt.Errorf("the name %s is no UTF-8, so JSON can't hold it", quote(s))
	}
	w.b = appendText(w.b, s)
}

func appendText(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c != 0x7f {
			continue
		}
		b = append(b, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(b, s[from:]...), '"')
}

// bytesSuffix marks the names of tensors whose strings are no text, as in TensorFlow Serving.
const bytesSuffix = "_bytes"

// appendString writes a string of a tensor: as text, or as {"b64": …} if it is
// no text or the tensor's name requires it.
func appendString(b []byte, s string, isBytes bool) []byte {
	if !isBytes && utf8.ValidString(s) {
		return appendText(b, s)
	}
	b = append(b, `{"b64":"`...)
	b = base64.StdEncoding.AppendEncode(b, []byte(s))
	return append(b, `"}`...)
}

// appendFloat writes the shortest number that is read as f again, with a point
// or an exponent.
func appendFloat(b []byte, f float64, bits int, quote bool) []byte {
	word := ""
	switch {
	case math.IsNaN(f):
		word = "NaN"
	case math.IsInf(f, 1):
		word = "Infinity"
	case math.IsInf(f, -1):
		word = "-Infinity"
	default:
		from := len(b)
		b = strconv.AppendFloat(b, f, 'g', -1, bits)
		if !strings.ContainsAny(string(b[from:]), ".e") {
			b = append(b, ".0"...)
		}
		return b
	}
	if quote {
		return append(append(append(b, '"'), word...), '"')
	}
	return append(b, word...)
}

// appender writes the element at index i.
type appender func(b []byte, i int) []byte

// appenderOf returns the function that writes the elements of a tensor.
func (w *writer) appenderOf(name string, t *tensor.Tensor) (appender, error) {
	quote := w.quote
	switch d := t.DType(); d {
	case tensor.String:
		v, isBytes := t.Strings(), strings.HasSuffix(name, bytesSuffix)
		return func(b []byte, i int) []byte { return appendString(b, v[i], isBytes) }, nil
	case tensor.Bool:
		v := tensor.Values[bool](t)
		return func(b []byte, i int) []byte { return strconv.AppendBool(b, v[i]) }, nil
	case tensor.Int8:
		return appendInts(t, func(v int8) int64 { return int64(v) }), nil
	case tensor.Int16:
		return appendInts(t, func(v int16) int64 { return int64(v) }), nil
	case tensor.Int32:
		return appendInts(t, func(v int32) int64 { return int64(v) }), nil
	case tensor.Int64:
		return appendInts(t, func(v int64) int64 { return v }), nil
	case tensor.Uint8:
		return appendInts(t, func(v uint8) int64 { return int64(v) }), nil
	case tensor.Uint16:
		return appendInts(t, func(v uint16) int64 { return int64(v) }), nil
	case tensor.Uint32:
		return appendInts(t, func(v uint32) int64 { return int64(v) }), nil
	case tensor.Uint64:
		v := tensor.Values[uint64](t)
		return func(b []byte, i int) []byte { return strconv.AppendUint(b, v[i], 10) }, nil
	case tensor.Int4:
		return appendInts(t, func(v tensor.I4) int64 { return int64(v.Int()) }), nil
	case tensor.Int2:
		return appendInts(t, func(v tensor.I2) int64 { return int64(v.Int()) }), nil
	case tensor.Uint4:
		return appendInts(t, func(v tensor.U4) int64 { return int64(v.Int()) }), nil
	case tensor.Uint2:
		return appendInts(t, func(v tensor.U2) int64 { return int64(v.Int()) }), nil
	case tensor.QInt8:
		return appendInts(t, func(v tensor.Q8) int64 { return int64(v) }), nil
	case tensor.QInt16:
		return appendInts(t, func(v tensor.Q16) int64 { return int64(v) }), nil
	case tensor.QInt32:
		return appendInts(t, func(v tensor.Q32) int64 { return int64(v) }), nil
	case tensor.QUint8:
		return appendInts(t, func(v tensor.QU8) int64 { return int64(v) }), nil
	case tensor.QUint16:
		return appendInts(t, func(v tensor.QU16) int64 { return int64(v) }), nil
	case tensor.Float64:
		v := tensor.Values[float64](t)
		return func(b []byte, i int) []byte { return appendFloat(b, v[i], 64, quote) }, nil
	case tensor.Complex64:
		v := tensor.Values[complex64](t)
		return func(b []byte, i int) []byte { return appendComplex(b, complex128(v[i]), 32, quote) }, nil
	case tensor.Complex128:
		v := tensor.Values[complex128](t)
		return func(b []byte, i int) []byte { return appendComplex(b, v[i], 64, quote) }, nil
	case tensor.Float32:
		v := tensor.Values[float32](t)
		return func(b []byte, i int) []byte { return appendFloat(b, float64(v[i]), 32, quote) }, nil
	default:
		if !d.IsFloating() {
			return nil, fmt.Errorf("%s can't be written as JSON", article(d))
		}
		var v []float64
		return func(b []byte, i int) []byte { // float32 holds the narrower types exactly
			v, _ = t.AppendFloat64s(v[:0], i, i+1)
			return appendFloat(b, v[0], 32, quote)
		}, nil
	}
}

func appendInts[T tensor.Element](t *tensor.Tensor, value func(T) int64) appender {
	v := tensor.Values[T](t)
	return func(b []byte, i int) []byte { return strconv.AppendInt(b, value(v[i]), 10) }
}

func appendComplex(b []byte, v complex128, bits int, quote bool) []byte {
	b = append(b, '[')
	b = appendFloat(b, real(v), bits, quote)
	b = append(b, ',')
	b = appendFloat(b, imag(v), bits, quote)
	return append(b, ']')
}

// nested writes the elements from index at on in lists of the shape, and returns
// the index after them.
func (w *writer) nested(shape tensor.Shape, at int, element appender) int {
	if len(shape) == 0 {
		w.b = element(w.b, at)
		w.flush(flushAt)
		return at + 1
	}
	w.raw("[")
	for i := range shape[0] {
		if i > 0 {
			w.raw(",")
		}
		at = w.nested(shape[1:], at, element)
		if w.err != nil {
			break
		}
	}
	w.raw("]")
	return at
}

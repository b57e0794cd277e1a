package pb

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// MarshalText returns the message in protobuf's text format, as TensorFlow's
// Python writes .pbtxt files. Fields unknown to this package follow the others
// by number, and [UnmarshalText] can read them. Only tests call it, to compare
// messages as text.
func MarshalText(m Message) []byte {
	var w textWriter
	w.message(reflect.ValueOf(m).Elem())
	return w.buf
}

type textWriter struct {
	buf   []byte
	depth int
}

func (w *textWriter) line(format string, args ...any) {
	for range w.depth {
		w.buf = append(w.buf, "  "...)
	}
	w.buf = fmt.Appendf(w.buf, format, args...)
	w.buf = append(w.buf, '\n')
}

// block writes "head {", the output of body, and "}".
func (w *textWriter) block(head string, body func()) {
	w.line("%s {", head)
	w.depth++
	body()
	w.depth--
	w.line("}")
}

func (w *textWriter) message(v reflect.Value) {
	if a, ok := v.Addr().Interface().(*Any); ok && w.any(a) {
		return
	}
	for _, f := range fieldsOf(v.Type()) {
		x := v.Field(f.index)
		switch {
		case f.isMap:
			entries := make([]reflect.Value, x.Len())
			for i := range entries {
				entries[i] = x.Index(i)
			}
			slices.SortStableFunc(entries, compareKeys)
			for _, e := range entries {
				w.field(f, e)
			}
		case f.list:
			for i := range x.Len() {
				w.field(f, x.Index(i))
			}
		case f.present(v):
			w.field(f, x)
		}
	}
	w.unknown(v.FieldByName("Unknown").Bytes())
}

func (w *textWriter) field(f textField, x reflect.Value) {
	if f.kind == "message" {
		w.block(f.name, func() {
			if l := lazyOf(x); l != nil {
				m, _ := l.decoded() // if the bytes have a fault, the fields before it, as Unmarshal leaves them
				x = reflect.ValueOf(m)
			}
			if !x.IsNil() {
				w.message(x.Elem())
			}
		})
		return
	}
	w.line("%s: %s", f.name, scalarText(f.kind, x))
}

// any writes the message inside an Any if its type is known and it encodes to the same
// bytes, and reports whether it did. At depth [maxDepth] an Any stays bytes, because each
// Any around it decodes and encodes these bytes again.
func (w *textWriter) any(a *Any) bool {
	if w.depth >= maxDepth-1 {
		return false
	}
	inner := New(a.TypeUrl[strings.LastIndexByte(a.TypeUrl, '/')+1:])
	if inner == nil || !strings.Contains(a.TypeUrl, "/") || len(a.Unknown) > 0 || inner.Unmarshal(a.Value) != nil || !bytes.Equal(inner.Marshal(), a.Value) {
		return false
	}
	w.block("["+a.TypeUrl+"]", func() { w.message(reflect.ValueOf(inner).Elem()) })
	return true
}

func (w *textWriter) unknown(b []byte) {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return
		}
		b = b[n:]
		switch typ {
		case protowire.VarintType:
			v, _ := protowire.ConsumeVarint(b)
			w.line("%d: %d", num, v)
		case protowire.Fixed32Type:
			v, _ := protowire.ConsumeFixed32(b)
			w.line("%d: 0x%08x", num, v)
		case protowire.Fixed64Type:
			v, _ := protowire.ConsumeFixed64(b)
			w.line("%d: 0x%016x", num, v)
		case protowire.BytesType:
			v, _ := protowire.ConsumeBytes(b)
			w.line("%d: %s", num, quote(v, false))
		case protowire.StartGroupType:
			v, _ := protowire.ConsumeGroup(num, b)
			w.block(strconv.Itoa(int(num)), func() { w.unknown(v) })
		}
		if n = protowire.ConsumeFieldValue(num, typ, b); n < 0 {
			return
		}
		b = b[n:]
	}
}

func scalarText(kind string, x reflect.Value) string {
	switch kind {
	case "string":
		return quote([]byte(x.String()), true)
	case "bytes":
		return quote(x.Bytes(), false)
	case "enum":
		return x.Interface().(enum).String()
	case "float":
		return floatText(shortest(float32(x.Float())))
	case "double":
		return floatText(x.Float())
	}
	return fmt.Sprint(x.Interface())
}

// shortest returns v rounded to the fewest digits, six to nine, that float32 reads as v:
// ToShortestFloat in protobuf's Python.
func shortest(v float32) float64 {
	for digits := 6; digits < 9; digits++ {
		x, err := strconv.ParseFloat(strconv.FormatFloat(float64(v), 'g', digits, 64), 64)
		if err == nil && float32(x) == v {
			return x
		}
	}
	x, _ := strconv.ParseFloat(strconv.FormatFloat(float64(v), 'g', 9, 64), 64)
	return x
}

// floatText returns v as Python prints it.
func floatText(v float64) string {
	switch {
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	}
	s := strconv.FormatFloat(v, 'e', -1, 64)
	exp, _ := strconv.Atoi(s[strings.IndexByte(s, 'e')+1:])
	if exp < -4 || exp >= 16 {
		return s
	}
	s = strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// quote returns b between quotation marks. If text is true, UTF-8 is kept. All other
// bytes that aren't printable ASCII are escapes: \n, \r and \t, or octal.
func quote(b []byte, text bool) string {
	out := []byte{'"'}
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		switch c := b[0]; {
		case text && n > 1:
			out = utf8.AppendRune(out, r)
		case c == '\n':
			out = append(out, `\n`...)
		case c == '\r':
			out = append(out, `\r`...)
		case c == '\t':
			out = append(out, `\t`...)
		case c == '"' || c == '\'' || c == '\\':
			out = append(out, '\\', c)
		case c < 0x20 || c >= 0x7f:
			out = fmt.Appendf(out, `\%03o`, c)
			n = 1
		default:
			out = append(out, c)
		}
		b = b[n:]
	}
	return string(append(out, '"'))
}

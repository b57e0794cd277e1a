package pb

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// TextType describes a message's fields for [AppendText].
type TextType interface {
	// TextField returns the field of a name.
	TextField(name string) (f TextField, ok bool)
}

// TextField is a field of a [TextType].
type TextField struct {
	Number   protowire.Number
	Kind     string // as in .proto files
	Repeated bool
	Packed   bool
	Message  TextType                        // of messages and groups
	Enum     func(name string) (int32, bool) // of enums
	Append   func(b []byte, v uint64) []byte // encodes a number, passed as 64 bits: floats as doubles; without its tag if Packed
}

// textTypes are the Go types of numbers.
var textTypes = map[string]reflect.Type{
	"double": reflect.TypeFor[float64](), "float": reflect.TypeFor[float32](), "bool": reflect.TypeFor[bool](),
	"int32": reflect.TypeFor[int32](), "sint32": reflect.TypeFor[int32](), "sfixed32": reflect.TypeFor[int32](),
	"int64": reflect.TypeFor[int64](), "sint64": reflect.TypeFor[int64](), "sfixed64": reflect.TypeFor[int64](),
	"uint32": reflect.TypeFor[uint32](), "fixed32": reflect.TypeFor[uint32](),
	"uint64": reflect.TypeFor[uint64](), "fixed64": reflect.TypeFor[uint64](),
}

// AppendText appends to b, encoded, a message in text format whose type is known only
// at run time. Fields are in the order of their numbers.
func AppendText(b, text []byte, t TextType) ([]byte, error) {
	r := textReader{lexer: lexer{text: string(text)}}
	if err := r.next(); err != nil {
		return nil, err
	}
	return r.appendMessage(b, t, "")
}

// Unquote returns the meaning of a text with the escapes of a quoted string.
func Unquote(text string) ([]byte, error) {
	l := lexer{tok: `"` + text + `"`}
	if ends := len(text) - len(strings.TrimRight(text, `\`)); ends%2 != 0 {
		return nil, l.fail("a string ends in a backslash")
	}
	return l.unquote(nil)
}

func (r *textReader) appendMessage(b []byte, t TextType, end string) ([]byte, error) {
	if r.depth++; r.depth > maxDepth {
		return nil, r.fail("messages nested more than %d deep", maxDepth)
	}
	fields, values := map[protowire.Number]TextField{}, map[protowire.Number][]byte{}
	for r.tok != end {
		name := r.tok
		f, ok := TextField{}, false
		if name != "" && wordByte(name[0]) {
			f, ok = t.TextField(name)
		}
		if !ok {
			return nil, r.fail("there is no field %s", name)
		}
		if _, seen := fields[f.Number]; seen && !f.Repeated {
			return nil, r.fail("%s is set twice", name)
		}
		fields[f.Number] = f
		if err := r.next(); err != nil {
			return nil, err
		}
		colon, err := r.take(":")
		if err != nil || colon == "" && f.Message == nil {
			return nil, firstOf(err, r.fail("a colon is missing after %s", name))
		}
		if values[f.Number], err = r.appendValues(values[f.Number], name, f); err != nil {
			return nil, err
		}
		if _, err := r.take(",", ";"); err != nil {
			return nil, err
		}
	}
	r.depth--
	for _, n := range slices.Sorted(maps.Keys(values)) {
		if v := values[n]; !fields[n].Packed {
			b = append(b, v...)
		} else if len(v) > 0 {
			b = protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), v)
		}
	}
	return b, r.next()
}

// appendValues appends one value, or those of a list in brackets.
func (r *textReader) appendValues(b []byte, name string, f TextField) ([]byte, error) {
	if r.tok != "[" || !f.Repeated {
		return r.appendValue(b, name, f)
	}
	err := r.next()
	for first := true; err == nil && r.tok != "]"; first = false {
		if !first {
			if comma, err := r.take(","); err != nil || comma == "" {
				return nil, firstOf(err, r.fail("a comma or ] is missing in a list"))
			}
		}
		b, err = r.appendValue(b, name, f)
	}
	if err != nil {
		return nil, err
	}
	return b, r.next()
}

func (r *textReader) appendValue(b []byte, name string, f TextField) ([]byte, error) {
	if f.Message != nil {
		open, err := r.take("{", "<")
		if err != nil || open == "" {
			return nil, firstOf(err, r.fail("{ is missing after %s", name))
		}
		if f.Kind == "group" {
			b, err = r.appendMessage(protowire.AppendTag(b, f.Number, protowire.StartGroupType), f.Message, closing(open))
			return protowire.AppendTag(b, f.Number, protowire.EndGroupType), err
		}
		m, err := r.appendMessage(nil, f.Message, closing(open))
		return protowire.AppendBytes(protowire.AppendTag(b, f.Number, protowire.BytesType), m), err
	}
	if f.Kind == "string" || f.Kind == "bytes" {
		s, err := r.strings(name)
		if err == nil && f.Kind == "string" && !utf8.Valid(s) {
			err = r.fail("%s is no valid UTF-8", name)
		}
		return protowire.AppendBytes(protowire.AppendTag(b, f.Number, protowire.BytesType), s), err
	}
	sign, err := r.take("-")
	if err != nil {
		return nil, err
	}
	if f.Kind == "enum" {
		n, ok := f.Enum(r.tok)
		if !ok {
			v, err := strconv.ParseInt(sign+r.tok, 0, 32)
			if err != nil {
				return nil, r.fail("%q is no value of %s", sign+r.tok, name)
			}
			n = int32(v)
		}
		return f.Append(b, uint64(int64(n))), r.next()
	}
	x := reflect.New(textTypes[f.Kind]).Elem()
	if err := r.scalar(textField{name: name, kind: f.Kind}, x, sign); err != nil {
		return nil, err
	}
	v := uint64(0)
	switch {
	case x.CanInt():
		v = uint64(x.Int())
	case x.CanUint():
		v = x.Uint()
	case x.CanFloat():
		v = math.Float64bits(x.Float())
	case x.Bool():
		v = 1
	}
	return f.Append(b, v), r.next()
}

package rest

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/tensor"
)

// elements collects the elements of one tensor.
type elements interface {
	// read appends the next element.
	read(s *scanner) *Error
	// tensor returns the elements as a tensor of this shape.
	tensor(shape []int) (*tensor.Tensor, error)
}

// collect is the [elements] of a type whose storage is a slice of T.
type collect[T tensor.Element] struct {
	dtype  tensor.DType
	values []T
	parse  func(s *scanner, d tensor.DType) (T, *Error)
}

func (c *collect[T]) read(s *scanner) *Error {
	v, err := c.parse(s, c.dtype)
	if err == nil {
		c.values = append(c.values, v)
	}
	return err
}

func (c *collect[T]) tensor(shape []int) (*tensor.Tensor, error) {
	return tensor.New(c.values, shape...)
}

// collectStrings is the [elements] of strings.
type collectStrings struct{ values []string }

func (c *collectStrings) read(s *scanner) *Error {
	v, err := readString(s)
	if err == nil {
		c.values = append(c.values, v)
	}
	return err
}

func (c *collectStrings) tensor(shape []int) (*tensor.Tensor, error) {
	return tensor.FromStrings(tensor.String, c.values, shape...)
}

// elementsOf returns the collector of elements of type d, nil for types that JSON can't hold: resources
// and variants. Every type here has a case in writer.appenderOf too.
func elementsOf(d tensor.DType) elements {
	switch d {
	case tensor.String:
		return &collectStrings{}
	case tensor.Bool:
		return &collect[bool]{d, nil, readBool}
	case tensor.Int8:
		return signed(d, 8, func(i int64) int8 { return int8(i) })
	case tensor.Int16:
		return signed(d, 16, func(i int64) int16 { return int16(i) })
	case tensor.Int32:
		return signed(d, 32, func(i int64) int32 { return int32(i) })
	case tensor.Int64:
		return signed(d, 64, func(i int64) int64 { return i })
	case tensor.Int4:
		return signed(d, 4, tensor.ToI4)
	case tensor.Int2:
		return signed(d, 2, tensor.ToI2)
	case tensor.QInt8:
		return signed(d, 8, func(i int64) tensor.Q8 { return tensor.Q8(i) })
	case tensor.QInt16:
		return signed(d, 16, func(i int64) tensor.Q16 { return tensor.Q16(i) })
	case tensor.QInt32:
		return signed(d, 32, func(i int64) tensor.Q32 { return tensor.Q32(i) })
	case tensor.Uint8:
		return unsigned(d, 8, func(i uint64) uint8 { return uint8(i) })
	case tensor.Uint16:
		return unsigned(d, 16, func(i uint64) uint16 { return uint16(i) })
	case tensor.Uint32:
		return unsigned(d, 32, func(i uint64) uint32 { return uint32(i) })
	case tensor.Uint64:
		return unsigned(d, 64, func(i uint64) uint64 { return i })
	case tensor.Uint4:
		return unsigned(d, 4, func(i uint64) tensor.U4 { return tensor.ToU4(int64(i)) })
	case tensor.Uint2:
		return unsigned(d, 2, func(i uint64) tensor.U2 { return tensor.ToU2(int64(i)) })
	case tensor.QUint8:
		return unsigned(d, 8, func(i uint64) tensor.QU8 { return tensor.QU8(i) })
	case tensor.QUint16:
		return unsigned(d, 16, func(i uint64) tensor.QU16 { return tensor.QU16(i) })
	case tensor.Float64:
		return &collect[float64]{d, nil, readFloat64}
	case tensor.Float32:
		return &collect[float32]{d, nil, readFloat32}
	case tensor.Float16:
		return narrow(d, tensor.ToF16, tensor.F16.Float)
	case tensor.BFloat16:
		return narrow(d, tensor.ToBF16, tensor.BF16.Float)
	case tensor.Float8E5M2:
		return narrow(d, tensor.ToF8E5M2, tensor.F8E5M2.Float)
	case tensor.Float8E4M3FN:
		return narrow(d, tensor.ToF8E4M3FN, tensor.F8E4M3FN.Float)
	case tensor.Float8E4M3FNUZ:
		return narrow(d, tensor.ToF8E4M3FNUZ, tensor.F8E4M3FNUZ.Float)
	case tensor.Float8E4M3B11FNUZ:
		return narrow(d, tensor.ToF8E4M3B11FNUZ, tensor.F8E4M3B11FNUZ.Float)
	case tensor.Float8E5M2FNUZ:
		return narrow(d, tensor.ToF8E5M2FNUZ, tensor.F8E5M2FNUZ.Float)
	case tensor.Float4E2M1FN:
		return narrow(d, tensor.ToF4E2M1FN, tensor.F4E2M1FN.Float)
	case tensor.Complex64:
		return &collect[complex64]{d, nil, func(s *scanner, d tensor.DType) (complex64, *Error) {
			re, im, err := readComplex(s, d, readFloat32)
			return complex(re, im), err
		}}
	case tensor.Complex128:
		return &collect[complex128]{d, nil, func(s *scanner, d tensor.DType) (complex128, *Error) {
			re, im, err := readComplex(s, d, readFloat64)
			return complex(re, im), err
		}}
	}
	return nil
}

// notOfType returns the error about a value of another kind than the type's.
func notOfType(s *scanner, d tensor.DType, want string) *Error {
	at := s.at
	return fault(at, "%s can't be %s (want %s)", s.value(), article(d), want)
}

// article returns the type's name with its article.
func article(d tensor.DType) string {
	name := d.String()
	if strings.ContainsAny(name[:1], "aeio") {
		return "an " + name
	}
	return "a " + name
}

func readBool(s *scanner, d tensor.DType) (bool, *Error) {
	s.next()
	switch {
	case s.word("true"):
		return true, nil
	case s.word("false"):
		return false, nil
	}
	return false, notOfType(s, d, "true or false")
}

// readString reads a string or {"b64": "…"}.
func readString(s *scanner) (string, *Error) {
	switch s.next() {
	case '"':
		return s.text()
	case '{':
		return readBase64(s)
	}
	return "", notOfType(s, tensor.String, `a string, or {"b64": "…"}`)
}

// readBase64 reads {"b64": "…"}, padded or not. Spaces and line breaks between the digits, which
// encoders add to long texts, have no meaning.
func readBase64(s *scanner) (out string, err *Error) {
	if !isBase64(s) {
		return "", fault(s.at, `an object can't be a string (want {"b64": "…"} and nothing else in it)`)
	}
	err = s.object(func(string, int) *Error {
		at := s.at
		text, err := s.text()
		if err != nil {
			return err
		}
		text = strings.Map(func(r rune) rune {
			if strings.ContainsRune(" \t\r\n\v\f", r) {
				return -1
			}
			return r
		}, text)
		digits := strings.TrimRight(text, "=")
		b, bad := base64.RawStdEncoding.Strict().DecodeString(digits)
		if bad != nil || len(text)-len(digits) > 2 {
			return fault(at, "%s is no base64", quote(text))
		}
		out = string(b)
		return nil
	})
	return out, err
}

const base64Key = "b64"

// isBase64 reports whether the next value is {"b64": "…"}.
func isBase64(s *scanner) bool {
	c := *s
	if !c.take('{') || c.next() != '"' {
		return false
	}
	name, err := c.text()
	if err != nil || name != base64Key || !c.take(':') || c.next() != '"' {
		return false
	}
	return c.skipText() == nil && c.take('}')
}

// numeralOf reads the number that a type wants.
func numeralOf(s *scanner, d tensor.DType, want string) (numeral, *Error) {
	c := s.next()
	if c != '-' && c != 'N' && c != 'I' && !isDigit(c) {
		return numeral{}, notOfType(s, d, want)
	}
	return s.number()
}

// signed collects signed integers of so many bits.
func signed[T tensor.Element](d tensor.DType, bits int, to func(int64) T) elements {
	lo, hi := int64(-1)<<(bits-1), int64(1)<<(bits-1)-1
	return &collect[T]{d, nil, func(s *scanner, d tensor.DType) (v T, err *Error) {
		n, at, err := readWhole(s, d)
		if err != nil {
			return v, err
		}
		negative := n.text[0] == '-'
		u, ok := magnitude(n.text)
		switch {
		case ok && !negative && u <= uint64(hi):
			return to(int64(u)), nil
		case ok && negative && u <= uint64(hi)+1:
			return to(-int64(u)), nil
		}
		return v, fault(at, "%s is out of range (%s holds %d to %d)", clip(string(n.text)), article(d), lo, hi)
	}}
}

// unsigned collects unsigned integers of so many bits.
func unsigned[T tensor.Element](d tensor.DType, bits int, to func(uint64) T) elements {
	hi := ^uint64(0) >> (64 - bits)
	return &collect[T]{d, nil, func(s *scanner, d tensor.DType) (v T, err *Error) {
		n, at, err := readWhole(s, d)
		if err != nil {
			return v, err
		}
		if u, ok := magnitude(n.text); ok && u <= hi && (n.text[0] != '-' || u == 0) {
			return to(u), nil
		}
		return v, fault(at, "%s is out of range (%s holds 0 to %d)", clip(string(n.text)), article(d), hi)
	}}
}

// readWhole reads a number without fraction and exponent.
func readWhole(s *scanner, d tensor.DType) (n numeral, at int, err *Error) {
	s.next()
	at = s.at
	n, err = numeralOf(s, d, "a whole number")
	if err == nil && n.kind != whole {
		err = fault(at, "%s can't be %s (want a whole number, without point or exponent)", clip(string(n.text)), article(d))
	}
	return n, at, err
}

// magnitude returns a whole number without its sign; false if it takes more than 64 bits. JSON allows
// no leading zeros, so such a number has at most 20 digits.
func magnitude(text []byte) (uint64, bool) {
	if text[0] == '-' {
		text = text[1:]
	}
	if len(text) > 20 {
		return 0, false
	}
	u := uint64(0)
	for i, c := range text {
		x := uint64(c - '0')
		if i >= 19 && (u > math.MaxUint64/10 || u == math.MaxUint64/10 && x > math.MaxUint64%10) {
			return 0, false
		}
		u = u*10 + x
	}
	return u, true
}

const wantNumber = "a number"

func readFloat32(s *scanner, d tensor.DType) (float32, *Error) {
	f, _, err := readFloat(s, d, 32)
	return float32(f), err
}

func readFloat64(s *scanner, d tensor.DType) (float64, *Error) {
	f, _, err := readFloat(s, d, 64)
	return f, err
}

// nonFinites are the values that JSON has no numbers for.
var nonFinites = map[string]float64{"NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1)}

// readFloat reads a number as a float of 32 or 64 bits.
func readFloat(s *scanner, d tensor.DType, bits int) (f float64, n numeral, err *Error) {
	c := s.next()
	at := s.at
	if c == '"' {
		text, err := s.text()
		if err != nil {
			return 0, n, err
		}
		f, ok := nonFinites[text]
		if !ok {
			s.at = at
			return 0, n, notOfType(s, d, wantNumber)
		}
		return f, numeral{[]byte(text), nonFinite}, nil
	}
	if n, err = numeralOf(s, d, wantNumber); err != nil {
		return 0, n, err
	}
	if n.kind == nonFinite {
		return nonFinites[string(n.text)], n, nil
	}
	f, bad := strconv.ParseFloat(string(n.text), bits)
	if bad != nil { // the grammar was checked, so it is too large
		return 0, n, outOfRange(n, at, d)
	}
	if n.kind == whole && !holds(f, n.text) {
		return 0, n, inexact(n, at, d, f)
	}
	return f, n, nil
}

func outOfRange(n numeral, at int, d tensor.DType) *Error {
	return fault(at, "%s is out of %s's range", clip(string(n.text)), d)
}

// inexact returns the error about a whole number that a float type would change.
func inexact(n numeral, at int, d tensor.DType, nearest float64) *Error {
	return fault(at, "%s has no exact %s (the nearest is %s); with a point, as in %s.0, it is rounded",
		clip(string(n.text)), d, strconv.FormatFloat(nearest, 'f', -1, 64), clip(string(n.text)))
}

// holds reports whether a float is exactly the whole number in text.
func holds(f float64, text []byte) bool {
	if len(text) <= 7 {
		return true // below 2^24
	}
	var b [320]byte
	exact := strconv.AppendFloat(b[:0], f, 'f', 0, 64)
	if f == 0 {
		return true // text is 0 or -0, since JSON has no leading zeros
	}
	return string(exact) == string(text)
}

// narrow collects floats of under 32 bits: to rounds a float32, float converts
// back.
func narrow[T tensor.Element](d tensor.DType, to func(float32) T, float func(T) float32) elements {
	return &collect[T]{d, nil, func(s *scanner, d tensor.DType) (v T, err *Error) {
		s.next()
		at := s.at
		f, n, err := readFloat(s, d, 32)
		if err != nil {
			return v, err
		}
		v = to(float32(f))
		back := float64(float(v))
		switch {
		case math.IsNaN(f) != math.IsNaN(back) || math.IsInf(f, 0) != math.IsInf(back, 0):
			if n.kind == nonFinite {
				return v, fault(at, "%s has no %s", d, n.text)
			}
			return v, outOfRange(n, at, d)
		case n.kind == nonFinite && !math.IsNaN(f) && f != back:
			return v, fault(at, "%s has no %s", d, n.text)
		case d == tensor.Float4E2M1FN && math.Abs(f) >= 7: // midway between its largest, 6, and 8
			return v, outOfRange(n, at, d)
		case n.kind == whole && f != back:
			return v, inexact(n, at, d, back)
		}
		return v, nil
	}}
}

// readComplex reads [real, imaginary].
func readComplex[F float32 | float64](s *scanner, d tensor.DType, part func(*scanner, tensor.DType) (F, *Error)) (re, im F, err *Error) {
	const want = "[real, imaginary]"
	if s.next() != '[' {
		return 0, 0, notOfType(s, d, want)
	}
	begin := s.at
	n := 0
	err = s.list(func(i int) *Error {
		n++
		var err *Error
		switch i {
		case 0:
			re, err = part(s, d)
		case 1:
			im, err = part(s, d)
		default:
			return fault(begin, "a list of more than two numbers can't be %s (want %s)", article(d), want)
		}
		return err.under(i)
	})
	if err == nil && n != 2 {
		err = fault(begin, "a list of %d can't be %s (want %s)", n, article(d), want)
	}
	return re, im, err
}

// isComplexElement reports whether the next value is a complex number, and not
// a list of such.
func isComplexElement(s *scanner) bool {
	c := *s
	return !c.take('[') || c.next() != '[' && c.next() != ']'
}

// describe returns "float32[?,4]".
func (s Spec) describe() string {
	if s.Shape == nil {
		return fmt.Sprintf("%v of any shape", s.DType)
	}
	return fmt.Sprintf("%v%v", s.DType, s.Shape)
}

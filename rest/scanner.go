package rest

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/cairnml/cairn/tensor"
)

// MaxDepth is the depth to which lists and objects of a document may nest: a tensor's largest number of
// dimensions, and the objects around it.
const MaxDepth = tensor.MaxRank + 8

// scanner goes through a JSON document: RFC 8259, and the numbers NaN, Infinity
// and -Infinity.
type scanner struct {
	b  []byte // the document
	at int    // the offset of the next byte
}

// next skips white space and returns the byte that follows, 0 at the end.
func (s *scanner) next() byte {
	for s.at < len(s.b) {
		switch c := s.b[s.at]; c {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return c
		}
	}
	return 0
}

// take skips white space and the byte c, if it follows.
func (s *scanner) take(c byte) bool {
	if s.next() != c || s.at >= len(s.b) {
		return false
	}
	s.at++
	return true
}

// unexpected returns the error of syntax at the present place.
func (s *scanner) unexpected(want string) *Error {
	if s.next() == 0 && s.at >= len(s.b) {
		return fault(s.at, "the JSON ends early (want %s)", want)
	}
	r, n := utf8.DecodeRune(s.b[s.at:])
	got := strconv.QuoteRune(r)
	if r == utf8.RuneError && n == 1 {
		got = fmt.Sprintf("the byte 0x%02x", s.b[s.at])
	}
	return fault(s.at, "the JSON is broken: got %s (want %s)", got, want)
}

// object calls field for each field; field reads the value.
func (s *scanner) object(field func(name string, at int) *Error) *Error {
	if !s.take('{') {
		return s.unexpected("an object")
	}
	if s.take('}') {
		return nil
	}
	for {
		if s.next() != '"' {
			return s.unexpected("a field's name in quotes")
		}
		at := s.at
		name, err := s.text()
		if err != nil {
			return err
		}
		if !s.take(':') {
			return s.unexpected("':' after the name " + quote(name))
		}
		s.next()
		if err := field(name, at); err != nil {
			return err
		}
		if s.take(',') {
			continue
		}
		if !s.take('}') {
			return s.unexpected("',' or '}' after a field")
		}
		return nil
	}
}

// list calls element for each element; element reads it.
func (s *scanner) list(element func(i int) *Error) *Error {
	if !s.take('[') {
		return s.unexpected("a list")
	}
	if s.take(']') {
		return nil
	}
	for i := 0; ; i++ {
		s.next()
		if err := element(i); err != nil {
			return err
		}
		if s.take(',') {
			continue
		}
		if !s.take(']') {
			return s.unexpected("',' or ']' after an element")
		}
		return nil
	}
}

// skip goes over a value of any kind and returns its bytes. It does not recurse.
func (s *scanner) skip() ([]byte, *Error) {
	s.next()
	begin := s.at
	var open [MaxDepth]byte // the brackets that are open
	depth := 0
	for {
		switch c := s.next(); c {
		case '[', '{':
			if depth == MaxDepth {
				return nil, fault(s.at, "lists and objects nest deeper than %d", MaxDepth)
			}
			s.at++
			open[depth] = c
			depth++
			if s.take(c + 2) { // ']' is '[' + 2, '}' is '{' + 2
				depth--
				break
			}
			if c == '{' {
				if err := s.skipName(); err != nil {
					return nil, err
				}
			}
			continue
		case '"':
			if err := s.skipText(); err != nil {
				return nil, err
			}
		default:
			if err := s.skipWord(c); err != nil {
				return nil, err
			}
		}
		// A value has ended; so do lists and objects that it was the last of.
		for {
			if depth == 0 {
				return s.b[begin:s.at], nil
			}
			top := open[depth-1]
			if s.take(',') {
				if top == '{' {
					if err := s.skipName(); err != nil {
						return nil, err
					}
				}
				break
			}
			if !s.take(top + 2) {
				return nil, s.unexpected("',' or '" + string(rune(top+2)) + "'")
			}
			depth--
		}
	}
}

// skipName goes over a field's name and the colon.
func (s *scanner) skipName() *Error {
	if s.next() != '"' {
		return s.unexpected("a field's name in quotes")
	}
	if err := s.skipText(); err != nil {
		return err
	}
	if !s.take(':') {
		return s.unexpected("':' after a field's name")
	}
	return nil
}

// skipWord goes over null, true, false or a number.
func (s *scanner) skipWord(c byte) *Error {
	switch c {
	case 'n', 't', 'f':
		if s.word("null") || s.word("true") || s.word("false") {
			return nil
		}
		return s.unexpected("a value")
	}
	_, err := s.number()
	return err
}

// word skips a word, if it is next.
func (s *scanner) word(w string) bool {
	if !bytes.HasPrefix(s.b[s.at:], []byte(w)) {
		return false
	}
	s.at += len(w)
	return true
}

// skipText skips a string; its contents are checked when it is read.
func (s *scanner) skipText() *Error {
	begin := s.at
	for s.at++; s.at < len(s.b); s.at++ {
		switch s.b[s.at] {
		case '"':
			s.at++
			return nil
		case '\\':
			s.at++
		}
	}
	s.at = len(s.b)
	return fault(begin, "the JSON ends inside of a string")
}

// text reads a string.
func (s *scanner) text() (string, *Error) {
	begin := s.at
	if !s.take('"') {
		return "", s.unexpected("a string")
	}
	from := s.at
	for s.at < len(s.b) {
		switch c := s.b[s.at]; {
		case c == '"':
			t := s.b[from:s.at]
			s.at++
			if !utf8.Valid(t) {
				return "", fault(begin, `the string is no UTF-8; bytes that are no text are given as {"b64": "…"}`)
			}
			return string(t), nil
		case c == '\\':
			return s.escaped(begin, from)
		case c < ' ':
			return "", fault(s.at, "a string holds the control character 0x%02x (want an escape such as \\n)", c)
		}
		s.at++
	}
	return "", fault(begin, "the JSON ends inside of a string")
}

// escaped reads the rest of a string that begins at from; the first escape is
// next.
func (s *scanner) escaped(begin, from int) (string, *Error) {
	t := append([]byte(nil), s.b[from:s.at]...)
	for s.at < len(s.b) {
		c := s.b[s.at]
		switch {
		case c == '"':
			s.at++
			if !utf8.Valid(t) {
				return "", fault(begin, `the string is no UTF-8; bytes that are no text are given as {"b64": "…"}`)
			}
			return string(t), nil
		case c < ' ':
			return "", fault(s.at, "a string holds the control character 0x%02x (want an escape such as \\n)", c)
		case c != '\\':
			t = append(t, c)
			s.at++
			continue
		}
		if s.at+1 >= len(s.b) {
			break
		}
		if s.b[s.at+1] == 'u' {
			r, err := s.unicode()
			if err != nil {
				return "", err
			}
			t = utf8.AppendRune(t, r)
			continue
		}
		r, ok := escapes[s.b[s.at+1]]
		if !ok {
			return "", fault(s.at, "a string holds the escape %q, which JSON lacks", s.b[s.at:s.at+2])
		}
		t = append(t, r)
		s.at += 2
	}
	return "", fault(begin, "the JSON ends inside of a string")
}

// escapes are JSON's escapes of one letter.
var escapes = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unicode reads \uXXXX, or two of them that are a surrogate pair.
func (s *scanner) unicode() (rune, *Error) {
	begin := s.at
	r := s.hex4()
	if utf16.IsSurrogate(r) && s.at+1 < len(s.b) && s.b[s.at] == '\\' && s.b[s.at+1] == 'u' {
		r = utf16.DecodeRune(r, s.hex4())
	}
	if r < 0 || r == utf8.RuneError && string(s.b[begin:s.at]) != `\ufffd` && string(s.b[begin:s.at]) != `\uFFFD` || utf16.IsSurrogate(r) {
		return 0, fault(begin, "a string has the escape %q, which is no character", clip(string(s.b[begin:min(len(s.b), begin+12)])))
	}
	return r, nil
}

// hex4 reads \uXXXX; -1 where the digits are wrong.
func (s *scanner) hex4() rune {
	if s.at+6 > len(s.b) {
		s.at = len(s.b)
		return -1
	}
	r := rune(0)
	for _, c := range s.b[s.at+2 : s.at+6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	s.at += 6
	return r
}

// numeral is a number as it is written.
type numeral struct {
	text []byte
	kind numeralKind
}

type numeralKind uint8

const (
	whole     numeralKind = iota // digits alone
	decimal                      // with a point or an exponent
	nonFinite                    // NaN, Infinity, -Infinity
)

// number reads a number.
func (s *scanner) number() (numeral, *Error) {
	begin := s.at
	n := numeral{}
	if s.at < len(s.b) && s.b[s.at] == '-' {
		s.at++
	}
	if s.at < len(s.b) && (s.b[s.at] == 'N' || s.b[s.at] == 'I') {
		if s.word("Infinity") || s.at == begin && s.word("NaN") {
			return numeral{s.b[begin:s.at], nonFinite}, nil
		}
		return n, s.unexpected("a value, such as NaN, Infinity or -Infinity")
	}
	switch {
	case s.at < len(s.b) && s.b[s.at] == '0':
		s.at++
		if s.at < len(s.b) && isDigit(s.b[s.at]) {
			return n, fault(begin, "the number begins with a needless 0")
		}
	case !s.digits():
		if s.at == begin {
			return n, s.unexpected("a value")
		}
		return n, s.unexpected("a digit")
	}
	if s.at < len(s.b) && s.b[s.at] == '.' {
		n.kind = decimal
		if s.at++; !s.digits() {
			return n, s.unexpected("a digit after the point")
		}
	}
	if s.at < len(s.b) && (s.b[s.at] == 'e' || s.b[s.at] == 'E') {
		n.kind = decimal
		s.at++
		if s.at < len(s.b) && (s.b[s.at] == '+' || s.b[s.at] == '-') {
			s.at++
		}
		if !s.digits() {
			return n, s.unexpected("an exponent's digit")
		}
	}
	n.text = s.b[begin:s.at]
	return n, nil
}

// digits goes over digits and reports whether there were any.
func (s *scanner) digits() bool {
	begin := s.at
	for s.at < len(s.b) && isDigit(s.b[s.at]) {
		s.at++
	}
	return s.at > begin
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// value describes the next value, for errors.
func (s *scanner) value() string {
	switch c := s.next(); {
	case c == '[':
		return "a list"
	case c == '{':
		return "an object"
	case c == '"':
		at := s.at
		t, err := s.text()
		s.at = at
		if err != nil {
			return "a string"
		}
		return "the string " + quote(t)
	}
	at := s.at
	raw, err := s.skip()
	s.at = at
	if err != nil {
		return "a broken value"
	}
	return clip(string(raw))
}

package statefile

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// The syntax is that of protobuf's text format (google.protobuf.text_format), which TensorFlow parses with:
// comments, both quotes, escapes.

type tokKind int

const (
	tokEOF tokKind = iota
	tokIdent
	tokNumber // digits, points, exponents, unparsed
	tokString // unquoted
	tokPunct  // one of : { } < > [ ] , ; - / .
)

type token struct {
	kind tokKind
	text string
	at   int // offset in bytes
}

func (t token) String() string {
	switch t.kind {
	case tokEOF:
		return "the end of the file"
	case tokString:
		return fmt.Sprintf("the string %q", clip(t.text))
	}
	return fmt.Sprintf("%q", clip(t.text))
}

func clip(s string) string {
	if len(s) <= 40 {
		return s
	}
	cut := 40
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// lexer cuts text proto into tokens. The first error sticks, and from then on
// every token is the end of the file.
type lexer struct {
	src []byte
	pos int
	tok token
	err *Error
}

// fail records the first error, at an offset, and makes the rest of the text empty.
func (l *lexer) fail(at int, format string, args ...any) {
	if l.err == nil {
		e := &Error{Line: 1, Col: 1, What: fmt.Sprintf(format, args...)}
		for _, c := range l.src[:min(at, len(l.src))] {
			if e.Col++; c == '\n' {
				e.Line, e.Col = e.Line+1, 1
			}
		}
		l.err = e
	}
	l.pos, l.tok = len(l.src), token{kind: tokEOF, at: len(l.src)}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isLetter(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// next reads the next token into l.tok.
func (l *lexer) next() {
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; c {
		case ' ', '\t', '\n', '\r', '\v', '\f':
			l.pos++
			continue
		case '#':
			for l.pos < len(l.src) && l.src[l.pos] != '\n' {
				l.pos++
			}
			continue
		}
		break
	}
	at := l.pos
	if at >= len(l.src) {
		l.tok = token{kind: tokEOF, at: at}
		return
	}
	switch c := l.src[at]; {
	case isLetter(c):
		for l.pos < len(l.src) && (isLetter(l.src[l.pos]) || isDigit(l.src[l.pos])) {
			l.pos++
		}
		l.tok = token{tokIdent, string(l.src[at:l.pos]), at}
	case isDigit(c), c == '.' && at+1 < len(l.src) && isDigit(l.src[at+1]):
		for l.pos < len(l.src) {
			c := l.src[l.pos]
			sign := (c == '-' || c == '+') && (l.src[l.pos-1] == 'e' || l.src[l.pos-1] == 'E')
			if !isDigit(c) && !isLetter(c) && c != '.' && !sign {
				break
			}
			l.pos++
		}
		l.tok = token{tokNumber, string(l.src[at:l.pos]), at}
	case c == '"' || c == '\'':
		l.quoted(at, c)
	case c == ':' || c == '{' || c == '}' || c == '<' || c == '>' || c == '[' || c == ']' ||
		c == ',' || c == ';' || c == '-' || c == '/' || c == '.':
		l.pos++
		l.tok = token{tokPunct, string(c), at}
	default:
		r, n := utf8.DecodeRune(l.src[at:])
		if r == utf8.RuneError && n == 1 {
			l.fail(at, "the byte 0x%02x is no text", c)
			return
		}
		l.fail(at, "got the character %q (want a field's name)", r)
	}
}

// quoted reads a string from its opening quote on.
func (l *lexer) quoted(at int, quote byte) {
	var out []byte
	for i := at + 1; i < len(l.src); {
		switch c := l.src[i]; c {
		case quote:
			l.pos = i + 1
			if !utf8.Valid(out) {
				l.fail(at, "the string is not valid UTF-8")
				return
			}
			l.tok = token{tokString, string(out), at}
			return
		case '\n':
			l.fail(at, "the string has no closing quote on its line")
			return
		case '\\':
			var n int
			if out, n = l.escape(out, i); n == 0 {
				return
			}
			i += n
		default:
			out = append(out, c)
			i++
		}
	}
	l.fail(at, "the string has no closing quote")
}

// escape appends the character of the backslash at i, and returns the number of
// bytes consumed; 0 after a failure.
func (l *lexer) escape(out []byte, i int) ([]byte, int) {
	digits := func(from, most, base int) (v uint64, n int) {
		for n < most && from+n < len(l.src) {
			d, err := strconv.ParseUint(string(l.src[from+n]), base, 8)
			if err != nil {
				break
			}
			v, n = v*uint64(base)+d, n+1
		}
		return v, n
	}
	if i+1 >= len(l.src) {
		l.fail(i, "the string has no closing quote")
		return out, 0
	}
	simple := func(c byte) ([]byte, int) { return append(out, c), 2 }
	switch c := l.src[i+1]; c {
	case 'a':
		return simple('\a')
	case 'b':
		return simple('\b')
	case 'f':
		return simple('\f')
	case 'n':
		return simple('\n')
	case 'r':
		return simple('\r')
	case 't':
		return simple('\t')
	case 'v':
		return simple('\v')
	case '\\', '\'', '"', '?':
		return simple(c)
	case '0', '1', '2', '3', '4', '5', '6', '7':
		v, n := digits(i+1, 3, 8)
		if v > 0xff {
			l.fail(i, "the escape \\%o is beyond a byte", v)
			return out, 0
		}
		return append(out, byte(v)), 1 + n
	case 'x', 'X':
		v, n := digits(i+2, 2, 16)
		if n == 0 {
			l.fail(i, "the escape \\%c needs a hexadecimal digit", c)
			return out, 0
		}
		return append(out, byte(v)), 2 + n
	case 'u', 'U':
		want := 4
		if c == 'U' {
			want = 8
		}
		v, n := digits(i+2, want, 16)
		if n != want || !utf8.ValidRune(rune(v)) {
			l.fail(i, "the escape \\%c needs %d hexadecimal digits that make a character", c, want)
			return out, 0
		}
		return utf8.AppendRune(out, rune(v)), 2 + n
	default:
		l.fail(i, "the escape \\%c is unknown", rune(c))
		return out, 0
	}
}

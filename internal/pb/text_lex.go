package pb

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A TextError reports the place of a fault in a message in text format.
type TextError struct {
	Line, Column int // both from 1; a column is a byte
	Reason       string
}

// Error names the place and the reason.
func (e *TextError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
}

// lexer cuts text into tokens. A token is a punctuation mark, a word (a name or
// a number) or a quoted string.
type lexer struct {
	text string
	at   int    // offset of the token
	tok  string // as in the text; "" at the end
}

func (l *lexer) fail(format string, args ...any) error {
	before := l.text[:l.at]
	return &TextError{
		Line:   1 + strings.Count(before, "\n"),
		Column: l.at - strings.LastIndexByte(before, '\n'),
		Reason: fmt.Sprintf(format, args...),
	}
}

// next moves to the next token.
func (l *lexer) next() error {
	l.at += len(l.tok)
	for l.at < len(l.text) {
		switch c := l.text[l.at]; {
		case c == '#':
			if i := strings.IndexByte(l.text[l.at:], '\n'); i >= 0 {
				l.at += i
			} else {
				l.at = len(l.text)
			}
		case c == ' ' || c >= '\t' && c <= '\r':
			l.at++
		default:
			return l.scan()
		}
	}
	l.tok = ""
	return nil
}

func (l *lexer) scan() error {
	rest := l.text[l.at:]
	n := 1
	switch c := rest[0]; {
	case c == '"' || c == '\'':
		for n < len(rest) && rest[n] != c && rest[n] != '\n' {
			if rest[n] == '\\' {
				n++
			}
			n++
		}
		if n >= len(rest) || rest[n] != c {
			l.tok = ""
			return l.fail("a string is not closed")
		}
		n++
	case wordByte(c):
		for n < len(rest) && (wordByte(rest[n]) || (rest[n] == '-' || rest[n] == '+') && exponent(rest[:n])) {
			n++
		}
	case strings.IndexByte("{}<>[]:;,-/", c) < 0:
		r, _ := utf8.DecodeRuneInString(rest)
		return l.fail("unexpected %q", r)
	}
	l.tok = rest[:n]
	return nil
}

func wordByte(c byte) bool {
	return c == '_' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// exponent reports whether a sign may follow in a number.
func exponent(s string) bool {
	last := s[len(s)-1] | 0x20
	return last == 'e' && (s[0] >= '0' && s[0] <= '9' || s[0] == '.') && !strings.HasPrefix(s, "0x") && !strings.HasPrefix(s, "0X")
}

func (l *lexer) quoted() bool { return l.tok != "" && (l.tok[0] == '"' || l.tok[0] == '\'') }

// unquote appends the bytes of the token, a quoted string, to out.
func (l *lexer) unquote(out []byte) ([]byte, error) {
	s := l.tok[1 : len(l.tok)-1]
	for i := 0; i < len(s); {
		plain := strings.IndexByte(s[i:], '\\')
		if plain < 0 {
			plain = len(s) - i
		}
		out = append(out, s[i:i+plain]...)
		if i += plain; i == len(s) {
			break
		}
		c := s[i+1] // a string never ends in a single backslash
		i += 2
		if k := strings.IndexByte(`abfnrtv\'"?`, c); k >= 0 {
			out = append(out, "\a\b\f\n\r\t\v\\'\"?"[k])
			continue
		}
		digits, base := 0, 16
		switch {
		case c >= '0' && c <= '7':
			i-- // c is the first of the digits
			digits, base = 3, 8
		case c == 'x' || c == 'X':
			digits = 2
		case c == 'u':
			digits = 4
		case c == 'U':
			digits = 8
		}
		n := 0
		for n < digits && i+n < len(s) && digitBelow(s[i+n], base) {
			n++
		}
		v, err := strconv.ParseUint(s[i:i+n], base, 32)
		i += n
		switch {
		case err != nil || digits == 4 && n < 4 || digits == 8 && n < 8 || v > 0xff && base == 8:
			return nil, l.fail("a string has an unknown escape")
		case digits < 4:
			out = append(out, byte(v))
		case !utf8.ValidRune(rune(v)):
			return nil, l.fail("a string has an escape for %#x, which is no character", v)
		default:
			out = utf8.AppendRune(out, rune(v))
		}
	}
	return out, nil
}

// digitBelow reports whether c is a digit of a number with the given base, 8 or 16.
func digitBelow(c byte, base int) bool {
	switch {
	case c >= '0' && c <= '9':
		return int(c-'0') < base
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return base == 16
	}
	return false
}

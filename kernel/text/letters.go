package text

import (
	"fmt"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"github.com/cairnml/cairn/engine"
)

// The kernels of StringLower, StringUpper, StringStrip and StringLength.

// change is one of the two ways to change letters.
type change struct {
	ascii func(byte) byte
	full  func(...cases.Option) cases.Caser
}

var (
	// lower changes to lower case, upper to upper case.
	lower = change{func(b byte) byte {
		if 'A' <= b && b <= 'Z' {
			return b + 'a' - 'A'
		}
		return b
	}, func(o ...cases.Option) cases.Caser { return cases.Lower(language.Und, o...) }}
	upper = change{func(b byte) byte {
		if 'a' <= b && b <= 'z' {
			return b - ('a' - 'A')
		}
		return b
	}, func(o ...cases.Option) cases.Caser { return cases.Upper(language.Und, o...) }}
)

// letters changes ASCII letters only, or all letters if the encoding is utf-8.
func letters(how change) func(*engine.Node) (func(*engine.Call) error, error) {
	return func(n *engine.Node) (func(*engine.Call) error, error) {
		switch encoding := n.Attrs.String("encoding", ""); encoding {
		case "":
			return each(func(s string) (string, error) {
				b := []byte(s)
				for i := range b {
					b[i] = how.ascii(b[i])
				}
				return string(b), nil
			}), nil
		case "utf-8":
			return each(func(s string) (string, error) {
				// TensorFlow passes the text on as a C string.
				s, _, _ = strings.Cut(s, "\x00")
				caser := how.full() // has state, so each call makes its own
				return caser.String(validUTF8(s)), nil
			}), nil
		default:
			return nil, fmt.Errorf("the encoding is %q, not utf-8 or empty", encoding)
		}
	}
}

// strip removes ASCII white space from both ends.
func strip(s string) (string, error) { return strings.Trim(s, " \t\n\v\f\r"), nil }

// unit reports whether an op counts in characters; otherwise it counts in
// bytes.
func unit(n *engine.Node) (chars bool, err error) {
	switch u := n.Attrs.String("unit", "BYTE"); u {
	case "BYTE":
		return false, nil
	case "UTF8_CHAR":
		return true, nil
	default:
		return false, fmt.Errorf("the unit is %q, not BYTE or UTF8_CHAR", u)
	}
}

// trails reports whether a byte continues a UTF-8 character.
func trails(b byte) bool { return b&0xc0 == 0x80 }

// countChars counts the bytes that begin a character, valid or not.
func countChars(s string) int {
	n := 0
	for i := range len(s) {
		if !trails(s[i]) {
			n++
		}
	}
	return n
}

// length prepares StringLength, in bytes or in characters.
func length(n *engine.Node) (func(*engine.Call) error, error) {
	chars, err := unit(n)
	if err != nil {
		return nil, err
	}
	if chars {
		return eachText(func(s string) int32 { return int32(countChars(s)) }), nil
	}
	return eachText(func(s string) int32 { return int32(len(s)) }), nil
}

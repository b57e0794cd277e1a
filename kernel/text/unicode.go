package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of UnicodeDecode, UnicodeDecodeWithOffsets, UnicodeEncode and
// UnicodeTranscode. How many bytes an error takes is as in ICU, which
// TensorFlow uses; it decides the number of replacements, so it must stay.

// decoder reads the first character of a text that is not empty. It returns the
// number of bytes, and whether they are a valid character.
type decoder func(s string) (r rune, size int, ok bool)

// decoderOf returns the decoder of an encoding, whose name may be written in any
// case and with any punctuation.
func decoderOf(encoding string) (decoder, error) {
	name := strings.Map(func(r rune) rune {
		if r = unicode.ToLower(r); 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, encoding)
	switch name {
	case "utf8":
		return nextUTF8, nil
	case "utf16be":
		return utf16Decoder(1, 0), nil
	case "utf16le":
		return utf16Decoder(0, 1), nil
	case "utf32be":
		return utf32Decoder(func(s string) uint32 {
			return uint32(s[0])<<24 | uint32(s[1])<<16 | uint32(s[2])<<8 | uint32(s[3])
		}), nil
	case "utf32le":
		return utf32Decoder(func(s string) uint32 {
			return uint32(s[3])<<24 | uint32(s[2])<<16 | uint32(s[1])<<8 | uint32(s[0])
		}), nil
	case "usascii", "ascii":
		return func(s string) (rune, int, bool) { return rune(s[0]), 1, s[0] < utf8.RuneSelf }, nil
	case "latin1", "l1":
		name = "iso88591"
	}
	if strings.HasPrefix(name, "cp125") {
		name = "windows" + name[2:]
	}
	for _, m := range charmap.All {
		table, ok := m.(*charmap.Charmap)
		if !ok || strings.NewReplacer(" ", "", "-", "").Replace(strings.ToLower(table.String())) != name {
			continue
		}
		return func(s string) (rune, int, bool) {
			r := table.DecodeByte(s[0])
			if r == utf8.RuneError && s[0] < 0xa0 {
				return rune(s[0]), 1, true // an unused byte is a control character
			}
			return r, 1, r != utf8.RuneError
		}, nil
	}
	return nil, fmt.Errorf("can't read the encoding %q; it reads UTF-8, UTF-16 and UTF-32 (BE and LE), US-ASCII, ISO-8859, Windows and KOI8 code pages", encoding)
}

// nextUTF8 skips invalid bytes as Unicode recommends: as many as are the
// beginning of a character.
func nextUTF8(s string) (rune, int, bool) {
	r, n := utf8.DecodeRuneInString(s)
	if r != utf8.RuneError || n > 1 {
		return r, n, true
	}
	if n = 1; s[0] < 0xc2 || s[0] > 0xf4 {
		return r, n, false
	}
	want := 2
	low, high := byte(0x80), byte(0xbf) // of the second byte
	switch {
	case s[0] >= 0xf0:
		want = 4
		if s[0] == 0xf0 {
			low = 0x90
		} else if s[0] == 0xf4 {
			high = 0x8f
		}
	case s[0] >= 0xe0:
		want = 3
		if s[0] == 0xe0 {
			low = 0xa0
		} else if s[0] == 0xed {
			high = 0x9f
		}
	}
	for n < want && n < len(s) && low <= s[n] && s[n] <= high {
		n++
		low, high = 0x80, 0xbf
	}
	return r, n, false
}

// utf16Decoder reads units whose low and high bytes have these offsets.
func utf16Decoder(low, high int) decoder {
	unit := func(s string) rune { return rune(s[high])<<8 | rune(s[low]) }
	return func(s string) (rune, int, bool) {
		if len(s) < 2 {
			return utf8.RuneError, len(s), false
		}
		switch r := unit(s); {
		case r < 0xd800 || r > 0xdfff:
			return r, 2, true
		case r < 0xdc00 && len(s) >= 4:
			if q := unit(s[2:]); 0xdc00 <= q && q <= 0xdfff {
				return 0x10000 + (r-0xd800)<<10 + (q - 0xdc00), 4, true
			}
		case r < 0xdc00:
			return utf8.RuneError, len(s), false
		}
		return utf8.RuneError, 2, false
	}
}

// utf32Decoder reads units of four bytes.
func utf32Decoder(unit func(string) uint32) decoder {
	return func(s string) (rune, int, bool) {
		if len(s) < 4 {
			return utf8.RuneError, len(s), false
		}
		if u := unit(s); u <= unicode.MaxRune && utf8.ValidRune(rune(u)) {
			return rune(u), 4, true
		}
		return utf8.RuneError, 4, false
	}
}

// validUTF8 returns s with U+FFFD for invalid bytes.
func validUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for s != "" {
		r, n, _ := nextUTF8(s)
		b.WriteRune(r)
		s = s[n:]
	}
	return b.String()
}

// reader reads texts and handles errors in them as the attributes require.
type reader struct {
	next        decoder
	strict      bool
	elide       bool
	replacement rune
	controls    bool // control characters count as wrong
	detectOrder bool // UTF-16 and UTF-32 without an order begin with a mark
}

// newReader reads the attributes of a node.
func newReader(n *engine.Node) (*reader, error) {
	as := n.Attrs
	r := &reader{replacement: rune(as.Int("replacement_char", 65533)), controls: as.Bool("replace_control_characters")}
	var err error
	if r.strict, r.elide, err = errorPolicy(as.String("errors", "replace")); err != nil {
		return nil, err
	}
	if !utf8.ValidRune(r.replacement) {
		return nil, fmt.Errorf("the replacement character %d is none", r.replacement)
	}
	name := as.String("input_encoding", "UTF-8")
	if r.detectOrder = name == "UTF-16" || name == "UTF-32"; r.detectOrder {
		name += "BE"
	}
	r.next, err = decoderOf(name)
	return r, err
}

// errorPolicy reads the attribute errors: strict ends with an error, elide
// drops wrong bytes; otherwise they are replaced.
func errorPolicy(errors string) (strict, elide bool, err error) {
	switch errors {
	case "strict":
		return true, false, nil
	case "ignore":
		return false, true, nil
	case "replace":
		return false, false, nil
	}
	return false, false, fmt.Errorf("the attribute errors is %q, not strict, replace or ignore", errors)
}

// ordered returns the decoder for a text, and the length of the byte order
// mark.
func (r *reader) ordered(s string) (decoder, int) {
	if !r.detectOrder {
		return r.next, 0
	}
	for _, order := range []struct{ mark, name string }{
		{"\xff\xfe\x00\x00", "utf32le"}, {"\x00\x00\xfe\xff", "utf32be"}, {"\xff\xfe", "utf16le"}, {"\xfe\xff", "utf16be"},
	} {
		d, _ := decoderOf(order.name)
		if strings.HasPrefix(s, order.mark) {
			if _, size, ok := d(order.mark); ok && size == len(order.mark) {
				return d, size
			}
		}
	}
	return r.next, 0
}

// read calls f with every character and the offset of its bytes.
func (r *reader) read(s string, f func(ch rune, at int)) error {
	next, mark := r.ordered(s)
	for at := 0; at+mark < len(s); {
		ch, size, ok := next(s[at+mark:])
		size, mark = size+mark, 0 // the first character begins with the mark
		switch {
		case ok && !(r.controls && ch <= 0x1f):
			f(ch, at)
		case r.strict:
			return fmt.Errorf("the text has invalid bytes at %d", at)
		case !r.elide:
			f(r.replacement, at)
		}
		at += size
	}
	return nil
}

// unicodeDecode returns the code points of texts, as a ragged tensor.
func unicodeDecode(n *engine.Node) (func(*engine.Call) error, error) {
	r, err := newReader(n)
	if err != nil {
		return nil, err
	}
	splitType := n.Attrs.Type("Tsplits", tensor.Int64)
	offsets := n.Op == "UnicodeDecodeWithOffsets"
	return func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		in, err := texts(c, 0)
		if err != nil {
			return err
		}
		splits := make([]int64, len(in)+1)
		var chars []int32
		var at []int64
		for i, s := range in {
			c.Check()
			if err := c.Afford(int64(len(chars)+utf8.RuneCountInString(s)) * 4); err != nil {
				return err
			}
			err := r.read(s, func(ch rune, from int) {
				chars = append(chars, int32(ch))
				if offsets {
					at = append(at, int64(from))
				}
			})
			if err != nil {
				return err
			}
			splits[i+1] = int64(len(chars))
		}
		if err := shapes.SetInts(c, 0, splitType, splits); err != nil {
			return err
		}
		c.Set(1, tensor.Vector(chars...))
		if offsets {
			c.Set(2, tensor.Vector(at...))
		}
		return nil
	}, nil
}

// appendRune appends a character in an encoding.
type appendRune func([]byte, rune) []byte

// encoderOf returns the function for an output encoding. Op definitions allow
// no others.
func encoderOf(encoding string) (appendRune, error) {
	switch encoding {
	case "UTF-8":
		return utf8.AppendRune, nil
	case "UTF-16-BE":
		return func(b []byte, r rune) []byte {
			if r >= 0x10000 {
				r -= 0x10000
				b = append(b, byte(0xd8|r>>18), byte(r>>10))
				r = 0xdc00 | r&0x3ff
			}
			return append(b, byte(r>>8), byte(r))
		}, nil
	case "UTF-32-BE":
		return func(b []byte, r rune) []byte { return append(b, 0, byte(r>>16), byte(r>>8), byte(r)) }, nil
	}
	return nil, fmt.Errorf("can't write the encoding %q; it writes UTF-8, UTF-16-BE and UTF-32-BE", encoding)
}

// unicodeEncode makes texts of the code points in a ragged tensor.
func unicodeEncode(n *engine.Node) (func(*engine.Call) error, error) {
	as := n.Attrs
	strict, elide, err := errorPolicy(as.String("errors", "replace"))
	if err != nil {
		return nil, err
	}
	replacement := rune(as.Int("replacement_char", 65533))
	if !utf8.ValidRune(replacement) {
		return nil, fmt.Errorf("the replacement character %d is none", replacement)
	}
	encode, err := encoderOf(as.String("output_encoding", ""))
	if err != nil {
		return nil, err
	}
	return func(c *engine.Call) error {
		if err := c.Need(2); err != nil {
			return err
		}
		if d := c.In(0).DType(); d != tensor.Int32 {
			return fmt.Errorf("the characters are %v, not int32", d)
		}
		chars := tensor.Values[int32](c.In(0))
		splits, err := shapes.Ints(c.In(1), "the splits")
		if err != nil {
			return err
		}
		if err := checkSplits(splits, len(chars)); err != nil {
			return err
		}
		out, err := c.Alloc(0, tensor.String, tensor.Shape{max(len(splits)-1, 0)})
		if err != nil {
			return err
		}
		for i := range out.Strings() {
			var b []byte
			for _, ch := range chars[splits[i]:splits[i+1]] {
				switch {
				case utf8.ValidRune(ch):
					b = encode(b, ch)
				case strict:
					return fmt.Errorf("the number %d is no character", ch)
				case !elide:
					b = encode(b, replacement)
				}
			}
			out.Strings()[i] = string(b)
		}
		return nil
	}, nil
}

// unicodeTranscode writes texts in another encoding.
func unicodeTranscode(n *engine.Node) (func(*engine.Call) error, error) {
	r, err := newReader(n)
	if err != nil {
		return nil, err
	}
	encode, err := encoderOf(n.Attrs.String("output_encoding", ""))
	if err != nil {
		return nil, err
	}
	return each(func(s string) (string, error) {
		var b []byte
		err := r.read(s, func(ch rune, _ int) { b = encode(b, ch) })
		return string(b), err
	}), nil
}

package bundle

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// A slice's entry in the index has a key in ordered code
// (tensorflow/core/lib/strings/ordered_code.cc): bytes that sort as the values
// do. TensorFlow looks slices up by these keys, so every byte must stay. The key is the number 0, the tensor's name, the rank, and each extent's
// start and length, -1 being a full extent's length.
//
//	number    length n in one byte, then n bytes, big-endian, none for 0
//	string    00 is written 00 ff, ff is written ff 00; 00 01 ends it
//	signed    big-endian two's complement whose first bits encode the length:
//	          n ones and a zero for n bytes of a number that isn't negative,
//	          the same inverted for a negative one; 6 bits fit one byte

// appendSliceKey appends the key of slice s of the tensor name.
func appendSliceKey(b []byte, name string, s Slice) []byte {
	b = appendOrderedUint(b, 0)
	b = appendOrderedString(b, name)
	b = appendOrderedUint(b, uint64(len(s.Extents)))
	for _, e := range s.Extents {
		if e.Full {
			b = appendOrderedInt(appendOrderedInt(b, 0), -1)
		} else {
			b = appendOrderedInt(appendOrderedInt(b, e.Start), e.Length)
		}
	}
	return b
}

var errSliceKey = errors.New("no slice's key")

// parseSliceKey takes a key made by appendSliceKey apart. Other spellings of
// the same values are refused.
func parseSliceKey(key string) (name string, s Slice, err error) {
	bad := func(what string) (string, Slice, error) {
		return "", Slice{}, fmt.Errorf("%w: %s", errSliceKey, what)
	}
	zero, rest, ok := readOrderedUint(key)
	if !ok || zero != 0 {
		return bad("it doesn't begin with 0")
	}
	name, rest, ok = readOrderedString(rest)
	if !ok {
		return bad("the name doesn't end")
	}
	rank, rest, ok := readOrderedUint(rest)
	if !ok || rank == 0 || rank > uint64(len(rest))/2 {
		return bad("the rank is wrong")
	}
	s.Extents = make([]Extent, rank)
	for i := range s.Extents {
		var start, length int64
		if start, rest, ok = readOrderedInt(rest); !ok {
			return bad("a start is cut off")
		}
		if length, rest, ok = readOrderedInt(rest); !ok {
			return bad("a length is cut off")
		}
		switch {
		case length == -1 && start == 0:
			s.Extents[i].Full = true
		case length < 0 || start < 0:
			return bad("an extent is negative")
		default:
			s.Extents[i] = Extent{Start: start, Length: length}
		}
	}
	if rest != "" {
		return bad("bytes are left over")
	}
	return name, s, nil
}

func appendOrderedUint(b []byte, v uint64) []byte {
	n := (bits.Len64(v) + 7) / 8
	b = append(b, byte(n))
	for i := n - 1; i >= 0; i-- {
		b = append(b, byte(v>>(8*i)))
	}
	return b
}

func readOrderedUint(s string) (v uint64, rest string, ok bool) {
	if s == "" || s[0] > 8 || int(s[0]) >= len(s) {
		return 0, "", false
	}
	n := int(s[0])
	for _, c := range []byte(s[1 : n+1]) {
		v = v<<8 | uint64(c)
	}
	if n > 0 && s[1] == 0 {
		return 0, "", false // a longer spelling than needed
	}
	return v, s[n+1:], true
}

func appendOrderedString(b []byte, s string) []byte {
	for i := range len(s) {
		switch c := s[i]; c {
		case 0:
			b = append(b, 0, 0xff)
		case 0xff:
			b = append(b, 0xff, 0)
		default:
			b = append(b, c)
		}
	}
	return append(b, 0, 1)
}

func readOrderedString(s string) (v, rest string, ok bool) {
	var b []byte
	for i := 0; i+1 < len(s); i++ {
		switch c := s[i]; {
		case c == 0 && s[i+1] == 1:
			return string(b), s[i+2:], true
		case c == 0 && s[i+1] == 0xff, c == 0xff && s[i+1] == 0:
			b = append(b, c)
			i++
		case c == 0 || c == 0xff:
			return "", "", false
		default:
			b = append(b, c)
		}
	}
	return "", "", false
}

// orderedIntLen returns how many bytes v takes: 7 bits a byte, the sign being
// one.
func orderedIntLen(v int64) int {
	if v < 0 {
		v = ^v
	}
	return bits.Len64(uint64(v))/7 + 1
}

func appendOrderedInt(b []byte, v int64) []byte {
	n := orderedIntLen(v)
	// Ten bytes hold the sign-extended number; the last n of them are written.
	var buf [10]byte
	if v < 0 {
		buf[0], buf[1] = 0xff, 0xff
	}
	binary.BigEndian.PutUint64(buf[2:], uint64(v))
	out := buf[10-n:]
	flipLength(out)
	return append(b, out...)
}

// flipLength flips the leading bits of a number, one for each of its bytes:
// they become ones if it isn't negative.
func flipLength(b []byte) {
	mask := uint16(0xffff) << (16 - len(b))
	b[0] ^= byte(mask >> 8)
	if len(b) > 1 {
		b[1] ^= byte(mask)
	}
}

// readOrderedInt reads an integer in TensorFlow's OrderedCode (ReadSignedNumIncreasing in ordered_code.cc) and
// returns the text after it. A form that isn't the shortest is refused, since a key would have two texts.
func readOrderedInt(s string) (v int64, rest string, ok bool) {
	if s == "" {
		return 0, "", false
	}
	// The number of leading bits equal to the first one is the length.
	flip := byte(0)
	if s[0]&0x80 == 0 {
		flip = 0xff
	}
	n := bits.LeadingZeros8(^(s[0] ^ flip))
	if n == 8 {
		if len(s) < 2 {
			return 0, "", false
		}
		n += bits.LeadingZeros8(^(s[1] ^ flip))
	}
	if n > 10 || n > len(s) {
		return 0, "", false
	}
	var buf [10]byte
	if flip != 0 {
		for i := range buf {
			buf[i] = 0xff
		}
	}
	out := buf[10-n:]
	copy(out, s[:n])
	flipLength(out)
	v = int64(binary.BigEndian.Uint64(buf[2:]))
	if buf[0] != flip || buf[1] != flip || (v < 0) != (flip != 0) || orderedIntLen(v) != n {
		return 0, "", false
	}
	return v, s[n:], true
}

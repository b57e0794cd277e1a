package image

import (
	"encoding/binary"
	"iter"
	"math"
)

// The chunks of PNGs, and gray images from coloured ones, for decodestd.go.

// pngChunks yields the kinds and contents of a PNG file's chunks before its pixels.
func pngChunks(s string) iter.Seq2[string, string] {
	return func(yield func(kind, body string) bool) {
		for s := s[8:]; len(s) >= 12; {
			n := int64(binary.BigEndian.Uint32([]byte(s[:4])))
			if s[4:8] == "IDAT" || n > int64(len(s)-12) || !yield(s[4:8], s[8:8+n]) {
				return
			}
			s = s[12+n:]
		}
	}
}

// gammaOf returns the exponent with which a PNG image's colours are stored:
// that of its gAMA chunk, or that of sRGB, or 1.
func gammaOf(s string) float64 {
	gamma := 100000
	for kind, body := range pngChunks(s) {
		if kind == "sRGB" {
			gamma = 45455
			break
		} else if kind == "gAMA" && len(body) == 4 {
			gamma = int(binary.BigEndian.Uint32([]byte(body)))
		}
	}
	if gamma <= 0 || gamma >= 95000 && gamma <= 105000 {
		return 1
	}
	return float64(gamma) / 100000
}

// grayOf returns a function that converts red, green and blue to gray, as
// libpng does with TensorFlow's weights, 0.299 and 0.587. It computes with 16
// bits if the image is deep, otherwise with the upper bytes. Colours with an
// exponent are converted to linear ones first. If cut is set, only the upper
// byte of the result is used, and libpng applies the exponent to 11 bits.
func grayOf(gamma float64, deep, cut bool) func(v [4]uint16) uint16 {
	const red, green = 9797, 19234 // the weights times 32,768
	shift, most, half := 8, 255.0, uint32(0)
	if deep {
		shift, most, half = 0, 65535, 1<<14
	}
	part := func(x uint16) uint32 { return uint32(x >> shift) }
	back := func(x uint32) uint32 { return x }
	if gamma != 1 {
		skip := 0
		if deep && cut {
			skip = 5
		}
		power := func(x uint32, e float64) uint32 {
			return uint32(math.Floor(most*math.Pow(float64(x>>skip)/float64(uint32(most)>>skip), e) + 0.5))
		}
		half = 1 << 14
		part = func(x uint16) uint32 { return power(uint32(x>>shift), 1/gamma) }
		back = func(x uint32) uint32 { return power(x, gamma) }
	}
	return func(v [4]uint16) uint16 {
		if v[0] == v[1] && v[0] == v[2] {
			return v[0]
		}
		return uint16(back((red*part(v[0])+green*part(v[1])+(1<<15-red-green)*part(v[2])+half)>>15) << shift)
	}
}

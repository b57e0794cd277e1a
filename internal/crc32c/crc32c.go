// Package crc32c computes the checksums of TensorFlow's files: CRC-32C (the
// Castagnoli polynomial), masked if a checksum is stored next to the bytes it
// covers. Many packages use it.
//
// A CRC over bytes that contain a CRC is weak, so the stored value is
//
//	rotate right by 15 bits, then add 0xa282ead8
//
// modulo 2³².
package crc32c

import "hash/crc32"

var table = crc32.MakeTable(crc32.Castagnoli)

// maskDelta is the constant of LevelDB and TensorFlow (crc32c.h). Stored files depend on it.
const maskDelta = 0xa282ead8

// Value computes the checksum of b.
func Value(b []byte) uint32 { return crc32.Update(0, table, b) }

// Extend computes the checksum of the bytes that crc covers followed by b.
func Extend(crc uint32, b []byte) uint32 { return crc32.Update(crc, table, b) }

// Mask returns the form in which a checksum is stored.
func Mask(crc uint32) uint32 { return (crc>>15 | crc<<17) + maskDelta }

// Unmask returns the inverse of [Mask].
func Unmask(masked uint32) uint32 {
	r := masked - maskDelta
	return r>>17 | r<<15
}

// poly is the reflected Castagnoli polynomial.
const poly = crc32.Castagnoli

// Combine computes the checksum of two pieces, from the checksums of each and
// the length of the second: pieces can be summed in parallel.
func Combine(first, second uint32, length int64) uint32 {
	// Appending length zero bytes to the first piece multiplies its remainder
	// by x^(8·length) modulo the polynomial; the second piece's is then added.
	return mulmod(xpow(length), first) ^ second
}

// mulmod multiplies two polynomials modulo poly, bit-reflected: the highest bit
// is the coefficient of x⁰.
func mulmod(a, b uint32) uint32 {
	var p uint32
	for m := uint32(1) << 31; m != 0; m >>= 1 {
		if a&m != 0 {
			p ^= b
		}
		if b&1 != 0 {
			b = b>>1 ^ poly
		} else {
			b >>= 1
		}
	}
	return p
}

// xpow returns x^(8·n) modulo poly.
func xpow(n int64) uint32 {
	p := uint32(1) << 31      // x⁰
	square := uint32(1) << 23 // x⁸
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			p = mulmod(square, p)
		}
		square = mulmod(square, square)
	}
	return p
}

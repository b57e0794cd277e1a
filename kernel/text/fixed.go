package text

import (
	"math"
	"math/bits"
	"strconv"
)

// maxFixed is the largest number of digits after the point that appendFixed writes:
// 10^maxFixed is below 2^63.
const maxFixed = 18

// appendFixed appends x with digits after the point, as C's printf writes it with %.*f. It
// reports whether it did. The last digit is rounded from the exact value, a half to the even
// digit. Numbers of 2^63 and more are left to strconv, and so are more than maxFixed digits.
// strconv takes five times as long.
func appendFixed(to []byte, x float64, digits int) ([]byte, bool) {
	if !(math.Abs(x) < 0x1p63) || digits > maxFixed {
		return to, false
	}
	power := uint64(1)
	for range digits {
		power *= 10
	}
	b := math.Float64bits(x)
	// |x| is m / 2^shift
	m, shift := b&(1<<52-1), 1075-int(b>>52&0x7FF)
	if shift < 1075 {
		m |= 1 << 52
	} else {
		shift = 1074
	}
	whole, part := uint64(0), uint64(0) // part is in units of 1/power
	switch {
	case shift <= 0:
		whole = m << -shift
	case shift < 64:
		hi, lo := bits.Mul64(m&(1<<shift-1), power)
		whole, part = m>>shift, roundShift(hi, lo, shift)
	default:
		hi, lo := bits.Mul64(m, power)
		part = roundShift(hi, lo, shift)
	}
	if digits == 0 && shift > 0 {
		// the even number is the whole one, not the part
		part = 0
		if shift < 64 {
			whole = roundShift(0, m, shift)
		}
	}
	if part == power && digits > 0 {
		whole, part = whole+1, 0
	}
	if math.Signbit(x) {
		to = append(to, '-')
	}
	to = strconv.AppendUint(to, whole, 10)
	if digits == 0 {
		return to, true
	}
	to = append(to, '.')
	// a leading one keeps the zeros
	n := len(to)
	to = strconv.AppendUint(to, power+part, 10)
	return append(to[:n], to[n+1:]...), true
}

// roundShift returns hi·2^64 + lo, divided by 2^shift and rounded, a half to the even number.
// The result is below 2^64, and shift is above 0.
func roundShift(hi, lo uint64, shift int) uint64 {
	var q, half, rest uint64 // rest is not 0 if bits below the half are set
	switch {
	case shift < 64:
		q = hi<<(64-shift) | lo>>shift
		half = lo >> (shift - 1) & 1
		rest = lo & (1<<(shift-1) - 1)
	case shift == 64:
		q, half, rest = hi, lo>>63, lo&(1<<63-1)
	case shift <= 128:
		q = hi >> (shift - 64)
		half = hi >> (shift - 65) & 1
		rest = hi&(1<<(shift-65)-1) | lo
	}
	if half != 0 && (rest != 0 || q&1 != 0) {
		q++
	}
	return q
}

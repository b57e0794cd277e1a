package jpeg

import "slices"

// Huffman codes of the encoder. Their bits must be libjpeg's (jstdhuff.c,
// jchuff.c).

// codes is a Huffman code to write with: how many codes have each length, the
// symbols in the order of their codes, and the code of each symbol.
type codes struct {
	counts  [16]byte
	symbols []byte
	code    [256]uint32
	length  [256]uint
}

func newCodes(counts [16]byte, symbols []byte) *codes {
	c := &codes{counts: counts, symbols: symbols}
	next, at := uint32(0), 0
	for i, n := range counts {
		for range n {
			s := symbols[at]
			c.code[s], c.length[s] = next, uint(i+1)
			next++
			at++
		}
		next <<= 1
	}
	return c
}

// usual are the codes of the standard's example: for the means and the rest of
// brightness, and of colour.
var usual = [2][2]*codes{{
	newCodes([16]byte{0, 1, 5, 1, 1, 1, 1, 1, 1}, []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}),
	newCodes([16]byte{0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 125}, rest(
		"\x01\x02\x03\x00\x04\x11\x05\x12\x21\x31\x41\x06\x13\x51\x61\x07\x22\x71\x14\x32\x81\x91\xa1\x08\x23\x42\xb1\xc1\x15\x52\xd1\xf0"+
			"\x24\x33\x62\x72\x82")),
}, {
	newCodes([16]byte{0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1}, []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}),
	newCodes([16]byte{0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 119}, rest(
		"\x00\x01\x02\x03\x11\x04\x05\x21\x31\x06\x12\x41\x51\x07\x61\x71\x13\x22\x32\x81\x08\x14\x42\x91\xa1\xb1\xc1\x09\x23\x33\x52\xf0"+
			"\x15\x62\x72\xd1\x0a\x16\x24\x34\xe1\x25\xf1")),
}}

// rest returns the listed symbols, followed in order by those of a run and a
// size that aren't listed: at most 15 zeros, sizes from 1 to 10.
func rest(first string) []byte {
	out := []byte(first)
	for s := range 256 {
		if size := s & 15; size >= 1 && size <= 10 && !slices.Contains(out, byte(s)) {
			out = append(out, byte(s))
		}
	}
	return out
}

// best returns the code with the fewest bits for symbols that occur so often, of
// at most 16 bits each, none of ones only: the steps are those of the standard's
// annex K.2, ties broken as libjpeg does.
func best(freq [257]int) *codes {
	if freq == [257]int{} {
		return nil // of a table that the scan doesn't use
	}
	freq[256] = 1 // takes the code of ones
	var size, next [257]int
	for i := range next {
		next[i] = -1
	}
	for {
		a, b := -1, -1
		for i, n := range freq {
			if n > 0 && (a < 0 || n <= freq[a]) {
				a = i
			}
		}
		for i, n := range freq {
			if n > 0 && i != a && (b < 0 || n <= freq[b]) {
				b = i
			}
		}
		if b < 0 {
			break
		}
		freq[a] += freq[b]
		freq[b] = 0
		for size[a]++; next[a] >= 0; size[a]++ {
			a = next[a]
		}
		next[a] = b
		for size[b]++; next[b] >= 0; size[b]++ {
			b = next[b]
		}
	}
	var bits [258]int
	longest := 0
	for _, n := range size {
		if n > 0 {
			bits[n]++
			longest = max(longest, n)
		}
	}
	for i := longest; i > 16; i-- {
		for bits[i] > 0 {
			j := i - 2
			for bits[j] == 0 {
				j--
			}
			bits[i] -= 2
			bits[i-1]++
			bits[j+1] += 2
			bits[j]--
		}
	}
	last := min(longest, 16) // without the code of ones
	for bits[last] == 0 {
		last--
	}
	bits[last]--
	var counts [16]byte
	for i := range counts {
		counts[i] = byte(bits[i+1])
	}
	var symbols []byte
	for n := 1; n <= longest; n++ {
		for s, k := range size[:256] {
			if k == n {
				symbols = append(symbols, byte(s))
			}
		}
	}
	return newCodes(counts, symbols)
}

// table writes the code as table i of a class: 0 for means, 1 for the rest.
func (w *writer) table(class, i int, c *codes) {
	body := append([]byte{byte(class<<4 | i)}, c.counts[:]...)
	w.segment(0xc4, append(body, c.symbols...)...)
}

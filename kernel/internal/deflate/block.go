package deflate

import "math/bits"

// The blocks of a stream: which of the three forms each has, and its bits. The
// choice must be zlib's (trees.c).

// The fixed codes, and the order in which the lengths of the code of lengths are
// written.
var (
	fixedLiterals, fixedDistances = fixed()
	lengthsOrder                  = [19]int{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}
)

const endOfBlock = 256

// fixed returns the codes of the format's fixed blocks.
func fixed() (literals, distances code) {
	literals, distances = newCode(288), newCode(30)
	for s := range literals.length {
		switch {
		case s < 144:
			literals.length[s] = 8
		case s < 256:
			literals.length[s] = 9
		case s < 280:
			literals.length[s] = 7
		default:
			literals.length[s] = 8
		}
	}
	for s := range distances.length {
		distances.length[s] = 5
	}
	literals.assign()
	distances.assign()
	return literals, distances
}

// lengthCode returns the symbol s of a match's length, and the extra low bits of v
// that follow the symbol.
func lengthCode(n int) (s int, extra uint, v uint32) {
	if n == longest {
		return 285, 0, 0
	}
	s, extra, v = logarithmic(n-shortest, 2)
	return 257 + s, extra, v
}

// distanceCode returns a distance as lengthCode does a length.
func distanceCode(n int) (s int, extra uint, v uint32) { return logarithmic(n-1, 1) }

// logarithmic splits a number into a symbol and the remaining bits. The symbol
// has keep bits after the highest one.
func logarithmic(n int, keep uint) (s int, extra uint, v uint32) {
	if n < 2<<keep {
		return n, 0, 0
	}
	extra = uint(bits.Len(uint(n))) - 1 - keep
	return int(extra+1)<<keep + n>>extra - 1<<keep, extra, uint32(n) & (1<<extra - 1)
}

// trees are the codes of a block.
type trees struct{ literals, distances, lengths code }

// write writes a block in the shortest form: stored, if may allows it, or with
// the fixed codes, or with codes made for it.
func (t *trees) write(w *bitWriter, block []symbol, raw []byte, may, last bool) {
	t.literals, t.distances, t.lengths = newCode(286), newCode(30), newCode(19)
	more := 0 // bits that follow symbols
	for _, s := range block {
		if s.distance == 0 {
			t.literals.freq[s.length]++
			continue
		}
		l, a, _ := lengthCode(int(s.length))
		d, b, _ := distanceCode(int(s.distance))
		t.literals.freq[l]++
		t.distances.freq[d]++
		more += int(a + b)
	}
	t.literals.freq[endOfBlock]++
	nl, nd := t.literals.build(15)+1, t.distances.build(15)+1
	runs := append(t.runs(t.literals.length[:nl]), t.runs(t.distances.length[:nd])...)
	for _, r := range runs {
		t.lengths.freq[r.symbol]++
	}
	t.lengths.build(7)
	nc := len(lengthsOrder)
	for nc > 4 && t.lengths.length[lengthsOrder[nc-1]] == 0 {
		nc--
	}
	own, usual := more+14+3*nc, more
	for s, n := range t.literals.freq {
		own, usual = own+n*t.literals.length[s], usual+n*fixedLiterals.length[s]
	}
	for s, n := range t.distances.freq {
		own, usual = own+n*t.distances.length[s], usual+n*fixedDistances.length[s]
	}
	for _, r := range runs {
		own += t.lengths.length[r.symbol] + int(r.extra)
	}
	own, usual = (own+3+7)>>3, (usual+3+7)>>3
	switch {
	case may && len(raw)+4 <= min(own, usual):
		w.stored(raw, last)
		return
	case usual <= own:
		w.begin(1<<1, last) // the kind is above the bit for the last block
		symbolsOf(w, block, &fixedLiterals, &fixedDistances)
		return
	}
	w.begin(2<<1, last)
	w.put(uint32(nl-257), 5)
	w.put(uint32(nd-1), 5)
	w.put(uint32(nc-4), 4)
	for _, s := range lengthsOrder[:nc] {
		w.put(uint32(t.lengths.length[s]), 3)
	}
	for _, r := range runs {
		w.put(t.lengths.bits[r.symbol], uint(t.lengths.length[r.symbol]))
		w.put(r.value, r.extra)
	}
	symbolsOf(w, block, &t.literals, &t.distances)
}

// symbolsOf writes the symbols of a block, and its end.
func symbolsOf(w *bitWriter, block []symbol, literals, distances *code) {
	put := func(c *code, s int, extra uint, v uint32) {
		w.put(c.bits[s], uint(c.length[s]))
		w.put(v, extra)
	}
	for _, s := range block {
		if s.distance == 0 {
			put(literals, int(s.length), 0, 0)
			continue
		}
		l, extra, v := lengthCode(int(s.length))
		put(literals, l, extra, v)
		l, extra, v = distanceCode(int(s.distance))
		put(distances, l, extra, v)
	}
	put(literals, endOfBlock, 0, 0)
}

// run is a length, or a run of one.
type run struct {
	symbol int
	extra  uint
	value  uint32
}

// runs codes lengths: 16 repeats the one before, 17 and 18 are zeros.
func (t *trees) runs(lengths []int) []run {
	var out []run
	before := -1
	for i := 0; i < len(lengths); {
		v, n := lengths[i], 1
		most, least := 138, 3
		switch {
		case v != 0 && v == before:
			most = 6
		case v != 0:
			most, least = 7, 4
		}
		for n < most && i+n < len(lengths) && lengths[i+n] == v {
			n++
		}
		i += n
		switch {
		case n < least:
			for range n {
				out = append(out, run{symbol: v})
			}
		case v == 0 && n <= 10:
			out = append(out, run{17, 3, uint32(n - 3)})
		case v == 0:
			out = append(out, run{18, 7, uint32(n - 11)})
		default:
			if v != before {
				out = append(out, run{symbol: v})
				n--
			}
			out = append(out, run{16, 2, uint32(n - 3)})
		}
		before = v
	}
	return out
}

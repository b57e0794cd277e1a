package jpeg

import "math/bits"

// The scans that the encoder writes, in libjpeg's order (jcparam.c) and with
// its runs (jchuff.c, jcphuff.c).

// scanOf describes a scan: the components, the range of their coefficients and
// of their bits. It has all bits from low up, or only bit low if earlier scans
// have those above it.
type scanOf struct {
	planes     []int
	from, to   int
	above, low uint
}

// scansOf lists the scans of an image.
func scansOf(e *Encoding) []scanOf {
	all := []int{0, 1, 2}[:e.n]
	y, cb, cr := all[:1], []int{1}, []int{2}
	switch {
	case !e.Progressive:
		return []scanOf{{all, 0, 63, 0, 0}}
	case e.n == 1:
		return []scanOf{{y, 0, 0, 0, 1}, {y, 1, 5, 0, 2}, {y, 6, 63, 0, 2}, {y, 1, 63, 2, 1}, {y, 0, 0, 1, 0}, {y, 1, 63, 1, 0}}
	}
	return []scanOf{{all, 0, 0, 0, 1}, {y, 1, 5, 0, 2}, {cr, 1, 63, 0, 1}, {cb, 1, 63, 0, 1}, {y, 6, 63, 0, 2},
		{y, 1, 63, 2, 1}, {all, 0, 0, 1, 0}, {cr, 1, 63, 1, 0}, {cb, 1, 63, 1, 0}, {y, 1, 63, 1, 0}}
}

// coder writes the symbols of a scan, or counts them if there are no codes yet.
type coder struct {
	w       *writer
	tables  *[2][2]*codes // by component, then means and the rest
	counts  *[2][2][257]int
	scan    scanOf
	means   [3]int32 // of the block before, by component
	run     int      // blocks that have ended, in a progressive scan
	waiting []byte   // bits that follow the symbol of the run
}

// scan writes a scan.
func (w *writer) scan(e *Encoding, planes []blocks, s scanOf) {
	tables := usual
	if e.Progressive || e.Optimize {
		var counts [2][2][257]int
		count := &coder{counts: &counts, scan: s}
		count.all(e, planes)
		for i := range tables {
			for k := range tables[i] {
				tables[i][k] = best(counts[i][k])
			}
		}
	}
	for _, i := range s.planes[:min(2, len(s.planes))] {
		t := min(i, 1)
		if s.from == 0 && s.above == 0 {
			w.table(0, t, tables[t][0])
		}
		if s.to > 0 {
			w.table(1, t, tables[t][1])
		}
	}
	body := []byte{byte(len(s.planes))}
	for _, i := range s.planes {
		ids := byte(0)
		if s.from == 0 && s.above == 0 {
			ids = byte(min(i, 1)) << 4
		}
		if s.to > 0 {
			ids |= byte(min(i, 1))
		}
		body = append(body, byte(i+1), ids)
	}
	w.segment(0xda, append(body, byte(s.from), byte(s.to), byte(s.above<<4|s.low))...)
	c := &coder{w: w, tables: &tables, scan: s}
	c.all(e, planes)
	w.flush()
}

// all codes the blocks of the scan: MCU by MCU, or, of one component, those that
// hold pixels.
func (c *coder) all(e *Encoding, planes []blocks) {
	code := c.whole
	if e.Progressive {
		switch {
		case c.scan.from == 0 && c.scan.above == 0:
			code = c.firstMean
		case c.scan.from == 0:
			code = func(_ int, b *[64]int16) { c.bits(uint32(b[0]>>c.scan.low)&1, 1) }
		case c.scan.above == 0:
			code = c.first
		default:
			code = c.refine
		}
	}
	if len(c.scan.planes) == 1 {
		i := c.scan.planes[0]
		p := &planes[i]
		for y := range p.hgt {
			for x := range p.w {
				code(i, p.at(y, x))
			}
		}
	} else {
		for m := range planes[0].mcus[0] * planes[0].mcus[1] {
			row, column := m/planes[0].mcus[1], m%planes[0].mcus[1]
			for _, i := range c.scan.planes {
				p := &planes[i]
				for k := range p.h * p.v {
					code(i, p.at(row*p.v+k/p.h, column*p.h+k%p.h))
				}
			}
		}
	}
	c.end(c.scan.planes[0])
}

// symbol codes a symbol of component i; class is 0 for means, 1 for the rest.
func (c *coder) symbol(i, class int, s byte) {
	if i = min(i, 1); c.w == nil {
		c.counts[i][class][s]++
		return
	}
	t := c.tables[i][class]
	c.w.put(t.code[s], t.length[s])
}

// bits writes the n low bits of v; it does nothing while symbols are counted.
func (c *coder) bits(v uint32, n uint) {
	if c.w != nil && n > 0 {
		c.w.put(v, n)
	}
}

// number writes the bits of a value of a size: those of negative ones inverted.
func (c *coder) number(v int32, size uint) {
	if v < 0 {
		v--
	}
	c.bits(uint32(v), size)
}

// sizeOf returns the number of bits of a value's magnitude.
func sizeOf(v int32) uint { return uint(bits.Len32(uint32(max(v, -v)))) }

// mean codes the difference of a mean to the one before it.
func (c *coder) mean(i int, v int32) {
	d := v - c.means[i]
	c.means[i] = v
	n := sizeOf(d)
	c.symbol(i, 0, byte(n))
	c.number(d, n)
}

// whole codes all coefficients of a block.
func (c *coder) whole(i int, b *[64]int16) {
	c.mean(i, int32(b[0]))
	zeros := 0
	for _, at := range zigzag[1:] {
		v := int32(b[at])
		if v == 0 {
			zeros++
			continue
		}
		for ; zeros > 15; zeros -= 16 {
			c.symbol(i, 1, 0xf0)
		}
		n := sizeOf(v)
		c.symbol(i, 1, byte(zeros<<4)|byte(n))
		c.number(v, n)
		zeros = 0
	}
	if zeros > 0 {
		c.symbol(i, 1, 0)
	}
}

func (c *coder) firstMean(i int, b *[64]int16) { c.mean(i, int32(b[0]>>c.scan.low)) }

// part returns the upper binary places of a coefficient, rounded towards zero.
func (c *coder) part(v int16) int32 {
	if v < 0 {
		return -(-int32(v) >> c.scan.low)
	}
	return int32(v) >> c.scan.low
}

// first codes coefficients for the first time.
func (c *coder) first(i int, b *[64]int16) {
	zeros := 0
	for _, at := range zigzag[c.scan.from : c.scan.to+1] {
		v := c.part(b[at])
		if v == 0 {
			zeros++
			continue
		}
		c.end(i)
		for ; zeros > 15; zeros -= 16 {
			c.symbol(i, 1, 0xf0)
		}
		n := sizeOf(v)
		c.symbol(i, 1, byte(zeros<<4)|byte(n))
		c.number(v, n)
		zeros = 0
	}
	if zeros > 0 {
		if c.run++; c.run == 0x7fff {
			c.end(i)
		}
	}
}

// most is how many bits may follow a run: libjpeg's MAX_CORR_BITS.
const most = 1000

// refine codes one more binary place of coefficients.
func (c *coder) refine(i int, b *[64]int16) {
	var size [64]int32
	last := 0 // the last coefficient that becomes other than zero
	for k := c.scan.from; k <= c.scan.to; k++ {
		v := c.part(b[zigzag[k]])
		if size[k] = max(v, -v); size[k] == 1 {
			last = k
		}
	}
	zeros := 0
	var more []byte // of those that were other than zero before
	flush := func() {
		for _, v := range more {
			c.bits(uint32(v), 1)
		}
		more = more[:0]
	}
	for k := c.scan.from; k <= c.scan.to; k++ {
		if size[k] == 0 {
			zeros++
			continue
		}
		for ; zeros > 15 && k <= last; zeros -= 16 {
			c.end(i)
			c.symbol(i, 1, 0xf0)
			flush()
		}
		if size[k] > 1 {
			more = append(more, byte(size[k]&1))
			continue
		}
		c.end(i)
		c.symbol(i, 1, byte(zeros<<4)|1)
		sign := uint32(1)
		if b[zigzag[k]] < 0 {
			sign = 0
		}
		c.bits(sign, 1)
		flush()
		zeros = 0
	}
	if zeros > 0 || len(more) > 0 {
		c.run++
		c.waiting = append(c.waiting, more...)
		if c.run == 0x7fff || len(c.waiting) > most-64+1 {
			c.end(i)
		}
	}
}

// end codes the run of blocks that have ended.
func (c *coder) end(i int) {
	if c.run == 0 {
		return
	}
	n := uint(bits.Len(uint(c.run)) - 1)
	c.symbol(i, 1, byte(n<<4))
	c.bits(uint32(c.run), n)
	c.run = 0
	for _, v := range c.waiting {
		c.bits(uint32(v), 1)
	}
	c.waiting = c.waiting[:0]
}

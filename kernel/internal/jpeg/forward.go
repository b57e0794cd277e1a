package jpeg

import "math/bits"

// From pixels to quantized coefficients, as libjpeg-turbo with vector
// instructions: jccolor, jcsample, jfdctint and jcdctmgr. The fixed-point
// constants and roundings must stay.

// baseTables are the quantization tables of quality 50: of brightness and of
// colour, in the order of rows.
var baseTables = [2][64]int32{{
	16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29, 51, 87, 80, 62,
	18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99,
}, {
	17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99, 99, 99, 47, 66, 99, 99, 99, 99, 99, 99,
	99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
}}

// quantTables returns the tables of a quality.
func quantTables(quality int) [2][64]int32 {
	quality = max(1, min(quality, 100))
	by := int32(200 - 2*quality)
	if quality < 50 {
		by = int32(5000 / quality)
	}
	out := baseTables
	for i := range out {
		for k, v := range out[i] {
			out[i][k] = max(1, min((v*by+50)/100, 255))
		}
	}
	return out
}

// blocks are the quantized coefficients of a component, whole MCUs of them.
type blocks struct {
	h, v   int // samples of the component for each of the coarsest one
	w, hgt int // blocks that hold pixels
	bw     int // blocks a row in memory
	mcus   [2]int
	coefs  []int16 // 64 a block, in the order of rows
}

// newBlocks returns memory for component i: 0 is brightness.
func newBlocks(e *Encoding, i int) blocks {
	p, most := blocks{h: 1, v: 1}, 1
	if e.n == 3 && !e.Whole {
		if most = 2; i == 0 {
			p.h, p.v = 2, 2
		}
	}
	p.w, p.hgt = up(e.width*p.h, 8*most), up(e.height*p.v, 8*most)
	p.mcus = [2]int{up(e.height, 8*most), up(e.width, 8*most)}
	p.bw = p.mcus[1] * p.h
	p.coefs = make([]int16, 64*p.bw*p.mcus[0]*p.v)
	return p
}

// at returns a block.
func (p *blocks) at(y, x int) *[64]int16 { return (*[64]int16)(p.coefs[64*(y*p.bw+x):]) }

// transform fills in the coefficients of component i. Blocks that hold no pixels
// have the mean of the one before them, which costs least.
func (p *blocks) transform(e *Encoding, pix []byte, i int, q *[64]int32) error {
	var by [64]reciprocal
	for k, v := range q {
		by[k] = newReciprocal(uint32(v) << 3)
	}
	rows := make([][]byte, 8)
	for k := range rows {
		rows[k] = make([]byte, 8*p.w)
	}
	var work [64]int32
	for y := range p.hgt {
		if err := e.Interrupted(); err != nil {
			return err
		}
		for k := range rows {
			p.samples(rows[k], e, pix, i, 8*y+k)
		}
		for x := range p.w {
			for k, r := range rows {
				for j, v := range r[8*x:][:8] {
					work[8*k+j] = int32(v) - 128
				}
			}
			forwardTransform(&work)
			to := p.at(y, x)
			for k, v := range work {
				to[k] = by[k].of(v)
			}
		}
		for x := p.w; x < p.bw; x++ {
			p.at(y, x)[0] = p.at(y, x-1)[0]
		}
	}
	for y := p.hgt; y < p.mcus[0]*p.v; y++ {
		for x := range p.bw {
			p.at(y, x)[0] = p.at(y-1, x/p.h*p.h+p.h-1)[0]
		}
	}
	return nil
}

// samples writes row y of component i. Samples beyond the right edge repeat the
// last pixel, those below the bottom the last row.
func (p *blocks) samples(to []byte, e *Encoding, pix []byte, i, y int) {
	if e.n == 3 && i > 0 && !e.Whole {
		y = min(y, up(e.height, 2)-1)
		upper, lower := 2*y, min(2*y+1, e.height-1)
		for x := range to {
			a, b := min(2*x, e.width-1), min(2*x+1, e.width-1)
			sum := e.sample(pix, i, upper, a) + e.sample(pix, i, upper, b) + e.sample(pix, i, lower, a) + e.sample(pix, i, lower, b)
			to[x] = byte((sum + 1 + x&1) >> 2) // the error alternates
		}
		return
	}
	y = min(y, e.height-1)
	for x := range to {
		to[x] = byte(e.sample(pix, i, y, min(x, e.width-1)))
	}
}

// sample returns brightness or one of the colours of a pixel, in fixed-point
// numbers of 16 binary places on the way.
func (e *Encoding) sample(pix []byte, i, y, x int) int {
	if e.n == 1 {
		return int(pix[y*e.width+x])
	}
	at := pix[3*(y*e.width+x):][:3]
	r, g, b := int(at[0]), int(at[1]), int(at[2])
	const half, middle = 1 << 15, 128 << 16
	switch i {
	case 0:
		return (19595*r + 38470*g + 7471*b + half) >> 16
	case 1:
		return (-11059*r - 21709*g + 32768*b + middle + half - 1) >> 16
	}
	return (32768*r - 27439*g - 5329*b + middle + half - 1) >> 16
}

// reciprocal divides by a product and a shift, as libjpeg's vector code has to.
type reciprocal struct {
	by, add uint32
	shift   uint
}

func newReciprocal(d uint32) reciprocal {
	shift := uint(16 + bits.Len32(d) - 1)
	r := reciprocal{by: 1 << shift / d, add: d / 2, shift: shift}
	switch rest := 1 << shift % d; {
	case rest == 0:
		r.by >>= 1
		r.shift--
	case rest <= d/2:
		r.add++
	default:
		r.by++
	}
	return r
}

// of returns v divided by the number, rounded.
func (r reciprocal) of(v int32) int16 {
	if v < 0 {
		return -int16(uint64(uint32(-v)+r.add) * uint64(r.by) >> r.shift)
	}
	return int16(uint64(uint32(v)+r.add) * uint64(r.by) >> r.shift)
}

// forwardTransform makes 8×8 coefficients, eight times too large, of samples: the
// inverse of [block] in the same fixed-point numbers.
func forwardTransform(b *[64]int32) {
	var v [8]int32
	for y := range 8 {
		copy(v[:], b[8*y:])
		forwardLine(&v)
		for x, s := range v {
			if x == 0 || x == 4 {
				b[8*y+x] = s << 2
			} else {
				b[8*y+x] = rounded(s, 11)
			}
		}
	}
	for x := range 8 {
		for y := range 8 {
			v[y] = b[8*y+x]
		}
		forwardLine(&v)
		for y, s := range v {
			if y == 0 || y == 4 {
				b[8*y+x] = rounded(s, 2)
			} else {
				b[8*y+x] = rounded(s, 15)
			}
		}
	}
}

// forwardLine transforms 8 values; the first and the fifth stay whole, the
// others get 13 binary places. v is changed in place.
func forwardLine(v *[8]int32) {
	a0, a1, a2, a3 := v[0]+v[7], v[1]+v[6], v[2]+v[5], v[3]+v[4]
	d0, d1, d2, d3 := v[0]-v[7], v[1]-v[6], v[2]-v[5], v[3]-v[4]
	b0, b1, b2, b3 := a0+a3, a1+a2, a1-a2, a0-a3
	z := (b2 + b3) * 4433
	v[0], v[4], v[2], v[6] = b0+b1, b0-b1, z+b3*6270, z-b2*15137
	z5 := (d3 + d1 + d2 + d0) * 9633
	z1, z2, z3, z4 := -(d3+d0)*7373, -(d2+d1)*20995, z5-(d3+d1)*16069, z5-(d2+d0)*3196
	v[7], v[5], v[3], v[1] = d3*2446+z1+z3, d2*16819+z2+z4, d1*25172+z2+z3, d0*12299+z1+z4
}

package jpeg

import (
	"errors"
	"fmt"
)

// The coded data of a JPEG image, read scan by scan into coefficients.

// huffman decodes codes of up to 16 bits.
type huffman struct {
	least, most [17]int32 // the first and the last code of a length; most is -1 if there is none
	first       [17]int32 // the number of the first value
	values      []byte
}

// newHuffman returns the decoder of a table: counts are the numbers of codes of
// 1 to 16 bits.
func newHuffman(counts, values []byte) (*huffman, error) {
	h := &huffman{values: append([]byte(nil), values...)}
	code, k := int32(0), int32(0)
	for n := 1; n <= 16; n++ {
		h.least[n], h.first[n], h.most[n] = code, k, -1
		if c := int32(counts[n-1]); c > 0 {
			h.most[n] = code + c - 1
			code, k = code+c, k+c
			if code > 1<<n {
				return nil, errors.New("a Huffman table of the JPEG image has too many codes")
			}
		}
		code <<= 1
	}
	return h, nil
}

// reader reads bits of coded data.
type reader struct {
	data []byte
	at   int    // of the next byte
	bits uint32 // the byte that is being read
	n    int    // its bits that are left
	over int    // bytes of zeros read after the end
}

func (r *reader) bit() int32 {
	if r.n == 0 {
		b := byte(0)
		switch {
		case r.at >= len(r.data):
			r.over++
		case r.data[r.at] != 0xff:
			b = r.data[r.at]
			r.at++
		case r.at+1 < len(r.data) && r.data[r.at+1] == 0:
			b = 0xff
			r.at += 2
		default:
			r.over++ // a marker: only zeros come before it
		}
		r.bits, r.n = uint32(b), 8
	}
	r.n--
	return int32(r.bits>>r.n) & 1
}

// take returns the next n bits.
func (r *reader) take(n int) int32 {
	v := int32(0)
	for range n {
		v = v<<1 | r.bit()
	}
	return v
}

// ended reports whether more bits were read than there are.
func (r *reader) ended() bool { return r.over > 0 && r.at+1 >= len(r.data) }

// extended reads a number of n bits with a sign.
func (r *reader) extended(n int) int32 {
	if n == 0 {
		return 0
	}
	v := r.take(n)
	if v < 1<<(n-1) {
		v += -1<<n + 1
	}
	return v
}

// mostOver is how many bytes may be missing at the end of a scan.
const mostOver = 64

var errCode = errors.New("the JPEG image has a bad Huffman code")

// symbol returns the next value of a code.
func (r *reader) symbol(h *huffman) (int, error) {
	code := int32(0)
	for n := 1; n <= 16; n++ {
		code = code<<1 | r.bit()
		if code <= h.most[n] && code >= h.least[n] {
			return int(h.values[h.first[n]+code-h.least[n]]), nil
		}
	}
	return 0, errCode
}

// restarted moves past the next restart marker.
func (r *reader) restarted() error {
	r.n = 0
	for r.at+1 < len(r.data) {
		if r.data[r.at] == 0xff && r.data[r.at+1] >= 0xd0 && r.data[r.at+1] <= 0xd7 {
			r.at += 2
			return nil
		}
		if r.data[r.at] == 0xff && r.data[r.at+1] != 0 && r.data[r.at+1] != 0xff {
			break
		}
		r.at++
	}
	return errShort
}

// scan is a pass over some components.
type scan struct {
	from, to  int   // the band of coefficients
	high, low int   // bits that are known before and afterwards
	eobs      int32 // blocks to come whose bands have no further coefficients
}

// coefficients reads all scans.
func (m *Image) coefficients(o *Options) error {
	blocks := 0
	for i := range m.components {
		c := &m.components[i]
		c.bw, c.bh = up(m.Width, 8*m.maxH)*c.h, up(m.Height, 8*m.maxV)*c.v
		c.w, c.hgt = up(m.Width*c.h, 8*m.maxH), up(m.Height*c.v, 8*m.maxV)
		blocks += c.w * c.hgt
	}
	// Each block takes a bit at least, of its first coefficient.
	if !o.Recover && blocks > 8*(len(m.data)+mostOver*len(m.components)) {
		return errShort
	}
	h, w := m.Size(o.Ratio)
	bytes := o.Channels * h * w
	for i := range m.components {
		c := &m.components[i]
		// two bytes for a coefficient, one for its sample, and one for each pixel
		bytes += 3*64*c.bw*c.bh + h*w
	}
	o.Reserve(bytes)
	for i := range m.components {
		c := &m.components[i]
		c.coefs = make([]int16, 64*c.bw*c.bh)
	}
	scans := 0
	for {
		marker, body, err := m.segment()
		if err == errShort && o.Recover && scans > 0 {
			marker, err = 0xd9, nil
		}
		if err != nil {
			return err
		}
		switch marker {
		case 0xd9:
			if !m.complete() {
				return errors.New("a component of the JPEG image has no data")
			}
			return nil
		case 0xda:
			// A scan costs time for the whole image, however short it is. The
			// limit is Cairn's.
			if scans++; scans > 1000 {
				return errors.New("the JPEG image has too many scans")
			}
			if err := o.Interrupted(); err != nil {
				return err
			}
			if err := m.scan(body, o); err != nil {
				return err
			}
			if !m.progressive && m.complete() {
				return nil
			}
		default:
			if err := m.table(marker, body); err != nil {
				return err
			}
		}
	}
}

// complete reports whether each component has been in a scan.
func (m *Image) complete() bool {
	for _, c := range m.components {
		if c.quant == nil {
			return false
		}
	}
	return true
}

// scan reads the blocks of a scan. If the data end early and o.Recover is set,
// the remaining blocks stay unchanged, as in libjpeg.
func (m *Image) scan(b []byte, o *Options) error {
	if len(b) < 1 || len(b) != 4+2*int(b[0]) || b[0] < 1 || b[0] > 4 {
		return errShort
	}
	n := int(b[0])
	var list []*component
	for i := range n {
		found := false
		for k := range m.components {
			c := &m.components[k]
			if c.id != int(b[1+2*i]) {
				continue
			}
			found = true
			c.dc, c.ac, c.pred = int(b[2+2*i]>>4), int(b[2+2*i]&15), 0
			if c.dc > 3 || c.ac > 3 {
				return errors.New("a scan of the JPEG image names an unknown table")
			}
			if c.quant == nil {
				q := m.quant[c.tq]
				c.quant = &q
			}
			list = append(list, c)
			break
		}
		if !found {
			return errors.New("a scan of the JPEG image names an unknown component")
		}
	}
	t := b[1+2*n:]
	s := scan{from: int(t[0]), to: int(t[1]), high: int(t[2] >> 4), low: int(t[2] & 15)}
	if !m.progressive {
		s = scan{to: 63}
	}
	if s.from > s.to || s.to > 63 || s.low > 13 || s.high > 13 || m.progressive && (s.from == 0) != (s.to == 0) || s.from > 0 && n > 1 {
		return fmt.Errorf("a scan of the JPEG image has the band %d to %d", s.from, s.to)
	}
	for _, c := range list {
		if s.from == 0 && s.high == 0 && m.huffman[0][c.dc] == nil || (s.to > 0) && m.huffman[1][c.ac] == nil {
			return errors.New("a Huffman table of the JPEG image is missing")
		}
	}
	r := &reader{data: m.data, at: m.at}
	end := func(err error) error {
		if o.Recover && r.ended() {
			m.at, err = len(m.data), nil
		}
		return err
	}
	across, down := up(m.Width, 8*m.maxH), up(m.Height, 8*m.maxV)
	if n == 1 {
		across, down = list[0].w, list[0].hgt
	}
	for i := range across * down {
		if m.restart > 0 && i > 0 && i%m.restart == 0 {
			if err := r.restarted(); err != nil {
				return end(err)
			}
			s.eobs = 0
			for _, c := range list {
				c.pred = 0
			}
		}
		y, x := i/across, i%across
		if x == 0 {
			if err := o.Interrupted(); err != nil {
				return err
			}
		}
		for _, c := range list {
			h, v := c.h, c.v
			if n == 1 {
				h, v = 1, 1
			}
			for k := range h * v {
				at := (y*v+k/h)*c.bw + x*h + k%h
				if err := m.block(r, &s, c, c.coefs[64*at:][:64]); err != nil {
					return end(err)
				}
			}
		}
		if r.over > mostOver || o.Recover && r.ended() {
			return end(errShort)
		}
	}
	m.at = r.at
	return nil
}

// block reads a scan's bits of a block.
func (m *Image) block(r *reader, s *scan, c *component, b []int16) error {
	switch {
	case m.progressive && s.from == 0 && s.high > 0:
		if r.bit() == 1 {
			b[0] |= 1 << s.low
		}
		return nil
	case m.progressive && s.from > 0 && s.high > 0:
		return s.refine(r, m.huffman[1][c.ac], b)
	}
	k := s.from
	if k == 0 {
		n, err := r.symbol(m.huffman[0][c.dc])
		if err != nil {
			return err
		}
		if n > 16 {
			return errCode
		}
		c.pred += r.extended(n)
		b[0] = int16(c.pred << s.low)
		k = 1
	}
	if s.eobs > 0 {
		s.eobs--
		return nil
	}
	for ; k <= s.to; k++ {
		v, err := r.symbol(m.huffman[1][c.ac])
		if err != nil {
			return err
		}
		run, n := v>>4, v&15
		if n == 0 {
			if run == 15 {
				k += 15
				continue
			}
			if m.progressive && run > 0 {
				s.eobs = 1<<run + r.take(run) - 1
			}
			return nil
		}
		if k += run; k > 63 {
			return errCode
		}
		b[zigzag[k]] = int16(r.extended(n) << s.low)
	}
	return nil
}

// refine reads one more bit of the coefficients of a band.
func (s *scan) refine(r *reader, h *huffman, b []int16) error {
	one := int16(1) << s.low
	more := func(c *int16) {
		if r.bit() == 1 && *c&one == 0 {
			if *c >= 0 {
				*c += one
			} else {
				*c -= one
			}
		}
	}
	k := s.from
	if s.eobs == 0 {
		for ; k <= s.to; k++ {
			v, err := r.symbol(h)
			if err != nil {
				return err
			}
			run, n := v>>4, v&15
			var fresh int16
			if n != 0 {
				if fresh = -one; r.bit() == 1 {
					fresh = one
				}
			} else if run != 15 {
				s.eobs = 1<<run + r.take(run)
				break
			}
			for ; k <= s.to; k++ {
				c := &b[zigzag[k]]
				if *c != 0 {
					more(c)
					continue
				}
				if run == 0 {
					if fresh != 0 {
						*c = fresh
					}
					break
				}
				run--
			}
		}
	}
	if s.eobs > 0 {
		for ; k <= s.to; k++ {
			if c := &b[zigzag[k]]; *c != 0 {
				more(c)
			}
		}
		s.eobs--
	}
	return nil
}

// Package deflate compresses to the bytes that zlib makes. The standard library's
// compressor finds other matches and ends blocks at other places. Package kernel/image
// uses it.
//
// Data are given whole. The places at which zlib would move its window still matter. They
// decide which matches are allowed, and which blocks may be stored.
package deflate

import "hash/adler32"

// Options are the parameters of the compression.
type Options struct {
	Level    int  // from 0 to 9; any other number means 6
	Filtered bool // short matches are left out, as zlib's Z_FILTERED does
	Window   uint // the logarithm of the window's size, from 9 to 15; 0 means 15
	// Piece is the number of bytes that a caller of zlib would pass at once. The ends
	// of pieces decide where stored blocks of level 0 end and when the window moves.
	// 0 means all.
	Piece int
	// Check is called now and then, so that it can end a long compression by a
	// panic. Default: nothing is called.
	Check func()
}

// effort is how hard matches are looked for. The numbers are those of zlib's configuration_table;
// chain is the number of candidates that are compared.
type effort struct {
	good, lazy, nice, chain int
	slow                    bool // a match waits for a better one at the next byte
}

var efforts = [10]effort{1: {4, 4, 8, 4, false}, 2: {4, 5, 16, 8, false}, 3: {4, 6, 32, 32, false}, 4: {4, 4, 16, 16, true}, 5: {8, 16, 32, 32, true},
	6: {8, 16, 128, 128, true}, 7: {8, 32, 128, 256, true}, 8: {32, 128, 258, 1024, true}, 9: {32, 258, 258, 4096, true}}

const (
	shortest, longest = 3, 258
	reserve           = longest + shortest + 1 // bytes that zlib wants ahead
	tooFar            = 4096                   // a match of three bytes isn't worth more
	symbols           = 1<<15 - 1              // in a block, with the most memory that zlib takes
	hashBits          = 16
)

// Zlib returns data as a zlib stream.
func Zlib(data []byte, o Options) []byte {
	if o.Level < 0 || o.Level > 9 {
		o.Level = 6
	}
	if o.Window == 0 {
		o.Window = 15
	}
	flags := uint(3)
	switch {
	case o.Level < 2:
		flags = 0
	case o.Level < 6:
		flags = 1
	case o.Level == 6:
		flags = 2
	}
	header := (8+(o.Window-8)<<4)<<8 | flags<<6
	header += 31 - header%31
	d := &compressor{data: data, options: o, effort: efforts[o.Level], size: 1 << o.Window}
	d.out.bytes = append(make([]byte, 0, 64+len(data)/4), byte(header>>8), byte(header))
	switch {
	case o.Level == 0:
		d.stored()
	case d.effort.slow:
		d.slow()
	default:
		d.fast()
	}
	d.out.align()
	sum := adler32.Checksum(data)
	return append(d.out.bytes, byte(sum>>24), byte(sum>>16), byte(sum>>8), byte(sum))
}

// compressor compresses a stream.
type compressor struct {
	data    []byte
	options Options
	effort  effort
	size    int // of the window
	at      int
	begin   int     // of the block
	base    int     // offset of zlib's window, of twice the size
	end     int     // of the data in zlib's window
	passed  int     // bytes that a caller of zlib would have passed
	work    int     // since the last call of Check, in bytes compared
	head    []int32 // the last place of a hash, plus one
	prev    []int32 // the place before one of the same hash, plus one
	block   []symbol
	trees   trees
	out     bitWriter
}

// symbol is a byte, or a match if distance isn't 0.
type symbol struct{ length, distance uint16 }

func (d *compressor) ahead() int { return len(d.data) - d.at }

// fill does zlib's work before each step: if little input is ahead in the window, it
// moves the window and takes more input, piece by piece. A block can be stored only if
// its start is in the window.
func (d *compressor) fill() {
	d.did(1)
	for d.end-d.at < reserve {
		if d.at-d.base >= 2*d.size-reserve {
			d.base += d.size
		}
		if d.end == len(d.data) {
			return
		}
		if d.end == d.passed {
			d.pass()
		}
		d.end = min(d.passed, d.base+2*d.size)
	}
}

// pass passes the next piece.
func (d *compressor) pass() {
	n := len(d.data) - d.passed
	if p := d.options.Piece; p > 0 {
		n = min(p, n)
	}
	d.passed += n
}

// did counts n bytes of work, and calls Check now and then.
func (d *compressor) did(n int) {
	if d.work += n; d.work >= 1<<16 {
		d.work = 0
		if d.options.Check != nil {
			d.options.Check()
		}
	}
}

// insert enters the position of the three bytes at i. It returns the position
// before of the same hash, or -1 if there is none that may be matched.
func (d *compressor) insert(i int) int {
	if d.head == nil {
		d.head, d.prev = make([]int32, 1<<hashBits), make([]int32, d.size)
	}
	h := (uint32(d.data[i])<<12 ^ uint32(d.data[i+1])<<6 ^ uint32(d.data[i+2])) & (1<<hashBits - 1)
	before := d.head[h]
	d.prev[i&(d.size-1)] = before
	d.head[h] = int32(i + 1)
	return int(before) - 1
}

// near reports whether a place may be matched. The first place of the window may not,
// because 0 is zlib's number for no place.
func (d *compressor) near(place int) bool {
	return place > d.base && d.at-place <= d.size-reserve
}

// match returns the longest match that is longer than best.
func (d *compressor) match(place, best int) (length, where int) {
	chain, nice := d.effort.chain, min(d.effort.nice, d.ahead())
	if best >= d.effort.good {
		chain >>= 2
	}
	first, work := chain, 0
	limit := max(d.base, d.at-(d.size-reserve))
	here := d.data[d.at:min(d.at+longest, len(d.data))]
	for {
		there := d.data[place:]
		if best < len(here) && there[best] == here[best] && there[best-1] == here[best-1] {
			n := 0
			for n < len(here) && here[n] == there[n] {
				n++
			}
			work += n
			if n > best {
				if best, where = n, place; n >= nice {
					break
				}
			}
		}
		place = int(d.prev[place&(d.size-1)]) - 1
		if chain--; place <= limit || chain == 0 {
			break
		}
	}
	d.did(work + first - chain)
	return min(best, d.ahead()), where
}

// fast works as zlib's deflate_fast: it takes the first match that is long enough.
func (d *compressor) fast() {
	for d.fill(); d.ahead() > 0; d.fill() { // zlib fills once more after the last byte
		length, where := 0, 0
		if d.ahead() >= shortest {
			if place := d.insert(d.at); d.near(place) {
				length, where = d.match(place, shortest-1)
			}
		}
		if length < shortest {
			d.add(symbol{length: uint16(d.data[d.at])})
			d.at++
		} else {
			d.add(symbol{uint16(length), uint16(d.at - where)})
			if end := d.at + length; length <= d.effort.lazy && len(d.data)-end >= shortest {
				for d.at++; d.at < end; d.at++ {
					d.insert(d.at)
				}
			} else {
				d.at = end
			}
		}
		if len(d.block) == symbols {
			d.flush(false)
		}
	}
	d.flush(true)
}

// slow works as zlib's deflate_slow: it takes a match unless the next byte has a longer one.
func (d *compressor) slow() {
	length, where := shortest-1, 0
	waiting := false                        // a byte that is in no match yet
	for d.fill(); d.ahead() > 0; d.fill() { // zlib fills once more after the last byte
		place := -1
		if d.ahead() >= shortest {
			place = d.insert(d.at)
		}
		before, whence := length, where
		if length = shortest - 1; before < d.effort.lazy && d.near(place) {
			length, where = d.match(place, before)
			if length <= 5 && (d.options.Filtered || length == shortest && d.at-where > tooFar) {
				length = shortest - 1
			}
		}
		switch {
		case before >= shortest && length <= before:
			d.add(symbol{uint16(before), uint16(d.at - 1 - whence)})
			last := len(d.data) - shortest
			for end := d.at + before - 2; d.at < end; {
				if d.at++; d.at <= last {
					d.insert(d.at)
				}
			}
			waiting, length = false, shortest-1
			d.at++
			if len(d.block) == symbols {
				d.flush(false)
			}
		case waiting:
			d.add(symbol{length: uint16(d.data[d.at-1])})
			if len(d.block) == symbols {
				d.flush(false)
			}
			d.at++
		default:
			waiting = true
			d.at++
		}
	}
	if waiting {
		d.add(symbol{length: uint16(d.data[d.at-1])})
	}
	d.flush(true)
}

// stored writes blocks that aren't compressed. All but the last are at least as large as
// the window's size. Where they end depends on how zlib fills its window. That is so if
// its caller has room for less than a block at once.
func (d *compressor) stored() {
	const most = 65535
	for d.end < len(d.data) {
		d.pass()
		for d.end < d.passed {
			if d.passed > d.base+2*d.size && d.begin-d.base >= d.size {
				d.base += d.size
			}
			d.did(d.size)
			d.end = min(d.passed, d.base+2*d.size)
			if n := d.end - d.begin; n >= d.size {
				n = min(n, most)
				d.out.stored(d.data[d.begin:d.begin+n], false)
				d.begin += n
			}
		}
	}
	d.out.stored(d.data[d.begin:], true)
}

func (d *compressor) add(s symbol) { d.block = append(d.block, s) }

// flush writes the block up to the current place in the shortest of the three
// forms.
func (d *compressor) flush(last bool) {
	var raw []byte
	if d.begin >= d.base {
		raw = d.data[d.begin:d.at:d.at]
	}
	d.trees.write(&d.out, d.block, raw, d.begin >= d.base, last)
	d.block, d.begin = d.block[:0], d.at
}

package hdf5

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"sync"

	"github.com/klauspost/compress/zlib"
)

// The numbers of filters, which are part of the format.
const (
	filterGzip       = 1
	filterShuffle    = 2
	filterFletcher32 = 3
)

var filterNames = map[uint16]string{
	filterGzip: "gzip", filterShuffle: "shuffle", filterFletcher32: "fletcher32",
	4: "szip", 5: "nbit", 6: "scaleoffset", 32000: "lzf", 32001: "blosc", 32004: "lz4", 32015: "zstd",
}

// A filter is one step that chunks go through when they are written.
type filter struct {
	id     uint16
	values []uint32 // gzip: its level; shuffle: bytes of an element
}

func (f filter) String() string {
	if name := filterNames[f.id]; name != "" {
		return name
	}
	return fmt.Sprintf("filter(%d)", f.id)
}

// maxFilters is HDF5's bound, which the bits of a chunk's mask set.
const maxFilters = 32

// filters decodes a filter message.
func (f *File) filters(msg message) ([]filter, error) {
	c := f.cursor(msg.body, msg.addr)
	version, n := c.u8(), int(c.u8())
	if version == 1 {
		c.skip(6)
	}
	if version < 1 || version > 2 || n > maxFilters {
		return nil, &CorruptError{Offset: f.base + int64(msg.addr), What: fmt.Sprintf("%d filters, of version %d", n, version)}
	}
	var list []filter
	for range n {
		k := filter{id: c.u16()}
		name := 0
		if version == 1 || k.id >= 256 {
			name = int(c.u16())
		}
		c.skip(2) // flags
		values := int(c.u16())
		c.skip(name)
		if version == 1 {
			c.skip(-name & 7)
		}
		if 4*values > c.Len() {
			c.skip(4 * values) // fails
		}
		if err := c.err(); err != nil {
			return nil, err
		}
		for range values {
			k.values = append(k.values, c.u32())
		}
		if version == 1 && values%2 != 0 {
			c.skip(4)
		}
		list = append(list, k)
	}
	return list, c.err()
}

// checkFilters returns an error for a filter that this package does not undo.
func checkFilters(list []filter) error {
	for _, k := range list {
		switch k.id {
		case filterGzip, filterShuffle, filterFletcher32:
		default:
			return &UnsupportedError{Feature: "the filter " + k.String()}
		}
	}
	return nil
}

// unfilter undoes the filters of a chunk, which must become want bytes.
func (d *Dataset) unfilter(b []byte, k chunk, want uint64) ([]byte, error) {
	corrupt := func(what string, err error) error {
		return &CorruptError{Offset: d.f.base + int64(k.addr), What: what, Err: err}
	}
	for i := len(d.filters) - 1; i >= 0; i-- {
		if k.mask&(1<<i) != 0 {
			continue
		}
		switch fl := d.filters[i]; fl.id {
		case filterFletcher32:
			if len(b) < 4 {
				return nil, corrupt("a chunk is too short for its checksum", nil)
			}
			body := b[:len(b)-4]
			stored := d.f.cursor(b[len(body):], 0)
			got, sum := stored.u32(), fletcher32(body)
			if got != sum && got != bits.RotateLeft32(bits.ReverseBytes32(sum), 16) { // as versions before 1.6.3 wrote it on some machines
				return nil, corrupt(fmt.Sprintf("the checksum of a chunk differs (got %08x, want %08x)", got, sum), nil)
			}
			b = body
		case filterGzip:
			// A checksum before it in the pipeline adds four bytes.
			out, err := inflate(b, want+4*uint64(i))
			if err != nil {
				return nil, corrupt("a chunk can't be decompressed", err)
			}
			b = out
		case filterShuffle:
			if len(fl.values) == 0 || fl.values[0] == 0 {
				return nil, corrupt("the shuffle filter has no element size", nil)
			}
			b = unshuffle(b, uint64(fl.values[0]))
		}
	}
	if uint64(len(b)) != want {
		return nil, corrupt(fmt.Sprintf("a chunk has the wrong size (got %d bytes, want %d)", len(b), want), nil)
	}
	return b, nil
}

// errTooLong refuses a compressed chunk that becomes larger than a chunk is.
var errTooLong = errors.New("it becomes too large")

var inflaters sync.Pool

// inflate decompresses b to at most most bytes.
func inflate(b []byte, most uint64) ([]byte, error) {
	z, err := inflater(b)
	if err != nil {
		return nil, err
	}
	defer inflaters.Put(z)
	// The memory grows with the actual data, because most is only the announced
	// size.
	out := make([]byte, 0, min(most+1, 64*uint64(len(b))+1024))
	for {
		if uint64(len(out)) > most {
			return nil, errTooLong
		}
		if len(out) == cap(out) {
			grown := make([]byte, len(out), min(most+1, 2*uint64(cap(out))))
			copy(grown, out)
			out = grown
		}
		n, err := z.Read(out[len(out):cap(out)])
		out = out[:len(out)+n]
		if errors.Is(err, io.EOF) {
			if uint64(len(out)) > most {
				return nil, errTooLong
			}
			return out, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func inflater(b []byte) (io.ReadCloser, error) {
	if z, ok := inflaters.Get().(io.ReadCloser); ok {
		return z, z.(zlib.Resetter).Reset(bytes.NewReader(b), nil)
	}
	return zlib.NewReader(bytes.NewReader(b))
}

// unshuffle puts the bytes of elements together again, of which all first ones come first.
func unshuffle(b []byte, size uint64) []byte {
	n := uint64(len(b)) / size
	if size == 1 || n < 2 {
		return b
	}
	out := make([]byte, len(b))
	switch size { // of the common sizes, an element at a time
	case 2:
		low, high := b[:n], b[n:2*n]
		for j, v := range low {
			le.PutUint16(out[2*j:], uint16(v)|uint16(high[j])<<8)
		}
	case 4:
		b0, b1, b2, b3 := b[:n], b[n:2*n], b[2*n:3*n], b[3*n:4*n]
		for j, v := range b0 {
			le.PutUint32(out[4*j:], uint32(v)|uint32(b1[j])<<8|uint32(b2[j])<<16|uint32(b3[j])<<24)
		}
	default:
		for i := range size {
			for j, v := range b[i*n : (i+1)*n] {
				out[uint64(j)*size+i] = v
			}
		}
	}
	copy(out[n*size:], b[n*size:])
	return out
}

// shuffle does the opposite of unshuffle.
func shuffle(b []byte, size int) []byte {
	n := len(b) / size
	out := make([]byte, len(b))
	for i := range size {
		for j := range n {
			out[i*n+j] = b[j*size+i]
		}
	}
	copy(out[n*size:], b[n*size:])
	return out
}

// fletcher32 returns the checksum of b by Fletcher, over big-endian words of 16 bits.
func fletcher32(b []byte) uint32 {
	var low, high uint32
	fold := func() {
		low = low&0xffff + low>>16
		high = high&0xffff + high>>16
	}
	words := b[:len(b)&^1]
	for len(words) > 0 {
		n := min(len(words), 2*360) // that many before high overflows
		for i := 0; i < n; i += 2 {
			low += uint32(words[i])<<8 | uint32(words[i+1])
			high += low
		}
		words = words[n:]
		fold()
	}
	if len(b)%2 != 0 {
		low += uint32(b[len(b)-1]) << 8
		high += low
		fold()
	}
	fold()
	return high<<16 | low
}

package hdf5

import (
	"bytes"
	"fmt"
	"math"

	"github.com/klauspost/compress/zlib"
)

// chunks lays out the chunks of a dataset and returns the address of their index. Chunks that go
// through filters are made now, because their sizes must be known.
func (b *builder) chunks(d *DatasetWriter, ready []byte, size int) (uint64, error) {
	o := &d.opts
	grid := gridOf(d)
	if grid.total == 0 {
		return undefined, nil
	}
	chunkSize := uint64(size)
	for _, n := range o.Chunks {
		chunkSize *= uint64(n)
	}
	if o.filtered() && ready == nil {
		t, err := d.elements(b.ctx)
		if err != nil {
			return 0, err
		}
		ready = toFile(t)
	}
	coords := make([]uint64, len(d.shape))
	key := func(stored uint64, next uint64) []byte {
		k := le.AppendUint32(nil, uint32(stored))
		k = le.AppendUint32(k, 0) // no filter was skipped
		for i, x := range coords {
			k = le.AppendUint64(k, (x+next)*uint64(o.Chunks[i]))
		}
		return le.AppendUint64(k, next*uint64(size))
	}
	var entries []treeEntry
	for n := range grid.total {
		grid.at(n, coords)
		stored := chunkSize
		e := treeEntry{child: b.size, later: true, right: key(0, 1)}
		if o.filtered() {
			chunk := gather(d, ready, coords, size, chunkSize)
			out, err := applyFilters(o, chunk, size)
			if err != nil {
				return 0, err
			}
			if stored = uint64(len(out)); stored > math.MaxUint32 {
				return 0, &UnsupportedError{d.path, "chunks of more than 2³² bytes"}
			}
			b.add(dataPart{d, out, stored})
		} else {
			// The chunks follow each other without padding, so that one part makes them all.
			e.child = b.size + n*chunkSize
		}
		e.left = key(stored, 0)
		entries = append(entries, e)
	}
	if !o.filtered() {
		b.add(dataPart{d, ready, grid.total * chunkSize})
	}
	return b.tree(treeOfChunks, chunkK, 4+4+8*(len(d.shape)+1), entries), nil
}

// gridOf returns the grid of the chunks of a new dataset.
func gridOf(d *DatasetWriter) *grid {
	g := &grid{total: 1}
	for i, n := range d.shape {
		c := d.opts.Chunks[i]
		g.counts = append(g.counts, uint64((n+c-1)/c))
		g.total *= g.counts[i]
	}
	return g
}

// gather returns the bytes of a chunk from those of all elements; bytes beyond the shape are
// zero.
func gather(d *DatasetWriter, all []byte, coords []uint64, size int, chunkSize uint64) []byte {
	chunk := make([]byte, chunkSize)
	_ = tile(coords, d.shape, d.opts.Chunks, size, func(from, to, n int) error {
		copy(chunk[to:to+n], all[from:])
		return nil
	})
	return chunk
}

// applyFilters returns the bytes of a chunk in the file.
func applyFilters(o *DatasetOptions, b []byte, size int) ([]byte, error) {
	if o.Shuffle {
		b = shuffle(b, size)
	}
	if o.Gzip > 0 {
		var out bytes.Buffer
		z, err := zlib.NewWriterLevel(&out, o.Gzip)
		if err != nil {
			return nil, err
		}
		if _, err := z.Write(b); err != nil {
			return nil, fmt.Errorf("hdf5: compress chunk: %w", err)
		}
		if err := z.Close(); err != nil {
			return nil, fmt.Errorf("hdf5: compress chunk: %w", err)
		}
		b = out.Bytes()
	}
	if o.Fletcher32 {
		b = le.AppendUint32(append([]byte(nil), b...), fletcher32(b))
	}
	return b, nil
}

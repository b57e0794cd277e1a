package hdf5

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/cairnml/cairn/internal/cores"
	"github.com/cairnml/cairn/tensor"
)

// readChunks reads the chunks of the dataset into b, several at the same time.
func (d *Dataset) readChunks(ctx context.Context, m *meter, b []byte) error {
	if err := checkFilters(d.filters); err != nil {
		return err
	}
	g, err := d.grid()
	if err != nil {
		return err
	}
	list, err := d.chunks(m, g)
	if err != nil {
		return err
	}
	if uint64(len(list)) < g.total {
		d.fillIn(b)
	}
	workers := min(runtime.GOMAXPROCS(0), len(list))
	if most := uint64(m.left) / 2; d.layout.chunkSize > most/uint64(max(workers, 1)) {
		workers = max(1, int(most/d.layout.chunkSize)) // fewer chunks in memory at the same time
	}
	if err := m.take(uint64(workers)*min(d.layout.chunkSize, d.f.size), "reading chunks"); err != nil {
		return err
	}
	var next atomic.Int64
	var failed sync.Once
	var failure error
	cores.Each(workers, func(int) {
		w := chunkReader{d: d, g: g, coords: make([]uint64, len(g.counts)), chunk: d.Chunks()}
		for {
			i := int(next.Add(1)) - 1
			if i >= len(list) {
				return
			}
			err := ctx.Err()
			if err == nil {
				err = w.read(list[i], b)
			}
			if err != nil {
				failed.Do(func() { failure = err })
				next.Store(int64(len(list)))
			}
		}
	})
	return failure
}

// A chunkReader reads chunks into the elements of a dataset.
type chunkReader struct {
	d      *Dataset
	g      *grid
	coords []uint64
	chunk  tensor.Shape // of a chunk
	stored []byte
}

// read reads a chunk into b, the elements of the whole dataset.
func (w *chunkReader) read(k chunk, b []byte) error {
	d := w.d
	if uint64(cap(w.stored)) < k.size {
		w.stored = make([]byte, k.size)
	}
	w.stored = w.stored[:k.size]
	if err := d.f.readAt(w.stored, k.addr, "a chunk"); err != nil {
		return err
	}
	w.g.at(k.number, w.coords)
	if d.layout.plainEdge && w.edge() {
		k.mask = ^uint32(0)
	}
	data, err := d.unfilter(w.stored, k, d.layout.chunkSize)
	if err != nil {
		return err
	}
	tile(b, data, w.coords, d.space.shape, w.chunk, d.typ.Size, func(whole, part []byte) { copy(whole, part) })
	return nil
}

// edge reports whether the chunk reaches beyond the dataset's shape.
func (w *chunkReader) edge() bool {
	for i, x := range w.coords {
		if (x+1)*w.d.layout.chunk[i] > uint64(w.d.space.shape[i]) {
			return true
		}
	}
	return false
}

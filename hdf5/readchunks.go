package hdf5

import (
	"context"
	"errors"
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
	coords []uint64     // of the chunk, in chunks
	chunk  tensor.Shape // of a chunk
	stored []byte       // memory for the chunk's bytes in the file
}

// directRun is how many bytes a run of a chunk must have to be read without its neighbours.
const directRun = 32 << 10

// read reads a chunk into b, the elements of the whole dataset.
func (w *chunkReader) read(k chunk, b []byte) error {
	d := w.d
	w.g.at(k.number, w.coords)
	if len(d.filters) == 0 && w.runs() >= directRun {
		return tile(w.coords, d.space.shape, w.chunk, d.typ.Size, func(to, from, n int) error {
			return d.f.readAt(b[to:to+n], k.addr+uint64(from), "a chunk")
		})
	}
	if uint64(cap(w.stored)) < k.size {
		w.stored = make([]byte, k.size)
	}
	w.stored = w.stored[:k.size]
	if err := d.f.readAt(w.stored, k.addr, "a chunk"); err != nil {
		return err
	}
	if d.layout.plainEdge && w.edge() {
		k.mask = ^uint32(0)
	}
	data, err := d.unfilter(w.stored, k, d.layout.chunkSize)
	if err != nil {
		return err
	}
	return tile(w.coords, d.space.shape, w.chunk, d.typ.Size, func(to, from, n int) error {
		copy(b[to:to+n], data[from:])
		return nil
	})
}

// runs returns how many bytes the runs of the chunk have.
func (w *chunkReader) runs() (length int) {
	_ = tile(w.coords, w.d.space.shape, w.chunk, w.d.typ.Size, func(_, _, n int) error {
		length = n
		return errEnough
	})
	return length
}

// errEnough ends a walk over runs.
var errEnough = errors.New("enough")

// edge reports whether the chunk reaches beyond the dataset's shape.
func (w *chunkReader) edge() bool {
	for i, x := range w.coords {
		if (x+1)*w.d.layout.chunk[i] > uint64(w.d.space.shape[i]) {
			return true
		}
	}
	return false
}

package bundle

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/cairnml/cairn/internal/table"
	"github.com/cairnml/cairn/tensor"
)

// indexLoad is the reading of a version 2 index. Its blocks are independent of
// each other once the header is known, which stands at the front of the first, so
// that workers decode them.
type indexLoad struct {
	r         *Reader
	table     *table.Reader
	file      string
	maxShards int
	budget    atomic.Int64 // what the entries may still take in memory

	sliced []int              // the entries of tensors stored in slices
	free   chan []packedEntry // lists to be used again
}

// blockEntries are the entries of a block.
type blockEntries struct {
	list   []packedEntry
	sliced []int // the places in list of tensors stored in slices
	err    error
}

// An indexWorker decodes blocks.
type indexWorker struct {
	buf  []byte // where the block lies
	room int    // how many entries the last one had
}

// inHand is how many bytes of blocks, as they stand in the file, are decoded at a
// time, unless one alone has more. Compressed ones may take many times that.
const inHand = 1 << 20

// run reads all entries, in order. The error is that of the first block that is
// at fault.
func (l *indexLoad) run(ctx context.Context) error {
	x := &l.r.index
	*x = index{sliced: make(map[int]*slicedTensor), owners: make(map[int]sliceOf)}
	l.free = make(chan []packedEntry, 1+runtime.GOMAXPROCS(0))
	var w indexWorker
	blocks, first := l.table.Blocks(), 0
	for ; first < blocks && l.r.header.Raw == nil; first++ { // blocks may be empty
		if err := l.take(l.block(ctx, first, &w)); err != nil {
			return err
		}
	}
	if l.r.header.Raw == nil {
		return l.bad(-1, "", errors.New("the table is empty: there is no header"))
	}
	workers := min(runtime.GOMAXPROCS(0), blocks-first, max(1, int(inHand/max(1, l.table.LargestBlock()))))
	if workers <= 1 {
		for i := first; i < blocks; i++ {
			if err := l.take(l.block(ctx, i, &w)); err != nil {
				return err
			}
		}
		return nil
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	done := make([]chan blockEntries, blocks) // each holds one, so that no worker is held up
	for i := range done {
		done[i] = make(chan blockEntries, 1)
	}
	var next atomic.Int64
	next.Store(int64(first))
	var wg sync.WaitGroup
	defer wg.Wait()
	for range workers {
		wg.Go(func() {
			var w indexWorker
			for i := int(next.Add(1)) - 1; i < blocks; i = int(next.Add(1)) - 1 {
				b := l.block(ctx, i, &w)
				done[i] <- b
				if b.err != nil {
					return
				}
			}
		})
	}
	for i := first; i < blocks; i++ {
		if err := l.take(<-done[i]); err != nil {
			stop()
			return err
		}
	}
	return nil
}

// take adds the entries of the next block to the index.
func (l *indexLoad) take(b blockEntries) error {
	if b.err != nil {
		return b.err
	}
	for _, i := range b.sliced {
		l.sliced = append(l.sliced, l.r.index.n+i)
	}
	l.r.index.add(b.list)
	select {
	case l.free <- b.list[:0]:
	default:
	}
	return nil
}

func (l *indexLoad) bad(offset int64, name string, err error) error {
	return &CorruptError{File: l.file, Offset: offset, Name: keyOwner(name), What: err.Error()}
}

// block decodes a block. It reads the header in the first one.
func (l *indexLoad) block(ctx context.Context, i int, w *indexWorker) (b blockEntries) {
	if b.err = ctx.Err(); b.err != nil {
		return b
	}
	shape := make(tensor.Shape, 0, tensor.MaxRank)
	var rec record
	var arena []byte // where the next keys and messages go
	header := l.r.header.Raw == nil
	select {
	case b.list = <-l.free:
	default:
		b.list = make([]packedEntry, 0, w.room)
	}
	b.err = l.table.Scan(i, &w.buf, func(key, value []byte, offset int64) error {
		if len(b.list)%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if l.budget.Add(-int64(len(key)+len(value))-entryMemory) < 0 {
			return l.bad(offset, "", errors.New("the keys and entries are out of proportion to the file's size"))
		}
		if header {
			if header = false; len(key) != 0 {
				return l.bad(offset, "", fmt.Errorf("the first key is %.100q, not the header's empty one", key))
			}
			err := l.r.readHeader(l.file, offset, value, l.maxShards)
			l.r.index.shards = l.r.header.NumShards
			return err
		}
		if len(key) > math.MaxInt32 || len(value) > math.MaxInt32 {
			return l.bad(offset, "", errors.New("the entry has more than 2 GiB, the most that a message can have"))
		}
		parts, err := rec.parse(view(key), value, l.r.header.NumShards, shape)
		if err != nil {
			return l.bad(offset, string(key), err)
		}
		if parts > 0 {
			b.sliced = append(b.sliced, len(b.list))
		}
		size := len(key) + len(value)
		if size > cap(arena)-len(arena) {
			arena = make([]byte, 0, max(keyArena, size))
		}
		n := len(arena)
		arena = append(append(arena, key...), value...)
		b.list = append(b.list, packedEntry{bytes: unsafe.SliceData(arena[n:]), key: uint32(len(key)), raw: uint32(len(value)), at: offset})
		return nil
	})
	w.room = len(b.list) + len(b.list)/16
	return b
}

package bundle

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/cairnml/cairn/internal/cores"
	"github.com/cairnml/cairn/internal/scratch"
	"github.com/cairnml/cairn/internal/table"
	"github.com/cairnml/cairn/tensor"
)

// indexLoad reads a version 2 index. The header is at the beginning of the
// first block. Once it is known, the blocks are independent of each other. So
// workers decode the blocks.
type indexLoad struct {
	r         *Reader
	table     *table.Reader
	file      string
	maxShards int
	budget    atomic.Int64 // memory that entries may still use, in bytes

	sliced []int // the entries of tensors stored in slices
}

// The memory for blocks and their entries.
var (
	blockBytes scratch.Pool[byte]
	entryLists scratch.Pool[indexEntry]
)

// blockEntries are the entries of a block.
type blockEntries struct {
	list   []indexEntry
	memory *[]indexEntry // that of list
	sliced []int         // the places in list of tensors stored in slices
	bits   placeBits
	err    error
}

// An indexWorker decodes blocks.
type indexWorker struct {
	buf      *[]byte // memory of the block
	capacity int     // how many entries the last one had
	arena    []byte  // memory for the next keys and messages
}

func newIndexWorker(capacity int) *indexWorker {
	return &indexWorker{buf: blockBytes.Get(), capacity: capacity}
}

func (w *indexWorker) close() { blockBytes.Put(w.buf) }

// bytesInFlight bounds the bytes of blocks, as stored in the file, that are
// decoded at a time, unless one block alone has more. Compressed blocks may take
// many times that in memory. The number may change.
const bytesInFlight = 1 << 20

// entrySize is the typical size of an entry in a block: the part of its key that it
// doesn't share with the previous one, and its message.
const entrySize = 48

// run reads all entries, in order. The error is that of the first block that is
// at fault.
func (l *indexLoad) run(ctx context.Context) error {
	x := &l.r.index
	x.sliced, x.owners = make(map[int]*slicedTensor), make(map[int]sliceOf)
	capacity := int(l.table.LargestBlock() / entrySize)
	w := newIndexWorker(capacity)
	defer w.close()
	blocks, first := l.table.Blocks(), 0
	for ; first < blocks && l.r.header.Raw == nil; first++ { // blocks may be empty
		if err := l.take(l.block(ctx, first, w)); err != nil {
			return err
		}
	}
	if l.r.header.Raw == nil {
		return l.bad(-1, "", errors.New("the table is empty: there is no header"))
	}
	workers := min(runtime.GOMAXPROCS(0), blocks-first, max(1, int(bytesInFlight/max(1, l.table.LargestBlock()))))
	if workers <= 1 {
		for i := first; i < blocks; i++ {
			if err := l.take(l.block(ctx, i, w)); err != nil {
				return err
			}
		}
		return nil
	}
	// The worker that has decoded the next block in order adds it, and the blocks that
	// wait for it. So few lists are in use at a time.
	var mu sync.Mutex
	var err error
	decoded := make([]blockEntries, blocks)
	ready := make([]bool, blocks)
	var next atomic.Int64
	next.Store(int64(first))
	work := func(int) {
		w := newIndexWorker(capacity)
		defer w.close()
		for {
			i := int(next.Add(1)) - 1
			if i >= blocks {
				return
			}
			b := l.block(ctx, i, w)
			mu.Lock()
			decoded[i], ready[i] = b, true
			for ; err == nil && first < blocks && ready[first]; first++ {
				err = l.take(decoded[first])
				decoded[first] = blockEntries{}
			}
			failed := err != nil || b.err != nil
			mu.Unlock()
			if failed {
				return
			}
		}
	}
	cores.Each(workers, work)
	return err
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
	l.r.index.bits.add(b.bits)
	b.release()
	return nil
}

// release returns the list's memory to the pool.
func (b *blockEntries) release() {
	clear(b.list)
	*b.memory = b.list
	entryLists.Put(b.memory)
}

func (l *indexLoad) bad(offset int64, name string, err error) error {
	return &CorruptError{File: l.file, Offset: offset, Name: keyOwner(name), What: err.Error()}
}

// budgetStep is the number of bytes that a worker uses before it subtracts them from the
// budget that all workers share.
const budgetStep = 64 << 10

// spend subtracts spent from the budget, sets it to zero, and reports whether enough was left.
func (l *indexLoad) spend(spent *int64) bool {
	n := *spent
	*spent = 0
	return l.budget.Add(-n) >= 0
}

// header reads the header, which is the value of the first key.
func (l *indexLoad) header(key, value []byte, offset int64) error {
	if len(key) != 0 {
		return l.bad(offset, "", fmt.Errorf("the first key is %.100q, not the header's empty one", key))
	}
	err := l.r.readHeader(l.file, offset, value, l.maxShards)
	l.r.index.shards = l.r.header.NumShards
	return err
}

// block decodes a block. It reads the header in the first one.
func (l *indexLoad) block(ctx context.Context, i int, w *indexWorker) (b blockEntries) {
	if b.err = ctx.Err(); b.err != nil {
		return b
	}
	shape := make(tensor.Shape, 0, tensor.MaxRank)
	var rec record
	header := l.r.header.Raw == nil
	var spent int64 // of the budget
	var bits placeBits
	b.memory = entryLists.Get()
	b.list = scratch.Of(b.memory, w.capacity)[:0]
	e := l.table.Scan(i, w.buf)
	for b.err == nil && e.Next() {
		key, value := e.Key, e.Value
		if len(b.list)%4096 == 0 && ctx.Err() != nil {
			b.err = ctx.Err()
			break
		}
		if spent += int64(len(key)+len(value)) + entryMemory; spent >= budgetStep && !l.spend(&spent) {
			b.err = l.bad(e.Offset, "", errors.New("the keys and entries are out of proportion to the file's size"))
			break
		}
		if header {
			header = false
			b.err = l.header(key, value, e.Offset)
			continue
		}
		if len(key) > math.MaxInt32 || len(value) > math.MaxInt32 {
			b.err = l.bad(e.Offset, "", errors.New("the entry has more than 2 GiB, the most that a message can have"))
			break
		}
		// The entry is written to its final place: copying one just written takes most of the
		// time.
		b.list = slices.Grow(b.list, 1)[:len(b.list)+1]
		entry := &b.list[len(b.list)-1]
		kinds := &l.r.index.kinds
		k := kinds.of(value)
		parts := 0
		ok, plain := k.place(&entry.place, value, l.r.header.NumShards)
		if !ok {
			if parts, b.err = rec.parse(view(key), value, l.r.header.NumShards, shape); b.err != nil {
				b.err = l.bad(e.Offset, string(key), b.err)
				break
			}
			k = kinds.learn(value)
			if ok, plain = k.place(&entry.place, value, l.r.header.NumShards); !ok {
				entry.place = place{off: rec.Offset, size: rec.Size, shard: int32(rec.Shard), crc: rec.CRC}
			}
		}
		if plain {
			value = nil
		}
		size := len(key) + len(value)
		if size > cap(w.arena)-len(w.arena) {
			w.arena = make([]byte, 0, max(keyArena, size))
		}
		n := len(w.arena)
		w.arena = append(append(w.arena, key...), value...)
		entry.bytes, entry.key, entry.raw = unsafe.SliceData(w.arena[n:]), uint32(len(key)), uint32(len(value))
		entry.standsAt(e.Offset)
		if parts > 0 {
			b.sliced = append(b.sliced, len(b.list)-1)
			entry.shard = noPlace
		}
		bits.note(&entry.place)
	}
	b.bits = bits
	if b.err == nil {
		b.err = e.Err()
	}
	if !l.spend(&spent) && b.err == nil {
		b.err = l.bad(-1, "", errors.New("the keys and entries are out of proportion to the file's size"))
	}
	w.capacity = len(b.list) + len(b.list)/16
	return b
}

// Package table reads and writes the sorted tables of a checkpoint's index:
// LevelDB's table format as TensorFlow writes it (tsl/lib/io/table_builder.cc,
// format.cc, block_builder.cc). Package bundle uses it, and the program
// interop.
//
// # Format
//
// A table is a row of blocks and a footer. All fixed-width numbers are
// little-endian.
//
//	data blocks │ metaindex block │ index block │ footer
//
// Every block is followed by a trailer that is not counted in its size:
//
//	contents … │ type (1) │ checksum (4)
//
// Type 0 means that the contents are uncompressed, 1 that they are compressed
// with snappy, as in old checkpoints. The checksum is the masked CRC-32C of contents and type.
//
// A block holds entries in the order of their keys and an array of restarts:
//
//	shared (varint32) │ unshared (varint32) │ value length (varint32) │ unshared bytes of the key │ value
//	…
//	restart offset (4) × n │ n (4)
//
// A key begins with the first shared bytes of the key before it. At a
// restart, every sixteenth entry, shared is 0; in the index block every entry
// is a restart.
//
// The index block has an entry for every data block: its key is not smaller
// than any in the block and smaller than all in the next one, the shortest
// such; its value is the block's handle, offset and size as varint64. The
// metaindex block has no entries: it is one restart, 0, and n, 1.
//
// The footer is 48 bytes: the handles of metaindex and index block, zeros up to
// byte 40, then the magic number 0xdb4775248b80fb57.
//
// A written table must stay the same bytes as TensorFlow's. The checks of the
// reader and its limits are Cairn's own.
package table

import (
	"fmt"
)

const (
	footerLen  = 48 // two handles padded to 40, magic 8
	trailerLen = 5  // type 1, checksum 4
	maxHandle  = 20 // two varint64
	magic      = 0xdb4775248b80fb57

	typeRaw    = 0
	typeSnappy = 1

	// BlockSize is the size in bytes, before compression and without the trailer, at
	// which TensorFlow ends a data block.
	BlockSize = 262144
	// RestartInterval is the number of a data block's entries from one restart to the next.
	RestartInterval = 16
)

// A CorruptError reports the place at which a table violates the format.
type CorruptError struct {
	Offset int64  // in the file
	What   string // the fault, in words that may change
}

// Error returns fault and offset.
func (e *CorruptError) Error() string { return fmt.Sprintf("%s at offset %d", e.What, e.Offset) }

func corrupt(offset int64, format string, args ...any) error {
	return &CorruptError{Offset: offset, What: fmt.Sprintf(format, args...)}
}

// A handle is the location of a block in bytes: its offset in the file, and its size
// without the trailer, which follows it.
type handle struct{ offset, size uint64 }

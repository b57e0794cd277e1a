package bundle

import "github.com/cairnml/cairn/tensor"

// An Entry is what a bundle's index says about one tensor.
type Entry struct {
	Name  string
	DType tensor.DType
	Shape tensor.Shape // of the whole tensor

	// Where the bytes lie: data file, place and number of bytes. They are zero
	// where the tensor is stored in slices.
	Shard        int
	Offset, Size int64

	// CRC is the CRC-32C of the bytes as hash/crc32 computes it; the file holds
	// it masked. For strings it leaves out how lengths are encoded: see the
	// package's page. It is 0 where the tensor is stored in slices, and in
	// version 1, whose checksums are those of table blocks.
	CRC uint32

	// Slices lists the parts of a tensor stored in slices, in the index's order.
	Slices []Slice

	// Raw is the entry's encoded message as it stands in the index, what this
	// package doesn't know included; it must not be changed. It is nil in
	// version 1.
	Raw []byte
}

// NumBytes is the length of the tensor's elements in the file, all slices
// together.
func (e Entry) NumBytes() int64 { return e.Size }

package bundle

import (
	"errors"
	"fmt"
	"math"

	"github.com/cairnml/cairn/tensor"
)

// An Entry is the description of one tensor in a checkpoint's index.
type Entry struct {
	Name  string
	DType tensor.DType
	Shape tensor.Shape // of the whole tensor

	// Location of the bytes: data file, offset and number of bytes. Shard and
	// Offset are zero if the tensor is stored in slices; Size is then the sum over
	// all of them. In version 1 Size is the size of the elements in memory, and 0
	// for strings.
	Shard        int
	Offset, Size int64

	// CRC is the CRC-32C of the bytes as hash/crc32 computes it (Castagnoli); the
	// file holds it masked. For strings and variants it covers the whole data, but
	// the lengths as numbers of fixed width, not as the varints that the file has:
	// see the package's page. It is 0 if the tensor is
	// stored in slices, and in version 1, whose checksums are those of the
	// table's blocks.
	CRC uint32

	// Slices lists the parts of a tensor stored in slices, in the index's order; it
	// is nil if the tensor is stored in one piece.
	Slices []Slice

	index  *index // nil in version 1
	number int32  // in the index
}

// Raw returns the entry's encoded message in the index, including fields unknown to
// this package. The caller must not change it. It is nil in version 1.
func (e *Entry) Raw() []byte {
	if e.index == nil {
		return nil
	}
	return e.index.message(e.index.at(int(e.number)))
}

// record is an entry of the index, that of a tensor or that of a slice, with the data that
// only this package needs. Callers get its Entry.
type record struct {
	Entry          // Name is the key in the index: a tensor's name, or a slice's encoded key
	at    int64    // its offset in the index file
	elems int64    // the number of elements
	parts []int    // the numbers of the slices' entries
	slice *Slice   // the slice, if the record is that of a slice
	home  int      // the data file that a sliced tensor's own entry names, though it has no bytes there
	v1    []v1Part // in version 1: the positions of its slices
	err   error    // why the tensor can't be read here, though the file is sound
}

// errUnsupported returns an error for a sound file that this package, or this
// platform, can't read; errors.Is finds [errors.ErrUnsupported] in it.
func errUnsupported(format string, args ...any) error {
	return &unsupportedError{fmt.Sprintf("bundle: "+format, args...)}
}

type unsupportedError struct{ what string }

func (e *unsupportedError) Error() string        { return e.what }
func (e *unsupportedError) Is(target error) bool { return target == errors.ErrUnsupported }

// checkSize returns an error unless n elements of type d can take size bytes in a data file:
// n times the width, or for strings and variants at least n.
func checkSize(d tensor.DType, n, size int64) error {
	switch width := int64(d.Size()); {
	case width > 0 && n > math.MaxInt64/width:
		return errors.New("the number of bytes overflows 64 bits")
	case width > 0 && size != n*width:
		return fmt.Errorf("the entry has %d bytes, the elements take %d", size, n*width)
	case n > size:
		// Every string and every variant takes at least a byte for its length.
		return fmt.Errorf("the entry has %d bytes, too few for %d elements", size, n)
	}
	return nil
}

package hdf5

import (
	"errors"
	"fmt"
	"io"
)

// signature begins the superblock, which is at byte 0, 512, 1024, 2048 and so on of the file.
const signature = "\x89HDF\r\n\x1a\n"

// superblockSize is the most that a superblock of versions 0 to 3 takes: 8 signature, 16 of
// versions, sizes and flags, 4 of version 1, four addresses of 8, the root's entry of 40.
const superblockSize = 8 + 16 + 4 + 4*8 + 40

// readSuperblock finds and reads the superblock, sets the base, the size and the widths, and
// returns the address of the root group's header.
func (f *File) readSuperblock(size int64) (root uint64, err error) {
	b, at, err := findSuperblock(f.r, size)
	if err != nil {
		return 0, err
	}
	f.base, f.size = at, uint64(size-at)
	f.offsetSize, f.lengthSize = 8, 8
	c := f.cursor(b, 0)
	c.skip(len(signature))
	version := c.u8()
	switch version {
	case 0, 1:
		c.skip(4) // versions of free space, root entry; reserved; version of shared headers
	case 2, 3:
	default:
		return 0, &UnsupportedError{Feature: fmt.Sprintf("a superblock of version %d (0 to 3 are)", version)}
	}
	f.offsetSize, f.lengthSize = int(c.u8()), int(c.u8())
	for _, n := range []int{f.offsetSize, f.lengthSize} {
		if n != 2 && n != 4 && n != 8 {
			return 0, &UnsupportedError{Feature: fmt.Sprintf("addresses of %d bytes and lengths of %d (2, 4 and 8 are)", f.offsetSize, f.lengthSize)}
		}
	}
	c.offsetSize, c.lengthSize = f.offsetSize, f.lengthSize
	var end uint64
	if version < 2 {
		c.skip(1 + 2 + 2 + 4) // reserved, K of leaves and internal nodes, flags
		if version == 1 {
			c.skip(4) // K of chunks' nodes, reserved
		}
		c.addr() // the base: the superblock's offset counts, whatever the file states
		c.addr() // free space
		end = c.addr()
		c.addr() // driver
		c.addr() // the root's name in the heap
		root = c.addr()
	} else {
		c.skip(1) // flags
		c.addr()  // base
		c.addr()  // extension
		end = c.addr()
		root = c.addr()
		n := len(b) - c.Len()
		stored := c.Bytes(4)
		if err := c.err(); err != nil {
			return 0, err
		}
		if err := f.checkSum(b[:n], stored, 0, "the superblock"); err != nil {
			return 0, err
		}
	}
	if err := c.err(); err != nil {
		return 0, err
	}
	if end != undefined && end > uint64(size) {
		return 0, &CorruptError{Offset: size, What: fmt.Sprintf("the file is cut off (got %d bytes, want %d)", size, end)}
	}
	return root, nil
}

// findSuperblock returns the bytes from the superblock's signature on, and their offset.
func findSuperblock(r io.ReaderAt, size int64) (b []byte, at int64, err error) {
	for at = 0; at < size; at = max(512, at*2) {
		b = make([]byte, min(superblockSize, size-at))
		if n, err := r.ReadAt(b, at); n < len(b) {
			if err == nil || errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, 0, fmt.Errorf("hdf5: read superblock at byte %d: %w", at, err)
		}
		if len(b) >= len(signature) && string(b[:len(signature)]) == signature {
			return b, at, nil
		}
		if at > 1<<61 {
			break
		}
	}
	return nil, 0, &CorruptError{What: "no superblock: this is not an HDF5 file"}
}

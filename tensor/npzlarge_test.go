package tensor

import (
	"context"
	"io"
	"strconv"
	"testing"
)

// sparse is a file of which only the parts that aren't zero are kept.
type sparse struct {
	size   int64
	blocks map[int64][]byte // by number, each of sparseBlock bytes
}

const sparseBlock = 1 << 12

func (s *sparse) Write(p []byte) (int, error) {
	for n := 0; n < len(p); {
		block, at := s.size/sparseBlock, int(s.size%sparseBlock)
		part := p[n:min(len(p), n+sparseBlock-at)]
		b := s.blocks[block]
		if b == nil {
			for _, c := range part {
				if c != 0 {
					b = make([]byte, sparseBlock)
					s.blocks[block] = b
					break
				}
			}
		}
		if b != nil {
			copy(b[at:], part)
		}
		n += len(part)
		s.size += int64(len(part))
	}
	return len(p), nil
}

func (s *sparse) ReadAt(p []byte, off int64) (int, error) {
	n := 0
	for n < len(p) && off < s.size {
		at := int(off % sparseBlock)
		part := p[n:min(int64(len(p)), int64(n)+min(int64(sparseBlock-at), s.size-off))]
		if b := s.blocks[off/sparseBlock]; b != nil {
			copy(part, b[at:])
		} else {
			clear(part)
		}
		n += len(part)
		off += int64(len(part))
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func TestArraysAndFilesAbove4GiB(t *testing.T) {
	if testing.Short() || strconv.IntSize == 32 {
		t.Skip("needs 4 GiB of addresses and some seconds")
	}
	huge, err := Zeros(Int8, 1<<16+8, 1<<16)
	if err != nil {
		t.Fatal(err)
	}
	f := &sparse{blocks: map[int64][]byte{}}
	w := NewNPZWriter(f, nil)
	for _, a := range []struct {
		name string
		x    *Tensor
	}{{"huge", huge}, {"small", Vector[float32](1, 2)}} {
		if err := w.Add(a.name, a.x); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	z, err := OpenNPZ(f, f.size, nil)
	if err != nil {
		t.Fatal(err)
	}
	h, err := z.Header("huge")
	if err != nil || h.Size != huge.NumBytes() || !h.Shape.Equal(huge.Shape()) {
		t.Errorf("%+v, %v", h, err)
	}
	if x, err := z.Read(context.Background(), "small"); err != nil || !x.Equal(Vector[float32](1, 2)) {
		t.Errorf("%v, %v", x, err)
	}
}

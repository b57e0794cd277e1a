package hdf5

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/cairnml/cairn/tensor"
)

// Write writes the file from its beginning to its end; the same content produces the same bytes.
// It holds in memory the structures of the file, one tensor at a time of those read on demand,
// and all chunks with filters.
func (w *Writer) Write(ctx context.Context, out io.Writer) error {
	b, err := w.build(ctx)
	if err != nil {
		return err
	}
	buf := bufio.NewWriterSize(out, 1<<16)
	if _, err := buf.Write(b.meta); err != nil {
		return fmt.Errorf("hdf5: write: %w", err)
	}
	for _, p := range b.data {
		if err := p.write(ctx, buf); err != nil {
			return err
		}
		if _, err := buf.Write(make([]byte, -p.whole&7)); err != nil {
			return fmt.Errorf("hdf5: write: %w", err)
		}
	}
	if err := buf.Flush(); err != nil {
		return fmt.Errorf("hdf5: write: %w", err)
	}
	return nil
}

// elements returns the dataset's elements, which must be as announced.
func (d *DatasetWriter) elements(ctx context.Context) (*tensor.Tensor, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if d.value != nil {
		return d.value, nil
	}
	t, err := d.read(ctx)
	if err != nil {
		return nil, fmt.Errorf("hdf5: write %.300q: %w", d.path, err)
	}
	if t.DType() != d.dtype || !t.Shape().Equal(d.shape) {
		return nil, &MismatchError{d.path, d.dtype, d.shape, t.DType(), t.Shape()}
	}
	return t, nil
}

// write writes the bytes of a part.
func (p *dataPart) write(ctx context.Context, out io.Writer) error {
	all := p.ready
	if all == nil {
		t, err := p.d.elements(ctx)
		if err != nil {
			return err
		}
		all = toFile(t)
	}
	if d := p.d; d.opts.Chunks != nil && !d.opts.filtered() {
		return d.writeChunks(ctx, out, all, p.whole)
	}
	return writeAll(ctx, out, all)
}

// writeAll writes b, and looks at the context from time to time.
func writeAll(ctx context.Context, out io.Writer, b []byte) error {
	for part := range slices.Chunk(b, readStep) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := out.Write(part); err != nil {
			return fmt.Errorf("hdf5: write: %w", err)
		}
	}
	return nil
}

// writeChunks writes the chunks of a dataset that go through no filter.
func (d *DatasetWriter) writeChunks(ctx context.Context, out io.Writer, all []byte, whole uint64) error {
	g := gridOf(d)
	coords := make([]uint64, len(d.shape))
	chunkSize := whole / g.total
	n, err := d.shape.NumElements()
	if err != nil {
		return err
	}
	size := len(all) / n
	for k := range g.total {
		g.at(k, coords)
		if err := writeAll(ctx, out, gather(d, all, coords, size, chunkSize)); err != nil {
			return err
		}
	}
	return nil
}

package bundle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/vfs"
)

// indexMade is an encoded index that is still to be written. [Writer.Finish] and [Merge] make one, write its
// bytes to a temporary file, call readBack, and only then rename the files: that order keeps old files safe.
type indexMade struct {
	name  string
	bytes []byte
	r     *Reader // of these bytes
	err   error
}

// makeIndex encodes an index of the entries and checks it. It empties entries.
func makeIndex(ctx context.Context, entries *entryTable, header *pb.BundleHeaderProto, name string) (m indexMade) {
	var buf bytes.Buffer
	buf.Grow(entries.size())
	if err := entries.write(&buf, header); err != nil {
		m.err = fmt.Errorf("bundle: write %s: %w", name, err)
		return m
	}
	*entries = entryTable{} // the index that is read back takes as much memory again
	return checkIndex(ctx, name, buf.Bytes(), int(header.NumShards))
}

// checkIndex opens an encoded index of so many data files: it must be one that
// [Open] takes.
func checkIndex(ctx context.Context, name string, b []byte, shards int) indexMade {
	m := indexMade{name: name, bytes: b, r: &Reader{version: 2}}
	size := int64(len(m.bytes))
	m.err = m.r.load(ctx, &source{ReaderAt: bytes.NewReader(m.bytes), name: name, size: size, stored: size, parallel: true}, &ReaderOptions{MaxIndex: math.MaxInt64, MaxShards: shards})
	if n := m.r.header.NumShards; m.err == nil && n != shards {
		m.err = &CorruptError{File: name, Offset: -1, What: fmt.Sprintf("it lists %d data files (want %d)", n, shards)}
	}
	return m
}

// readBack returns an error unless the written index has the expected contents,
// with every byte of an entry inside its data file. The data files need not have
// their final names yet. The bytes themselves are not read. An index that fails
// this must not replace another file or be reported as written.
func (m *indexMade) readBack(ctx context.Context, fsys fs.FS, data []string) error {
	src, err := openSource(fsys, m.name)
	if err != nil {
		return openError(m.name, err)
	}
	defer src.close()
	if src.size != int64(len(m.bytes)) {
		return &CorruptError{File: m.name, Offset: min(src.size, int64(len(m.bytes))), What: fmt.Sprintf("the file has %d bytes, %d were written", src.size, len(m.bytes))}
	}
	m.r.fsys = fsys
	buf := make([]byte, min(chunk, len(m.bytes)))
	for at := 0; at < len(m.bytes); at += len(buf) {
		if err := ctx.Err(); err != nil {
			return err
		}
		b := buf[:min(len(buf), len(m.bytes)-at)]
		if err := readAt(src, b, int64(at), ""); err != nil {
			return err
		}
		if !bytes.Equal(b, m.bytes[at:at+len(b)]) {
			for i := range b {
				if b[i] != m.bytes[at+i] {
					at += i
					break
				}
			}
			return &CorruptError{File: m.name, Offset: int64(at), What: "it differs from the written byte"}
		}
	}
	return m.r.checkExtents(ctx, func(i int) (name, shown string) { return data[i], data[i] })
}

// CheckFiles returns an error unless every data file exists and is long enough
// for its tensors in the index. It reads no value. Package checkpoint calls it before it changes any variable.
func (r *Reader) CheckFiles(ctx context.Context) error {
	if err := r.checkOpen(); err != nil || r.version == 1 {
		return err // tables of version 1 were opened with the reader
	}
	return r.checkExtents(ctx, r.dataName)
}

// checkExtents returns an error unless every entry's bytes are inside its data file. file returns a data file's name
// in the file system, and that for errors.
func (r *Reader) checkExtents(ctx context.Context, file func(shard int) (name, shown string)) error {
	sizes := make(map[int32]int64) // by data file; a map, since the header may declare more than exist
	for i := range r.header.NumShards {
		if err := ctx.Err(); err != nil {
			return err
		}
		name, shown := file(i)
		info, err := fs.Stat(r.fsys, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return &CorruptError{File: shown, Offset: -1, What: "the data file is missing", Err: err}
		case err != nil:
			return openError(shown, err)
		case !info.Mode().IsRegular():
			return &CorruptError{File: shown, Offset: -1, What: "it is " + vfs.DescribeMode(info.Mode()) + ", not a file"}
		}
		sizes[int32(i)] = info.Size()
	}
	for i := range r.index.n {
		if i%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		p := r.index.placeOf(i)
		if p == nil {
			continue
		}
		if size := sizes[p.shard]; p.off+p.size > size {
			_, shown := file(int(p.shard))
			return &CorruptError{File: shown, Offset: size, Name: r.ownerOf(r.record(i)), What: fmt.Sprintf("the file ends here, the tensor's %d bytes begin at %d", p.size, p.off)}
		}
	}
	return nil
}

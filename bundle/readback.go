package bundle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"

	"github.com/cairnml/cairn/vfs"
)

// readBack opens a bundle that was just written, whose files need not have their
// final names yet: the index must be one that [Open] takes, with an entry's every
// byte inside its data file. The bytes themselves are not read. Nothing that
// fails this may replace another file or be reported as written.
func readBack(ctx context.Context, fsys fs.FS, index string, data []string) error {
	src, err := openSource(fsys, index)
	if err != nil {
		return openError(index, err)
	}
	defer src.close()
	r := &Reader{fsys: fsys, version: 2}
	if err := r.load(ctx, src, &ReaderOptions{MaxIndex: math.MaxInt64, MaxShards: len(data)}); err != nil {
		return err
	}
	if r.header.NumShards != len(data) {
		return &CorruptError{File: index, Offset: -1, What: fmt.Sprintf("it speaks of %d data files, %d were written", r.header.NumShards, len(data))}
	}
	return r.checkExtents(ctx, func(i int) (name, shown string) { return data[i], data[i] })
}

// CheckFiles returns an error unless every data file is there and long enough for
// what the index says lies in it. It reads no value.
func (r *Reader) CheckFiles(ctx context.Context) error {
	if err := r.checkOpen(); err != nil || r.version == 1 {
		return err // tables of version 1 were opened with the reader
	}
	return r.checkExtents(ctx, r.dataName)
}

// checkExtents holds the index against the sizes of the data files.
func (r *Reader) checkExtents(ctx context.Context, file func(shard int) (name, shown string)) error {
	sizes := make(map[int32]int64) // by data file; the header may speak of more than there are
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
		if r.index.sliced[i] != nil {
			continue
		}
		p := r.index.place(i)
		if size := sizes[p.shard]; p.off+p.size > size {
			_, shown := file(int(p.shard))
			return &CorruptError{File: shown, Offset: size, Name: r.ownerOf(r.record(i)), What: fmt.Sprintf("the file ends here, the tensor's %d bytes begin at %d", p.size, p.off)}
		}
	}
	return nil
}

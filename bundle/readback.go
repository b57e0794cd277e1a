package bundle

import (
	"context"
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
	sizes := make([]int64, len(data))
	for i, name := range data {
		info, err := fs.Stat(fsys, name)
		switch {
		case err != nil:
			return openError(name, err)
		case !info.Mode().IsRegular():
			return &CorruptError{File: name, Offset: -1, What: "it is " + vfs.DescribeMode(info.Mode()) + ", not a file"}
		}
		sizes[i] = info.Size()
	}
	for i := range r.index.n {
		if r.index.sliced[i] != nil {
			continue
		}
		p := r.index.place(i)
		if size := sizes[p.shard]; p.off+p.size > size {
			return &CorruptError{File: data[p.shard], Offset: size, Name: r.ownerOf(r.record(int(p.entry))), What: fmt.Sprintf("the file ends here, the tensor's %d bytes begin at %d", p.size, p.off)}
		}
	}
	return nil
}

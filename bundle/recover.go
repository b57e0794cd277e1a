package bundle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"strings"

	"github.com/cairnml/cairn/vfs"
)

// tempData returns the name of a data file that is being written.
func tempData(prefix string, shard int, token string) string {
	return fmt.Sprintf("%s.data-%05d%s", prefix, shard, token)
}

// Recover finishes the interrupted replacement of a bundle. A [Writer] renames its
// files one by one, over those of the bundle that it replaces. A crash meanwhile
// leaves an old index with new data, which reading detects by the checksums, or no
// index at all. The new bundle is complete then, though some of its files still have
// temporary names.
//
// Recover reports whether it finished a replacement. It first reads the whole bundle
// and changes nothing if that is sound. If the bundle is damaged and no temporary
// files make a complete one, Recover changes nothing and returns the damage as its
// error. No writer may be active on the prefix. Package convert calls it, for the
// command's verb recover.
func Recover(ctx context.Context, dir vfs.Dir, prefix string) (recovered bool, err error) {
	if err := checkPrefix(prefix); err != nil {
		return false, err
	}
	broken := soundness(ctx, dir, prefix)
	if broken == nil || ctx.Err() != nil {
		return false, ctx.Err()
	}
	best, err := interrupted(ctx, dir, prefix)
	if err != nil {
		return false, err
	}
	if best == nil {
		return false, fmt.Errorf("no whole file next to it can replace it: %w", broken)
	}
	return true, best.finish(dir, prefix)
}

// Recoverable reports whether there is a complete bundle under temporary names of
// the prefix, which [Recover] can finish. It reads all of that bundle, but doesn't
// read the one with the final names.
func Recoverable(ctx context.Context, fsys fs.FS, prefix string) (bool, error) {
	if err := checkPrefix(prefix); err != nil {
		return false, err
	}
	c, err := interrupted(ctx, fsys, prefix)
	return c != nil, err
}

// interrupted returns the complete bundle that an interrupted write has left, or
// nil if there is none.
func interrupted(ctx context.Context, fsys fs.FS, prefix string) (best *halfNamed, err error) {
	list, err := fs.ReadDir(fsys, path.Dir(prefix))
	if err != nil {
		return nil, fmt.Errorf("bundle: %w", err)
	}
	for _, e := range list {
		token, ok := strings.CutPrefix(e.Name(), path.Base(IndexName(prefix)))
		if !ok || !IsTemporary(e.Name()) || !strings.HasPrefix(token, tempMark) {
			continue
		}
		c, err := openHalfNamed(ctx, fsys, prefix, token)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		// An earlier writer that stopped before its first rename leaves a complete
		// bundle, too.
		if err == nil && (best == nil || c.named > best.named) {
			best = c
		}
	}
	return best, nil
}

// soundness returns the fault of a bundle, or nil.
func soundness(ctx context.Context, fsys fs.FS, prefix string) error {
	r, err := Open(ctx, fsys, prefix, nil)
	if err != nil {
		return err
	}
	return errors.Join(r.Verify(ctx, nil), r.Close())
}

// halfNamed is a bundle of which some files have their names, the others temporary
// ones.
type halfNamed struct {
	token string   // the end of the temporary names
	files []string // the data files, by their present names
	named int      // how many data files have their final names
}

// openHalfNamed looks for the bundle whose temporary names end with token, and makes
// sure that it is whole.
func openHalfNamed(ctx context.Context, fsys fs.FS, prefix, token string) (*halfNamed, error) {
	index := IndexName(prefix) + token
	src, err := openSource(fsys, index)
	if err != nil {
		return nil, err
	}
	defer src.close()
	r := &Reader{fsys: fsys, prefix: prefix, shown: prefix, version: 2}
	if err := r.load(ctx, src, &ReaderOptions{}); err != nil {
		return nil, err
	}
	c := &halfNamed{token: token, files: make([]string, r.header.NumShards)}
	for i := range c.files {
		c.files[i] = tempData(prefix, i, token)
		if _, err := fs.Stat(fsys, c.files[i]); errors.Is(err, fs.ErrNotExist) {
			c.files[i] = DataName(prefix, i, len(c.files))
			c.named++
		}
	}
	r.files = c.files
	return c, errors.Join(r.CheckFiles(ctx), r.Verify(ctx, &VerifyOptions{MaxErrors: math.MaxInt}))
}

// finish renames the remaining temporary files, the index last.
func (c *halfNamed) finish(dir vfs.Dir, prefix string) error {
	names := newSwap(dir)
	err := func() error {
		for i, file := range c.files {
			if name := DataName(prefix, i, len(c.files)); file != name {
				if err := names.rename(file, name); err != nil {
					return err
				}
			}
		}
		if err := dir.Sync(); err != nil {
			return err
		}
		if err := names.rename(IndexName(prefix)+c.token, IndexName(prefix)); err != nil {
			return err
		}
		return dir.Sync()
	}()
	if err != nil {
		return names.back(fmt.Errorf("bundle: finishing %s: %w", prefix, err))
	}
	names.done()
	return nil
}

package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"

	"github.com/cairnml/cairn/vfs"
)

// A swap renames files to their final names. It keeps the files that had these
// names before under temporary ones until it ends, so that an error meanwhile
// leaves everything unchanged. (A crash meanwhile can leave a replaced bundle
// without an index, or its index with other data, which the checksums show and
// [Recover] finishes. To have a complete checkpoint at any time, write under a
// new name, as checkpoint.Manager does.)
type swap struct {
	dir   vfs.Dir
	token string   // the end of the temporary names
	undo  []rename // the opposite of each rename so far, in the order of these
	aside []string // the temporary names of replaced files
}

type rename struct{ from, to string }

// newToken returns the end of temporary names.
func newToken() string { return fmt.Sprintf("%s%020d", tempMark, rand.Uint64()) }

func newSwap(dir vfs.Dir) *swap { return &swap{dir: dir, token: newToken()} }

// rename renames the file from to to.
func (s *swap) rename(from, to string) error {
	info, err := fs.Stat(s.dir, to)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case info.Mode().IsRegular():
		aside := to + s.token
		s.undo = append(s.undo, rename{aside, to})
		if err := s.dir.Rename(to, aside); err != nil {
			return err
		}
		s.aside = append(s.aside, aside)
	}
	s.undo = append(s.undo, rename{to, from})
	return s.dir.Rename(from, to)
}

// back undoes everything after err, which it returns joined with the errors of
// undoing.
func (s *swap) back(err error) error {
	// A rename that returned an error may have happened or not: one that has
	// nothing to take back finds no file.
	for _, r := range slices.Backward(s.undo) {
		if e := s.dir.Rename(r.from, r.to); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, fmt.Errorf("bundle: rename %s back: it is called %s now: %w", r.to, r.from, e))
		}
	}
	if len(s.undo) > 0 {
		_ = s.dir.Sync() // as far as possible: the caller needs err
	}
	s.undo, s.aside = nil, nil
	return err
}

// done removes the files replaced. A file that can't be removed stays as a
// temporary: the new ones are in place, so that isn't an error.
func (s *swap) done() {
	for _, name := range s.aside {
		_ = s.dir.Remove(name)
	}
	s.undo, s.aside = nil, nil
}

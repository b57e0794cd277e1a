package tensorfile

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/statefile"
	"github.com/cairnml/cairn/vfs"
)

// Output is a file that gets its name only when it is complete: it is written
// to a temporary name in the same directory, made durable and renamed.
type Output struct {
	*bufio.Writer
	f         vfs.File
	dir       vfs.Dir
	name, tmp string // the final and the temporary name, in dir
	path      string // the name for people, in errors
	done      bool   // Commit or Abort has run
}

// CreateFile starts a file of that path. Unless overwrite is set, one that exists is
// an error.
func CreateFile(name string, overwrite bool) (*Output, error) {
	if err := CheckFree(name, overwrite); err != nil {
		return nil, err
	}
	return create(vfs.OSDir(filepath.Dir(name)), filepath.Base(name), name)
}

// CreateFileIn works like [CreateFile], for a file of dir.
func CreateFileIn(dir vfs.Dir, name string, overwrite bool) (*Output, error) {
	if err := CheckFreeIn(dir, name, overwrite); err != nil {
		return nil, err
	}
	return create(dir, name, name)
}

func create(dir vfs.Dir, name, shown string) (*Output, error) {
	// The name is unpredictable, so that no existing file, and no link, is written
	// through.
	tmp := path.Join(path.Dir(name), fmt.Sprintf(".%s.tempstate%d", path.Base(name), rand.Uint64()))
	f, err := dir.Create(tmp)
	if err != nil {
		return nil, err
	}
	if e, ok := dir.(vfs.Evicter); ok {
		e.Evict(name) // the file that this one will replace
	}
	return &Output{Writer: bufio.NewWriterSize(ahead(f), 1<<20), f: f, dir: dir, name: name, tmp: tmp, path: shown}, nil
}

// CheckFreeIn works like [CheckFree], for a file of dir.
func CheckFreeIn(dir vfs.Dir, name string, overwrite bool) error {
	if overwrite {
		return nil
	}
	switch _, err := fs.Stat(dir, name); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	return &existsError{name}
}

// CheckFree returns an error if path exists, unless overwrite is set. The verbs that write, and package
// convert, call it before they work; CreateFile checks again.
func CheckFree(path string, overwrite bool) error {
	if overwrite {
		return nil
	}
	switch there, err := exists(path); {
	case err != nil:
		return err
	case there:
		return &existsError{path}
	}
	return nil
}

// Protect returns an error if one of the files that s was read from would be
// overwritten, by its own name or another.
func (s *File) Protect(paths ...string) error {
	own, err := s.files()
	if err != nil {
		return err
	}
	self, err := filepath.Abs(s.Prefix)
	if err != nil {
		return err
	}
	for _, p := range paths {
		if abs, err := filepath.Abs(p); err == nil && abs == self {
			return &OverwriteError{Path: p, Source: p}
		}
		there, err := os.Stat(p)
		if err != nil {
			continue // nothing that could be lost
		}
		for _, o := range own {
			if mine, err := os.Stat(o); err == nil && os.SameFile(there, mine) {
				return &OverwriteError{Path: p, Source: s.Prefix}
			}
		}
	}
	return nil
}

// files lists the files that the store was read from, and the directory's state
// file.
func (s *File) files() ([]string, error) {
	if shards, ok := s.b.(*shardedStore); ok {
		return append([]string{s.Prefix}, shards.files...), nil
	}
	if !s.Kind.IsBundle() {
		return []string{s.Prefix}, nil
	}
	dir, base := filepath.Dir(s.Prefix), patternV1.ReplaceAllString(filepath.Base(s.Prefix), "")
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	out := []string{s.Prefix, s.Prefix + ".index", filepath.Join(dir, statefile.Name)}
	for _, e := range list {
		p, _, _, data := bundle.ParseDataName(e.Name())
		rest, more := strings.CutPrefix(e.Name(), base)
		if data && p == base || more && (rest == ".meta" || partV1.MatchString(rest)) {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out, nil
}

var (
	// partV1 matches the part after the prefix in the names of a checkpoint's files of
	// version 1.
	partV1 = regexp.MustCompile(`^-[0-9]+-of-[0-9]+$`)
	// patternV1 matches that part in the name of a checkpoint that is a pattern of its
	// files, as in state files.
	patternV1 = regexp.MustCompile(`-\?{5}-of-[0-9]{5}$`)
)

// OverwriteError reports that the destination is the source.
type OverwriteError struct {
	Path   string // the file that would be overwritten
	Source string
}

// Error names the file, and the way to write there nevertheless.
func (e *OverwriteError) Error() string {
	what := "both"
	switch {
	case e.Path == e.Source:
	case strings.HasPrefix(e.Path, e.Source):
		what = "a file of " + e.Source + ", which would be both"
	default:
		what = "a file of " + e.Source + " by another name, which would be both"
	}
	return fmt.Sprintf("%s is %s read and written; write to another name", e.Path, what)
}

// existsError reports that the destination exists.
type existsError struct{ path string }

func (e *existsError) Error() string { return e.path + " exists; Options.Force replaces it" }

func (e *existsError) Is(target error) bool { return target == fs.ErrExist }

// Commit makes the file durable and renames it. A file with the suffix of a format of tensors is
// opened before that, since one that can't be read must not get the name. After an error the
// file that had the name before is still there, and the temporary file is removed. A second call does
// nothing.
func (f *Output) Commit() error {
	if f.done {
		return nil
	}
	err := f.Flush()
	if err == nil {
		err = f.f.Sync()
	}
	if err == nil {
		err = f.readBack()
	}
	if err != nil {
		f.Abort()
		return err
	}
	f.done = true
	err = f.f.Close()
	if err == nil {
		err = f.dir.Rename(f.tmp, f.name)
	}
	if err != nil {
		f.dir.Remove(f.tmp)
		return err
	}
	return f.dir.Sync()
}

// readBack opens the written file as [Open] will: the headers of all tensors and
// their locations, not their data.
func (f *Output) readBack() error {
	s := newStore(f.path, nil)
	if s.Kind = KindOf(f.path); s.Kind == Checkpoint {
		return nil
	}
	err := s.openFileFS(f.dir, f.tmp)
	if err == nil {
		err = s.b.close()
	}
	if err != nil {
		return fmt.Errorf("%s was written and can't be opened again: %w", f.path, err)
	}
	return nil
}

// Abort removes the written file. After Commit it does nothing.
func (f *Output) Abort() {
	if !f.done {
		f.done = true
		f.f.Close()
		f.dir.Remove(f.tmp)
	}
}

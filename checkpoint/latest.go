package checkpoint

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/vfs"
)

// notFoundAt returns the error of a directory without a checkpoint. found describes its contents.
func notFoundAt(path, found string) error {
	return &bundle.PathError{Path: path, Found: found, Hint: "save a checkpoint first, or pass the directory that one was saved to"}
}

// LatestCheckpoint returns the prefix of the latest checkpoint that the state
// file of directory dir names, completed with dir. If that checkpoint or the
// state file doesn't exist, the error is [ErrNotFound]; if the file can't be
// parsed, it is a [StateError].
//
// A directory that was moved or came from another operating system may have a
// state file whose paths lead nowhere. Then the checkpoint of that name in the
// state file's directory is the latest; TensorFlow finds none.
func LatestCheckpoint(dir string, opts *StateOptions) (string, error) {
	name := opts.filename()
	file := joinPath(dir, name)
	if opts != nil && opts.Dir != nil {
		prefix, err := latestIn(opts.Dir, name, file)
		if err != nil {
			return "", err
		}
		return joinPath(dir, filepath.FromSlash(prefix)), nil
	}
	s, err := readState(vfs.OSDir(dir), name, file)
	if err != nil {
		return "", err
	}
	for _, p := range osCandidates(dir, s.ModelCheckpointPath) {
		if Exists(p) {
			return p, nil
		}
	}
	return "", notFoundAt(completePath(dir, s.ModelCheckpointPath), "nothing, although the state file "+file+" names it as the latest")
}

// LatestCheckpointFS works like [LatestCheckpoint], for a directory that is a
// file system. It returns the slash-separated prefix of the latest checkpoint
// in fsys. Of absolute paths in the state file, only the last element counts.
func LatestCheckpointFS(fsys fs.FS) (string, error) {
	return latestIn(fsys, new(StateOptions).filename(), new(StateOptions).filename())
}

// latestIn returns the latest checkpoint of the state file name in fsys. shown is the name of that file in errors.
func latestIn(fsys fs.FS, name, shown string) (string, error) {
	s, err := readState(fsys, name, shown)
	if err != nil {
		return "", err
	}
	for _, p := range fsCandidates(s.ModelCheckpointPath) {
		if existsIn(fsys, p) {
			return p, nil
		}
	}
	return "", notFoundAt(s.ModelCheckpointPath, "nothing, although the state file "+shown+" names it as the latest")
}

// osCandidates returns the possible paths of the checkpoint p of dir's state
// file, the best first.
func osCandidates(dir, p string) []string {
	out := []string{completePath(dir, p)}
	if foreignAbs(p) || filepath.IsAbs(p) {
		return append(out, joinPath(dir, lastElement(p)))
	}
	if strings.Contains(p, `\`) && filepath.Separator != '\\' {
		out = append(out, joinPath(dir, strings.ReplaceAll(p, `\`, "/")))
	}
	return out
}

// fsCandidates works like osCandidates, for slash-separated paths in a file system.
func fsCandidates(p string) []string {
	var out []string
	add := func(p string) {
		if p = path.Clean(p); fs.ValidPath(p) && p != "." && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	if foreignAbs(p) || filepath.IsAbs(p) {
		add(lastElement(p))
		return out
	}
	add(p)
	add(strings.ReplaceAll(p, `\`, "/"))
	return out
}

// lastElement returns the part of p after the last separator of either kind.
func lastElement(p string) string { return p[strings.LastIndexAny(p, `/\`)+1:] }

// Exists reports whether there is a checkpoint at path, a prefix of the
// operating system: version 2 by its .index file, version 1 by the file itself
// or, for a path with TensorFlow's pattern "-?????-of-00002", by one of its
// shards.
func Exists(path string) bool {
	_, ok := modTime(path)
	return ok
}

// ModTimes reports when the checkpoints at these prefixes were last written.
// Those that don't exist are left out, as in TensorFlow: the result may be
// shorter.
func ModTimes(paths ...string) []time.Time {
	var out []time.Time
	for _, p := range paths {
		if t, ok := modTime(p); ok {
			out = append(out, t)
		}
	}
	return out
}

func modTime(prefix string) (time.Time, bool) {
	for _, p := range []string{prefix + ".index", prefix} {
		if info, err := os.Stat(p); err == nil && !info.IsDir() {
			return info.ModTime(), true
		}
	}
	if strings.Contains(prefix, "?????-of-") {
		files, _ := filepath.Glob(prefix)
		for _, f := range files {
			if info, err := os.Stat(f); err == nil && !info.IsDir() {
				return info.ModTime(), true
			}
		}
	}
	return time.Time{}, false
}

// existsIn works like Exists, for a file system.
func existsIn(fsys fs.FS, prefix string) bool {
	for _, p := range []string{prefix + ".index", prefix} {
		if info, err := fs.Stat(fsys, p); err == nil && !info.IsDir() {
			return true
		}
	}
	if strings.Contains(prefix, "?????-of-") {
		files, _ := fs.Glob(fsys, prefix)
		return len(files) > 0
	}
	return false
}

// RemoveCheckpoint deletes the files of the checkpoint at path, a prefix of the
// operating system: index, data shards, the .meta file of TensorFlow 1, and for
// version 1 the file itself. It deletes the index first, so that after a crash
// the remaining files are no checkpoint. A missing checkpoint isn't an error.
func RemoveCheckpoint(path string) error {
	dir, name := filepath.Split(path)
	return removeFiles(vfs.OSDir(dir), name, isFileOf)
}

// removeCheckpoint deletes the version 2 checkpoint prefix of dir. Names are made
// durable by the caller.
func removeCheckpoint(dir vfs.Dir, prefix string) error {
	return removeFiles(dir, prefix, func(file, base string) bool {
		rest, ok := strings.CutPrefix(file, base)
		return ok && (rest == ".index" || isDataSuffix(rest))
	})
}

// removeFiles deletes the files that isFileOf accepts for a prefix, the index first.
func removeFiles(dir vfs.Dir, prefix string, isFileOf func(file, base string) bool) error {
	names, err := listFiles(dir, prefix, isFileOf)
	if err != nil {
		return err
	}
	// The index before the data; ".index" is no file of version 1's.
	slices.SortStableFunc(names, func(a, b string) int {
		rank := func(n string) int {
			if strings.HasSuffix(n, ".index") {
				return 0
			}
			return 1
		}
		return cmp.Compare(rank(a), rank(b))
	})
	for _, n := range names {
		if err := removeIfThere(dir, n); err != nil {
			return err
		}
	}
	return nil
}

// listFiles returns the files that belong to prefix, in its directory. There are none
// if the directory doesn't exist.
func listFiles(dir vfs.Dir, prefix string, isFileOf func(file, base string) bool) ([]string, error) {
	folder, base := path.Split(prefix)
	folder = path.Clean("./" + folder)
	entries, err := fs.ReadDir(dir, folder)
	if err != nil {
		if noDirectory(dir, folder, err) {
			return nil, nil
		}
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && isFileOf(e.Name(), base) {
			names = append(names, path.Join(folder, e.Name()))
		}
	}
	return names, nil
}

// noDirectory reports whether listing a directory failed because it doesn't exist, or because
// a file is in the place of a part of its path.
func noDirectory(dir fs.FS, folder string, err error) bool {
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	for ; folder != "."; folder = path.Dir(folder) {
		if info, err := fs.Stat(dir, folder); err == nil {
			return !info.IsDir()
		}
	}
	return false
}

// evict lets the system drop cached data of checkpoints that are about to be
// replaced or deleted.
func evict(dir vfs.Dir, prefixes ...string) {
	e, ok := dir.(vfs.Evicter)
	if !ok {
		return
	}
	for _, prefix := range prefixes {
		names, _ := listFiles(dir, prefix, isDataOf)
		for _, name := range names {
			e.Evict(name)
		}
	}
}

// isFileOf reports whether file is one of the files of the checkpoint base.
func isFileOf(file, base string) bool {
	rest, ok := strings.CutPrefix(file, base)
	return ok && (rest == "" || rest == ".index" || rest == ".meta" || isDataSuffix(rest))
}

// isDataOf reports whether file is one of the data files of the checkpoint base.
func isDataOf(file, base string) bool {
	rest, ok := strings.CutPrefix(file, base)
	return ok && isDataSuffix(rest)
}

// isDataSuffix matches ".data-00000-of-00001".
func isDataSuffix(s string) bool {
	rest, ok := strings.CutPrefix(s, ".data-")
	return ok && len(rest) == 5+4+5 && rest[5:9] == "-of-" && digits(rest[:5]) && digits(rest[9:])
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

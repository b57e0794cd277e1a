package bundle

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/internal/statefile"
	"github.com/cairnml/cairn/vfs"
)

// Found is the checkpoint found at a user's path.
type Found struct {
	Kind   FoundKind
	Prefix string // the checkpoint's prefix, to be opened
	Dir    string // the directory given, that of the SavedModel or state file, or else that of the prefix

	// Elsewhere reports that the directory given has a state file which names a
	// checkpoint in another directory.
	Elsewhere bool
}

// FoundKind is the way by which a path led to a checkpoint. The zero value is none. No file stores the
// numbers, so they may change.
type FoundKind int

// The ways a path leads to a checkpoint.
const (
	FoundPrefix     FoundKind = iota + 1 // the prefix itself
	FoundIndex                           // the .index file
	FoundData                            // one of the .data-00000-of-00001 files
	FoundState                           // a directory with a checkpoint state file (or that file): its latest
	FoundSavedModel                      // a SavedModel's directory: its variables
	FoundV1                              // a single file of version 1
)

// FindPrefix finds the checkpoint that name means: a prefix, one of its files,
// a directory with a checkpoint state file or that file itself (its latest
// checkpoint), a SavedModel's directory or its variables directory, or a
// checkpoint of version 1. If there is none, the [PathError] describes the file
// found instead. FindPrefix doesn't check the checkpoint; [Open] does.
func FindPrefix(fsys fs.FS, name string) (Found, error) { return find(fsys, name, name, nil) }

// FindFile works like [FindPrefix], for a path of the operating system. Prefix and
// Dir of the result are such paths, too.
func FindFile(p string) (Found, error) {
	dir, base := splitFile(p)
	// The state file may name checkpoints elsewhere on the machine.
	outside := func(latest string) (Found, bool) {
		if !filepath.IsAbs(latest) {
			return Found{}, false
		}
		dir, base := splitFile(latest)
		// One state file is followed, not the one in a directory that it names.
		f, err := find(vfs.OSDir(dir), base, latest, nil)
		return f.within(dir), err == nil && f.Kind != FoundState
	}
	found, err := find(vfs.OSDir(dir), base, p, outside)
	if err != nil || filepath.IsAbs(found.Prefix) {
		return found, err
	}
	return found.within(dir), nil
}

// splitFile splits a path of the operating system into a directory and a name
// in it, "." if the path is the directory.
func splitFile(p string) (dir, base string) {
	clean := filepath.Clean(p)
	dir, base = filepath.Split(clean)
	if dir == "" {
		dir = "."
	}
	if base == "" || base == "." || base == ".." || clean == dir {
		dir, base = clean, "."
	}
	return dir, base
}

// within returns f, found in directory dir, with paths of the operating system.
func (f Found) within(dir string) Found {
	f.Prefix = filepath.Join(dir, filepath.FromSlash(f.Prefix))
	f.Dir = filepath.Join(dir, filepath.FromSlash(f.Dir))
	return f
}

// find returns the checkpoint at name, a slash-separated path in fsys. Errors contain shown, the path that the
// user knows. outside follows an absolute path in a state file to another file system; if it is nil, such a
// path is looked up next to the state file only. The order of the cases is Cairn's own and must stay, since it
// decides the meaning of a path: a prefix with an index, a directory, an index or data file, a state file, and last
// a checkpoint of version 1. So a prefix wins over a directory of the same name. A file that may not be read counts as one that exists,
// because Open then reports the permission.
func find(fsys fs.FS, name, shown string, outside func(string) (Found, bool)) (Found, error) {
	name = path.Clean(name)
	if !fs.ValidPath(name) {
		return Found{}, &PathError{Path: shown, Found: "no usable path", Err: fs.ErrInvalid}
	}
	exists := func(name string) bool {
		info, err := fs.Stat(fsys, name)
		return err == nil && !info.IsDir() || errors.Is(err, fs.ErrPermission)
	}
	at := func(kind FoundKind, prefix string) (Found, error) {
		return Found{Kind: kind, Prefix: prefix, Dir: path.Dir(prefix)}, nil
	}
	if name != "." && exists(IndexName(name)) {
		return at(FoundPrefix, name)
	}
	info, err := fs.Stat(fsys, name)
	if err == nil && info.IsDir() {
		return findInDirectory(fsys, name, shown, outside)
	}
	if err == nil {
		if prefix, ok := strings.CutSuffix(name, indexSuffix); ok && path.Base(name) != indexSuffix {
			return at(FoundIndex, prefix)
		}
		if prefix, _, _, ok := ParseDataName(name); ok {
			if exists(IndexName(prefix)) {
				return at(FoundData, prefix)
			}
			return Found{}, &PathError{Path: shown, Found: "a data file whose index, " + path.Base(IndexName(prefix)) + ", is missing", Hint: "without its index a data file can't be read"}
		}
		if path.Base(name) == statefile.Name {
			if f, ok := findState(fsys, path.Dir(name), outside); ok {
				return f, nil
			}
		}
	}
	if isV1(fsys, name) {
		return at(FoundV1, name)
	}
	return Found{}, describe(fsys, name, shown, err)
}

// hasModel reports whether a directory contains the file of a SavedModel, in any of its forms.
func hasModel(exists func(name string) bool, dir string) bool {
	return exists(path.Join(dir, "saved_model.pb")) || exists(path.Join(dir, "saved_model.pbtxt")) || exists(path.Join(dir, "saved_model.cpb"))
}

// findInDirectory works like find, for a directory. A SavedModel comes before a state file: a directory of both is a
// model whose checkpoint is in variables/.
func findInDirectory(fsys fs.FS, name, shown string, outside func(string) (Found, bool)) (Found, error) {
	is := func(name string) bool {
		_, err := fs.Stat(fsys, name)
		return err == nil || errors.Is(err, fs.ErrPermission)
	}
	variables := path.Join(name, "variables", "variables")
	switch {
	case hasModel(is, name):
		if is(IndexName(variables)) {
			return Found{Kind: FoundSavedModel, Prefix: variables, Dir: name}, nil
		}
		return Found{}, &PathError{Path: shown, Found: "a SavedModel without variables", Hint: "it holds no checkpoint"}
	case is(path.Join(name, statefile.Name)):
		if f, ok := findState(fsys, name, outside); ok {
			return f, nil
		}
		e := &PathError{Path: shown, Found: "a directory whose checkpoint file lists only missing checkpoints", Hint: prefixHint(fsys, name, shown)}
		if latest := namedLatest(fsys, name); latest != "" {
			e.Found += fmt.Sprintf(" (it names %q)", latest)
		}
		return Found{}, e
	case is(path.Join(name, "variables.index")) && path.Base(name) == "variables":
		return Found{Kind: FoundSavedModel, Prefix: path.Join(name, "variables"), Dir: path.Dir(name)}, nil
	}
	return Found{}, describe(fsys, name, shown, nil)
}

// findState follows the state file of a directory to its latest checkpoint.
func findState(fsys fs.FS, dir string, outside func(string) (Found, bool)) (Found, bool) {
	latest := namedLatest(fsys, dir)
	if latest == "" {
		return Found{}, false
	}
	latest = strings.ReplaceAll(latest, "\\", "/")
	if path.IsAbs(latest) || len(latest) > 1 && latest[1] == ':' {
		// A directory that was copied or moved has a state file with the paths of the
		// original. The files that the caller named come first.
		if f, ok := namedBeside(fsys, dir, path.Base(latest)); ok || outside == nil {
			return f, ok
		}
		f, ok := outside(filepath.FromSlash(latest))
		f.Kind, f.Elsewhere = FoundState, true
		return f, ok
	}
	return namedBeside(fsys, dir, latest)
}

// namedBeside returns the checkpoint that a state file names relative to its directory.
func namedBeside(fsys fs.FS, dir, latest string) (Found, bool) {
	prefix := path.Join(dir, latest)
	if _, err := fs.Stat(fsys, IndexName(prefix)); err != nil && !errors.Is(err, fs.ErrPermission) && !isV1(fsys, prefix) {
		return Found{}, false
	}
	below := dir == "." && !strings.HasPrefix(prefix, "../") || strings.HasPrefix(prefix, dir+"/")
	return Found{Kind: FoundState, Prefix: prefix, Dir: dir, Elsewhere: !below}, true
}

// namedLatest returns the path of the latest checkpoint in the state file of a
// directory, or "" if there is none.
func namedLatest(fsys fs.FS, dir string) string {
	src, err := openSource(fsys, path.Join(dir, statefile.Name))
	if err != nil {
		return ""
	}
	defer src.close()
	text := make([]byte, min(src.size, statefile.MaxSize))
	if _, err := src.ReadAt(text, 0); err != nil && err != io.EOF {
		return ""
	}
	state, err := statefile.Parse(text)
	if err != nil || state.ModelCheckpointPath == "" {
		return ""
	}
	return state.ModelCheckpointPath
}

// otherFile reports whether a name is that of an index, a data file or a state file. [Open] asks before it reads a
// file as a checkpoint of version 1: for these names an error that describes the file helps more.
func otherFile(name string) bool {
	_, _, _, data := ParseDataName(name)
	return data || strings.HasSuffix(name, indexSuffix) || path.Base(name) == statefile.Name
}

// isV1 reports whether there are files of a version 1 checkpoint of that prefix.
func isV1(fsys fs.FS, prefix string) bool {
	files := findV1(fsys, prefix)
	return len(files) > 1 || len(files) == 1 && looksLikeTable(fsys, files[0])
}

// looksLikeTable reports whether a file ends with the magic number of a table (see the package's page).
func looksLikeTable(fsys fs.FS, name string) bool {
	src, err := openSource(fsys, name)
	if err != nil {
		return false
	}
	defer src.close()
	var tail [8]byte
	if src.size < int64(len(tail)) {
		return false
	}
	if n, _ := src.ReadAt(tail[:], src.size-8); n < len(tail) {
		return false
	}
	return tail == [8]byte{0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb}
}

// describe returns a PathError that describes the file at a path without a
// checkpoint.
func describe(fsys fs.FS, name, shown string, cause error) error {
	e := &PathError{Path: shown, Err: cause}
	info, err := fs.Stat(fsys, name)
	is := func(name string) bool {
		_, err := fs.Stat(fsys, name)
		return err == nil
	}
	suffix := func(add string) string { return strings.TrimSuffix(shown, "/") + add }
	switch {
	case err == nil && info.IsDir():
		switch {
		case hasModel(is, name):
			e.Found = "a SavedModel's directory"
			e.Hint = fmt.Sprintf("its values have the prefix %q", suffix("/variables/variables"))
		case is(path.Join(name, statefile.Name)):
			e.Found = "a directory with a checkpoint state file"
			if f, ok := findState(fsys, name, nil); ok {
				latest := suffix("/" + path.Base(f.Prefix))
				if path.Dir(f.Prefix) != name {
					latest = f.Prefix
				}
				e.Hint = fmt.Sprintf("its latest checkpoint has the prefix %q", latest)
			} else if latest := namedLatest(fsys, name); latest != "" {
				e.Hint = fmt.Sprintf("that names %q as the latest checkpoint, which isn't there", latest)
			}
		default:
			e.Found = "a directory without a checkpoint file"
			e.Hint = prefixHint(fsys, name, shown)
		}
	case err == nil && strings.HasSuffix(name, indexSuffix):
		e.Found = "an index file"
		e.Hint = fmt.Sprintf("the prefix is %q", strings.TrimSuffix(shown, indexSuffix))
	case err == nil && path.Base(name) == statefile.Name:
		e.Found = "a checkpoint state file"
		if f, ok := findState(fsys, path.Dir(name), nil); ok {
			e.Hint = fmt.Sprintf("the latest checkpoint that it names has the prefix %q", strings.TrimSuffix(shown, statefile.Name)+path.Base(f.Prefix))
		} else if latest := namedLatest(fsys, path.Dir(name)); latest != "" {
			e.Hint = fmt.Sprintf("the latest checkpoint that it names is %q, which isn't there", latest)
		}
	case err == nil:
		if prefix, _, _, ok := ParseDataName(shown); ok {
			e.Found = "a data file"
			e.Hint = fmt.Sprintf("the prefix is %q", prefix)
			break
		}
		e.Found = fmt.Sprintf("a file of %d bytes that is no checkpoint", info.Size())
		if !info.Mode().IsRegular() {
			e.Found = vfs.DescribeMode(info.Mode()) // its size is meaningless
		}
	default:
		e.Found = "nothing"
		if errors.Is(err, fs.ErrPermission) {
			e.Found = "something that may not be read"
		}
		if is(path.Dir(name)) {
			e.Hint = prefixHint(fsys, path.Dir(name), path.Dir(strings.ReplaceAll(shown, "\\", "/")))
		} else {
			e.Hint = fmt.Sprintf("the directory %s doesn't exist either", path.Dir(strings.ReplaceAll(shown, "\\", "/")))
		}
		if e.Err == nil {
			e.Err = err
		}
	}
	return e
}

// prefixHint lists at most five checkpoints of directory dir, for the error about a path that is none. Each is
// written below shown, the user's name of the directory, so that it can be passed instead. The words are free.
func prefixHint(fsys fs.FS, dir, shown string) string {
	const most = 5
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range entries {
		if p, ok := strings.CutSuffix(e.Name(), indexSuffix); ok && p != "" {
			names = append(names, strconv.Quote(path.Join(shown, p)))
		}
	}
	switch {
	case len(names) == 0:
		return "the directory holds no checkpoints"
	case len(names) == 1:
		return "the directory holds the checkpoint " + names[0]
	case len(names) > most:
		return fmt.Sprintf("the directory holds the checkpoints %s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return "the directory holds the checkpoints " + strings.Join(names, ", ")
}

package checkpoint

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/statefile"
)

// removeLeftovers removes the files of interrupted saves in the directory:
// unfinished checkpoints, unlisted replacements, temporary files of our
// checkpoints, of the state file and the side file, and shards that registered
// savers wrote and that were not merged. Because of the lock no other manager is
// writing them. If a file can't be removed now, the result is false, and the
// next save tries again.
func (m *Manager) removeLeftovers() bool {
	ok := true
	note := func(err error) {
		if err != nil {
			ok = false
		}
	}
	read := func(folder string) []fs.DirEntry {
		entries, err := readDir(m.dir, folder)
		if !errors.Is(err, fs.ErrNotExist) {
			note(err)
		}
		return entries
	}
	for _, f := range read(".") {
		if isTempOf(f.Name(), statefile.Name) || isTempOf(f.Name(), sideName) {
			note(removeIfThere(m.dir, f.Name()))
		}
	}
	for _, e := range m.current().list {
		// While a replacement is listed, the checkpoint it replaces is incomplete.
		if replaced, is := strings.CutSuffix(e.name, replacementSuffix); is && m.ours(replaced) && !m.named(replaced) {
			half, err := m.halfReplaced(replaced, e)
			if half {
				err = m.remove(replaced)
			}
			note(err)
		}
	}
	folder := path.Dir(m.opts.CheckpointName)
	for _, f := range read(folder) {
		name := path.Join(folder, f.Name())
		if f.IsDir() {
			if prefix, is := strings.CutSuffix(name, "_temp"); is && m.ours(prefix) {
				for _, part := range read(name) { // parts of a checkpoint that are to be merged
					if !part.IsDir() && strings.HasPrefix(part.Name(), "part-") {
						note(removeIfThere(m.dir, path.Join(name, part.Name())))
					}
				}
				_ = m.dir.Remove(name) // if it is empty now
			}
			continue
		}
		if prefix, id, is := parseMarker(name); is && m.ours(prefix) {
			note(m.removeMarked(prefix, name, id))
			continue
		}
		if repl, is := m.replacementOf(name); m.isTemporary(name) || m.isSaversShard(name) || is && !m.named(repl) {
			note(removeIfThere(m.dir, name))
		}
	}
	return ok
}

// removeMarked removes a marker, and first its checkpoint if that is the
// unfinished save that the marker was made for. It isn't if a state names it, or
// if another program has written a checkpoint of that name since.
func (m *Manager) removeMarked(prefix, marker, id string) error {
	if m.named(prefix) {
		m.marked[prefix] = marker
		return m.unmark(prefix)
	}
	unfinished, err := m.unfinished(prefix, id)
	switch {
	case err != nil:
		return err
	case !unfinished:
		return removeIfThere(m.dir, marker)
	}
	m.marked[prefix] = marker
	return m.discard(prefix)
}

// halfReplaced reports whether the files under the final name of a replacement are
// unusable. While the replacement is the latest, they are the old checkpoint or a
// part of the new one. Later only files that a copy of the replacement left are,
// since another program may have saved under that name.
func (m *Manager) halfReplaced(name string, repl entry) (bool, error) {
	there, err := m.hasIndex(name)
	if err != nil || !there || m.current().latest.name == repl.name {
		return err == nil, err
	}
	mine, err := digest(m.dir, repl.name+".index")
	if err != nil {
		return false, err
	}
	theirs, err := digest(m.dir, name+".index")
	return mine == theirs, err
}

// ours reports whether name has the form of our checkpoints or replacements.
func (m *Manager) ours(name string) bool {
	_, ok := m.numberOf(strings.TrimSuffix(name, replacementSuffix))
	return ok
}

// isTemporary reports whether a file is a temporary of one of our checkpoints.
func (m *Manager) isTemporary(file string) bool {
	if !strings.HasPrefix(file, m.opts.CheckpointName+"-") {
		return false
	}
	_, ok := tempOf(file)
	return ok || bundle.IsTemporary(file)
}

// isSaversShard reports whether a file belongs to a bundle that a registered
// saver wrote for one of our checkpoints: merging would have removed it.
func (m *Manager) isSaversShard(file string) bool {
	rest, ok := strings.CutPrefix(file, m.opts.CheckpointName+"-")
	if !ok {
		return false
	}
	number, rest, ok := strings.Cut(strings.Replace(rest, replacementSuffix+"-", "-", 1), "-")
	if !ok || !digits(number) {
		return false
	}
	i := strings.LastIndex(rest, ".index")
	if i < 0 || i+len(".index") != len(rest) {
		if i = strings.LastIndex(rest, ".data-"); i < 0 || !isDataSuffix(rest[i:]) {
			return false
		}
	}
	return slices.ContainsFunc(m.ck.o.Savers.Names(), func(name string) bool { return strings.HasPrefix(rest[:i], name) })
}

// replacementOf returns the prefix of the replacement that file belongs to.
func (m *Manager) replacementOf(file string) (prefix string, ok bool) {
	i := strings.LastIndex(file, replacementSuffix)
	if i < 0 {
		return "", false
	}
	end := i + len(replacementSuffix)
	if rest := file[end:]; rest != ".index" && !isDataSuffix(rest) {
		return "", false
	}
	_, ok = m.numberOf(file[:i])
	return file[:end], ok
}

func readDir(dir fs.FS, folder string) ([]fs.DirEntry, error) {
	return fs.ReadDir(dir, path.Clean(folder))
}

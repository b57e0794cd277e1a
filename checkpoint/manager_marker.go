package checkpoint

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/cairnml/cairn/vfs"
)

// saving follows the checkpoint's name in the name of a marker. A marker is an
// empty file that records that a checkpoint isn't finished. It protects
// checkpoints with our names that another program, such as TensorFlow, wrote
// after a save of ours was killed. So once there is an index, the marker's name
// ends with the identity of that file. The identity is in the name, not in the
// contents, because names become durable in the order in which they are made and
// need no sync.
const saving = ".cairn-saving"

// idDigits is how many hexadecimal digits identify an index.
const idDigits = 32

// parseMarker takes a marker's name apart; id is "" in one that was made before
// there was an index.
func parseMarker(file string) (prefix, id string, ok bool) {
	prefix, rest, ok := cutLast(file, saving)
	if !ok || rest == "" {
		return prefix, "", ok
	}
	id, ok = strings.CutPrefix(rest, "-")
	if _, err := hex.DecodeString(id); err != nil || len(id) != idDigits {
		return "", "", false
	}
	return prefix, id, ok
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// digest returns the SHA-256 of a file.
func digest(fsys fs.FS, name string) (sum [sha256.Size]byte, err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return sum, err
	}
	h := sha256.New()
	_, err = io.Copy(h, struct{ io.Reader }{f})
	h.Sum(sum[:0])
	return sum, errors.Join(err, f.Close())
}

// identity returns a string that distinguishes an index from every other, also from one
// of the same bytes that was written at another time. A rename doesn't change it.
func identity(fsys fs.FS, name string) (string, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("checkpoint: %s is no regular file", name)
	}
	sum, err := digest(fsys, name)
	if err != nil {
		return "", err
	}
	id := sha256.Sum256(binary.LittleEndian.AppendUint64(sum[:], uint64(info.ModTime().UnixNano())))
	return hex.EncodeToString(id[:])[:idDigits], nil
}

// mark makes a checkpoint's marker, and returns the directory to write the
// checkpoint to.
func (m *Manager) mark(name string) (vfs.Dir, error) {
	m.marked[name] = ""
	f, err := m.dir.Create(name + saving)
	if err == nil {
		err = f.Close()
	}
	return &markedDir{m.dir, m, name}, err
}

// markedDir is the directory of a save. When the index gets its name, the marker
// is given the index's identity just before.
type markedDir struct {
	vfs.Dir
	m    *Manager
	name string // of the checkpoint
}

// Rename implements [vfs.Dir].
func (d *markedDir) Rename(from, to string) error {
	if to == d.name+".index" {
		id, err := identity(d.Dir, from)
		if err != nil {
			return err
		}
		d.m.marked[d.name] = d.name + saving + "-" + id
		if err := d.Dir.Rename(d.name+saving, d.m.marked[d.name]); err != nil {
			return err
		}
	}
	return d.Dir.Rename(from, to)
}

// isMarked reports whether a checkpoint may have a marker.
func (m *Manager) isMarked(name string) bool {
	_, ok := m.marked[name]
	return ok
}

// unmark removes a checkpoint's marker.
func (m *Manager) unmark(name string) error {
	second, ok := m.marked[name]
	if !ok {
		return nil
	}
	err := removeIfThere(m.dir, name+saving)
	if second != "" && err == nil {
		err = removeIfThere(m.dir, second)
	}
	if err != nil {
		m.clean = false
		return err
	}
	delete(m.marked, name)
	return nil
}

// unfinished reports whether a checkpoint is the one that a marker was made for,
// or none at all.
func (m *Manager) unfinished(name, id string) (bool, error) {
	there, err := m.hasIndex(name)
	if err != nil || !there {
		return err == nil, err
	}
	now, err := identity(m.dir, name+".index")
	return now == id, err
}

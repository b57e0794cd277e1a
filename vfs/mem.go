package vfs

import (
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// Mem is a [Dir] in memory, made by [MemDir]. It is safe for use by many
// goroutines.
type Mem struct {
	mu    sync.RWMutex
	files map[string]*memData
}

type memData struct {
	mu   sync.RWMutex
	b    []byte
	time time.Time
}

// MemDir makes an empty directory in memory.
func MemDir() *Mem { return &Mem{files: make(map[string]*memData)} }

// Create implements [Dir].
func (m *Mem) Create(name string) (File, error) {
	if !fs.ValidPath(name) || name == "." {
		return nil, &fs.PathError{Op: "create", Path: name, Err: fs.ErrInvalid}
	}
	d := &memData{time: time.Now()}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files[name] = d
	return &memFile{data: d}, nil
}

// OpenAppend implements [Appender].
func (m *Mem) OpenAppend(name string) (File, error) {
	m.mu.RLock()
	d := m.files[name]
	m.mu.RUnlock()
	if d == nil {
		return m.Create(name)
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	return &memFile{data: d, at: int64(len(d.b))}, nil
}

// Rename implements [Dir].
func (m *Mem) Rename(oldname, newname string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	d, ok := m.files[oldname]
	if !ok {
		return &fs.PathError{Op: "rename", Path: oldname, Err: fs.ErrNotExist}
	}
	if !fs.ValidPath(newname) || newname == "." {
		return &fs.PathError{Op: "rename", Path: newname, Err: fs.ErrInvalid}
	}
	delete(m.files, oldname)
	m.files[newname] = d
	return nil
}

// Remove implements [Dir]. Directories exist as long as they hold a file.
func (m *Mem) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.files[name]; !ok {
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrNotExist}
	}
	delete(m.files, name)
	return nil
}

// Sync implements [Dir]; there is nothing to do.
func (m *Mem) Sync() error { return nil }

// WriteFile makes a file with these bytes, which it copies.
func (m *Mem) WriteFile(name string, b []byte) error {
	f, err := m.Create(name)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return err
}

// ReadFile implements [fs.ReadFileFS]: a copy of a file's bytes.
func (m *Mem) ReadFile(name string) ([]byte, error) {
	m.mu.RLock()
	d, ok := m.files[name]
	m.mu.RUnlock()
	if !ok {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	return append([]byte{}, d.b...), nil
}

// Names lists all files, sorted.
func (m *Mem) Names() []string {
	m.mu.RLock()
	defer m.mu.RUnlock()
	names := make([]string, 0, len(m.files))
	for n := range m.files {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// Open implements [fs.FS].
func (m *Mem) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	m.mu.RLock()
	d, ok := m.files[name]
	m.mu.RUnlock()
	if ok {
		return &memReader{name: path.Base(name), data: d}, nil
	}
	entries := m.list(name)
	if len(entries) == 0 && name != "." {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &memFolder{memInfo: memInfo{name: path.Base(name), mode: fs.ModeDir | 0o755}, entries: entries}, nil
}

// list returns the entries of directory name, sorted.
func (m *Mem) list(name string) []fs.DirEntry {
	seen := make(map[string]bool)
	var out []fs.DirEntry
	for _, n := range m.Names() {
		rest := n
		if name != "." {
			var ok bool
			if rest, ok = strings.CutPrefix(n, name+"/"); !ok {
				continue
			}
		}
		first, _, deeper := strings.Cut(rest, "/")
		if seen[first] {
			continue
		}
		seen[first] = true
		info := memInfo{name: first, mode: 0o644}
		if deeper {
			info.mode = fs.ModeDir | 0o755
		} else {
			m.mu.RLock()
			if d := m.files[n]; d != nil {
				d.mu.RLock()
				info.size, info.time = int64(len(d.b)), d.time
				d.mu.RUnlock()
			}
			m.mu.RUnlock()
		}
		out = append(out, fs.FileInfoToDirEntry(info))
	}
	slices.SortFunc(out, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return out
}

// memFile is a file being written.
type memFile struct {
	data   *memData
	at     int64
	closed bool
}

func (f *memFile) Write(p []byte) (int, error) {
	n, err := f.WriteAt(p, f.at)
	f.at += int64(n)
	return n, err
}

func (f *memFile) WriteAt(p []byte, off int64) (int, error) {
	if f.closed {
		return 0, fs.ErrClosed
	}
	end := off + int64(len(p))
	if off < 0 || end < off || int64(int(end)) != end {
		return 0, fs.ErrInvalid
	}
	d := f.data
	d.mu.Lock()
	defer d.mu.Unlock()
	if int(end) > len(d.b) {
		d.b = slices.Grow(d.b, int(end)-len(d.b))[:end]
	}
	copy(d.b[off:], p)
	d.time = time.Now()
	return len(p), nil
}

func (f *memFile) Sync() error  { return nil }
func (f *memFile) Close() error { f.closed = true; return nil }

// memReader is a file being read; it has ReadAt.
type memReader struct {
	name string
	data *memData
	at   int64
}

func (r *memReader) Stat() (fs.FileInfo, error) {
	r.data.mu.RLock()
	defer r.data.mu.RUnlock()
	return memInfo{name: r.name, size: int64(len(r.data.b)), mode: 0o644, time: r.data.time}, nil
}

func (r *memReader) Read(p []byte) (int, error) {
	n, err := r.ReadAt(p, r.at)
	r.at += int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}

func (r *memReader) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fs.ErrInvalid
	}
	r.data.mu.RLock()
	defer r.data.mu.RUnlock()
	if off >= int64(len(r.data.b)) {
		if len(p) == 0 {
			return 0, nil
		}
		return 0, io.EOF
	}
	n := copy(p, r.data.b[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (r *memReader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		r.data.mu.RLock()
		offset += int64(len(r.data.b))
		r.data.mu.RUnlock()
	}
	if offset < 0 {
		return 0, fs.ErrInvalid
	}
	r.at = offset
	return offset, nil
}

func (r *memReader) Close() error { return nil }

type memFolder struct {
	memInfo
	entries []fs.DirEntry
}

func (d *memFolder) Stat() (fs.FileInfo, error) { return d.memInfo, nil }
func (d *memFolder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.name, Err: fs.ErrInvalid}
}
func (d *memFolder) Close() error { return nil }

func (d *memFolder) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 {
		out := d.entries
		d.entries = nil
		return out, nil
	}
	if len(d.entries) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(d.entries))
	out := d.entries[:n]
	d.entries = d.entries[n:]
	return out, nil
}

type memInfo struct {
	name string
	size int64
	mode fs.FileMode
	time time.Time
}

func (i memInfo) Name() string       { return i.name }
func (i memInfo) Size() int64        { return i.size }
func (i memInfo) Mode() fs.FileMode  { return i.mode }
func (i memInfo) ModTime() time.Time { return i.time }
func (i memInfo) IsDir() bool        { return i.mode.IsDir() }
func (i memInfo) Sys() any           { return nil }

package vfs

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
)

// OSDir returns the operating system's directory at path, which need not exist yet.
// Names may not lead out of it: files are made, renamed and removed in the directory
// itself and in directories below it, never through a symbolic link that leads
// elsewhere. Reading follows such links. A named pipe, a device or a socket in
// place of a file is refused at once, before it is opened.
func OSDir(path string) Dir {
	if path == "" {
		path = "."
	}
	return &osDir{root: path}
}

// osDir is the Dir of [OSDir]. The parts that differ between systems are in nonblock_*.go,
// retry_*.go and sync_*.go.
type osDir struct {
	root string

	syncing sync.Mutex // held by Sync: it waits for a concurrent one, which may have taken the directories that it needs synced

	mu    sync.Mutex
	dirty map[string]bool // directories whose names changed since the last Sync
}

// local returns name as the operating system spells it.
func local(op, name string) (string, error) {
	if !fs.ValidPath(name) {
		return "", &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	p, err := filepath.Localize(name)
	if err != nil {
		return "", &fs.PathError{Op: op, Path: name, Err: err}
	}
	return p, nil
}

func (d *osDir) touched(folder string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dirty == nil {
		d.dirty = make(map[string]bool)
	}
	d.dirty[filepath.Join(d.root, folder)] = true
}

// Open opens a file or a directory for reading.
func (d *osDir) Open(name string) (fs.File, error) {
	p, err := local("open", name)
	if err != nil {
		return nil, err
	}
	return openRegular(filepath.Join(d.root, p))
}

// Stat implements [fs.StatFS].
func (d *osDir) Stat(name string) (fs.FileInfo, error) {
	p, err := local("stat", name)
	if err != nil {
		return nil, err
	}
	return os.Stat(filepath.Join(d.root, p))
}

// within calls f with an [os.Root] of the directory, which refuses paths that lead
// out of it. Errors have the whole path.
func (d *osDir) within(op, name string, f func(*os.Root) error) error {
	root, err := os.OpenRoot(d.root)
	if err != nil {
		return err
	}
	defer root.Close()
	err = f(root)
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case errors.As(err, &pe):
		return &fs.PathError{Op: op, Path: filepath.Join(d.root, name), Err: pe.Err}
	case errors.As(err, &le):
		return &os.LinkError{Op: op, Old: filepath.Join(d.root, le.Old), New: filepath.Join(d.root, le.New), Err: le.Err}
	}
	return err
}

func (d *osDir) Create(name string) (File, error) {
	file, err := d.create(name, os.O_TRUNC)
	if err != nil {
		return nil, err
	}
	return osFile{file}, nil
}

// OpenAppend implements [Appender].
func (d *osDir) OpenAppend(name string) (File, error) {
	file, err := d.create(name, 0)
	if err != nil {
		return nil, err
	}
	if _, err := file.Seek(0, io.SeekEnd); err != nil {
		_ = file.Close()
		return nil, err
	}
	return osFile{file}, nil
}

// create opens a file for writing, and makes it if it doesn't exist.
func (d *osDir) create(name string, flag int) (*os.File, error) {
	p, err := local("create", name)
	if err != nil {
		return nil, err
	}
	if err := d.makeRoot(d.root); err != nil {
		return nil, err
	}
	var file *os.File
	err = d.within("create", p, func(root *os.Root) error {
		if err := d.makeFolder(root, filepath.Dir(p)); err != nil {
			return err
		}
		info, err := root.Lstat(p)
		if err == nil && !info.Mode().IsRegular() {
			return &fs.PathError{Op: "create", Path: p, Err: &kindError{info.Mode(), true}}
		}
		file, err = root.OpenFile(p, os.O_RDWR|os.O_CREATE|flag|nonblock, 0o666)
		return err
	})
	if err != nil {
		return nil, err
	}
	d.touched(filepath.Dir(p))
	return file, nil
}

// makeRoot creates the directory itself and its parents. The parent of each new
// one must be synced, because it contains the new name.
func (d *osDir) makeRoot(folder string) error {
	if info, err := os.Stat(folder); err == nil && info.IsDir() {
		return nil
	}
	parent := filepath.Dir(folder)
	if parent != folder {
		if err := d.makeRoot(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(folder, 0o777); err != nil && !os.IsExist(err) {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dirty == nil {
		d.dirty = make(map[string]bool)
	}
	d.dirty[parent] = true
	return nil
}

// makeFolder makes a directory below the root, as makeRoot does.
func (d *osDir) makeFolder(root *os.Root, folder string) error {
	if folder == "." {
		return nil
	}
	if info, err := root.Stat(folder); err == nil && info.IsDir() {
		return nil
	}
	if err := d.makeFolder(root, filepath.Dir(folder)); err != nil {
		return err
	}
	if err := root.Mkdir(folder, 0o777); err != nil && !os.IsExist(err) {
		return err
	}
	d.touched(filepath.Dir(folder))
	return nil
}

func (d *osDir) Rename(oldname, newname string) error {
	from, err := local("rename", oldname)
	if err != nil {
		return err
	}
	to, err := local("rename", newname)
	if err != nil {
		return err
	}
	err = d.within("rename", from, func(root *os.Root) error {
		if filepath.Dir(from) != filepath.Dir(to) {
			if err := d.makeFolder(root, filepath.Dir(to)); err != nil {
				return err
			}
		}
		return retryInUse(func() error { return root.Rename(from, to) })
	})
	if err != nil {
		return err
	}
	d.touched(filepath.Dir(from))
	d.touched(filepath.Dir(to))
	return nil
}

func (d *osDir) Remove(name string) error {
	p, err := local("remove", name)
	if err != nil {
		return err
	}
	err = d.within("remove", p, func(root *os.Root) error {
		return retryInUse(func() error { return root.Remove(p) })
	})
	if err != nil {
		return err
	}
	d.touched(filepath.Dir(p))
	return nil
}

func (d *osDir) Sync() error {
	d.syncing.Lock()
	defer d.syncing.Unlock()
	d.mu.Lock()
	folders := d.dirty
	d.dirty = nil
	d.mu.Unlock()
	for f := range folders {
		// A removed directory has no names left; its parent records the
		// removal.
		if err := syncFolder(f); err != nil && !errors.Is(err, fs.ErrNotExist) {
			d.mu.Lock()
			if d.dirty == nil {
				d.dirty = make(map[string]bool)
			}
			maps.Copy(d.dirty, folders) // directories that aren't durable yet are synced next time
			d.mu.Unlock()
			return err
		}
	}
	return nil
}

package bundle

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// OSDir is the operating system's folder at path, which need not exist yet.
// Names may not lead out of it.
func OSDir(path string) Dir { return &osDir{root: path} }

type osDir struct {
	root string

	syncing sync.Mutex // held by Sync, so that nobody returns from it before what it had to do is done

	mu    sync.Mutex
	dirty map[string]bool // folders whose names changed since the last Sync
}

func (d *osDir) path(op, name string) (string, error) {
	if !fs.ValidPath(name) {
		return "", &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	p, err := filepath.Localize(name)
	if err != nil {
		return "", &fs.PathError{Op: op, Path: name, Err: err}
	}
	return filepath.Join(d.root, p), nil
}

func (d *osDir) touched(folder string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dirty == nil {
		d.dirty = make(map[string]bool)
	}
	d.dirty[folder] = true
}

func (d *osDir) Open(name string) (fs.File, error) {
	p, err := d.path("open", name)
	if err != nil {
		return nil, err
	}
	return os.Open(p)
}

func (d *osDir) Create(name string) (File, error) {
	p, err := d.path("create", name)
	if err != nil {
		return nil, err
	}
	folder := filepath.Dir(p)
	if err := d.makeFolder(folder); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(p, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return nil, err
	}
	d.touched(folder)
	return osFile{f}, nil
}

// makeFolder makes folder and its parents; the parent of each new one is to be
// synced, since the new name stands there.
func (d *osDir) makeFolder(folder string) error {
	if info, err := os.Stat(folder); err == nil && info.IsDir() {
		return nil
	}
	if parent := filepath.Dir(folder); parent != folder {
		if err := d.makeFolder(parent); err != nil {
			return err
		}
		d.touched(parent)
	}
	if err := os.Mkdir(folder, 0o777); err != nil && !os.IsExist(err) {
		return err
	}
	return nil
}

func (d *osDir) Rename(oldname, newname string) error {
	from, err := d.path("rename", oldname)
	if err != nil {
		return err
	}
	to, err := d.path("rename", newname)
	if err != nil {
		return err
	}
	if filepath.Dir(from) != filepath.Dir(to) {
		if err := d.makeFolder(filepath.Dir(to)); err != nil {
			return err
		}
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	d.touched(filepath.Dir(from))
	d.touched(filepath.Dir(to))
	return nil
}

func (d *osDir) Remove(name string) error {
	p, err := d.path("remove", name)
	if err != nil {
		return err
	}
	if err := os.Remove(p); err != nil {
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
		// A folder that was removed has no names left; that it is gone stands in its
		// parent.
		if err := syncFolder(f); err != nil && !errors.Is(err, fs.ErrNotExist) {
			for g := range folders { // what isn't durable yet stays to be done
				d.touched(g)
			}
			return err
		}
	}
	return nil
}

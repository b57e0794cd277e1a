package tensorfile

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
)

// This file knows the names of SavedModels' files, and doesn't import package savedmodel. So a program
// that only reads tensors doesn't link that package.

// graphFiles are the files of which a SavedModel's directory has one.
var graphFiles = []string{"saved_model.pb", "saved_model.cpb", "saved_model.pbtxt"}

// FindModel returns the directory of the SavedModel at a path of fsys, or of the
// operating system if fsys is nil. The path is that directory itself, its file with the
// graphs, or the directory of a model server, of which the directory with the highest
// number counts, as in TensorFlow Serving. It returns false if there is no SavedModel. The verbs
// and packages convert and inspect call it, so that they agree on the meaning of a path.
func FindModel(fsys fs.FS, name string) (dir string, ok bool) {
	join, parent, base := filepath.Join, filepath.Dir, filepath.Base
	stat, read := os.Stat, os.ReadDir
	if fsys != nil {
		join, parent, base = path.Join, path.Dir, path.Base
		stat = func(name string) (fs.FileInfo, error) { return fs.Stat(fsys, name) }
		read = func(name string) ([]fs.DirEntry, error) { return fs.ReadDir(fsys, name) }
	}
	isModel := func(dir string) bool {
		return slices.ContainsFunc(graphFiles, func(file string) bool {
			info, err := stat(join(dir, file))
			return err == nil && !info.IsDir()
		})
	}
	info, err := stat(name)
	switch {
	case err != nil:
		return "", false
	case !info.IsDir():
		return parent(name), slices.Contains(graphFiles, base(name))
	case isModel(name):
		return name, true
	}
	entries, err := read(name)
	if err != nil {
		return "", false
	}
	latest := int64(-1)
	for _, e := range entries {
		n, err := strconv.ParseInt(e.Name(), 10, 64)
		if err == nil && n > latest && isModel(join(name, e.Name())) {
			latest, dir = n, join(name, e.Name())
		}
	}
	return dir, latest >= 0
}

package convert

import (
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/cairnml/cairn/vfs"
)

// oneFolder returns a directory whose tree contains the sources and the target,
// as package bundle merges them, and their names in it.
func oneFolder(prefixes []string, fsys fs.FS, to target) (dir vfs.Dir, name string, sources []string, err error) {
	switch {
	case !to.own && fsys == nil:
		root, names, err := commonRoot(append(prefixes, to.name))
		if err != nil {
			return nil, "", nil, err
		}
		n := len(prefixes)
		return vfs.OSDir(root), names[n], names[:n], nil
	case to.own && fsys != nil && sameFolder(to.dir, fsys):
		return to.dir, to.base, prefixes, nil
	case fsys == nil:
		root, names, err := commonRoot(prefixes)
		if err != nil {
			return nil, "", nil, err
		}
		fsys, prefixes = vfs.OSDir(root), names
	}
	for _, p := range prefixes {
		sources = append(sources, sourcesBelow+p)
	}
	return &besideDir{Dir: to.dir, sources: fsys}, to.base, sources, nil
}

// commonRoot returns the directory that all paths share, and their names in it.
func commonRoot(paths []string) (root string, names []string, err error) {
	for _, p := range paths {
		abs, err := resolved(p)
		if err != nil {
			return "", nil, err
		}
		names = append(names, abs)
	}
	root = filepath.Dir(names[0])
	for _, p := range names {
		for !below(root, p) && filepath.Dir(root) != root {
			root = filepath.Dir(root)
		}
	}
	for i, p := range names {
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return "", nil, err
		}
		names[i] = filepath.ToSlash(rel)
	}
	return root, names, nil
}

// sourcesBelow is the read-only directory of a [besideDir].
const sourcesBelow = ".cairn-sources/"

// besideDir shows the files of another file system in a directory of it.
type besideDir struct {
	vfs.Dir
	sources fs.FS
}

// Open opens a file of either.
func (d *besideDir) Open(name string) (fs.File, error) {
	if rest, ok := strings.CutPrefix(name, sourcesBelow); ok {
		return d.sources.Open(rest)
	}
	if name+"/" == sourcesBelow {
		return d.sources.Open(".")
	}
	return d.Dir.Open(name)
}

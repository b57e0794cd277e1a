package convert

import (
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/cairnml/cairn/vfs"
)

// oneFolder returns one directory that contains the sources and the target, because
// [bundle.Merge] accepts only one. It also returns the target's name in it and the
// sources' names. fsys has the sources; nil is the operating system.
func oneFolder(prefixes []string, fsys fs.FS, to target) (dir vfs.Dir, name string, sources []string, err error) {
	switch { // to.own: the target is in a Dir of the program's
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

// sourcesBelow is the directory of a [besideDir] that shows the sources, for reading
// only.
const sourcesBelow = ".cairn-sources/"

// besideDir is a Dir that shows another file system's files in the directory
// [sourcesBelow].
type besideDir struct {
	vfs.Dir
	sources fs.FS
}

// Open opens a file of the sources if name is in [sourcesBelow], else a file of the Dir.
func (d *besideDir) Open(name string) (fs.File, error) {
	if rest, ok := strings.CutPrefix(name, sourcesBelow); ok {
		return d.sources.Open(rest)
	}
	if name+"/" == sourcesBelow {
		return d.sources.Open(".")
	}
	return d.Dir.Open(name)
}

package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	slashpath "path"
	"path/filepath"
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/vfs"
)

// Files is a grant of access to files. Without a grant, a call can open no
// file. The caller of the ops makes the grant. The savers of package function grant
// the directory of the checkpoint alone.
type Files struct {
	// Read contains the files that ops may read. Relative names are names in Read,
	// even of files that ops write. Default: ops may read the files of Write alone,
	// also by relative names.
	Read fs.FS
	// Write is the directory in which ops may write files. Default: none.
	Write vfs.Dir
	// ReadRoot is the absolute path of Read, with slashes: absolute names below it
	// are names in Read. Default: no absolute name is granted.
	ReadRoot string
	// WriteRoot is the absolute path of Write, with slashes. Default: no absolute
	// name is granted.
	WriteRoot string

	single []singleFiles
}

// singleFiles are files that are granted by their names.
type singleFiles struct {
	fsys  fs.FS
	names map[string]bool
}

// GrantDirs returns a grant of directories of the operating system: files below
// read may be read, files below write read and written. An empty path grants
// nothing. Names may be absolute, or relative: to read for files that are read, unless
// it is empty, else to write. A directory that does not exist is an error.
func GrantDirs(read, write string) (*Files, error) {
	f := &Files{}
	for _, g := range []struct {
		dir  string
		root *string
	}{{read, &f.ReadRoot}, {write, &f.WriteRoot}} {
		if g.dir == "" {
			continue
		}
		info, err := os.Stat(g.dir)
		if err == nil && !info.IsDir() {
			err = &fs.PathError{Op: "open", Path: g.dir, Err: errors.New("it is not a directory")}
		}
		if err == nil {
			*g.root, err = filepath.Abs(g.dir)
		}
		if err != nil {
			return nil, fmt.Errorf("engine: grant of a directory: %w", err)
		}
		*g.root = filepath.ToSlash(*g.root)
	}
	if read != "" {
		f.Read = os.DirFS(read)
	}
	if write != "" {
		f.Write = vfs.OSDir(write)
	}
	return f, nil
}

// With returns a grant of the files of f, and of reading these files of fsys. f
// may be nil.
func (f *Files) With(fsys fs.FS, names ...string) *Files {
	g := &Files{}
	if f != nil {
		*g = *f
	}
	s := singleFiles{fsys, map[string]bool{}}
	for _, name := range names {
		s.names[slashpath.Clean(name)] = true
	}
	g.single = append(g.single[:len(g.single):len(g.single)], s)
	return g
}

// ErrNotGranted matches every [DeniedError].
var ErrNotGranted = errors.New("engine: no file grant")

// DeniedError reports that an op asked for a file without a grant.
type DeniedError struct {
	// Name is the name of the file, or the pattern, as the op has it.
	Name string
	// Write reports whether the op asked to write the file.
	Write bool
	// Node is the name of the node; empty for an op that runs eagerly.
	Node string
	// Op is the name of the op.
	Op string

	byAnother bool // another node opens the file, as an iterator does for a dataset
}

// Error returns the file and the options that grant it.
func (e *DeniedError) Error() string {
	verb, by := "reading", ""
	if e.Write {
		verb = "writing"
	}
	if e.byAnother {
		by = fmt.Sprintf(" for the %s node %q", e.Op, e.Node)
	}
	return fmt.Sprintf("%s the file %q%s is not granted; function.Options.Files and run.LoadOptions.Files grant files, engine.GrantDirs makes them", verb, e.Name, by)
}

// Is reports whether the target is [ErrNotGranted].
func (e *DeniedError) Is(target error) bool { return target == ErrNotGranted }

// Reading returns the file system in which the op may read the file called name,
// or the files that fit it as a pattern, and the name there. Without a grant it
// returns a [*DeniedError].
func (c *Call) Reading(name string) (fs.FS, string, error) { return c.ReadingFor(c.node, name) }

// ReadingFor does the work of Reading for another node, such as that of a dataset, whose
// files are opened by the op that reads its elements.
func (c *Call) ReadingFor(n *Node, name string) (fs.FS, string, error) {
	if err := declared(n, graph.FileReads, "read"); err != nil {
		return nil, "", err
	}
	clean := cleanName(name)
	f := c.env.Files
	if f == nil {
		f = &Files{}
	}
	for _, s := range f.single {
		if s.names[clean] {
			return s.fsys, clean, nil
		}
	}
	if slashpath.IsAbs(clean) {
		if rel, ok := below(f.ReadRoot, clean); ok && f.Read != nil {
			return f.Read, rel, nil
		}
		if rel, ok := below(f.WriteRoot, clean); ok && f.Write != nil {
			return f.Write, rel, nil
		}
	} else if f.Read != nil {
		return f.Read, clean, nil
	} else if f.Write != nil {
		return f.Write, clean, nil
	}
	return nil, "", &DeniedError{Name: name, Node: n.Name, Op: n.Op, byAnother: n != c.node}
}

// Glob returns the names of the files that fit a pattern, sorted, as the op of
// the node would open them. Without a grant it returns a [*DeniedError].
func (c *Call) Glob(n *Node, pattern string) ([]string, error) {
	fsys, place, err := c.ReadingFor(n, pattern)
	if err != nil {
		return nil, err
	}
	list, err := fs.Glob(fsys, place)
	if root, ok := strings.CutSuffix(cleanName(pattern), place); ok {
		for i := range list {
			list[i] = root + list[i]
		}
	} else if len(list) > 0 { // the pattern is the path of the root itself, whose name in the file system is "."
		list[0] = cleanName(pattern)
	}
	return list, err
}

// Writing returns the directory in which the op may write the file called name,
// and the name there. Without a grant it returns a [*DeniedError].
func (c *Call) Writing(name string) (vfs.Dir, string, error) {
	if err := declared(c.node, graph.FileWrites, "write"); err != nil {
		return nil, "", err
	}
	clean := cleanName(name)
	if f := c.env.Files; f != nil && f.Write != nil {
		if !slashpath.IsAbs(clean) {
			return f.Write, clean, nil
		}
		if rel, ok := below(f.WriteRoot, clean); ok {
			return f.Write, rel, nil
		}
	}
	return nil, "", &DeniedError{Name: name, Write: true, Node: c.node.Name, Op: c.node.Op}
}

// refuse returns an error if an attribute names an address or a program. No
// grant allows either.
func refuse(n *Node) error {
	for _, r := range (&graph.Node{Op: n.Op, Attrs: n.Attrs}).References() {
		if r.Attr && r.Effect&(graph.Network|graph.Code) != 0 {
			return fmt.Errorf("%s %q leads out of the process (%v), which no grant allows", r.Arg, r.Names, r.Effect)
		}
	}
	return nil
}

// declared returns an error if the op lacks this effect in the table of
// effects, so that a scan reports every file that an op can reach.
func declared(n *Node, e graph.Effect, verb string) error {
	if d := graph.LookupOp(n.Op); d != nil && d.Effect()&e == 0 {
		return fmt.Errorf("BUG: the table of effects lacks that %s %ss files", n.Op, verb)
	}
	return nil
}

// cleanName returns a name in its shortest form, without the scheme of local
// files.
func cleanName(name string) string {
	return slashpath.Clean(strings.TrimPrefix(name, "file://"))
}

// below returns the name of an absolute path relative to a root.
func below(root, name string) (string, bool) {
	if root == "" {
		return "", false
	}
	root = slashpath.Clean(root)
	if name == root {
		return ".", true
	}
	return strings.CutPrefix(name, strings.TrimSuffix(root, "/")+"/")
}

package tensorfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	pathpkg "path"
	"strings"

	"github.com/cairnml/cairn/bundle"
)

// maxSpool bounds the bytes of a file without random access that are read into memory. It may change.
const maxSpool = 1 << 30

// openFS opens the file at a path of fsys. It accepts the paths that [Open] accepts, in the same
// order; a kind that is added to one is added to the other.
func openFS(ctx context.Context, fsys fs.FS, path string, o *Options) (*File, error) {
	s := newStore(path, o)
	s.Kind = KindOf(path)
	if dir, ok := FindModel(fsys, path); ok && dir != path {
		s.Found = "the SavedModel " + dir
		path = dir
	}
	info, err := fs.Stat(fsys, path)
	if s.Kind != Checkpoint && err == nil && info.Mode().IsRegular() {
		err = s.openFileFS(fsys, path)
	} else if isShardIndex(path) && err == nil && info.Mode().IsRegular() {
		s.Kind = Safetensors
		folder := pathpkg.Dir(path)
		s.b, err = openShards(fsys, path, func(name string) string { return pathpkg.Join(folder, name) }, &s.opts)
	} else if IsGraphDef(fsys, path) {
		s.Kind = GraphDef
		err = s.openFileFS(fsys, path)
	} else {
		err = s.openBundleFS(ctx, fsys, path)
	}
	if err != nil {
		return nil, inFile(path, err)
	}
	return s, nil
}

func (s *File) openBundleFS(ctx context.Context, fsys fs.FS, path string) error {
	f, err := bundle.FindPrefix(fsys, path)
	if err != nil {
		var ok bool
		if f, ok = loneCheckpoint(fsys, path); !ok {
			return err
		}
		s.Found = "the directory's only checkpoint"
	}
	s.found(f)
	r, err := bundle.Open(ctx, fsys, f.Prefix, s.opts.reader())
	if err != nil {
		return err
	}
	s.b = &bundleStore{r}
	return nil
}

// loneCheckpoint finds the checkpoint of a directory that has one and no state file.
func loneCheckpoint(fsys fs.FS, dir string) (f bundle.Found, ok bool) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return f, false
	}
	for _, e := range entries {
		prefix, isIndex := strings.CutSuffix(e.Name(), bundle.IndexName(""))
		switch {
		case e.Name() == "checkpoint", isIndex && f.Prefix != "":
			return f, false
		case isIndex && prefix != "" && !e.IsDir():
			f = bundle.Found{Kind: bundle.FoundPrefix, Prefix: pathpkg.Join(dir, prefix), Dir: dir}
		}
	}
	return f, f.Prefix != ""
}

// openFileFS opens a file that is no checkpoint, by s.Kind. [Output] opens a written file with it too.
func (s *File) openFileFS(fsys fs.FS, path string) error {
	f, err := fsys.Open(path)
	if err != nil {
		return err
	}
	r, size, err := readerAt(f)
	if err == nil {
		switch s.Kind {
		case NPZ:
			s.b, err = newNPZ(r, size, f, &s.opts)
		case Safetensors:
			s.b, err = openSafetensorsAt(r, size, f, &s.opts)
		case GraphDef:
			s.b, err = newGraphDef(r, size, f, path, &s.opts)
		default:
			s.b, err = newKeras(r, size, f, &s.opts)
		}
	}
	if err != nil {
		f.Close()
	}
	return err
}

// readerAt returns random access to a file. It reads the file into memory if it
// has none.
func readerAt(f fs.File) (io.ReaderAt, int64, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if r, ok := f.(io.ReaderAt); ok {
		return r, info.Size(), nil
	}
	all, err := io.ReadAll(io.LimitReader(f, maxSpool+1))
	switch {
	case err != nil:
		return nil, 0, err
	case len(all) > maxSpool:
		return nil, 0, fmt.Errorf("the file system has no random access, and the file is larger than the %d bytes that are read into memory", maxSpool)
	case int64(len(all)) != info.Size():
		return nil, 0, errors.New("the file has another size than its file system says")
	}
	return bytes.NewReader(all), info.Size(), nil
}

package convert

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensorfile"
	"github.com/cairnml/cairn/vfs"
)

// numbered is the end of the name of a checkpoint, "ckpt-1".
var numbered = regexp.MustCompile(`-[0-9]+$`)

// IsModelTarget reports whether a SavedModel that is converted to dst becomes a
// SavedModel: dst has no suffix and no number as checkpoints have, or ends in a slash, or
// is a directory.
func IsModelTarget(dst string) bool {
	if strings.HasSuffix(dst, "/") || strings.HasSuffix(dst, string(filepath.Separator)) {
		return true
	}
	if i, err := os.Stat(dst); err == nil && i.IsDir() {
		return true
	}
	base := filepath.Base(dst)
	return path.Ext(base) == "" && !numbered.MatchString(base)
}

// graphFiles are the names of a SavedModel's graph; a directory with any of them is a model.
var graphFiles = []string{savedmodel.GraphFile, savedmodel.ChunkedGraphFile, savedmodel.TextGraphFile}

// modelAt returns the SavedModel that src is the directory of; nil if it is none.
func modelAt(ctx context.Context, src string, o *Options) (*savedmodel.SavedModel, error) {
	fsys, err := directoryAt(src, o)
	if fsys == nil || err != nil {
		return nil, err
	}
	for _, name := range graphFiles {
		if _, err := fs.Stat(fsys, name); err == nil {
			return savedmodel.Read(ctx, fsys, &savedmodel.ReadOptions{MaxMemory: o.source().MaxMemory})
		}
	}
	return nil, nil
}

// directoryAt opens a directory; nil if src is none.
func directoryAt(src string, o *Options) (fs.FS, error) {
	if own := o.source().FS; own != nil {
		src = path.Clean(src)
		if i, err := fs.Stat(own, src); err != nil || !i.IsDir() {
			return nil, nil
		}
		return fs.Sub(own, src)
	}
	if i, err := os.Stat(src); err != nil || !i.IsDir() {
		return nil, nil
	}
	return os.DirFS(src), nil
}

// writeModel writes a SavedModel as another one, for [Convert] and [EditModel]. A destination
// that can't be listed counts as empty: it is missing, or the write reports the error.
func writeModel(ctx context.Context, m *savedmodel.SavedModel, src, dst string, r *savedmodel.RewriteOptions, o *Options) (*Result, error) {
	if o == nil {
		o = &Options{}
	}
	to := o.target(strings.TrimRightFunc(dst, func(r rune) bool { return r == '/' || r == filepath.Separator }))
	if !to.own && o.Source.FS == nil {
		a, errA := os.Stat(src)
		b, errB := os.Stat(to.name)
		if errA == nil && errB == nil && os.SameFile(a, b) {
			return nil, &tensorfile.OverwriteError{Path: to.name, Source: src}
		}
	}
	entries, err := fs.ReadDir(to.dir, to.base)
	if err == nil && len(entries) > 0 && !o.Force {
		return nil, fmt.Errorf("convert: write %s: the directory holds files; Options.Force replaces a SavedModel there: %w", to.name, fs.ErrExist)
	}
	if r == nil {
		r = new(savedmodel.RewriteOptions)
	}
	if r.Save == nil {
		r.Save = new(savedmodel.SaveOptions)
	}
	r.Save.Progress = o.Progress
	r.Run = o.Run
	var notes []string
	r.Note = func(text string) { notes = append(notes, text) }
	if err := savedmodel.Rewrite(ctx, m, to.dir, to.base, r); err != nil {
		return nil, err
	}
	res, err := to.modelResult()
	if err == nil {
		res.Notes = append(res.Notes, notes...)
	}
	return res, err
}

// modelResult lists the files of a model that was written.
func (t target) modelResult() (*Result, error) {
	res := &Result{}
	err := fs.WalkDir(vfs.Dir(t.dir), t.base, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		i, err := d.Info()
		if err != nil {
			return err
		}
		res.Files, res.Bytes = append(res.Files, t.shown(p)), res.Bytes+i.Size()
		return nil
	})
	return res, err
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/vfs"
)

// rewriteCases writes every checkpoint of the run that TensorFlow wrote once
// more, entry by entry, and asks for the same bytes.
func rewriteCases(ctx context.Context, r *run) {
	var wrong []string
	n := 0
	// The directories that peer/write.py filled: others may be in the making.
	for _, kind := range []string{"graphs", "bundles", "orders", "models", "guide", "manager", "legacy"} {
		err := filepath.WalkDir(r.tf(kind), func(path string, d fs.DirEntry, err error) error {
			prefix, ok := strings.CutSuffix(path, ".index")
			if err != nil || !ok {
				return err
			}
			n++
			if err := guarded(func() error { return r.rewrite(ctx, prefix) }); err != nil {
				wrong = append(wrong, err.Error())
			}
			return nil
		})
		if err != nil {
			wrong = append(wrong, err.Error())
		}
	}
	r.result("TensorFlow's checkpoints, read and written again, are the same bytes", wrong, fmt.Sprintf("%d of %d", n-len(wrong), n))
}

// rewrite copies one checkpoint by bundle's reader and writer.
func (r *run) rewrite(ctx context.Context, prefix string) error {
	rd, err := bundle.OpenFile(ctx, prefix, nil)
	if err != nil {
		return err
	}
	defer rd.Close()
	folder := filepath.Dir(r.ours("rewrite", "x"))
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	name := filepath.Base(prefix)
	w, err := bundle.NewWriter(vfs.OSDir(folder), name, &bundle.WriterOptions{Like: rd, NoSync: true})
	if err != nil {
		return err
	}
	defer w.Abort()
	if err := w.CopyAll(ctx, rd, nil); err != nil {
		return err
	}
	if err := w.Finish(ctx); err != nil {
		return err
	}
	return r.sameCheckpoint(filepath.Join(folder, name), prefix)
}

// legacyCases reads checkpoints of older kinds that TensorFlow writes.
func legacyCases(ctx context.Context, r *run) {
	list, err := os.ReadDir(r.tf("legacy"))
	if err != nil {
		r.result("older kinds", wrongs(err), "")
	}
	for _, e := range list {
		folder := r.tf("legacy", e.Name())
		r.check("we read TensorFlow's "+e.Name(), func() error { return r.readLegacy(ctx, folder) })
	}
	r.check("a name-based checkpoint restores an object graph", func() error {
		return errors.Join(r.restoreByName(ctx, "name-based V2 checkpoint"), r.restoreByName(ctx, "V1 checkpoint"),
			r.restoreByName(ctx, "V1 checkpoint, partitioned"), r.restoreByName(ctx, "name-based V2 checkpoint, partitioned"))
	})
	r.check("a SavedModel's variables restore an object graph", func() error { return r.restoreSavedModel(ctx) })
}

// namedSpec is a variable in want.json.
type namedSpec struct {
	Name string `json:"name"`
	tensorSpec
}

// readLegacy reads the values that a directory's want.json has.
func (r *run) readLegacy(ctx context.Context, folder string) error {
	want, err := readWant(folder)
	if err != nil {
		return err
	}
	path := filepath.Join(folder, "model.ckpt")
	if info, err := os.Stat(filepath.Join(folder, "model")); err == nil && info.IsDir() {
		path = filepath.Join(folder, "model")
	}
	view, err := checkpoint.Open(ctx, path, nil)
	if err != nil {
		return err
	}
	defer view.Close()
	if err := view.Reader().Verify(ctx, nil); err != nil {
		return err
	}
	var errs []error
	for _, w := range want {
		got, err := view.Reader().Read(ctx, w.Name)
		if err == nil {
			err = w.differs(got)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", w.Name, err))
		}
	}
	return errors.Join(errs...)
}

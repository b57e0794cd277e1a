package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// bundleSpec describes a bundle that peer/bundles.py wrote with SaveV2. The keys of the JSON
// are those that it writes.
type bundleSpec struct {
	Case  string     `json:"case"` // the name of its directory
	Files []fileSpec `json:"files"`
	Merge bool       `json:"merge"` // whether TensorFlow merged the files into one bundle
}

// fileSpec is a bundle that one call of SaveV2 wrote.
type fileSpec struct {
	Prefix  string         `json:"prefix"`
	Tensors []storedTensor `json:"tensors"`
}

// storedTensor is a tensor in a bundle, or a slice of one.
type storedTensor struct {
	Key   string `json:"key"`   // hex
	Slice string `json:"slice"` // TensorFlow's shape_and_slice, "" for a whole tensor
	tensorSpec
}

// place returns the tensor's name, full shape and slice; the slice is nil for a
// whole tensor.
func (t storedTensor) place() (name string, full tensor.Shape, s *bundle.Slice, err error) {
	key, err := hex.DecodeString(t.Key)
	if err != nil || t.Slice == "" {
		return string(key), nil, nil, err
	}
	full, slice, err := bundle.ParseShapeAndSlice(t.Slice)
	return string(key), full, &slice, err
}

// result returns the prefix of the bundle from which the tensors of file i are read.
func (s bundleSpec) result(i int) string {
	if s.Merge {
		return "merged"
	}
	return s.Files[i].Prefix
}

// writeBundles writes the spec's files to directory and merges them if the spec asks for it.
func (r *run) writeBundles(ctx context.Context, spec bundleSpec, folder string, o *bundle.WriterOptions) error {
	dir := vfs.OSDir(folder)
	var prefixes []string
	for _, f := range spec.Files {
		prefixes = append(prefixes, f.Prefix)
		w, err := bundle.NewWriter(dir, f.Prefix, o)
		if err != nil {
			return err
		}
		for _, t := range f.Tensors {
			name, full, slice, err := t.place()
			if err != nil {
				return errors.Join(err, w.Abort())
			}
			value, err := t.tensor(false)
			if err != nil {
				return errors.Join(err, w.Abort())
			}
			if slice == nil {
				err = w.Add(ctx, name, value)
			} else {
				err = w.AddSlice(ctx, name, full, *slice, value)
			}
			if err != nil {
				return errors.Join(err, w.Abort())
			}
		}
		if err := w.Finish(ctx); err != nil {
			return err
		}
	}
	if spec.Merge {
		return bundle.Merge(ctx, dir, "merged", prefixes, nil)
	}
	return nil
}

// readBundles reads every tensor and slice of the spec, and all whole tensors at
// once.
func readBundles(ctx context.Context, spec bundleSpec, folder string) error {
	var errs []error
	for i, f := range spec.Files {
		rd, err := bundle.OpenFile(ctx, filepath.Join(folder, spec.result(i)), nil)
		if err != nil {
			return err
		}
		if err := rd.Verify(ctx, nil); err != nil {
			errs = append(errs, err)
		}
		for _, t := range f.Tensors {
			name, _, slice, err := t.place()
			if err != nil {
				return err
			}
			var got *tensor.Tensor
			if slice == nil {
				got, err = rd.Read(ctx, name)
			} else {
				got, err = rd.ReadSlice(ctx, name, *slice)
			}
			if err == nil {
				err = t.differs(got)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("%.60q %s: %w", name, t.Slice, err))
			}
		}
		if err := rd.Close(); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// bundleCases writes and reads the bundles of peer/bundles.py.
func bundleCases(ctx context.Context, r *run) {
	for _, spec := range r.specs.Bundles {
		ours, theirs := filepath.Dir(r.ours("bundles", spec.Case, "x")), r.tf("bundles", spec.Case)
		r.check("our bytes are TensorFlow's: "+spec.Case, func() error {
			if err := r.writeBundles(ctx, spec, ours, nil); err != nil {
				return err
			}
			for i := range spec.Files {
				if err := r.sameCheckpoint(filepath.Join(ours, spec.result(i)), filepath.Join(theirs, spec.result(i))); err != nil {
					return err
				}
			}
			return nil
		})
		r.check("we read TensorFlow's "+spec.Case, func() error { return readBundles(ctx, spec, theirs) })
		if spec.Case == "every dtype" || spec.Case == "slices" {
			r.check("big-endian "+spec.Case+" there and back", func() error {
				folder := filepath.Dir(r.ours("big-endian", spec.Case, "x"))
				if err := r.writeBundles(ctx, spec, folder, &bundle.WriterOptions{BigEndian: true}); err != nil {
					return err
				}
				return readBundles(ctx, spec, folder)
			})
		}
	}
}

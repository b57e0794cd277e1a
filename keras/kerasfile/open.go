package kerasfile

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cairnml/cairn/hdf5"
	"github.com/cairnml/cairn/internal/limit"
)

// A File is an open Keras file. It may be used by many goroutines.
type File struct {
	Contents
	Format Format

	h5      *hdf5.File
	members []*zip.File // all of an archive
}

// HDF5 returns the HDF5 file with the weights: the file itself, or an archive's member.
func (f *File) HDF5() *hdf5.File { return f.h5 }

// Open reads the lists and the configuration of a file of size bytes, and finds out which format
// it has. r must stay open as long as the File is used. The error is a [*FormatError] if the file is
// a damaged archive, or an archive or an HDF5 file that isn't Keras's. A file that is neither is an
// error of package hdf5.
func Open(r io.ReaderAt, size int64, opts *Options) (*File, error) {
	memory := limit.Memory(limit.Stored(r, size))
	if opts != nil {
		memory = max(memory, opts.MaxMemory)
	}
	var magic [2]byte
	if n, err := r.ReadAt(magic[:], 0); n < len(magic) && err != nil && err != io.EOF {
		return nil, fmt.Errorf("kerasfile: %w", err)
	}
	f := &File{}
	if string(magic[:]) == "PK" {
		f.Format = Archive
		if err := f.openArchive(r, size, memory); err != nil {
			return nil, err
		}
		return f, nil
	}
	h5, err := hdf5.Open(r, size, &hdf5.Options{MaxMemory: memory})
	if err != nil {
		return nil, err
	}
	f.h5 = h5
	if err := f.readHDF5(); err != nil {
		return nil, err
	}
	return f, nil
}

// readHDF5 reads the lists of an HDF5 file of any form. The order of the cases decides the format of
// a file that has the marks of several.
func (f *File) readHDF5() error {
	root := f.h5.Root()
	links, err := root.Links()
	if err != nil {
		return err
	}
	attributes, err := root.Attributes()
	if err != nil {
		return err
	}
	has := map[string]bool{}
	for _, k := range links {
		has["/"+k.Name] = true
	}
	for _, a := range attributes {
		has[a.Name()] = true
	}
	switch {
	case has["/model_weights"]:
		f.Format = LegacyModel
		return f.readLegacy()
	case has["layer_names"] || has["layer_names0"]:
		f.Format = LegacyWeights
		return f.readLegacy()
	case has["/layers"] || has["/_layer_checkpoint_dependencies"] || has["/vars"] || has["/optimizer"]:
		f.Format = Weights
		return f.readObjects()
	}
	return &FormatError{What: "an HDF5 file without Keras's groups (layers, vars, optimizer or model_weights) or its attribute layer_names"}
}

// Verify reads all members of an archive and compares their checksums. It returns all faults
// joined, each a [*FormatError]; an HDF5 file has no checksums of this kind.
func (f *File) Verify(ctx context.Context) error {
	var faults []error
	for _, m := range f.members {
		if err := ctx.Err(); err != nil {
			return err
		}
		r, err := m.Open()
		if err == nil {
			_, err = io.Copy(io.Discard, within{ctx, r})
			err = errors.Join(err, r.Close())
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			faults = append(faults, &FormatError{Name: m.Name, What: "the member is damaged", Err: err})
		}
	}
	return errors.Join(faults...)
}

// within reads from r until the context ends.
type within struct {
	ctx context.Context
	r   io.Reader
}

func (w within) Read(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.r.Read(p)
}

package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strings"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/hdf5"
	"github.com/cairnml/cairn/internal/safetensors"
	"github.com/cairnml/cairn/keras/kerasfile"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensorfile"
)

// Fault is something wrong with a file.
type Fault struct {
	File   string // the file's path
	Offset int64  // in bytes from the beginning of the file; -1 if no single place is at fault
	Tensor string // the tensor it belongs to, or ""
	What   string // the fault in words

	// Missing means that the file isn't there; one fault then covers all the
	// Tensors that it should contain.
	Missing bool
	Tensors int
}

// MarshalJSON returns the object that `cairn verify --json` prints.
func (f Fault) MarshalJSON() ([]byte, error) {
	v := struct {
		File   string `json:"file"`
		Offset *int64 `json:"offset,omitempty"`
		Tensor string `json:"tensor,omitempty"`
		What   string `json:"what"`

		Missing bool `json:"missing,omitempty"`
		Tensors int  `json:"tensors,omitempty"`
	}{File: f.File, Tensor: f.Tensor, What: f.What, Missing: f.Missing, Tensors: f.Tensors}
	if f.Offset >= 0 {
		v.Offset = &f.Offset
	}
	return json.Marshal(v)
}

// String returns "file: byte 12: tensor: message".
func (f Fault) String() string {
	s := f.File
	if f.Offset >= 0 {
		s += fmt.Sprintf(": byte %d", f.Offset)
	}
	if f.Tensor != "" {
		s += ": " + f.Tensor
	}
	return s + ": " + f.What
}

// Progress is called with the bytes done and the bytes in all.
type Progress func(done, total int64)

// VerifyOptions are the settings of [Verify]; nil means the defaults.
type VerifyOptions struct {
	// Open are the settings by which the path is opened. Default: no limit is raised.
	Open tensorfile.Options
	// Progress is called with the bytes verified. Default: nil.
	Progress Progress
	// Note is called with each part that can't be verified, and why. Default: nil.
	Note func(note string)
}

// Verify opens path, reads everything there and lists every fault: wrong checksums and
// sizes, data that can't be decoded, references in the object graph to missing nodes; in
// a SavedModel's directory its graphs and assets too, and the hashes of its fingerprint.
// The error is the reason why it could not check; a file of a wrong form is no error but
// a fault. The store is nil if it couldn't be opened, and for a SavedModel without a
// checkpoint. Otherwise it is closed: it is for the names and numbers of a report.
func Verify(ctx context.Context, path string, opts *VerifyOptions) (*tensorfile.File, []Fault, error) {
	if opts == nil {
		opts = &VerifyOptions{}
	}
	if found, ok := tensorfile.FindModel(opts.Open.FS, path); ok {
		dir, err := directory(opts.Open.FS, found)
		if err != nil {
			return nil, nil, err
		}
		return verifyModelAnd(ctx, dir, found, opts)
	}
	s, err := tensorfile.Open(ctx, path, &opts.Open)
	return verify(ctx, path, s, err, opts.Progress)
}

// directory returns the directory at a path of fsys, or of the operating system if fsys
// is nil.
func directory(fsys fs.FS, path string) (fs.FS, error) {
	if fsys == nil {
		return os.DirFS(path), nil
	}
	return fs.Sub(fsys, path)
}

// verifyModelAnd verifies a SavedModel and its checkpoint, if there is one.
func verifyModelAnd(ctx context.Context, dir fs.FS, path string, opts *VerifyOptions) (*tensorfile.File, []Fault, error) {
	faults, err := verifyModel(ctx, dir, path, opts)
	if err != nil {
		return nil, nil, err
	}
	if _, err := fs.Stat(dir, bundle.IndexName(savedmodel.VariablesPrefix)); errors.Is(err, fs.ErrNotExist) {
		return nil, faults, nil
	}
	s, err := tensorfile.Open(ctx, path, &opts.Open)
	s, more, err := verify(ctx, path, s, err, opts.Progress)
	return s, append(faults, more...), err
}

// verify checks an opened store, or the error of opening it.
func verify(ctx context.Context, path string, s *tensorfile.File, err error, progress Progress) (*tensorfile.File, []Fault, error) {
	if err != nil {
		if faults := faultsOf(path, err); len(faults) > 0 {
			return nil, faults, nil
		}
		return nil, nil, err
	}
	defer s.Close()
	var faults []Fault
	if r := s.Bundle(); r != nil {
		err = r.Verify(ctx, &bundle.VerifyOptions{Progress: progress, MaxErrors: math.MaxInt})
		faults = oncePerFile(faultsOf(s.Prefix, err))
		if err != nil && len(faults) == 0 {
			return s, nil, err
		}
	} else {
		var total, done int64
		var scratch tensorfile.Scratch
		for e := range s.Entries().All() {
			total += e.Bytes
		}
		for e := range s.Entries().All() {
			if err := ctx.Err(); err != nil {
				return s, faults, err
			}
			if _, err := s.ReadScratch(ctx, e.Name, &scratch); err != nil {
				f := faultsOf(s.Prefix, err)
				if len(f) == 0 {
					f = []Fault{{File: s.Prefix, Offset: -1, Tensor: e.Name, What: err.Error()}}
				}
				faults = append(faults, f...)
			}
			done += e.Bytes
			if progress != nil {
				progress(done, total)
			}
		}
		if k := s.Keras(); k != nil {
			if err := k.Verify(ctx); err != nil && ctx.Err() == nil {
				faults = append(faults, faultsOf(s.Prefix, err)...)
			}
		}
	}
	if ctx.Err() != nil {
		return s, faults, ctx.Err()
	}
	g, err := s.Graph(ctx)
	switch {
	case errors.Is(err, errors.ErrUnsupported): // it can't be looked at, which is no fault
		return s, faults, err
	case err != nil && len(faults) == 0:
		faults = append(faults, Fault{File: s.Prefix, Offset: -1, Tensor: tensorfile.GraphKey, What: err.Error()})
	case err == nil && g != nil:
		for _, f := range checkGraph(g) {
			faults = append(faults, Fault{File: s.Prefix, Offset: -1, Tensor: tensorfile.GraphKey, What: f})
		}
	}
	return s, faults, nil
}

// oncePerFile makes one fault of all that a missing file causes.
func oncePerFile(faults []Fault) []Fault {
	type lost struct {
		at    int  // its fault
		graph bool // it also contains the object graph
	}
	files := map[string]*lost{}
	out := faults[:0]
	for _, f := range faults {
		if !f.Missing {
			out = append(out, f)
			continue
		}
		l := files[f.File]
		if l == nil {
			l = &lost{at: len(out)}
			files[f.File] = l
			out = append(out, Fault{File: f.File, Offset: -1, Missing: true})
		}
		if f.Tensor == tensorfile.GraphKey {
			l.graph = true
		} else {
			out[l.at].Tensors++
		}
		out[l.at].What = "the data file is missing; " + lieInIt(out[l.at].Tensors, l.graph)
	}
	return out
}

// lieInIt describes the contents of a missing file.
func lieInIt(tensors int, graph bool) string {
	switch {
	case graph && tensors == 0:
		return "the object graph lies in it"
	case graph:
		return Tensors(tensors) + " and the object graph lie in it"
	case tensors == 1:
		return "1 tensor lies in it"
	}
	return Tensors(tensors) + " lie in it"
}

// faultsOf returns the faults in an error, one for each of joined errors. An error about something else
// has none, and Verify returns it. To report a further format's errors as faults, add its type here.
func faultsOf(file string, err error) []Fault {
	if err == nil {
		return nil
	}
	if shard, ok := errors.AsType[*tensorfile.ShardError](err); ok {
		if faults := faultsOf(shard.File, shard.Err); len(faults) > 0 {
			return faults
		}
		if errors.Is(shard.Err, fs.ErrNotExist) {
			return []Fault{{File: shard.File, Offset: -1, What: shard.Err.Error(), Missing: true}}
		}
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		var all []Fault
		for _, e := range many.Unwrap() {
			all = append(all, faultsOf(file, e)...)
		}
		if len(all) > 0 {
			return all
		}
	}
	var c *bundle.CorruptError
	if errors.As(err, &c) {
		f := Fault{File: c.File, Offset: c.Offset, Tensor: c.Name, What: c.What, Missing: errors.Is(c.Err, fs.ErrNotExist)}
		if c.Err != nil {
			f.What += ": " + c.Err.Error()
		}
		return []Fault{f}
	}
	var st *safetensors.Error
	if errors.As(err, &st) {
		f := Fault{File: file, Offset: st.Offset, Tensor: st.Name, What: st.What}
		if st.Err != nil {
			f.What += ": " + st.Err.Error()
		}
		return []Fault{f}
	}
	var h *hdf5.CorruptError
	if errors.As(err, &h) {
		f := Fault{File: file, Offset: h.Offset, Tensor: strings.TrimPrefix(h.Path, "/"), What: h.What}
		if h.Err != nil {
			f.What += ": " + h.Err.Error()
		}
		return []Fault{f}
	}
	var k *kerasfile.FormatError
	if errors.As(err, &k) {
		f := Fault{File: file, Offset: -1, Tensor: k.Name, What: k.What}
		if k.Err != nil {
			f.What += ": " + k.Err.Error()
		}
		return []Fault{f}
	}
	if f, ok := npyFault(file, err); ok {
		return []Fault{f}
	}
	if g, ok := errors.AsType[*tensorfile.GraphDefError](err); ok {
		return []Fault{{File: file, Offset: -1, What: "the file " + g.Words()}}
	}
	return nil
}

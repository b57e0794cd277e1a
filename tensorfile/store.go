package tensorfile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/misplaced"
	"github.com/cairnml/cairn/internal/nearest"
	"github.com/cairnml/cairn/internal/objects"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
)

// GraphKey is the name under which a checkpoint keeps its object graph.
const GraphKey = "_CHECKPOINTABLE_OBJECT_GRAPH"

// Kind is a file format.
type Kind int

// The kinds of files.
const (
	Checkpoint  Kind = iota + 1 // TensorFlow's bundle, or the older single table
	SavedModel                  // a SavedModel's variables
	NPZ                         // numpy's zip of arrays
	Safetensors                 // Hugging Face's format
	HDF5                        // HDF5: Keras' .h5 and .weights.h5, or another
	Keras                       // Keras' archive
	GraphDef                    // a graph alone, such as a frozen graph: its constants
)

// String returns the kind in words.
func (k Kind) String() string {
	switch k {
	case Checkpoint:
		return "checkpoint"
	case SavedModel:
		return "SavedModel"
	case NPZ:
		return ".npz file"
	case Safetensors:
		return "safetensors file"
	case HDF5:
		return "HDF5 file"
	case Keras:
		return "Keras archive"
	case GraphDef:
		return "GraphDef"
	}
	return fmt.Sprintf("kind(%d)", int(k))
}

// IsBundle reports whether the tensors are stored in TensorFlow's own format.
func (k Kind) IsBundle() bool { return k == Checkpoint || k == SavedModel }

// KindOf returns the kind that a path's suffix asks for: .npz, .safetensors, .h5,
// .hdf5, .hdf or .keras, else a checkpoint. The suffixes .safetensors.index.json,
// .pb and .pbtxt aren't among them; [Open] recognizes such files itself.
func KindOf(path string) Kind {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".npz":
		return NPZ
	case ".safetensors":
		return Safetensors
	case ".h5", ".hdf5", ".hdf":
		return HDF5
	case ".keras":
		return Keras
	}
	return Checkpoint
}

// Entry describes one tensor of a file.
type Entry struct {
	Name  string
	DType tensor.DType
	Shape tensor.Shape
	Bytes int64 // size of the elements in the file

	// Location of the bytes; Offset is -1 if it is unknown or the tensor is stored
	// in slices.
	Shard  int
	Offset int64
	Slices []string // as TensorFlow writes them, "0,5:-"
}

// MarshalJSON returns the object that `cairn ls --json` prints; docs/json.md describes it.
func (e Entry) MarshalJSON() ([]byte, error) {
	v := struct {
		Name   string   `json:"name"`
		DType  string   `json:"dtype"`
		Shape  []int    `json:"shape"`
		Bytes  int64    `json:"bytes"`
		Shard  *int     `json:"shard,omitempty"`
		Offset *int64   `json:"offset,omitempty"`
		Slices []string `json:"slices,omitempty"`
	}{Name: e.Name, DType: e.DType.String(), Shape: append([]int{}, e.Shape...), Bytes: e.Bytes, Slices: e.Slices}
	if e.Offset >= 0 {
		v.Shard, v.Offset = &e.Shard, &e.Offset
	}
	return json.Marshal(v)
}

// backend is the interface implemented by each format. To add one, implement it (listed has most
// methods), add a Kind, its suffix to KindOf, and a case to Open and openFileFS.
type backend interface {
	len() int
	entry(i int) Entry    // in the order of the names
	all() iter.Seq[Entry] // the same
	find(name string) (Entry, bool)
	read(ctx context.Context, name string) (*tensor.Tensor, error) // name is that of an entry
	close() error
}

// File is an open file of named tensors. It may be used by many goroutines.
type File struct {
	Path   string // as it was given
	Kind   Kind
	Prefix string // the checkpoint's prefix, or the file's path
	Found  string // how the path was resolved, in words; "" if it named the file itself

	// Elsewhere reports that Path is a directory whose state file names a checkpoint in
	// another directory.
	Elsewhere bool

	opts Options
	b    backend

	graphMu  sync.Mutex               // held while the fields below are used
	graph    *pb.TrackableObjectGraph // once decoded; nil if the file has none
	graphErr error                    // of decoding it
	decoded  bool                     // graph and graphErr are final

	namesOnce sync.Once
	names     map[string]string // of a SavedModel's variables, by the names of their tensors
}

// Open opens the tensors at path: a checkpoint's prefix or one of its files, a directory with a checkpoint state file
// (its latest checkpoint) or with a single checkpoint, a SavedModel's directory, the directory of a model server (its
// latest version), a .npz, .safetensors, .h5 or .keras file, a .pb or .pbtxt file with a GraphDef (its constants), or
// the .safetensors.index.json of several. Names, types and shapes are read, but no elements; a GraphDef is read as a
// whole. If there is none of these, the error describes the file found.
func Open(ctx context.Context, path string, o *Options) (*File, error) {
	if o != nil && o.FS != nil {
		return openFS(ctx, o.FS, path, o)
	}
	s := newStore(path, o)
	var err error
	if dir, ok := FindModel(nil, path); ok && dir != path {
		s.Found = "the SavedModel " + dir
		path = dir
	}
	kind := KindOf(path)
	if kind != Checkpoint || isShardIndex(path) {
		if err := CheckContents(path); err != nil {
			return nil, err
		}
	}
	switch {
	case kind != Checkpoint && isFile(path):
		s.Kind = kind
		switch kind {
		case NPZ:
			s.b, err = openNPZ(path, &s.opts)
		case Safetensors:
			s.b, err = openSafetensors(path, &s.opts)
		default:
			s.b, err = openKeras(path, &s.opts)
		}
	case isShardIndex(path) && isFile(path):
		s.Kind = Safetensors
		s.b, err = openShards(os.DirFS(filepath.Dir(path)), filepath.Base(path), func(name string) string { return filepath.Join(filepath.Dir(path), name) }, &s.opts)
	case IsGraphDef(nil, path):
		s.Kind = GraphDef
		s.b, err = openGraphDef(path, &s.opts)
	case kind != Checkpoint && gone(path) && gone(path+".index"): // a checkpoint's prefix may end like a file's name
		err = &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	default:
		err = s.openBundle(ctx, path)
	}
	if err != nil {
		if beingWritten(path) {
			err = fmt.Errorf("%w; a write of it was cut off or is under way; convert.Recover finishes one that was cut off", err)
		}
		return nil, inFile(path, err)
	}
	return s, nil
}

// CheckContents returns an error if a file is empty, a pointer of Git LFS or a page of the
// Web, whatever its name promises.
func CheckContents(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return nil // which opening it reports
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	if info.Size() == 0 {
		return fmt.Errorf("%s: the file is empty", path)
	}
	if err := misplaced.CheckReader(f); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// beingWritten reports whether there is an index with a temporary name in place
// of the checkpoint's.
func beingWritten(path string) bool {
	index := bundle.IndexName(filepath.Base(strings.TrimSuffix(path, bundle.IndexName(""))))
	list, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return false
	}
	for _, e := range list {
		if strings.HasPrefix(e.Name(), index) && bundle.IsTemporary(e.Name()) {
			return true
		}
	}
	return false
}

// inFile makes sure that an error names the file.
func inFile(path string, err error) error {
	if strings.Contains(err.Error(), filepath.Base(path)) {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}

func isFile(path string) bool {
	i, err := os.Stat(path)
	return err == nil && i.Mode().IsRegular()
}

// gone reports whether it is certain that there is no file at path.
func gone(path string) bool {
	there, err := exists(path)
	return !there && err == nil
}

// exists reports whether there is a file at path. The error is the reason that
// this can't be determined.
func exists(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return false, nil
	}
	return err == nil, err
}

// Close releases the file's resources. A second call releases nothing, and may return an error.
func (s *File) Close() error {
	if s.b == nil {
		return nil
	}
	return s.b.close()
}

// Entries returns the file's entries, sorted by name.
func (s *File) Entries() Entries { return Entries{b: s.b} }

// Names lists the tensors' names, sorted.
func (s *File) Names() []string {
	list := s.Entries()
	names := make([]string, list.Len())
	for i := range names {
		names[i] = list.At(i).Name
	}
	return names
}

// Entry finds one tensor. If there is none of that name, the error lists the
// nearest ones.
func (s *File) Entry(name string) (Entry, error) {
	e, ok := s.b.find(name)
	if !ok {
		names := s.Names()
		for i, n := range names {
			names[i] = Short(n)
		}
		return Entry{}, &NotFoundError{Path: s.Prefix, Name: name, Nearest: nearest.Names(Short(name), names, 4)}
	}
	return e, nil
}

// Has reports whether there is a tensor of that very name.
func (s *File) Has(name string) bool {
	if s.b == nil {
		return false
	}
	_, ok := s.b.find(name)
	return ok
}

// Read reads one tensor. It verifies the checksum if the format has one.
func (s *File) Read(ctx context.Context, name string) (*tensor.Tensor, error) {
	if _, err := s.Entry(name); err != nil {
		return nil, err
	}
	t, err := s.b.read(ctx, name)
	if err != nil {
		return nil, inFile(s.Prefix, err)
	}
	return t, nil
}

// Scratch is storage that reads of one tensor after the other share, so that many
// reads take the memory of the largest tensor only. The zero Scratch is ready for
// use, by one goroutine.
type Scratch struct{ buf []byte }

// holds reports whether the storage is enough for such a tensor.
func (c *Scratch) holds(d tensor.DType, shape tensor.Shape) bool {
	n, err := shape.NumElements()
	return err == nil && n <= len(c.buf)/d.Size()
}

// tensor makes a tensor over the scratch's storage.
func (c *Scratch) tensor(d tensor.DType, shape tensor.Shape) (*tensor.Tensor, error) {
	n, err := shape.NumElements()
	if err != nil {
		return nil, err
	}
	size := d.Size()
	if n > math.MaxInt/size {
		return tensor.Zeros(d, shape...) // which reports that it's too large
	}
	if n*size > len(c.buf) {
		c.buf = nil // for the collector, before there is more
		x, err := tensor.Zeros(tensor.Uint8, n*size)
		if err != nil {
			return nil, err
		}
		c.buf = x.Bytes()
	}
	return tensor.FromBytes(d, c.buf[:n*size:n*size], shape...)
}

// intoReader is a backend that can read into the storage of a [Scratch].
type intoReader interface {
	readInto(ctx context.Context, e Entry, c *Scratch) (*tensor.Tensor, error)
}

// ReadScratch works like Read, with storage of c if possible. The result is valid
// until the next call with c.
func (s *File) ReadScratch(ctx context.Context, name string, c *Scratch) (*tensor.Tensor, error) {
	b, ok := s.b.(intoReader)
	e, err := s.Entry(name)
	if err != nil {
		return nil, err
	}
	if !ok || !e.DType.Fixed() {
		return s.Read(ctx, name)
	}
	t, err := b.readInto(ctx, e, c)
	if err != nil {
		return nil, inFile(s.Prefix, err)
	}
	return t, nil
}

// ReadTogether reads several tensors at once. For many small ones of a bundle
// this is much faster than opening its files for each. For other formats, whose
// reads open no file, and for no names, it reads nothing and ok is false.
func (s *File) ReadTogether(ctx context.Context, names []string) (list []*tensor.Tensor, ok bool, err error) {
	r := s.Bundle()
	if r == nil || len(names) == 0 {
		return nil, false, nil
	}
	reqs := make([]bundle.ReadRequest, len(names))
	for i, name := range names {
		reqs[i].Name = name
	}
	if err := r.ReadAll(ctx, reqs, nil); err != nil {
		return nil, false, inFile(s.Prefix, err)
	}
	list = make([]*tensor.Tensor, len(reqs))
	for i := range reqs {
		list[i] = reqs[i].Dst
	}
	return list, true, nil
}

// Pieces reads a tensor some elements at a time, as [bundle.Reader.Pieces] does.
// For other formats than a bundle it yields one piece, in storage of c.
func (s *File) Pieces(ctx context.Context, name string, c *Scratch) iter.Seq2[*tensor.Tensor, error] {
	return func(yield func(*tensor.Tensor, error) bool) {
		r := s.Bundle()
		if r == nil {
			t, err := s.ReadScratch(ctx, name, c)
			if err == nil {
				t, err = t.Reshape(t.Len())
			}
			yield(t, err)
			return
		}
		if _, err := s.Entry(name); err != nil {
			yield(nil, err)
			return
		}
		for t, err := range r.Pieces(ctx, name) {
			if err != nil {
				err = inFile(s.Prefix, err)
			}
			if !yield(t, err) {
				return
			}
		}
	}
}

// Bundle returns the underlying reader, or nil if the file isn't in TensorFlow's
// own format.
func (s *File) Bundle() *bundle.Reader {
	if b, ok := s.b.(*bundleStore); ok {
		return b.r
	}
	return nil
}

// Graph returns the object graph, decoded once; the caller must not change it.
// It is nil if the file has none, such as a name-based checkpoint.
func (s *File) Graph(ctx context.Context) (*pb.TrackableObjectGraph, error) {
	s.graphMu.Lock()
	defer s.graphMu.Unlock()
	if !s.decoded {
		s.graph, s.graphErr = s.DecodeGraph(ctx)
		s.decoded = ctx.Err() == nil
	}
	return s.graph, s.graphErr
}

// DecodeGraph works like [File.Graph], for a caller that changes it: every call
// decodes another.
func (s *File) DecodeGraph(ctx context.Context) (*pb.TrackableObjectGraph, error) {
	if !s.Has(GraphKey) {
		return nil, nil
	}
	e, err := s.Entry(GraphKey)
	if err != nil {
		return nil, err
	}
	if e.DType != tensor.String || len(e.Shape) != 0 {
		return nil, fmt.Errorf("%s: the object graph is %v%v, not a scalar string", s.Prefix, e.DType, e.Shape)
	}
	t, err := s.Read(ctx, GraphKey)
	if err != nil {
		return nil, err
	}
	raw, err := tensor.Item[string](t)
	if err != nil {
		return nil, err
	}
	// The messages may take 1/graphShare of the memory: the rest is for what is made of them.
	g, err := objects.Decode([]byte(raw), s.opts.memory(int64(len(raw)))/graphShare)
	var much *objects.LimitError
	switch {
	case errors.As(err, &much):
		much.Need, much.Most = much.Need*graphShare, much.Most*graphShare
		return nil, fmt.Errorf("%s: %w; %s", s.Prefix, much, raises)
	case err != nil:
		return nil, fmt.Errorf("%s: the object graph can't be decoded: %w", s.Prefix, err)
	}
	return g, nil
}

// ValueSuffix ends the names of variables in an object-based checkpoint. A name
// may be given without it.
const ValueSuffix = "/.ATTRIBUTES/VARIABLE_VALUE"

// Short returns a name as people are shown it: without [ValueSuffix].
func Short(name string) string { return strings.TrimSuffix(name, ValueSuffix) }

// NotFoundError reports that a file has no tensor of a name.
type NotFoundError struct {
	Path    string
	Name    string
	Nearest []string // the names most like it, best first
}

// Error names the tensor that is missing and the nearest that there are.
func (e *NotFoundError) Error() string {
	s := fmt.Sprintf("%s has no tensor called %q", e.Path, e.Name)
	switch len(e.Nearest) {
	case 0:
		return s
	case 1:
		return s + "; did you mean " + e.Nearest[0] + "?"
	}
	return s + "; did you mean one of\n  " + strings.Join(e.Nearest, "\n  ")
}

// Is reports whether target is fs.ErrNotExist.
func (e *NotFoundError) Is(target error) bool { return target == fs.ErrNotExist }

package hdf5

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cairnml/cairn/tensor"
)

// A Writer collects the groups, datasets and attributes of a new file. The zero value is an
// empty file. It may be used by one goroutine at a time.
type Writer struct{ root *GroupWriter }

// Root returns the root group.
func (w *Writer) Root() *GroupWriter {
	if w.root == nil {
		w.root = newGroupWriter("/")
	}
	return w.root
}

// An objectWriter is the part that all new objects have.
type objectWriter struct {
	path       string
	attributes []*newAttribute
}

// newAttribute is an attribute of a new object.
type newAttribute struct {
	name  string
	value *tensor.Tensor // nil for a null value
	opts  ValueOptions
}

// A GroupWriter is a group of a new file.
type GroupWriter struct {
	objectWriter
	groups   map[string]*GroupWriter
	datasets map[string]*DatasetWriter
}

func newGroupWriter(path string) *GroupWriter {
	return &GroupWriter{objectWriter: objectWriter{path: path}, groups: map[string]*GroupWriter{}, datasets: map[string]*DatasetWriter{}}
}

// A DatasetWriter is a dataset of a new file.
type DatasetWriter struct {
	objectWriter
	dtype tensor.DType
	shape tensor.Shape
	value *tensor.Tensor // nil if read returns it
	read  func(ctx context.Context) (*tensor.Tensor, error)
	opts  DatasetOptions
}

// ValueOptions are the options for storing elements; nil means the defaults.
type ValueOptions struct {
	// Text is the form of stored strings. Default [VariableUTF8].
	Text TextKind
	// Opaque stores the elements as bytes without a meaning, as h5py stores the types of
	// ml_dtypes. Types that HDF5 can't describe, such as float8_e4m3fn and int4, are stored so
	// only. Default: numbers are stored as numbers.
	Opaque bool
}

// DatasetOptions are the options for storing a dataset; nil means the defaults.
type DatasetOptions struct {
	ValueOptions
	// Chunks is the shape of the tiles that the dataset is stored in. Default: one run of all
	// elements, or if a filter is asked for, tiles of about a mebibyte.
	Chunks tensor.Shape
	// Gzip is the level of compression, 1 to 9. Default 0, which does not compress.
	Gzip int
	// Shuffle puts all first bytes of a chunk's elements before all second ones, so that
	// numbers compress better. Default false.
	Shuffle bool
	// Fletcher32 adds a checksum to each chunk. Default false.
	Fletcher32 bool
}

func (o *DatasetOptions) filtered() bool { return o.Gzip > 0 || o.Shuffle || o.Fletcher32 }

// Group returns the group at a path below g. It makes those that are missing.
func (g *GroupWriter) Group(path string) (*GroupWriter, error) {
	for name := range strings.SplitSeq(path, "/") {
		if name == "" {
			continue
		}
		if err := checkName(g.path, name); err != nil {
			return nil, err
		}
		if g.datasets[name] != nil {
			return nil, fmt.Errorf("hdf5: make group %.300q: a dataset has this path", join(g.path, name))
		}
		child := g.groups[name]
		if child == nil {
			child = newGroupWriter(join(g.path, name))
			if strings.Count(child.path, "/") > maxDepth {
				return nil, &UnsupportedError{g.path, fmt.Sprintf("groups more than %d deep", maxDepth)}
			}
			g.groups[name] = child
		}
		g = child
	}
	return g, nil
}

// checkName returns an error for a name that no link can have.
func checkName(path, name string) error {
	if name == "." || strings.ContainsRune(name, 0) {
		return fmt.Errorf("hdf5: make %.300q: not a valid name", join(path, name))
	}
	return nil
}

// Dataset makes a dataset at a path below g, and the groups that are missing on the way. t must
// not be changed before the file is written.
func (g *GroupWriter) Dataset(path string, t *tensor.Tensor, opts *DatasetOptions) (*DatasetWriter, error) {
	return g.dataset(path, &DatasetWriter{dtype: t.DType(), shape: t.Shape(), value: t}, opts)
}

// DatasetFunc makes a dataset whose elements are asked for when their turn comes in
// [Writer.Write], so that few need memory at the same time. read must return a tensor of the
// type and the shape given here. It can't return strings.
func (g *GroupWriter) DatasetFunc(path string, dtype tensor.DType, shape tensor.Shape, read func(ctx context.Context) (*tensor.Tensor, error), opts *DatasetOptions) (*DatasetWriter, error) {
	if dtype == tensor.String {
		return nil, &UnsupportedError{join(g.path, path), "strings that are asked for while the file is written; use Dataset"}
	}
	return g.dataset(path, &DatasetWriter{dtype: dtype, shape: shape.Clone(), read: read}, opts)
}

// dataset adds d at a path below g.
func (g *GroupWriter) dataset(path string, d *DatasetWriter, opts *DatasetOptions) (*DatasetWriter, error) {
	path = strings.Trim(path, "/")
	dir, name := "", path
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		dir, name = path[:i], path[i+1:]
	}
	in, err := g.Group(dir)
	if err != nil {
		return nil, err
	}
	if name == "" {
		return nil, fmt.Errorf("hdf5: make dataset in %.300q: it has no name", in.path)
	}
	if err := checkName(in.path, name); err != nil {
		return nil, err
	}
	if in.groups[name] != nil || in.datasets[name] != nil {
		return nil, fmt.Errorf("hdf5: make dataset %.300q: the path is taken", join(in.path, name))
	}
	d.path = join(in.path, name)
	if opts != nil {
		d.opts = *opts
	}
	if err := d.check(); err != nil {
		return nil, err
	}
	in.datasets[name] = d
	return d, nil
}

// check returns an error for a dataset that can't be stored, and completes its options.
func (d *DatasetWriter) check() error {
	if len(d.shape) > maxRank {
		return &UnsupportedError{d.path, fmt.Sprintf("%d dimensions (the most is %d)", len(d.shape), maxRank)}
	}
	size, err := elementSize(d.dtype, &d.opts.ValueOptions, d.value)
	if err != nil {
		return at(d.path, err)
	}
	s := space{shape: d.shape}
	n, err := s.bytes(max(size, 1))
	if err != nil {
		return at(d.path, err)
	}
	o := &d.opts
	if o.Gzip < 0 || o.Gzip > 9 {
		return fmt.Errorf("hdf5: make dataset %.300q: wrong level of compression (got %d, want 0 to 9)", d.path, o.Gzip)
	}
	if o.Chunks == nil && o.filtered() {
		o.Chunks = defaultChunks(d.shape, max(size, 1))
	}
	if o.Chunks == nil {
		return nil
	}
	if len(o.Chunks) != len(d.shape) || len(d.shape) == 0 {
		return fmt.Errorf("hdf5: make dataset %.300q: chunks %v don't fit the shape %v", d.path, o.Chunks, d.shape)
	}
	bytes := uint64(max(size, 1))
	for _, c := range o.Chunks {
		if c < 1 || uint64(c) > math.MaxUint32/bytes {
			return fmt.Errorf("hdf5: make dataset %.300q: chunks %v must have 1 to 2³² bytes", d.path, o.Chunks)
		}
		bytes *= uint64(c)
	}
	count := uint64(1)
	for i, c := range o.Chunks {
		count *= uint64((d.shape[i] + c - 1) / c) // no more than elements
	}
	if n > 0 && count*bytes/bytes != count {
		return fmt.Errorf("hdf5: make dataset %.300q: chunks %v of shape %v are too large", d.path, o.Chunks, d.shape)
	}
	return nil
}

// defaultChunkSize is about how many bytes a chunk has if the caller asks for filters only. Another
// number would change the bytes of such files.
const defaultChunkSize = 1 << 20

// defaultChunks returns the shape of chunks of about defaultChunkSize: whole trailing dimensions.
func defaultChunks(shape tensor.Shape, size int) tensor.Shape {
	chunks := make(tensor.Shape, len(shape))
	left := max(1, defaultChunkSize/size)
	for i := len(shape) - 1; i >= 0; i-- {
		chunks[i] = max(1, min(shape[i], left))
		left = max(1, left/chunks[i])
	}
	return chunks
}

// SetAttribute adds an attribute to the object, or replaces the value of an existing one. A
// nil value is one without elements and shape, as h5py's Empty. The value must not be changed
// before the file is written.
func (o *objectWriter) SetAttribute(name string, value *tensor.Tensor, opts *ValueOptions) error {
	if name == "" || strings.ContainsRune(name, 0) {
		return fmt.Errorf("hdf5: set attribute %q of %.300q: not a valid name", name, o.path)
	}
	a := &newAttribute{name: name, value: value}
	if opts != nil {
		a.opts = *opts
	}
	if value != nil {
		if _, err := elementSize(value.DType(), &a.opts, value); err != nil {
			return fmt.Errorf("hdf5: attribute %q: %w", name, at(o.path, err))
		}
	}
	if i := slices.IndexFunc(o.attributes, func(a *newAttribute) bool { return a.name == name }); i >= 0 {
		o.attributes[i] = a
		return nil
	}
	o.attributes = append(o.attributes, a)
	return nil
}

package convert

import (
	"context"
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/tensorfile"
	"github.com/cairnml/cairn/vfs"
)

// Options are the options of writing; nil means the defaults.
type Options struct {
	// Lossy allows changes that can't be undone: strings that lose trailing NULs in
	// a .npz, variants left out, a layout that can't be rebuilt. Default false.
	Lossy bool
	// Force replaces a destination that exists. Default false.
	Force bool
	// Progress is called with the bytes written and the bytes in all. Default nil.
	Progress func(done, total int64)
	// MaxAlignment is the most bytes that the metadata of a safetensors file may
	// align a checkpoint's tensors to. Default 64 KiB.
	MaxAlignment int64
	// Run calls functions of a SavedModel that restore its variables; see
	// [savedmodel.RestoreOptions]. Default: a model that needs them is an error.
	Run graph.Runner
	// Source are the settings by which the sources are opened. Default: paths of the
	// operating system, no limit raised.
	Source tensorfile.Options
	// Dir is the destination's directory. Default: the destination is a path of
	// the operating system.
	Dir vfs.Dir
}

// open opens a source.
func (o *Options) open(ctx context.Context, src string) (*tensorfile.File, error) {
	return tensorfile.Open(ctx, src, o.source())
}

func (o *Options) maxAlignment() int64 {
	if o.MaxAlignment <= 0 {
		return tensorfile.MaxAlignment
	}
	return o.MaxAlignment
}

// source returns the options for opening a source.
func (o *Options) source() *tensorfile.Options {
	if o == nil {
		return &tensorfile.Options{}
	}
	return &o.Source
}

// Result is the result of writing.
type Result struct {
	Files   []string // the files written
	Tensors int      // without the object graph; 0 for a SavedModel
	Bytes   int64    // of the tensors, or of a SavedModel's files
	Notes   []string // notes for the user
}

// item is one tensor to be written.
type item struct {
	entry  *tensorfile.Entry // its entry in the source
	source *tensorfile.File  // set if several are merged
	name   string            // its name in the destination
	bytes  int64             // its size in the destination
	value  *tensor.Tensor    // instead of the source's, or nil
	dtype  tensor.DType      // its type in the destination
	lossy  bool              // the cast may change values
	cast   bool              // the type is not the source's
}

// from returns the name in the source.
func (i *item) from() string { return i.entry.Name }

// shape returns the shape, in the source and in the destination.
func (i *item) shape() tensor.Shape { return i.entry.Shape }

// read returns the tensor of an item. It is valid until the next call with c.
// Many are read by [ahead].
func (i item) read(ctx context.Context, s *tensorfile.File, c *tensorfile.Scratch) (*tensor.Tensor, error) {
	if i.value != nil {
		return i.value, nil
	}
	t, err := s.ReadScratch(ctx, i.from(), c)
	if err != nil {
		return nil, err
	}
	return i.of(t)
}

// of returns the tensor of an item, made of the tensor that was read for it.
func (i item) of(t *tensor.Tensor) (*tensor.Tensor, error) {
	switch {
	case !i.cast:
		return t, nil
	case i.lossy:
		return tensor.Cast(t, i.dtype)
	}
	return exactCast(i.from(), t, i.dtype)
}

// Convert writes the file at src to dst, whose suffix determines its kind: .npz,
// .safetensors, .h5, .keras, else a checkpoint's prefix.
//
// A file of Keras becomes one of the same format with all its contents. Any other
// kind gets its weights alone, and only if Lossy is set or nothing else would be
// left out. Every source becomes an .h5 file with a dataset for each tensor.
//
// A SavedModel becomes a SavedModel if [IsModelTarget] reports true for dst; see
// [savedmodel.Rewrite].
//
// A checkpoint that became a safetensors file becomes the same checkpoint again,
// byte for byte. If that can't be promised, the conversion is refused unless Lossy
// is set. In a .npz bfloat16, float8 and float4 widen to float32, narrow integers to
// 8 bits, strings become S arrays, and the object graph is left out.
func Convert(ctx context.Context, src, dst string, o *Options) (*Result, error) {
	if IsModelTarget(dst) {
		m, err := modelAt(ctx, src, o)
		if err != nil {
			return nil, err
		}
		if m != nil {
			return writeModel(ctx, m, src, dst, nil, o)
		}
	}
	s, err := o.open(ctx, src)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	l, err := listOf(s)
	if err != nil {
		return nil, err
	}
	return write(ctx, l, dst, true, o)
}

// write writes the list to dst; whole means that it is the complete, unchanged
// contents of s.
func write(ctx context.Context, l *list, dst string, whole bool, o *Options) (*Result, error) {
	if o == nil {
		o = &Options{}
	}
	if err := tensorfile.CheckTarget(dst); err != nil {
		return nil, err
	}
	to := o.target(dst)
	if err := to.protect(l.s, o); err != nil {
		return nil, err
	}
	res := &Result{}
	res.noteElsewhere(l.s)
	var total int64
	for i := range l.all() {
		total += i.bytes
	}
	step := func(i item) {
		res.count(i.name, i.bytes)
		if o.Progress != nil {
			o.Progress(res.Bytes, total)
		}
	}
	format, exact := kerasFormat(l.s, dst)
	exact = exact && whole
	if !exact {
		if err := checkExtras(l.s, dst, o, res); err != nil {
			return nil, err
		}
	}
	var err error
	switch tensorfile.KindOf(dst) {
	case tensorfile.HDF5, tensorfile.Keras:
		switch {
		case exact:
			err = writeKeras(ctx, l, dst, format, o, res, step)
		case tensorfile.KindOf(dst) == tensorfile.Keras:
			err = fmt.Errorf("convert: write %s: a Keras archive needs a model's configuration, which %s does not have or which does not fit an archive; a name that ends in .h5 takes the tensors alone", dst, l.s.Prefix)
		default:
			err = writeHDF5(ctx, l, dst, o, res, step)
		}
	case tensorfile.NPZ:
		err = writeNPZ(ctx, l, dst, o, res, step)
	case tensorfile.Safetensors:
		err = writeSafetensors(ctx, l, dst, whole, o, res, step)
	default:
		err = writeCheckpoint(ctx, l, dst, o, res, step)
	}
	if err != nil {
		return nil, err
	}
	written, err := to.check(ctx, o)
	if err != nil {
		return nil, err
	}
	return res, written.Close()
}

func (r *Result) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// noteElsewhere notes a source that isn't in the directory which the caller named.
func (r *Result) noteElsewhere(s *tensorfile.File) {
	if s != nil && s.Elsewhere {
		r.note("%s: %s: %s", s.Path, s.Found, s.Prefix)
	}
}

// count counts a tensor. The object graph doesn't count.
func (r *Result) count(name string, bytes int64) {
	if name != tensorfile.GraphKey {
		r.Tensors++
		r.Bytes += bytes
	}
}

// noteGraph notes that a .npz lacks the object graph.
func (r *Result) noteGraph() {
	r.note("left out the object graph, which a .npz can't hold: numpy's strings lose the NULs at their ends")
}

// writeNPZ writes a .npz with the items, by name and without the object graph. With Lossy it leaves out types that the
// format lacks.
func writeNPZ(ctx context.Context, l *list, dst string, o *Options, res *Result, step func(item)) error {
	for i := range l.all() {
		if _, err := tensor.NPYType(i.dtype); err != nil && !o.Lossy && i.from() != tensorfile.GraphKey {
			return fmt.Errorf("%s: %q: %w; Options.Lossy leaves it out", dst, i.name, err)
		}
	}
	f, err := o.target(dst).create(o.Force)
	if err != nil {
		return err
	}
	defer f.Abort()
	z := tensor.NewNPZWriter(f, &tensor.NPYOptions{Lossy: o.Lossy})
	l.sorted()
	widened := 0
	from := &ahead{s: l.s, len: l.len(), at: l.at}
	for n := range l.len() {
		i := l.at(n)
		if err := ctx.Err(); err != nil {
			return err
		}
		if i.from() == tensorfile.GraphKey {
			res.noteGraph()
			continue
		}
		as, err := tensor.NPYType(i.dtype)
		if err != nil {
			res.note("left out %s, a %v", i.name, i.dtype)
			continue
		}
		if as != i.dtype {
			widened++
		}
		t, err := from.read(ctx, n)
		if err != nil {
			return err
		}
		if err := z.Add(i.name, t); err != nil {
			return fmt.Errorf("%s: %w%s", dst, err, lossyHint(i, o))
		}
		step(i)
	}
	if err := z.Close(); err != nil {
		return err
	}
	if widened > 0 {
		res.note("%d %s widened, since numpy lacks the type", widened, plural(widened, "tensor was", "tensors were"))
	}
	res.Files = []string{dst}
	return f.Commit()
}

func lossyHint(i item, o *Options) string {
	if o.Lossy || i.dtype != tensor.String {
		return ""
	}
	return "; Options.Lossy writes it anyway"
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

package convert

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/safetensors"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/tensorfile"
	"github.com/cairnml/cairn/vfs"
)

// MergeOptions are the options of [Merge]; nil means the defaults.
type MergeOptions struct {
	Options
	// Join names the sources, one after the other: their object graphs become one
	// whose root has them as children of these names, and their tensors' names
	// begin with them. Default nil: names stay as they are.
	Join []string
	// Graph is the source, as in the arguments, whose object graph is kept if
	// several have one. Default "": more than one is a [GraphsError].
	Graph string
}

// GraphsError is the error of several sources with an object graph; it has a
// hint.
type GraphsError struct {
	Sources []string // those that have one
}

// Error names the sources with graphs, and the ways to merge them.
func (e *GraphsError) Error() string {
	return strings.Join(e.Sources, ", ") + " each have an object graph; MergeOptions.Join joins them, each under a separate name; MergeOptions.Graph keeps one alone"
}

// ClashError is the error of two sources with a tensor of one name.
type ClashError struct {
	Sources [2]string
	Name    string
}

// Error names the sources and the tensor that both have.
func (e *ClashError) Error() string {
	return fmt.Sprintf("%s and %s both have a tensor called %q; MergeOptions.Join puts each source under a separate name, and an edit with Edits.Rename changes the names of a source",
		e.Sources[0], e.Sources[1], e.Name)
}

// Merge makes one file of several. Checkpoints become the shards of one
// checkpoint, their bytes unchanged, as TensorFlow merges the parts that several
// workers wrote; slices of one tensor may come from several of them. Object
// graphs are joined under names or one of them is kept, as the options require.
// If another kind is among the sources or is the target, tensors are written one
// by one, and a name that two sources have is an error. All copied data are
// verified. The sources stay.
func Merge(ctx context.Context, srcs []string, dst string, o *MergeOptions) (*Result, error) {
	if o == nil {
		o = &MergeOptions{}
	}
	if err := tensorfile.CheckTarget(dst); err != nil {
		return nil, err
	}
	to := o.target(dst)
	stores := make([]*tensorfile.File, len(srcs))
	var graphs []string
	for i, src := range srcs {
		s, err := o.open(ctx, src)
		if err != nil {
			return nil, err
		}
		defer s.Close()
		if err := to.protect(s, &o.Options); err != nil {
			return nil, err
		}
		stores[i] = s
		if s.Has(tensorfile.GraphKey) {
			graphs = append(graphs, src)
		}
		for _, other := range stores[:i] {
			if other.Prefix == s.Prefix {
				return nil, fmt.Errorf("%s is given twice", s.Prefix)
			}
		}
	}
	res, err := mergeFiles(ctx, stores, srcs, graphs, dst, o)
	if err != nil {
		return nil, err
	}
	for _, s := range stores {
		res.noteElsewhere(s)
	}
	return res, nil
}

// mergeFiles merges the open sources in the way that the options ask for. The sources
// of the paths graphs have an object graph.
func mergeFiles(ctx context.Context, stores []*tensorfile.File, srcs, graphs []string, dst string, o *MergeOptions) (*Result, error) {
	kind := tensorfile.KindOf(dst)
	if kind == tensorfile.HDF5 || kind == tensorfile.Keras {
		return nil, fmt.Errorf("merge into %s: files are merged into .npz, .safetensors and checkpoints; convert one of these", dst)
	}
	notes := &Result{}
	for _, s := range stores {
		if err := checkExtras(s, dst, &o.Options, notes); err != nil {
			return nil, err
		}
	}
	res, err := mergeKinds(ctx, stores, srcs, graphs, dst, kind, o)
	if err == nil {
		res.Notes = append(notes.Notes, res.Notes...)
	}
	return res, err
}

// mergeKinds works like mergeFiles, for a dst whose kind can be merged into.
func mergeKinds(ctx context.Context, stores []*tensorfile.File, srcs, graphs []string, dst string, kind tensorfile.Kind, o *MergeOptions) (*Result, error) {
	switch {
	case len(o.Join) > 0 && o.Graph != "":
		return nil, errors.New("either the object graphs are joined or one of them is kept, not both")
	case len(o.Join) > 0:
		list, err := joined(ctx, stores, srcs, o.Join)
		if err != nil {
			return nil, err
		}
		return mergeTensors(ctx, list, dst, &o.Options, &Result{})
	case o.Graph != "" && !slices.Contains(graphs, o.Graph):
		return nil, fmt.Errorf("%s, whose object graph is to be kept, is none of the sources that have one: %s", o.Graph, strings.Join(graphs, ", "))
	case o.Graph == "" && len(graphs) > 1 && kind != tensorfile.NPZ:
		return nil, &GraphsError{graphs}
	case len(graphs) < 2 && kind == tensorfile.Checkpoint && allBundles(stores):
		return mergeBundles(ctx, stores, dst, &o.Options)
	}
	res := &Result{}
	list, err := sideBySide(stores, srcs, o.Graph, res)
	if err != nil {
		return nil, err
	}
	return mergeTensors(ctx, list, dst, &o.Options, res)
}

func allBundles(stores []*tensorfile.File) bool {
	return !slices.ContainsFunc(stores, func(s *tensorfile.File) bool { return s.Bundle() == nil || s.Bundle().Version() != 2 })
}

// mergeBundles merges checkpoints of version 2 as shards of one. All are verified before the first byte is copied.
func mergeBundles(ctx context.Context, stores []*tensorfile.File, dst string, o *Options) (*Result, error) {
	to := o.target(dst)
	if err := to.checkpoint(o.Force); err != nil {
		return nil, err
	}
	dir, name, sources, err := oneFolder(prefixes(stores), o.Source.FS, to)
	if err != nil {
		return nil, err
	}
	counting := &countingDir{Dir: dir, progress: o.Progress}
	for _, s := range stores {
		for e := range s.Entries().All() {
			counting.total += e.Bytes
		}
	}
	// The bytes are copied unchanged: their faults are found before.
	for _, s := range stores {
		if err := s.Bundle().Verify(ctx, nil); err != nil {
			return nil, err
		}
	}
	if err := bundle.Merge(ctx, counting, name, sources, &bundle.MergeOptions{KeepSources: true}); err != nil {
		return nil, err
	}
	merged, err := to.check(ctx, o)
	if err != nil {
		return nil, err
	}
	defer merged.Close()
	res := new(Result)
	for i := range merged.Bundle().Header().NumShards {
		res.Files = append(res.Files, bundle.DataName(dst, i, merged.Bundle().Header().NumShards))
	}
	res.Files = append(res.Files, dst+".index")
	for e := range merged.Entries().All() {
		res.count(e.Name, e.Bytes)
	}
	to.removeStale(res.Files)
	return res, nil
}

// countingDir reports the number of bytes written through it, for a progress
// bar.
type countingDir struct {
	vfs.Dir
	progress    func(done, total int64)
	done, total int64
}

// Create starts a file whose writes are counted.
func (d *countingDir) Create(name string) (vfs.File, error) {
	f, err := d.Dir.Create(name)
	if err != nil || d.progress == nil {
		return f, err
	}
	return &countingFile{f, d}, nil
}

type countingFile struct {
	vfs.File
	d *countingDir
}

func (f *countingFile) count(n int) {
	f.d.done += int64(n)
	f.d.progress(min(f.d.done, f.d.total), f.d.total)
}

func (f *countingFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	f.count(n)
	return n, err
}

func (f *countingFile) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.File.WriteAt(p, off)
	f.count(n)
	return n, err
}

func prefixes(stores []*tensorfile.File) []string {
	var out []string
	for _, s := range stores {
		out = append(out, s.Prefix)
	}
	return out
}

// below reports whether path is in directory root or deeper.
func below(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// mergeTensors writes the tensors of several sources, one by one.
func mergeTensors(ctx context.Context, list []item, dst string, o *Options, res *Result) (*Result, error) {
	var total int64
	for _, i := range list {
		total += i.bytes
	}
	done := func(i item) {
		res.count(i.name, i.bytes)
		if o.Progress != nil {
			o.Progress(res.Bytes, total)
		}
	}
	var err error
	switch tensorfile.KindOf(dst) {
	case tensorfile.NPZ:
		err = mergeNPZ(ctx, list, dst, o, res, done)
	case tensorfile.Safetensors:
		err = mergeSafetensors(ctx, list, dst, o, res, done)
	default:
		err = mergeCheckpoint(ctx, list, dst, o, res, done)
	}
	if err != nil {
		return nil, err
	}
	s, err := o.target(dst).check(ctx, o)
	if err != nil {
		return nil, err
	}
	return res, s.Close()
}

// mergeCheckpoint writes a checkpoint that has a data file for each source.
// Data of checkpoints are copied byte for byte.
func mergeCheckpoint(ctx context.Context, list []item, dst string, o *Options, res *Result, done func(item)) error {
	to := o.target(dst)
	if err := to.checkpoint(o.Force); err != nil {
		return err
	}
	w, err := bundle.NewWriter(to.dir, to.base, nil)
	if err != nil {
		return err
	}
	defer w.Abort()
	from := &ahead{len: len(list), at: func(n int) item { return list[n] }}
	for n, i := range list {
		if n > 0 && i.source != list[n-1].source {
			if err := w.NextShard(); err != nil {
				return err
			}
		}
		if r := i.source.Bundle(); r != nil && i.value == nil && whole(r, i) {
			err = w.CopyFrom(ctx, r, i.from(), i.name)
		} else {
			var t *tensor.Tensor
			if t, err = from.read(ctx, n); err == nil {
				err = w.Add(ctx, i.name, t)
			}
		}
		if err != nil {
			return err
		}
		done(i)
	}
	if err := w.Finish(ctx); err != nil {
		return err
	}
	for _, f := range w.Files() {
		res.Files = append(res.Files, to.shown(f))
	}
	to.removeStale(res.Files)
	return nil
}

// whole reports whether all slices of a tensor are there; they don't overlap.
func whole(r *bundle.Reader, i item) bool {
	e, _ := r.Entry(i.from())
	n, err := i.shape().NumElements()
	for _, s := range e.Slices {
		shape, serr := s.Shape(i.shape())
		if serr != nil {
			return false
		}
		part, serr := shape.NumElements()
		if n -= part; serr != nil {
			return false
		}
	}
	return len(e.Slices) == 0 || err == nil && n == 0
}

// mergeNPZ writes a .npz with the items, without object graphs.
func mergeNPZ(ctx context.Context, list []item, dst string, o *Options, res *Result, done func(item)) error {
	f, err := o.target(dst).create(o.Force)
	if err != nil {
		return err
	}
	defer f.Abort()
	z := tensor.NewNPZWriter(f, &tensor.NPYOptions{Lossy: o.Lossy})
	from := &ahead{len: len(list), at: func(n int) item { return list[n] }}
	for n, i := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		if i.from() == tensorfile.GraphKey {
			res.noteGraph()
			continue
		}
		t, err := from.read(ctx, n)
		if err != nil {
			return err
		}
		done(i)
		if err := z.Add(i.name, t); err != nil {
			return fmt.Errorf("%s: %w%s", dst, err, lossyHint(i, o))
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	res.Files = []string{dst}
	return f.Commit()
}

// mergeSafetensors writes a safetensors file with the items. It has no Layout, so types that the format lacks are errors.
func mergeSafetensors(ctx context.Context, list []item, dst string, o *Options, res *Result, done func(item)) error {
	var infos []safetensors.Info
	byName := map[string]item{}
	for _, i := range list {
		if as, ok := tensorfile.Carrier(i.dtype); !ok || as != i.dtype {
			return fmt.Errorf("%s: %q is %v, which a safetensors file of several sources can't hold; merge into a checkpoint", dst, i.name, i.dtype)
		}
		byName[i.name] = i
		infos = append(infos, safetensors.Info{Name: i.name, DType: i.dtype, Shape: i.shape()})
	}
	f, err := o.target(dst).create(o.Force)
	if err != nil {
		return err
	}
	defer f.Abort()
	next := 0
	from := &ahead{len: len(infos), at: func(n int) item { return byName[infos[n].Name] }}
	err = safetensors.Write(ctx, f, infos, nil, func(ctx context.Context, name string) (*tensor.Tensor, error) {
		t, err := from.read(ctx, next)
		if err != nil {
			return nil, err
		}
		done(from.at(next))
		next++
		return t, nil
	})
	if err != nil {
		return err
	}
	res.Files = []string{dst}
	return f.Commit()
}

package cairn

import (
	"context"
	"io"

	"github.com/cairnml/cairn/convert"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/inspect"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/tensorfile"
)

// List returns the tensors of the file or directory at path, sorted by name, without
// reading a value. See [tensorfile.Open] for the paths and the errors, which the other
// functions that take a path have, too. Options may be nil in all functions here.
func List(ctx context.Context, path string, opts *tensorfile.Options) ([]tensorfile.Entry, error) {
	f, err := tensorfile.Open(ctx, path, opts)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := make([]tensorfile.Entry, 0, f.Entries().Len())
	for e := range f.Entries().All() {
		out = append(out, e)
	}
	return out, nil
}

// Read returns one tensor of the file or directory at path, after it has verified the
// checksum. The ending "/.ATTRIBUTES/VARIABLE_VALUE" of a variable's name may be left
// out. If no tensor has the name, the error is a *[tensorfile.NotFoundError].
func Read(ctx context.Context, path, name string, opts *tensorfile.Options) (*tensor.Tensor, error) {
	f, err := tensorfile.Open(ctx, path, opts)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	e, _, err := f.Find(ctx, name)
	if err != nil {
		return nil, err
	}
	return f.Read(ctx, e.Name)
}

// Stat returns statistics of the tensors at path; see [inspect.Stat].
func Stat(ctx context.Context, path string, opts *inspect.StatOptions) ([]inspect.Stats, error) {
	return inspect.Stat(ctx, path, opts)
}

// Show writes the object graph at path to w; see [inspect.Show].
func Show(ctx context.Context, w io.Writer, path string, opts *inspect.ShowOptions) error {
	return inspect.Show(ctx, w, path, opts)
}

// Diff compares the files or directories at two paths; see [inspect.Compare].
func Diff(ctx context.Context, a, b string, opts *inspect.DiffOptions) (*inspect.Comparison, error) {
	return inspect.Compare(ctx, a, b, opts)
}

// Verify reads everything at path and returns the faults; see [inspect.Verify].
func Verify(ctx context.Context, path string, opts *inspect.VerifyOptions) ([]inspect.Fault, error) {
	_, faults, err := inspect.Verify(ctx, path, opts)
	return faults, err
}

// Runner returns a function that calls a model's functions with all kernels. It is a value for
// the field Run of [savedmodel.RestoreOptions] and [convert.Options].
func Runner() graph.Runner {
	return func(ctx context.Context, c *graph.Concrete, args ...*tensor.Tensor) ([]graph.Captured, error) {
		return ops.NewRunner(kernel.All())(ctx, c, args...)
	}
}

// Convert writes the tensors at src to dst in the format of dst's suffix; see
// [convert.Convert]. opts.Run is [Runner] by default.
func Convert(ctx context.Context, src, dst string, opts *convert.Options) (*convert.Result, error) {
	if opts == nil {
		opts = new(convert.Options)
	}
	if opts.Run == nil {
		own := *opts
		own.Run = Runner()
		opts = &own
	}
	return convert.Convert(ctx, src, dst, opts)
}

// Edit writes the tensors at src to dst, renamed, dropped and cast; see
// [convert.Edit].
func Edit(ctx context.Context, src, dst string, edits convert.Edits, opts *convert.Options) ([]convert.Change, *convert.Result, error) {
	return convert.Edit(ctx, src, dst, edits, opts)
}

// Merge makes one file, dst, of several; see [convert.Merge].
func Merge(ctx context.Context, srcs []string, dst string, opts *convert.MergeOptions) (*convert.Result, error) {
	return convert.Merge(ctx, srcs, dst, opts)
}

// Recover finishes the interrupted replacement of a checkpoint; see [convert.Recover].
func Recover(ctx context.Context, path string) (recovered bool, err error) {
	return convert.Recover(ctx, path)
}

package convert

import (
	"context"
	"fmt"
	"strings"

	"github.com/cairnml/cairn/hdf5"
	"github.com/cairnml/cairn/keras/kerasfile"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/tensorfile"
)

// kerasFormat returns the format in which dst takes all that s holds; ok is false if s is no
// Keras file, or dst takes its named tensors only.
func kerasFormat(s *tensorfile.File, dst string) (f kerasfile.Format, ok bool) {
	if s == nil || s.Keras() == nil {
		return 0, false
	}
	from := s.Keras().Format
	weights := strings.HasSuffix(strings.ToLower(dst), ".weights.h5")
	switch kind := tensorfile.KindOf(dst); {
	case kind == tensorfile.Keras:
		return from, from == kerasfile.Archive
	case kind != tensorfile.HDF5:
		return 0, false
	case from == kerasfile.Weights:
		return from, weights
	}
	return from, from != kerasfile.Archive && !weights
}

// checkExtras returns an error if dst can't hold all that a source has besides tensors, or notes
// it if the caller allows that.
func checkExtras(s *tensorfile.File, dst string, o *Options, res *Result) error {
	if s == nil {
		return nil
	}
	extras, err := s.Extras()
	if err != nil || len(extras) == 0 {
		return err
	}
	if !o.Lossy {
		return fmt.Errorf("%s: %s can't hold %s; Options.Lossy leaves that out", s.Prefix, dst, strings.Join(extras, ", "))
	}
	res.note("left out %s", strings.Join(extras, ", "))
	return nil
}

// writeKeras writes a Keras file with all that the source holds.
func writeKeras(ctx context.Context, l *list, dst string, format kerasfile.Format, o *Options, res *Result, step func(item)) error {
	f, err := o.target(dst).create(o.Force)
	if err != nil {
		return err
	}
	defer f.Abort()
	if err := kerasfile.Write(ctx, f, format, &l.s.Keras().Contents); err != nil {
		return err
	}
	for i := range l.all() {
		step(i)
	}
	res.Files = []string{dst}
	return f.Commit()
}

// writeHDF5 writes an HDF5 file with a dataset for each tensor, at the path that is its name.
func writeHDF5(ctx context.Context, l *list, dst string, o *Options, res *Result, step func(item)) error {
	var w hdf5.Writer
	l.sorted()
	var scratch tensorfile.Scratch
	for n := range l.len() {
		i := l.at(n)
		if i.from() == tensorfile.GraphKey {
			res.note("left out the object graph, which an HDF5 file can't hold: its strings end at the first NUL")
			continue
		}
		if clean := strings.Join(strings.FieldsFunc(i.name, func(r rune) bool { return r == '/' }), "/"); clean != i.name {
			return fmt.Errorf("%s: %q can't be the path of a dataset; rename it to %q", dst, i.name, clean)
		}
		weight := kerasfile.Weight{Name: i.name, DType: i.dtype, Shape: i.shape(), Read: func(ctx context.Context) (*tensor.Tensor, error) {
			t, err := i.read(ctx, l.s, &scratch)
			if err == nil {
				step(i)
			}
			return t, err
		}}
		if i.dtype == tensor.String {
			weight.Read = func(ctx context.Context) (*tensor.Tensor, error) { return i.read(ctx, l.s, &tensorfile.Scratch{}) }
		}
		if err := kerasfile.SetTensor(ctx, w.Root(), weight); err != nil {
			return fmt.Errorf("%s: %w", dst, err)
		}
		if i.dtype == tensor.String {
			step(i)
		}
	}
	f, err := o.target(dst).create(o.Force)
	if err != nil {
		return err
	}
	defer f.Abort()
	if err := w.Write(ctx, f); err != nil {
		return err
	}
	res.Files = []string{dst}
	return f.Commit()
}

package tensorfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cairnml/cairn/hdf5"
	"github.com/cairnml/cairn/internal/limit"
	"github.com/cairnml/cairn/keras/kerasfile"
	"github.com/cairnml/cairn/tensor"
)

// kerasStore reads HDF5 files and Keras' archives: all datasets by their paths.
type kerasStore struct {
	listed
	f       io.Closer
	h5      *hdf5.File
	keras   *kerasfile.File              // nil if Keras did not write the file
	weights map[string]*kerasfile.Weight // by path
}

func openKeras(path string, o *Options) (backend, error) {
	f, size, err := openSized(path)
	if err != nil {
		return nil, err
	}
	b, err := newKeras(f, size, f, o)
	if err != nil {
		f.Close()
	}
	return b, err
}

// newKeras reads the lists of a file. The store's close closes f. If newKeras fails, the caller closes it.
func newKeras(r io.ReaderAt, size int64, f io.Closer, o *Options) (backend, error) {
	memory := o.memory(limit.Stored(f, size))
	b := &kerasStore{f: f, weights: map[string]*kerasfile.Weight{}}
	k, err := kerasfile.Open(r, size, &kerasfile.Options{MaxMemory: memory})
	switch {
	case err == nil:
		b.keras, b.h5 = k, k.HDF5()
	case errors.Is(err, kerasfile.ErrFormat) || errors.Is(err, errors.ErrUnsupported):
		// Some entries of Keras' lists can't be decoded, but the datasets of an HDF5 file can. An
		// archive is no HDF5 file, so its error is returned.
		var plain error
		if b.h5, plain = hdf5.Open(r, size, &hdf5.Options{MaxMemory: memory}); plain != nil {
			return nil, err
		}
	default:
		return nil, err
	}
	list, err := kerasfile.Tensors(b.h5)
	if err != nil {
		return nil, err
	}
	for i := range list {
		w := &list[i]
		n, err := w.Shape.NumElements()
		if err != nil {
			return nil, err
		}
		b.weights[w.Path] = w
		b.listed = append(b.listed, Entry{Name: w.Path, DType: w.DType, Shape: w.Shape, Bytes: int64(n) * int64(w.DType.Size()), Offset: -1})
	}
	slices.SortFunc(b.listed, func(x, y Entry) int { return cmp.Compare(x.Name, y.Name) })
	return b, nil
}

func (b *kerasStore) read(ctx context.Context, name string) (*tensor.Tensor, error) {
	return b.weights[name].Read(ctx)
}

func (b *kerasStore) readInto(ctx context.Context, e Entry, c *Scratch) (*tensor.Tensor, error) {
	w := b.weights[e.Name]
	if w.ReadInto == nil || !c.holds(e.DType, e.Shape) {
		c.buf = nil // for the collector, before there is more
		t, err := w.Read(ctx)
		if err == nil {
			c.buf = t.Bytes()
		}
		return t, err
	}
	t, err := c.tensor(e.DType, e.Shape)
	if err != nil {
		return nil, err
	}
	return t, w.ReadInto(ctx, t)
}

func (b *kerasStore) close() error { return b.f.Close() }

// Keras returns the contents of a Keras file besides its weights, or nil for every other
// file.
func (s *File) Keras() *kerasfile.File {
	if b, ok := s.b.(*kerasStore); ok {
		return b.keras
	}
	return nil
}

// Extras describes in words the contents of an HDF5 file or a Keras archive besides named
// tensors. It is empty for every other kind.
func (s *File) Extras() ([]string, error) {
	b, ok := s.b.(*kerasStore)
	if !ok {
		return nil, nil
	}
	var list []string
	add := func(there bool, words string) {
		if there {
			list = append(list, words)
		}
	}
	if k := b.keras; k != nil {
		add(k.Config != nil, "the model's configuration")
		add(k.TrainingConfig != nil, "the training configuration")
		add(len(k.Members) > 0, fmt.Sprintf("%d assets", len(k.Members)))
		add(k.Format == kerasfile.LegacyModel || k.Format == kerasfile.LegacyWeights, "the order of the layers")
	}
	n := 0
	count := func(o hdf5.Object) error {
		list, err := o.Attributes()
		if err != nil {
			return err
		}
		for _, a := range list {
			// On an opaque dataset, "dtype" is its element type, which the tensor has.
			if d, ok := o.(*hdf5.Dataset); !ok || d.Type().Class != hdf5.Opaque || a.Name() != "dtype" {
				n++
			}
		}
		return nil
	}
	if err := errors.Join(count(b.h5.Root()), b.h5.Root().Walk(count)); err != nil {
		return nil, err
	}
	add(n > 0, fmt.Sprintf("%d attributes", n))
	return list, nil
}

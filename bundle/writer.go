package bundle

import (
	"context"
	"errors"

	"github.com/cairnml/cairn/tensor"
)

// WriterOptions says how to write a bundle; nil means the defaults.
type WriterOptions struct {
	// Alignment makes every tensor begin at a multiple of so many bytes in its
	// data file. Default 1.
	Alignment int
	// BigEndian writes the elements in big-endian order and says so in the
	// header. Default false, whatever the machine.
	BigEndian bool
	// NoSync leaves out the calls that make files durable before they get their
	// names: for files that need not survive a crash. Default false.
	NoSync bool
}

// A Writer writes one bundle. Tensors lie in the data file in the order they
// are added; the index sorts them by name. Nothing appears under the bundle's
// own names before [Writer.Finish]. It is for one goroutine.
//
// The first error sticks: every later call returns it.
type Writer struct{}

// NewWriter starts a bundle in dir; prefix is a slash-separated path in it.
func NewWriter(dir Dir, prefix string, opts *WriterOptions) (*Writer, error) {
	return nil, errors.ErrUnsupported
}

// Add writes a tensor. Its storage may be changed again when Add returns. A
// name that is there already is an error.
func (w *Writer) Add(ctx context.Context, name string, t *tensor.Tensor) error {
	return errors.ErrUnsupported
}

// AddSlice writes t as slice s of the tensor name, whose whole shape is full.
func (w *Writer) AddSlice(ctx context.Context, name string, full tensor.Shape, s Slice, t *tensor.Tensor) error {
	return errors.ErrUnsupported
}

// CopyFrom writes the tensor name of another bundle under the name as, with its
// bytes, its slices and whatever else its entry holds; checksums are verified
// on the way.
func (w *Writer) CopyFrom(ctx context.Context, r *Reader, name, as string) error {
	return errors.ErrUnsupported
}

// NextShard ends the data file and begins another one for what is added next.
func (w *Writer) NextShard() error { return errors.ErrUnsupported }

// Finish makes the files durable and gives them their names, the index last.
func (w *Writer) Finish(ctx context.Context) error { return errors.ErrUnsupported }

// Files lists the names of the bundle's files once Finish has returned nil: the
// data files in order, then the index.
func (w *Writer) Files() []string { return nil }

// Abort removes everything written. After Finish it does nothing.
func (w *Writer) Abort() error { return nil }

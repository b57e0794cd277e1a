package kerasfile

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cairnml/cairn/tensor"
)

// Format is a kind of Keras file.
type Format int

// The formats.
const (
	Archive       Format = iota + 1 // a .keras file
	Weights                         // a .weights.h5 file
	LegacyModel                     // a .h5 file of a whole model
	LegacyWeights                   // a .h5 file of a model's weights
)

// String returns the format in words.
func (f Format) String() string {
	switch f {
	case Archive:
		return "Keras archive"
	case Weights:
		return "Keras weights"
	case LegacyModel:
		return "Keras model in HDF5"
	case LegacyWeights:
		return "Keras weights in HDF5"
	}
	return fmt.Sprintf("format(%d)", int(f))
}

// legacy reports whether the file has layers by name, and not objects by path.
func (f Format) legacy() bool { return f == LegacyModel || f == LegacyWeights }

// Contents are the contents of a Keras file.
type Contents struct {
	// KerasVersion is the version of Keras that wrote the file, as "3.15.1" or "2.21.0"; a
	// Weights file doesn't contain it.
	KerasVersion string
	// Backend is the backend of Keras, as "tensorflow". Only legacy files contain
	// it.
	Backend string
	// Config is the model's configuration: config.json of an archive, the attribute
	// model_config of a LegacyModel. Files of weights have none.
	Config []byte
	// TrainingConfig is a LegacyModel's attribute training_config; nil if the model was not
	// compiled.
	TrainingConfig []byte
	// Metadata is an archive's metadata.json. When an archive is written, nil means
	// KerasVersion alone.
	Metadata []byte
	// Groups are the objects that have weights, or could have. In a legacy file the layers come
	// first, in the model's order, then [TopLevel], then [OptimizerWeights]. In the others they
	// are sorted by path.
	Groups []Group
	// Members are the other files of an archive: its assets.
	Members []Member
	// Attributes are those of the root of a legacy file that have no field here.
	Attributes map[string]*tensor.Tensor
}

// Paths of groups in legacy files that are no layers.
const (
	TopLevel         = "top_level_model_weights" // the model's own weights
	OptimizerWeights = "optimizer_weights"       // the state of the optimizer
)

// A Group is an object and its weights.
type Group struct {
	// Path is the way to the object, as "layers/dense" or "optimizer"; "" is the model itself.
	// In legacy files it is the layer's name.
	Path string
	// Name is the object's name: the attribute that Keras 3 stores, or the layer's name in a
	// legacy file. It is "" in Keras 2's Weights files.
	Name string
	// Weights are the object's variables in their order.
	Weights []Weight
	// Attributes are those that the group of the weights has besides.
	Attributes map[string]*tensor.Tensor
}

// A Weight is a named tensor that is read when it is asked for.
type Weight struct {
	// Name is a number in the order of the object's variables, or the variable's name in a
	// legacy file, as "dense/kernel:0".
	Name  string
	DType tensor.DType
	Shape tensor.Shape
	// Path is the path of the weight in the HDF5 file from which it was read, as
	// "layers/dense/vars/0". Write ignores it.
	Path string
	// Read returns the value, which has DType and Shape.
	Read func(ctx context.Context) (*tensor.Tensor, error)
	// ReadInto reads the value into a tensor of DType and Shape; nil if that is not possible.
	ReadInto func(ctx context.Context, t *tensor.Tensor) error
}

// Value returns a weight with a value that is in memory.
func Value(name string, t *tensor.Tensor) Weight {
	return Weight{Name: name, DType: t.DType(), Shape: t.Shape(), Read: func(context.Context) (*tensor.Tensor, error) { return t, nil }}
}

// A Member is a file in an archive.
type Member struct {
	Name string // with slashes, as "assets/layers/text_vectorization/vocabulary.txt"
	Size int64
	Open func() (io.ReadCloser, error)
}

// Group returns the group at a path, or nil.
func (c *Contents) Group(path string) *Group {
	for i := range c.Groups {
		if c.Groups[i].Path == path {
			return &c.Groups[i]
		}
	}
	return nil
}

// Options are the options of [Open]; nil means the defaults.
type Options struct {
	// MaxMemory raises the memory that one weight, member or list may take. Default: 64 MiB and
	// 16 times the bytes that the file takes on the disk; less has no effect.
	MaxMemory int64
}

// ErrFormat is found by errors.Is in every [FormatError].
var ErrFormat = errors.New("kerasfile: not a valid Keras file")

// A FormatError reports a file that is no Keras file, or a damaged one.
type FormatError struct {
	Name string // the member, attribute or group at fault, "" for the file as a whole
	What string
	Err  error // the cause, or nil
}

// Error returns the place and the fault.
func (e *FormatError) Error() string {
	s := "kerasfile: "
	if e.Name != "" {
		s += fmt.Sprintf("%.300q: ", e.Name)
	}
	s += e.What
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Is reports whether target is [ErrFormat].
func (e *FormatError) Is(target error) bool { return target == ErrFormat }

// Unwrap returns the cause.
func (e *FormatError) Unwrap() error { return e.Err }

// An UnsupportedError names a form of Keras file that this package does not read or write.
type UnsupportedError struct {
	Name    string // the member or group, "" for the file as a whole
	Feature string
}

// Error returns the place and the feature.
func (e *UnsupportedError) Error() string {
	if e.Name == "" {
		return "kerasfile: not supported: " + e.Feature
	}
	return fmt.Sprintf("kerasfile: %.300q: not supported: %s", e.Name, e.Feature)
}

// Is reports whether target is [errors.ErrUnsupported].
func (e *UnsupportedError) Is(target error) bool { return target == errors.ErrUnsupported }

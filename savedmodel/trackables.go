package savedmodel

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// FunctionNode is implemented by functions that an object graph contains. An edge that
// leads to one becomes a tf.function of the SavedModel, with all its traces.
type FunctionNode interface {
	// Traces returns the function's traces in the order in which they were made.
	Traces() []*graph.Concrete
}

// ParameterizedFunction is implemented by a [FunctionNode] that knows its parameters.
// Without it they follow from the first trace.
type ParameterizedFunction interface {
	FunctionNode
	// FunctionParameters returns the parameters; nil if they are unknown.
	FunctionParameters() *Parameters
}

// SignedFunction is implemented by a [FunctionNode] that accepts one signature only.
type SignedFunction interface {
	FunctionNode
	// InputSignature returns that signature, a tuple of the parameters; nil for none.
	InputSignature() *graph.Structure
}

// SignatureTracer is implemented by a [FunctionNode] that can make the trace for its
// signature by itself. A save calls it for functions without traces.
type SignatureTracer interface {
	FunctionNode
	// TraceSignature makes that trace; without a signature it does nothing.
	TraceSignature(ctx context.Context) error
}

// ResourceNode is implemented by tables and other objects that functions use through a
// handle. Its children "_create_resource", "_initialize" and "_destroy_resource" are
// functions: the first returns the handle, the second fills the resource and returns an
// int32. Only the first is required.
type ResourceNode interface {
	// CapturedResource returns the value that [graph.Capture].Resource has in functions
	// that capture the object; nil if that is the object itself.
	CapturedResource() any
	// ResourceDevice returns the device that the resource asks for; "" for any.
	ResourceDevice() string
}

// TraitsHolder is an object for which a save writes more than its kind and its
// edges.
type TraitsHolder interface {
	// SavedTraits returns the data that a save writes for the object; nil if
	// there is none.
	SavedTraits() *Traits
}

// SaveableHolder is implemented by objects whose values functions of the model save and
// restore: tables, objects with several tensors.
type SaveableHolder interface {
	// SaveableFunctions returns the pairs by the name of the saved attribute.
	SaveableFunctions() map[string]SaveableFunctions
}

// SaveableFunctions are a function that takes a checkpoint key and returns a list of
// dictionaries "name", "slice_spec" and "tensor", and one that takes the tensors and
// restores them.
type SaveableFunctions struct{ Save, Restore FunctionNode }

// TrackableAsset is a file that belongs to a model: tf.saved_model.Asset. A save copies
// it into the model's directory of assets.
type TrackableAsset struct {
	// Name is the file's name below the directory of assets, slash-separated. Default:
	// the last element of the file's path. Of two files with one name the second gets a
	// number.
	Name string

	fsys  fs.FS  // nil for a file of the operating system
	inFS  string // the file's name in fsys
	local string // a path of the operating system; "" if fsys has the file

	traits *Traits // of a file
}

// SavedTraits returns the file's data of an asset that was loaded; nil for
// others.
func (a *TrackableAsset) SavedTraits() *Traits { return a.traits }

// NewAsset returns the asset that is the operating system's file at path.
func NewAsset(path string) *TrackableAsset {
	return &TrackableAsset{Name: filepath.Base(path), local: path}
}

// NewAssetFS returns the asset that is a file of fsys.
func NewAssetFS(fsys fs.FS, name string) *TrackableAsset {
	return &TrackableAsset{Name: path.Base(name), fsys: fsys, inFS: name}
}

// Open opens the file for reading.
func (a *TrackableAsset) Open() (fs.File, error) {
	if a.fsys != nil {
		return a.fsys.Open(a.inFS)
	}
	if a.local == "" {
		return nil, &fs.PathError{Op: "open", Path: a.Name, Err: fs.ErrNotExist}
	}
	return os.Open(a.local)
}

// String returns the file's path.
func (a *TrackableAsset) String() string {
	if a.fsys != nil {
		return a.inFS
	}
	return a.local
}

// sameFile reports whether two assets are one file, which a save writes once. In doubt they are two.
func (a *TrackableAsset) sameFile(b *TrackableAsset) bool {
	if a.Name != b.Name || a.inFS != b.inFS || a.local != b.local {
		return false
	}
	x, y := reflect.ValueOf(a.fsys), reflect.ValueOf(b.fsys)
	switch {
	case !x.IsValid() || !y.IsValid():
		return x.IsValid() == y.IsValid() && a.local != ""
	case x.Type() != y.Type():
		return false
	case x.Comparable():
		return a.fsys == b.fsys
	}
	return x.Kind() == reflect.Map && x.Pointer() == y.Pointer()
}

// TrackableChildren returns none: an asset is the end of its edge.
func (a *TrackableAsset) TrackableChildren() []trackable.Edge { return nil }

// TrackableConstant is a tensor that functions capture. It is written once, however many
// functions capture it.
type TrackableConstant struct {
	Tensor *tensor.Tensor

	traits *Traits // of a file
}

// SavedTraits returns the file's data of a constant that was loaded; nil for
// others.
func (c *TrackableConstant) SavedTraits() *Traits { return c.traits }

// NotTracked keeps constants out of the object graph of a checkpoint.
func (c *TrackableConstant) NotTracked() {}

// SavedModelOnly makes constants nodes of the object graph of a SavedModel.
func (c *TrackableConstant) SavedModelOnly() {}

// TrackableTensor is an intermediate tensor of a function, which another function
// captures: a gradient captures values of the function around its node.
type TrackableTensor struct {
	// Name is the tensor's name in the function's body, "Exp:0".
	Name string
	// Function is that function.
	Function *graph.Function

	traits *Traits // of a file
}

// SavedTraits returns the file's data of a captured tensor that was loaded; nil
// for others.
func (t *TrackableTensor) SavedTraits() *Traits { return t.traits }

// NotTracked keeps such tensors out of the object graph of a checkpoint.
func (t *TrackableTensor) NotTracked() {}

// SavedModelOnly makes such tensors nodes of the object graph of a SavedModel.
func (t *TrackableTensor) SavedModelOnly() {}

// TrackableBareFunction is one trace that is called by itself, as the functions of a
// model's signatures are.
type TrackableBareFunction struct {
	Concrete *graph.Concrete
	// Keywords are the names of the arguments. The first Positional of them may be given
	// by position.
	Keywords   []string
	Positional int
	// Parameters are the parameters of the Python function; nil if a file lacks
	// them.
	Parameters *Parameters

	edges  []trackable.Edge              // of a file: constants that the trace captures
	traits *Traits                       // of a file
	shapes map[string]graph.PartialShape // of a signature's outputs, from its file
}

// SavedTraits returns the file's data of a function that was loaded; nil for
// others.
func (f *TrackableBareFunction) SavedTraits() *Traits { return f.traits }

// NotTracked keeps such functions out of the object graph of a checkpoint.
func (f *TrackableBareFunction) NotTracked() {}

// SavedModelOnly makes such functions nodes of the object graph of a SavedModel.
func (f *TrackableBareFunction) SavedModelOnly() {}

// Traces returns the trace.
func (f *TrackableBareFunction) Traces() []*graph.Concrete { return []*graph.Concrete{f.Concrete} }

// String returns the trace's signature.
func (f *TrackableBareFunction) String() string {
	return fmt.Sprintf("bare function %v", f.Concrete.Signature())
}

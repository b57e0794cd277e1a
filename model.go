package cairn

import (
	"context"
	"fmt"
	"io/fs"
	"os"

	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/savedmodel/scan"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/tensorfile"
)

// Load reads a SavedModel from its directory, which may be embedded or in
// memory, and makes it ready to run with all built-in kernels, or with those of
// the options. Ops that a signature needs and that have no kernel are a
// *run.UnsupportedError that lists all of them.
func Load(ctx context.Context, fsys fs.FS, opts *run.LoadOptions) (*run.Model, error) {
	var with run.LoadOptions
	if opts != nil {
		with = *opts
	}
	if with.Kernels == nil {
		with.Kernels = kernel.All()
	}
	return run.Load(ctx, fsys, &with)
}

// LoadGraphDef reads a file that holds a GraphDef, such as a frozen graph, and makes it
// ready to run with all built-in kernels, or with those of the options. It has no
// signatures: [run.Model.Prune] makes one of feeds and fetches. See [run.LoadGraphDef].
func LoadGraphDef(ctx context.Context, fsys fs.FS, name string, opts *run.LoadOptions) (*run.Model, error) {
	var with run.LoadOptions
	if opts != nil {
		with = *opts
	}
	if with.Kernels == nil {
		with.Kernels = kernel.All()
	}
	return run.LoadGraphDef(ctx, fsys, name, &with)
}

// Bind returns a Go function that calls a signature with structs, whose fields
// are tensors named as the signature's inputs and outputs; see
// [run.Bind].
func Bind[In, Out any](m *run.Model, signature string) (func(context.Context, In) (Out, error), error) {
	return run.Bind[In, Out](m, signature)
}

// Run loads the SavedModel in dir, or the latest version in the directory of a model
// server. It calls one of the model's signatures with in and returns the outputs by name. An
// empty signature means the model's only signature, or "serving_default" if it has several.
// Programs that call a model more than once use [Load].
func Run(ctx context.Context, dir, signature string, in map[string]*tensor.Tensor, opts *run.LoadOptions) (map[string]*tensor.Tensor, error) {
	var with run.LoadOptions
	if opts != nil {
		with = *opts
	}
	if with.Signatures == nil {
		with.Signatures = []string{} // read when Signature asks
	}
	if found, ok := tensorfile.FindModel(nil, dir); ok {
		dir = found
	}
	m, err := Load(ctx, os.DirFS(dir), &with)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	s, err := m.Signature(defaultSignature(m, signature))
	if err != nil {
		return nil, err
	}
	return s.Call(ctx, in)
}

// defaultSignature returns name or, if that is empty, the name of the model's only
// signature, or else "serving_default". The command has the same rule in cmd/cairn.
func defaultSignature(m *run.Model, name string) string {
	if name != "" {
		return name
	}
	if list := m.MetaGraph().Signatures; len(list) == 1 {
		return list[0].Name
	}
	return "serving_default"
}

// Scan returns a report of the operations of the SavedModel or GraphDef at path that
// do more than compute; see [scan.Path].
func Scan(ctx context.Context, path string, opts *savedmodel.ReadOptions) (*scan.Report, error) {
	return scan.Path(ctx, path, opts)
}

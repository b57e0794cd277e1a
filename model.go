package cairn

import (
	"context"
	"io/fs"

	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/savedmodel"
)

// Load reads a SavedModel from its directory, which may be embedded or in
// memory, and makes it ready to run with all built-in kernels, or with those of
// the options. Ops that a signature needs and that have no kernel are a
// *savedmodel.UnsupportedError that lists all of them.
func Load(ctx context.Context, fsys fs.FS, o *savedmodel.LoadOptions) (*savedmodel.Model, error) {
	var with savedmodel.LoadOptions
	if o != nil {
		with = *o
	}
	if with.Kernels == nil {
		with.Kernels = kernel.All()
	}
	return savedmodel.Load(ctx, fsys, &with)
}

// Bind returns a Go function that calls a signature with structs, whose fields
// are tensors named as the signature's inputs and outputs; see
// [savedmodel.Bind].
func Bind[In, Out any](m *savedmodel.Model, signature string) (func(context.Context, In) (Out, error), error) {
	return savedmodel.Bind[In, Out](m, signature)
}

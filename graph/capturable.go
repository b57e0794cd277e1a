package graph

import (
	"context"
	"io/fs"

	"github.com/cairnml/cairn/tensor"
)

// Capturable is implemented by objects of the object graph, other than variables, that
// functions capture: tables, assets, resources of loaded models. An op accepts one as an
// input.
type Capturable interface {
	// CaptureFact returns the type and shape of the captured argument: a scalar resource
	// for a handle.
	CaptureFact() Fact
	// CaptureValue returns the captured argument of a call. If functions of a model make
	// the object, the first call makes it by run.
	CaptureValue(ctx context.Context, run Runner) (Captured, error)
}

// Captured is the value of a captured argument: a tensor, or the object that a handle
// refers to.
type Captured struct {
	Tensor *tensor.Tensor
	Object any
}

// Runner calls a function with its captures and returns its results.
type Runner func(ctx context.Context, c *Concrete, args ...*tensor.Tensor) ([]Captured, error)

// CapturedFile is implemented by a [Capturable] whose value is the path of a file. A
// function that captures it may read that file.
type CapturedFile interface {
	// CapturedFile returns a file system and the path of the file there.
	CapturedFile() (fsys fs.FS, name string)
}

package passes_test

import (
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/engine/internal/enginetest"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel"
)

// plan compiles f with all kernels and the default passes.
func plan(t testing.TB, f *graph.Function) *engine.Plan {
	t.Helper()
	return enginetest.Compile(t, f, &engine.CompileOptions{Kernels: kernel.All()})
}

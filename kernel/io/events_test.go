package io_test

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// TestEventsWait checks that a writer buffers events up to the limit.
func TestEventsWait(t *testing.T) {
	dir := vfs.MemDir()
	size := func() (n int64) {
		files, _ := fs.Glob(dir, "logs/run/*.x")
		for _, f := range files {
			info, err := fs.Stat(dir, f)
			if err != nil {
				t.Fatal(err)
			}
			n += info.Size()
		}
		if len(files) != 1 {
			t.Fatalf("there are %d files", len(files))
		}
		return n
	}
	s := function.Eager(t.Context(), &function.Options{Files: &engine.Files{Write: dir}})
	w := s.Emit("SummaryWriter", graph.Attrs{graph.String("shared_name", t.Name())})[0]
	s.Emit("CreateSummaryFileWriter", nil, w, tensor.Scalar("logs/run"), tensor.Scalar[int32](2), tensor.Scalar[int32](1<<30), tensor.Scalar(".x"))
	scalar := func() {
		s.Emit("WriteScalarSummary", nil, w, tensor.Scalar[int64](1), tensor.Scalar("t"), tensor.Scalar[float32](2))
	}
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	begin := size()
	scalar()
	scalar()
	if s.Err() != nil || size() != begin {
		t.Errorf("two events are written at once (%v)", s.Err())
	}
	scalar()
	if s.Err() != nil || size() <= begin {
		t.Errorf("three events wait (%v)", s.Err())
	}
	s.Emit("CloseSummaryWriter", nil, w)
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	if scalar(); s.Err() == nil {
		t.Error("an event went to a writer that was closed")
	}
}

func TestEventFilesNeedAGrant(t *testing.T) {
	s := function.Eager(t.Context(), nil)
	w := s.Emit("SummaryWriter", graph.Attrs{graph.String("shared_name", t.Name())})[0]
	s.Emit("CreateSummaryFileWriter", nil, w, tensor.Scalar("logs"), tensor.Scalar[int32](2), tensor.Scalar[int32](1), tensor.Scalar(""))
	if !errors.Is(s.Err(), engine.ErrNotGranted) {
		t.Errorf("the error is %v", s.Err())
	}
}

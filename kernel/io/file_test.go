package io_test

import (
	"context"
	"errors"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// TestFilesAreWrittenReadAndListed checks the ops on files in a granted
// directory.
func TestFilesAreWrittenReadAndListed(t *testing.T) {
	s := function.Eager(context.Background(), &function.Options{Files: &engine.Files{Write: vfs.MemDir()}})
	s.Emit("WriteFile", nil, "a/one.txt", "1\x00\xff")
	s.Emit("WriteFile", nil, "a/two.txt", "2")
	s.Emit("WriteFile", nil, "a/one.txt", "again")
	for _, x := range []struct {
		op   string
		in   ops.Input
		want *tensor.Tensor
	}{
		{"ReadFile", "a/one.txt", tensor.Scalar("again")},
		{"MatchingFiles", "a/*.txt", tensor.Vector("a/one.txt", "a/two.txt")},
		{"MatchingFiles", tensor.Vector("a/t*", "a/o*", "b/*"), tensor.Vector("a/one.txt", "a/two.txt")},
		{"MatchingFiles", "none*", tensor.Vector[string]()},
	} {
		got, err := s.Emit1(x.op, nil, x.in).Tensor()
		if err != nil || !got.Equal(x.want) {
			t.Errorf("%s(%v) is %v (%v), want %v", x.op, x.in, got, err, x.want)
		}
	}
}

// TestFilesNeedAGrant checks that no file can be opened without a grant.
func TestFilesNeedAGrant(t *testing.T) {
	for _, x := range []struct {
		op string
		in []ops.Input
	}{{"ReadFile", []ops.Input{"x"}}, {"MatchingFiles", []ops.Input{"*"}}, {"WriteFile", []ops.Input{"x", "y"}}} {
		s := function.Eager(context.Background())
		s.Emit(x.op, nil, x.in...)
		if !errors.Is(s.Err(), engine.ErrNotGranted) {
			t.Errorf("%s: %v", x.op, s.Err())
		}
	}
}

package ops_test

import (
	"context"
	"errors"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/ops"
)

// TestAScopeWithoutKernelsFails: there is no default.
func TestAScopeWithoutKernelsFails(t *testing.T) {
	s := ops.NewScope(context.Background())
	ops.Add(s, 1.0, 2.0)
	var missing *engine.UnsupportedOpError
	if err := s.Close(); !errors.As(err, &missing) || missing.Op != "AddV2" {
		t.Errorf("an op without kernels: %v", err)
	}
}

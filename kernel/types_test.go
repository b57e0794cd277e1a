package kernel_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/tensor"
)

// TestDeclaredTypesAreTheDefinitions holds the types that kernels declare to the
// attributes of their ops' definitions.
func TestDeclaredTypesAreTheDefinitions(t *testing.T) {
	declared := 0
	for k := range kernel.All().All() {
		for attr, types := range k.Types {
			declared++
			a := k.Definition().Attr(attr)
			switch {
			case a == nil || a.Kind != graph.AttrType:
				t.Errorf("%s declares types of %q, which is no type attribute", k.Op, attr)
			case len(types) == 0:
				t.Errorf("%s takes no type for %s", k.Op, attr)
			}
			for i, d := range types {
				if slices.Contains(types[:i], d) {
					t.Errorf("%s declares %v twice for %s", k.Op, d, attr)
				}
			}
		}
	}
	if declared < 150 {
		t.Errorf("%d kernels declare types", declared)
	}
}

// TestATypeWithoutAKernelIsRefused prepares each kernel for each type that its
// definition allows: a type that isn't declared is an error that lists those that
// are.
func TestATypeWithoutAKernelIsRefused(t *testing.T) {
	for k := range kernel.All().All() {
		for attr, types := range k.Types {
			allowed := k.Definition().Attr(attr).AllowedTypes
			if allowed == nil {
				allowed = tensor.DTypes()
			}
			for _, d := range allowed {
				n := &engine.Node{Op: k.Op, Attrs: graph.Attrs{graph.Type(attr, d)}, In: []graph.Fact{{DType: d}, {DType: d}, {DType: d}}}
				_, err := kernel.All().Prepare(n)
				var refused *engine.UnsupportedTypeError
				switch no := errors.As(err, &refused); {
				case no && slices.Contains(types, d):
					t.Errorf("%s declares %v and refuses it: %v", k.Op, d, err)
				case !no && !slices.Contains(types, d):
					t.Errorf("%s takes %v, which it doesn't declare (%v)", k.Op, d, err)
				case no && (refused.Type != d || !slices.Equal(refused.Known, types)):
					t.Errorf("%s of %v: %v", k.Op, d, err)
				}
			}
		}
	}
}

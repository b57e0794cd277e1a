package rest

import (
	"slices"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/internal/nearest"
	"github.com/cairnml/cairn/tensor"
)

// Spec describes an input or output of a signature. The caller makes Specs of a savedmodel.TensorInfo
// or by hand: this package knows no SavedModels.
type Spec struct {
	// Name is the name under which the JSON holds it.
	Name string
	// DType is the type of the elements.
	DType tensor.DType
	// Shape holds the sizes, negative for unknown ones. Nil means that the number
	// of dimensions is unknown too; a scalar's shape is empty, not nil.
	Shape tensor.Shape
	// Optional inputs may be missing. Default: a missing input is an error.
	Optional bool
}

// specNamed returns the index of the Spec with that name, -1 if there is none.
func specNamed(specs []Spec, name string) int {
	return slices.IndexFunc(specs, func(s Spec) bool { return s.Name == name })
}

// unknownName returns the problem with a name that no Spec has.
func unknownName(what, name string, specs []Spec) string {
	names := make([]string, len(specs))
	quoted := make([]string, len(specs))
	for i, s := range specs {
		names[i], quoted[i] = s.Name, strconv.Quote(s.Name)
	}
	p := "there is no " + what + " " + quote(name)
	switch near := nearest.Names(name, names, 1); {
	case len(specs) == 0:
		return p + "; the signature has none"
	case len(near) == 1 && near[0] != name && len(specs) > 8:
		return p + "; did you mean " + strconv.Quote(near[0]) + "?"
	}
	return p + "; the signature has " + strings.Join(quoted, ", ")
}

package describe

import (
	"encoding/json"
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// Shape is a shape of which sizes or the rank may be unknown.
type Shape struct{ graph.PartialShape }

// String returns the shape for people: "[?,4]", "?" if the rank is unknown.
func (s Shape) String() string {
	if !s.HasRank() {
		return "?"
	}
	return s.PartialShape.String()
}

// MarshalJSON returns an array with null for each unknown size; null if the rank is
// unknown.
func (s Shape) MarshalJSON() ([]byte, error) {
	if !s.HasRank() {
		return []byte("null"), nil
	}
	sizes := make([]*int, s.Rank())
	for i := range sizes {
		if d := s.Dim(i); d >= 0 {
			sizes[i] = &d
		}
	}
	return json.Marshal(sizes)
}

// dtypeWords returns the name of an element type; "?" if it is unknown.
func dtypeWords(d tensor.DType) string {
	if d == tensor.Invalid {
		return "?"
	}
	return d.String()
}

// unknowns writes "?" for the unknown parts of the text of a [graph.Structure]: a
// shape of unknown rank, and the type [tensor.Invalid].
var unknowns = strings.NewReplacer("<unknown>", "?", "dtype(0)", "?")

// Scalar is the value of a scalar variable, no string, as it is printed. Its JSON is a
// number or a boolean, and a string for all else, such as NaN.
type Scalar string

// MarshalJSON returns the number, boolean or string.
func (s Scalar) MarshalJSON() ([]byte, error) {
	switch s {
	case "True":
		return []byte("true"), nil
	case "False":
		return []byte("false"), nil
	}
	number := strings.TrimSuffix(string(s), ".")
	if c := strings.TrimPrefix(number, "-"); c != "" && c[0] >= '0' && c[0] <= '9' && json.Valid([]byte(number)) {
		return []byte(number), nil
	}
	return json.Marshal(string(s))
}

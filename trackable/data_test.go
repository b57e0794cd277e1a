package trackable

import (
	"strings"
	"testing"

	"github.com/cairnml/cairn/tensor"
)

// TestDataThatIsNotTrackedIsRefused: a field that holds data which no checkpoint
// would have is an error that names it, unless it is tagged.
func TestDataThatIsNotTrackedIsRefused(t *testing.T) {
	x := tensor.Scalar[float32](1)
	v := vec(1)
	for name, obj := range map[string]any{
		"a tensor": &struct {
			V    *Variable
			Mean *tensor.Tensor
		}{v, x},
		"a nil one": &struct {
			V    *Variable
			Mean *tensor.Tensor
		}{V: v},
		"unexported": &struct {
			V    *Variable
			mean *tensor.Tensor
		}{v, x},
		"a slice": &struct {
			V    *Variable
			Mean []*tensor.Tensor
		}{v, []*tensor.Tensor{x}},
		"a map": &struct {
			V    *Variable
			Mean map[string]*tensor.Tensor
		}{v, nil},
		"an interface": &struct {
			V    *Variable
			Mean any
		}{v, x},
		"a slice of interfaces": &struct {
			V    *Variable
			Mean []any
		}{v, []any{x}},
		"a mixed map": &struct {
			V    *Variable
			Mean map[string]any
		}{v, map[string]any{"a": v, "mean": x}},
	} {
		_, err := Walk(obj, nil)
		if err == nil || !strings.Contains(strings.ToLower(err.Error()), "mean") || !strings.Contains(err.Error(), `cairn:"-"`) {
			t.Errorf("%s: %v, want an error about the field", name, err)
		}
	}
	if _, err := Walk(&struct {
		V    *Variable
		Mean *tensor.Tensor `cairn:"-"`
		Any  any
		List []any
		Size tensor.Shape
	}{v, x, "text", []any{1}, nil}, nil); err != nil {
		t.Error(err)
	}
}

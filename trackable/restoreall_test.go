package trackable

import (
	"errors"
	"testing"

	"github.com/cairnml/cairn/internal/restoring"
	"github.com/cairnml/cairn/tensor"
)

// TestRestoredVariablesAreStamped, once all values are there and not before.
func TestRestoredVariablesAreStamped(t *testing.T) {
	a, b := NewVariable(tensor.Vector[float32](1, 2)), NewVariable(tensor.Scalar[int32](3))
	vars := []*Variable{a, b}
	shape := func(i int) tensor.Shape { return []tensor.Shape{{2}, {}}[i] }
	stamps := func() [2]uint64 { return [2]uint64{a.TrackableNode().currentStamp(), b.TrackableNode().currentStamp()} }
	broken := errors.New("broken")
	if err := restoreAll(vars, shape, func([]*tensor.Tensor) error { return broken }, &restoring.Options{Stamp: 7}); err != broken || stamps() != [2]uint64{} {
		t.Errorf("a restore that fails: %v, stamps %v", err, stamps())
	}
	fill := func([]*tensor.Tensor) error { return nil }
	if err := restoreAll(vars, shape, fill, &restoring.Options{Stamp: 7}); err != nil || stamps() != [2]uint64{7, 7} {
		t.Errorf("a restore: %v, stamps %v", err, stamps())
	}
	if err := restoreAll(vars, shape, fill, nil); err != nil || stamps() != [2]uint64{7, 7} {
		t.Errorf("one without a stamp: %v, stamps %v", err, stamps())
	}
}

// TestAttachedEdgesAreCounted, those of a new object in an old one's place too.
func TestAttachedEdgesAreCounted(t *testing.T) {
	v := NewVariable(tensor.Scalar[int32](3))
	before := attachedEdges()
	if v.TrackableNode().hasEdges() {
		t.Error("a new variable has edges")
	}
	x := NewVariable(nil)
	for range 2 { // the same again is no other edge
		if err := v.TrackableNode().Attach("x", x); err != nil {
			t.Fatal(err)
		}
	}
	if n := attachedEdges() - before; n != 1 || !v.TrackableNode().hasEdges() {
		t.Errorf("%d edges were attached", n)
	}
	if err := v.TrackableNode().Attach("x", v); err == nil || attachedEdges()-before != 1 {
		t.Errorf("an edge that was refused is counted: %v", err)
	}
	if valued, err := x.takes(tensor.Float32, tensor.Shape{3}); valued || err != nil {
		t.Errorf("a variable without a value: %v, %v", valued, err)
	}
	if valued, err := v.takes(tensor.Int32, tensor.Shape{}); !valued || err != nil {
		t.Errorf("a variable of that kind: %v, %v", valued, err)
	}
	if _, err := v.takes(tensor.Int32, tensor.Shape{1}); err == nil {
		t.Error("a variable takes another shape")
	}
}

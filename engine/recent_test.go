package engine

import (
	"testing"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// A remembered call must not be used for another attribute, another type or
// another set of kernels.
func TestRecentTellsCallsApart(t *testing.T) {
	made := 0
	kernel := func(op string) Kernel {
		return Kernel{Op: op, Prepare: func(n *Node) (func(*Call) error, error) {
			made++
			return func(c *Call) error { return nil }, nil
		}}
	}
	one, err := NewKernelSet([]Kernel{kernel("Mine"), kernel("Other")})
	if err != nil {
		t.Fatal(err)
	}
	two, err := one.Replace(kernel("Mine"))
	if err != nil {
		t.Fatal(err)
	}
	f, i := []Value{ValueOf(tensor.Scalar[float32](1))}, []Value{ValueOf(tensor.Scalar[int32](1))}
	on := graph.Attrs{graph.Bool("flag", true)}
	off := graph.Attrs{graph.Bool("flag", false)}
	var r Recent
	seen := map[*Prepared]int{}
	calls := []struct {
		set   *KernelSet
		op    string
		attrs graph.Attrs
		in    []Value
	}{
		{one, "Mine", nil, f}, {one, "Mine", nil, i}, {one, "Mine", on, f}, {one, "Mine", off, f}, {one, "Other", nil, f},
		{one, "Mine", nil, append(f[:1:1], f[0])}, {two, "Mine", nil, f},
	}
	for range 2 {
		for k, c := range calls {
			p, err := r.Prepare(c.set, c.op, c.attrs, c.in)
			if err != nil {
				t.Fatal(err)
			}
			if before, ok := seen[p]; ok && before != k {
				t.Errorf("call %d gets what call %d was prepared as", k, before)
			}
			seen[p] = k
		}
	}
	if made != len(calls) || len(seen) != len(calls) {
		t.Errorf("%d kernels were prepared for %d calls, %d are in use", made, len(calls), len(seen))
	}
}

// A set made of another one must not use plans of functions that the other one prepared.
func TestASetPreparesEagerCallsOfItsOwn(t *testing.T) {
	run := func(*Call) error { return nil }
	calls := Kernel{Op: "Mine", Prepare: func(n *Node) (func(*Call) error, error) {
		set := n.Functions.(eagerFunctions).kernels
		if set.Lookup("Inner") == nil {
			return func(*Call) error { return set.Missing("Inner") }, nil
		}
		return run, nil
	}}
	one, err := NewKernelSet([]Kernel{calls})
	if err != nil {
		t.Fatal(err)
	}
	two, err := one.With(Kernel{Op: "Inner", Run: run})
	if err != nil {
		t.Fatal(err)
	}
	in := []Value{ValueOf(tensor.Scalar[float32](1))}
	a, err := one.PrepareEager("Mine", nil, in)
	if err != nil {
		t.Fatal(err)
	}
	b, err := two.PrepareEager("Mine", nil, in)
	if err != nil {
		t.Fatal(err)
	}
	if a == b {
		t.Error("a call of the larger set runs the kernel that was prepared for the smaller one")
	}
}

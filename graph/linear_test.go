package graph

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/cairnml/cairn/internal/testkit/processor"
	"github.com/cairnml/cairn/tensor"
)

// wide returns a function of n nodes and nothing else.
func wide(t *testing.T, name string, n int) *Function {
	t.Helper()
	fn := NewFunction(name)
	for i := range n {
		must(t, fn.Graph.Add(&Node{Name: fmt.Sprint("n", i), Op: "ReadVariableOp", Def: LookupOp("ReadVariableOp"), Out: []Fact{{DType: tensor.Float32}}}))
	}
	return fn
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestWideGraphsTakeLinearTime has nodes with many inputs, many calls, and many gradients.
func TestWideGraphsTakeLinearTime(t *testing.T) {
	const bound = time.Second
	inline := func(t *testing.T, fn *Function) {
		t.Helper()
		processor.Bound(t, "inlining", bound, func() {
			if _, err := fn.Inline(nil); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("nodes with many control inputs", func(t *testing.T) {
		fn := wide(t, "f", 16_000)
		all := fn.Graph.nodes
		must(t, fn.Graph.Add(&Node{Name: "call", Op: CallOp, Attrs: Attrs{Func("f", wide(t, "g", 1))}}))
		for range 40 {
			end := &Node{Op: "NoOp", Control: all}
			must(t, fn.Graph.Add(end))
			fn.Control = append(fn.Control, ControlResult{end.Name, end})
		}
		inline(t, fn)
	})
	t.Run("calls with many arguments", func(t *testing.T) {
		fn, g := wide(t, "f", 16_000), NewFunction("g")
		var all []Output
		for _, n := range fn.Graph.nodes {
			all = append(all, n.Output(0))
			if _, err := g.AddArg(n.Name, Fact{DType: tensor.Float32}); err != nil {
				t.Fatal(err)
			}
		}
		must(t, g.Graph.Add(&Node{Name: "end", Op: "NoOp"}))
		g.Control = []ControlResult{{"end", g.Graph.Lookup("end")}}
		for range 20 {
			call := &Node{Op: CallOp, Attrs: Attrs{Func("f", g)}, In: all}
			must(t, fn.Graph.Add(call))
			fn.Control = append(fn.Control, ControlResult{call.Name, call})
		}
		inline(t, fn)
	})
	t.Run("many calls of a function that is too large", func(t *testing.T) {
		fn, g := NewFunction("f"), wide(t, "g", maxInlined+1)
		for _, n := range g.Graph.nodes {
			g.Control = append(g.Control, ControlResult{n.Name, n})
		}
		for range 200 {
			n := &Node{Op: CallOp, Attrs: Attrs{Func("f", g)}}
			must(t, fn.Graph.Add(n))
			fn.Control = append(fn.Control, ControlResult{n.Name, n})
		}
		inline(t, fn)
	})
	t.Run("many nodes with gradients", func(t *testing.T) {
		from, gradient := &Library{}, NewFunction("gradient")
		fn := wide(t, "f", 20_000)
		fn.Graph.Library = from
		for _, n := range fn.Graph.nodes {
			n.Attrs = Attrs{String(gradientType, "gradient of "+n.Name)}
			from.Registered = append(from.Registered, RegisteredGradient{Type: "gradient of " + n.Name, Gradient: Callee{Function: gradient}})
		}
		lib := Assemble(fn)
		processor.Bound(t, "inheriting", bound, func() { must(t, lib.Inherit()) })
		if len(lib.Registered) != len(from.Registered) {
			t.Errorf("it inherits %d gradients, want %d", len(lib.Registered), len(from.Registered))
		}
	})
	t.Run("many control results", func(t *testing.T) {
		fn := wide(t, "f", 60_000)
		for _, n := range fn.Graph.nodes[1:] {
			fn.Control = append(fn.Control, ControlResult{n.Name, n})
		}
		processor.Bound(t, "the results", bound, func() {
			if got := fn.controlResults(fn.Graph.kept()); len(got) != 60_000 {
				t.Errorf("%d control results, want 60000", len(got))
			}
		})
	})
}

func TestFunctionNamesDifferFromStrings(t *testing.T) {
	f := NewFunction("f")
	name := FunctionName("x", f)
	for _, c := range []struct {
		other Attr
		equal bool
	}{{String("x", ""), false}, {String("x", "f"), false}, {FunctionName("x", NewFunction("f")), false}, {FunctionName("x", f), true}} {
		if name.Equal(c.other) != c.equal || c.other.Equal(name) != c.equal {
			t.Errorf("%v equals %v: %v, want %v", name, c.other, !c.equal, c.equal)
		}
	}
}

// TestIdentitiesAreNotReused takes identities around the end of 32 bits.
func TestIdentitiesAreNotReused(t *testing.T) {
	restarts := 0 // the identities fall from one to the next, until an int has no more
	if strconv.IntSize == 32 {
		restarts = 1
	}
	last := lastDim.Load()
	defer lastDim.Store(last)
	lastDim.Store(1<<31 - 4)
	before := NewDim()
	for range 8 {
		d := NewDim()
		if d == before || KnownDim(d) || d == -1 {
			t.Fatalf("the identity %d follows %d", d, before)
		}
		if d > before {
			restarts--
		}
		before = d
	}
	if restarts != 0 {
		t.Errorf("the identities start again %d times more or less than they must", restarts)
	}
}

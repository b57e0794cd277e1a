package scan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/testkit/processor"
)

// TestRingsOfManyCallsAreFoundInLinearTime: each of a chain of functions calls the next one and the first.
func TestRingsOfManyCallsAreFoundInLinearTime(t *testing.T) {
	const n = 50_000
	c := &callGraph{out: map[string][]string{}}
	for i := range n {
		name := fmt.Sprint("f", i)
		c.names = append(c.names, name)
		c.out[name] = []string{fmt.Sprint("f", (i+1)%n), "f0"}
	}
	end := processor.Begin(t, "the work", 3*time.Second)
	loops := c.loops()
	end()
	if len(loops) != n+1 {
		t.Fatalf("%d loops", len(loops))
	}
	for i, want := range map[int][]string{0: {"f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "…", "f0"}, n - 1: {"f0", "f1", "f0"}, n: {"f0", "f0"}} {
		if !slices.Equal(loops[i], want) {
			t.Errorf("loop %d is %v, want %v", i, loops[i], want)
		}
	}
}

// TestManyCallsOfOneFunctionAreWalkedOnce: many nodes call a function of many results.
func TestManyCallsOfOneFunctionAreWalkedOnce(t *testing.T) {
	const n = 10_000
	f := graph.NewFunction("f")
	for i := range n {
		node := &graph.Node{Op: "NoOp", Name: fmt.Sprint("r", i)}
		if err := f.Graph.Add(node); err != nil {
			t.Fatal(err)
		}
		f.Control = append(f.Control, graph.ControlResult{Node: node})
	}
	g := &graph.Graph{}
	var from []*graph.Node
	for i := range n {
		node := &graph.Node{Op: "PartitionedCall", Name: fmt.Sprint("c", i), Attrs: graph.Attrs{graph.Call("f", graph.Callee{Function: f})}}
		if err := g.Add(node); err != nil {
			t.Fatal(err)
		}
		from = append(from, node)
	}
	r := &reach{by: map[*graph.Node]string{}, entered: map[*graph.Function]bool{}}
	end := processor.Begin(t, "the work", 3*time.Second)
	r.walk("first", from[:n-1], nil)
	r.walk("second", append(r.enter(f), from[n-1]), nil)
	end()
	if r.of(f.Control[n-1].Node) != "first" || r.of(from[n-1]) != "second" || len(r.by) != 2*n {
		t.Errorf("%d nodes; %q and %q", len(r.by), r.of(f.Control[n-1].Node), r.of(from[n-1]))
	}
}

// TestSearchesForDescriptionsEndWithTheContext, within one of them as well.
func TestSearchesForDescriptionsEndWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := make([]byte, 4<<20)
	for i := range b {
		b[i] = ' '
	}
	copy(b, `{"a`)
	if n := jsonObject(ctx, b); n != -(1 << 20) {
		t.Errorf("%d bytes were looked at", -n)
	}
	copy(b, hdf5Magic)
	if _, err := Bytes(ctx, b, "x.h5", nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := (&scanner{ctx: ctx}).kerasHDF5(b); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

package run

import (
	"fmt"
	"testing"
	"time"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/testkit/processor"
)

// TestManyUnknownOpsAreListedInLinearTime: each node of a file may have an op of its own.
func TestManyUnknownOpsAreListedInLinearTime(t *testing.T) {
	const n = 30_000
	e := &UnsupportedError{}
	end := processor.Begin(t, "the work", 3*time.Second)
	for i := range 2 * n {
		e.add(&graph.Node{Op: fmt.Sprintf("Op%06d", i%n)}, "here")
	}
	both := e.with(e)
	end()
	if len(both.Ops) != n || both.Ops[n-1].Op != fmt.Sprintf("Op%06d", n-1) || both.Ops[7].Count != 4 {
		t.Errorf("%d ops, %+v", len(both.Ops), both.Ops[7])
	}
}

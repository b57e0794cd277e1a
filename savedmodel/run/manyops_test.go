package run

import (
	"fmt"
	"testing"
	"time"

	"github.com/cairnml/cairn/graph"
)

// TestManyUnknownOpsAreListedInLinearTime: each node of a file may have an op of its own.
func TestManyUnknownOpsAreListedInLinearTime(t *testing.T) {
	const n = 30_000
	e := &UnsupportedError{}
	start := time.Now()
	for i := range 2 * n {
		e.add(&graph.Node{Op: fmt.Sprintf("Op%06d", i%n)}, "here")
	}
	both := e.with(e)
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("it took %v", took)
	}
	if len(both.Ops) != n || both.Ops[n-1].Op != fmt.Sprintf("Op%06d", n-1) || both.Ops[7].Count != 4 {
		t.Errorf("%d ops, %+v", len(both.Ops), both.Ops[7])
	}
}

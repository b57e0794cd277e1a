package engine_test

import (
	"context"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// log records its events.
type log struct {
	nodes []string
	bad   int
}

func (l *log) Op(e engine.OpEvent) {
	l.nodes = append(l.nodes, e.Op)
	if e.Function != "chain" || e.Depth != 1 || e.Took < 0 || e.Begin.IsZero() || len(e.Out) != 1 || e.Out[0].Tensor == nil {
		l.bad++
	}
}

// TestATracerIsToldOfEveryOp: in their order, with their outputs.
func TestATracerIsToldOfEveryOp(t *testing.T) {
	p, err := engine.Compile(chain(t, 3), &engine.CompileOptions{Kernels: addKernels(t)})
	if err != nil {
		t.Fatal(err)
	}
	var l log
	x := engine.ValueOf(tensor.Must(tensor.New([]float32{1, 2}, 2)))
	if _, err := p.Run(context.Background(), []engine.Value{x, x}, &engine.RunOptions{Tracer: &l}); err != nil {
		t.Fatal(err)
	}
	if len(l.nodes) != 3 || l.nodes[0] != "AddV2" || l.bad > 0 {
		t.Errorf("%+v", l)
	}
}

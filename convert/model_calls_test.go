package convert

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// TestCallsThatHandOnAVariable: hostile functions return fewer values than the call has outputs, or call each other
// without end.
func TestCallsThatHandOnAVariable(t *testing.T) {
	handle, value := graph.Fact{DType: tensor.Resource}, graph.Fact{DType: tensor.Float32}
	stored := &storage{to: tensor.BFloat16, fact: value}
	// function returns one that calls another op with its handle.
	function := func(name, op string, attrs ...graph.Attr) *graph.Function {
		f := graph.NewFunction(name)
		v, err := f.AddArg("v", handle)
		if err != nil {
			t.Fatal(err)
		}
		n := &graph.Node{Op: op, Name: "call", Attrs: attrs, In: []graph.Output{v}, Out: []graph.Fact{value}}
		if strings.HasSuffix(op, "Case") {
			i, err := f.AddArg("i", graph.Fact{DType: tensor.Int32})
			if err != nil {
				t.Fatal(err)
			}
			n.In = []graph.Output{i, v}
		}
		if err := f.Graph.Add(n); err != nil {
			t.Fatal(err)
		}
		f.AddResult("y", n.Output(0))
		return f
	}
	empty := graph.NewFunction("empty")
	if _, err := empty.AddArg("v", handle); err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]*graph.Function{
		"no branches": function("f", "Case", graph.Funcs("branches")),
		"no results":  function("f", "PartitionedCall", graph.Call("f", graph.Callee{Function: empty})),
	} {
		args := []*storage{stored, nil}
		if _, err := new(functionRewriter).rewrite(f, args[:len(f.Args)]); err == nil {
			t.Errorf("%s: the function was rewritten", name)
		} else {
			t.Log(err)
		}
	}
	chain := function("last", "ReadVariableOp", graph.Type("dtype", tensor.Float32))
	for i := range maxCalls - 1 {
		chain = function(fmt.Sprint("f", i), "PartitionedCall", graph.Call("f", graph.Callee{Function: chain}))
	}
	if _, err := new(functionRewriter).rewrite(chain, []*storage{stored}); err != nil {
		t.Error(err)
	}
	chain = function("first", "PartitionedCall", graph.Call("f", graph.Callee{Function: chain}))
	if _, err := new(functionRewriter).rewrite(chain, []*storage{stored}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a chain of %d calls: %.200v", maxCalls+1, err)
	}
}

package graph_test

import (
	"testing"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// TestNamesInFilesAreThoseThatAreWritten: arguments whose names are invalid in
// files are written under other names, which don't clash with existing ones.
func TestNamesInFilesAreThoseThatAreWritten(t *testing.T) {
	fn := graph.NewFunction("f")
	var args []*graph.Node
	for _, name := range []string{"0", "X/y", "arg_0", "fine"} {
		a, err := fn.AddArg(name, graph.Fact{DType: tensor.Float32})
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, a.Node)
	}
	raw, err := (&graph.Graph{Library: graph.Assemble(fn)}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	g, err := graph.Unmarshal(raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	read := g.Library.Lookup("f")
	for i, a := range args {
		if got, want := fn.NameInFile(a), read.Args[i].Name; got != want {
			t.Errorf("%s: NameInFile gives %q, the file has %q", a.Name, got, want)
		}
	}
	if got := fn.NameInFile(args[0]); got == "0" || got == "arg_0" {
		t.Errorf("the argument 0 is called %q", got)
	}
}

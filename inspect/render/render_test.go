package render

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// odd returns a graph with a cycle, a shared node, a node that nothing reaches
// and names that every language has to escape.
func odd() *Graph {
	g := &Graph{
		Nodes: []Node{{Title: "a <root> & \"more\"\\"}, {Kind: Variable, Info: "float32 [2]", Value: "1"}, {Kind: Optimizer, Info: "slots m of 1 variable"}, {Kind: Slot}, {}},
		Edges: []Edge{
			{From: 0, To: 1, Label: "<v>&\"\\\n\x00\xff", Tree: true},
			{From: 0, To: 2, Label: "optimizer", Tree: true},
			{From: 1, To: 3, Label: "m", Slot: true, Tree: true},
			{From: 2, To: 3, Label: "m", Slot: true},
			{From: 2, To: 0, Label: "back"},
			{From: 2, To: 1, Label: "]]>"},
		},
	}
	g.Link()
	return g
}

func wellFormed(t *testing.T, text []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(text))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("no XML: %v\n%s", err, text)
		}
	}
}

func TestPicturesAreWellFormed(t *testing.T) {
	for name, g := range map[string]*Graph{"odd": odd(), "empty": {}, "alone": {Nodes: []Node{{Title: "x"}}}} {
		g.Link()
		var svg, dot, text bytes.Buffer
		if err := errors.Join(g.SVG(&svg), g.DOT(&dot), g.Text(&text, &TextOptions{Color: true})); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		wellFormed(t, svg.Bytes())
		if strings.Contains(svg.String(), "NaN") || strings.Count(dot.String(), "{") != strings.Count(dot.String(), "}") {
			t.Errorf("%s: %s\n%s", name, svg.String(), dot.String())
		}
	}
}

func TestPicturesUseTheGuidesColours(t *testing.T) {
	var b bytes.Buffer
	if err := odd().SVG(&b); err != nil {
		t.Fatal(err)
	}
	for kind, color := range colors {
		if !strings.Contains(b.String(), `r="6" fill="`+color+`"`) && !strings.Contains(b.String(), `r="4" fill="`+color+`"`) {
			t.Errorf("no node of kind %d in %s", kind, color)
		}
	}
	if n := strings.Count(b.String(), "stroke-dasharray"); n != 2 {
		t.Errorf("%d dashed edges, want one from the variable and one from the optimizer", n)
	}
}

func TestTreesLinkToWhatWasDrawnBefore(t *testing.T) {
	g := odd()
	g.Edges[0].Label = "v\x1b[31m"
	g.Link()
	var b bytes.Buffer
	if err := g.Text(&b, &TextOptions{ASCII: true}); err != nil {
		t.Fatal(err)
	}
	want := `a <root> & "more"\
|- v\x1b[31m  float32 [2] = 1, slots m
` + "`- optimizer  slots m of 1 variable\n   |- back  -> the root\n   `- ]]>  -> v\\x1b[31m\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestNamesCantCommandTheTerminal(t *testing.T) {
	for in, want := range map[string]string{"a/b": "a/b", "é→": "é→", "a\x1b[2J": `a\x1b[2J`, "\xff\x00\n": `\xff\x00\n`, "\u202e": `\u202e`, "\u009b": `\x9b`} {
		want = strings.ReplaceAll(want, `\n`, `\x0a`)
		if got := Printable(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestPathsAreBounded(t *testing.T) {
	g := &Graph{Nodes: make([]Node, 1000)}
	for i := range 999 {
		g.Edges = append(g.Edges, Edge{From: i, To: i + 1, Label: "step", Tree: true})
	}
	g.Link()
	if p := g.Path(2); p != "step/step" {
		t.Error(p)
	}
	if p := g.Path(999); len(p) > MaxPath+20 || !strings.HasPrefix(p, "…") {
		t.Error(len(p), p)
	}
	if p := g.Path(999); p == g.Path(998) {
		t.Error("two nodes with one path")
	}
}

func TestDOTHoldsNoControlCharacters(t *testing.T) {
	g := &Graph{Nodes: []Node{{Title: "t\x1b[31m"}, {Info: "\x07"}}, Edges: []Edge{{From: 0, To: 1, Label: "a\x1b\x00\xff\"", Tree: true}}}
	var b strings.Builder
	if err := g.DOT(&b); err != nil {
		t.Fatal(err)
	}
	for i, c := range []byte(b.String()) {
		if c < ' ' && c != '\n' && c != '\t' || c == 0x7f || c == 0xff {
			t.Errorf("byte %d of %q commands the terminal", i, b.String())
		}
	}
}

// TestWhatALineHasNoRoomForGoesOnBelow checks texts that don't fit in a line:
// the lines below have more room.
func TestWhatALineHasNoRoomForGoesOnBelow(t *testing.T) {
	g := &Graph{Nodes: []Node{{Title: "r"}, {Kind: Variable, Info: "float32 [2]"}, {}, {Info: "function (inputs, training=false), 2 traces"}}, Edges: []Edge{
		{From: 0, To: 1, Label: "layer_with_weights_and_bias", Tree: true}, {From: 0, To: 2, Label: "below", Tree: true},
		{From: 2, To: 1, Label: "embeddings_of_positions"}, {From: 2, To: 3, Label: "call_and_return_losses", Tree: true}}}
	g.Link()
	const want = `r
|- layer_with_weights_and_bias  float32 [2]
` + "`- below\n" +
		"   |- embeddings_of_positions\n" +
		"   |      -> layer_with_weights_and_bias\n" +
		"   `- call_and_return_losses\n" +
		"          function (inputs, training=false),\n" +
		"            2 traces\n"
	var b strings.Builder
	if err := g.Text(&b, &TextOptions{ASCII: true, Width: 45}); err != nil || b.String() != want {
		t.Errorf("%v\n%swant\n%s", err, b.String(), want)
	}
}

func TestEmptyNamesAreSeen(t *testing.T) {
	g := &Graph{Nodes: make([]Node, 3), Edges: []Edge{{From: 0, To: 1, Tree: true}, {From: 1, To: 2, Tree: true}}}
	g.Nodes[2] = Node{Kind: Variable, Info: "float32"}
	g.Link()
	var b bytes.Buffer
	if err := g.Text(&b, &TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if want := "└─ \"\"\n   └─ \"\"  float32\n"; !strings.HasSuffix(b.String(), want) {
		t.Errorf("%q, want it to end with %q", b.String(), want)
	}
}

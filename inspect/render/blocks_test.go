package render

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
)

// network returns a model of layers, each of which holds variables, with an
// optimizer's slots: about seven nodes a layer.
func network(layers int, alike bool) *Graph {
	g := &Graph{Nodes: []Node{{Title: "run/ckpt-1  (many tensors)"}, {}, {Kind: Optimizer, Info: "slots m, v"}}}
	g.Edges = []Edge{{From: 0, To: 1, Label: "model", Tree: true}, {From: 0, To: 2, Label: "optimizer", Tree: true}}
	add := func(from int, label string, n Node, slot bool) int {
		g.Nodes = append(g.Nodes, n)
		g.Edges = append(g.Edges, Edge{From: from, To: len(g.Nodes) - 1, Label: label, Tree: true, Slot: slot})
		return len(g.Nodes) - 1
	}
	for i := range layers {
		l := add(1, fmt.Sprintf("layer_with_a_long_name-%d", i), Node{}, false)
		for _, name := range []string{"kernel", "bias"} {
			info := "float32 [64,64]"
			if !alike {
				info = fmt.Sprintf("float32 [%d]", i)
			}
			v := add(l, name, Node{Kind: Variable, Info: info}, false)
			for _, s := range []string{"m", "v"} {
				at := add(v, s, Node{Kind: Slot, Info: info}, true)
				g.Edges = append(g.Edges, Edge{From: 2, To: at, Label: s, Slot: true})
			}
		}
		g.Edges = append(g.Edges, Edge{From: 1, To: l, Label: fmt.Sprintf("layer-%d", i)}, Edge{From: l, To: 1, Label: "owner"})
	}
	g.Link()
	return g
}

// box is the place of a text of the picture.
type box struct {
	x, y, w, h float64
	s          string
}

// textBoxes reads the texts of an SVG.
func textBoxes(t *testing.T, svg []byte) []box {
	t.Helper()
	var out []box
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		e, ok := tok.(xml.StartElement)
		if !ok || e.Name.Local != "text" {
			continue
		}
		var b box
		size := letterSize
		for _, a := range e.Attr {
			v, _ := strconv.ParseFloat(a.Value, 64)
			switch a.Name.Local {
			case "x":
				b.x = v
			case "y":
				b.y = v
			case "font-size":
				size = v
			}
		}
		if err := d.DecodeElement(&b.s, &e); err != nil {
			t.Fatal(err)
		}
		b.w, b.h = widthOf(b.s, size), size*0.9
		b.y -= b.h
		out = append(out, b)
	}
}

func TestLabelsOfPicturesDontCollide(t *testing.T) {
	deep := &Graph{Nodes: make([]Node, 3000)}
	for i := range 2999 {
		deep.Edges = append(deep.Edges, Edge{From: i, To: i + 1, Label: strings.Repeat("x", i%80), Tree: true}, Edge{From: i + 1, To: i, Label: "back"})
	}
	deep.Link()
	for name, g := range map[string]*Graph{"60 nodes": network(8, false), "2,000 nodes": network(285, false), "2,000 alike": network(285, true), "odd": odd(), "deep": deep} {
		var b bytes.Buffer
		if err := g.SVG(&b); err != nil {
			t.Fatal(err)
		}
		boxes := textBoxes(t, b.Bytes())
		var width float64
		if _, err := fmt.Sscanf(strings.SplitN(b.String(), `width="`, 2)[1], "%f", &width); err != nil {
			t.Fatal(err)
		}
		for _, p := range boxes {
			if p.x+p.w > width {
				t.Errorf("%s: %q ends at %.0f, the picture at %.0f", name, p.s, p.x+p.w, width)
			}
		}
		if len(boxes) > 2500 {
			t.Errorf("%s: %d texts, which nobody reads", name, len(boxes))
		}
		for i, p := range boxes {
			for _, q := range boxes[i+1:] {
				if p.x < q.x+q.w && q.x < p.x+p.w && p.y < q.y+q.h && q.y < p.y+p.h {
					t.Errorf("%s: %q at %.0f,%.0f lies over %q at %.0f,%.0f", name, p.s, p.x, p.y, q.s, q.x, q.y)
				}
			}
		}
	}
}

func TestLayersShowTheirVariablesInside(t *testing.T) {
	root, folded := network(8, false).fold()
	if folded != 0 {
		t.Errorf("%d objects of a small graph are folded", folded)
	}
	layers := 0
	root.each(func(b *block) {
		if !strings.HasPrefix(b.label, "layer_") {
			return
		}
		layers++
		if len(b.rows) != 3 || b.rows[0].name != "kernel" || len(b.rows[0].slots) != 2 || b.rows[2].info != "→ model" {
			t.Errorf("%s: %+v", b.label, b.rows)
		}
		if want := "layer_with_a_long_name-0, layer-0"; layers == 1 && b.label != want {
			t.Errorf("%q, want %q", b.label, want)
		}
	})
	if layers != 8 {
		t.Errorf("%d layers, want 8", layers)
	}
}

func TestLargeGraphsFoldAndSaySo(t *testing.T) {
	for _, alike := range []bool{false, true} {
		g := network(285, alike)
		root, folded := g.fold()
		blocks, shown := 0, 0
		root.each(func(b *block) {
			blocks++
			if b.node >= 0 {
				shown++
			}
			for _, r := range b.rows {
				if r.node >= 0 {
					shown++
				}
			}
		})
		slots := 285 * 4
		if blocks > maxBlocks || shown+folded+slots != len(g.Nodes) {
			t.Errorf("alike %v: %d blocks; %d shown, %d folded, %d slots of %d nodes", alike, blocks, shown, folded, slots, len(g.Nodes))
		}
		var b bytes.Buffer
		if err := g.SVG(&b); err != nil || !strings.Contains(b.String(), fmt.Sprintf("%d objects are folded", folded)) {
			t.Errorf("the picture doesn't say that %d objects are folded: %v", folded, err)
		}
		if alike && blocks != 5 {
			t.Errorf("%d blocks for layers of one form, want the root, model, optimizer, a layer and a word for the others", blocks)
		}
	}
}

func TestEmptyObjectsShareALine(t *testing.T) {
	g := &Graph{Nodes: []Node{{Title: "r"}, {}, {}, {}, {Kind: Variable, Info: "int32"}}}
	for i, l := range []string{"_losses", "_tracked", "模型", "step"} {
		g.Edges = append(g.Edges, Edge{From: 0, To: i + 1, Label: l, Tree: true})
	}
	g.Link()
	for width, want := range map[int]string{80: "r\n|- step  int32\n`- 3 without values: _losses, _tracked, 模型\n", 41: "r\n|- step  int32\n`- 3 without values: _losses, _tracked, …\n"} {
		var b strings.Builder
		if err := g.Text(&b, &TextOptions{ASCII: true, Width: width}); err != nil || b.String() != want {
			t.Errorf("%d columns: %v\n%swant\n%s", width, err, b.String(), want)
		}
	}
}

func TestDepthZeroShowsTheRootAlone(t *testing.T) {
	var b strings.Builder
	if err := network(1, true).Text(&b, &TextOptions{ASCII: true, MaxDepth: -1}); err != nil {
		t.Fatal(err)
	}
	if want := "run/ckpt-1  (many tensors)\n`- … 2 more below\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

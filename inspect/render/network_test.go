package render

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// chain returns a network of blocks that follow each other, each of two boxes and an addition
// around them.
func chain(blocks int) *Network {
	n := &Network{Title: "chain <&>", Boxes: []Box{{InputBox, "x", ""}}}
	last := 0
	for i := range blocks {
		at := len(n.Boxes)
		n.Boxes = append(n.Boxes, Box{LayerBox, fmt.Sprintf("block_%d/conv", i), "Conv2D"}, Box{LayerBox, fmt.Sprintf("block_%d/norm", i), "BatchNormalization"},
			Box{LayerBox, fmt.Sprintf("block_%d/add", i), "Add"})
		n.Arrows = append(n.Arrows, Arrow{last, at, "float32 [?,8]"}, Arrow{at, at + 1, "float32 [?,8]"}, Arrow{at + 1, at + 2, "float32 [?,8]"}, Arrow{last, at + 2, "float32 [?,8]"})
		last = at + 2
	}
	n.Boxes = append(n.Boxes, Box{OutputBox, "y", ""})
	n.Arrows = append(n.Arrows, Arrow{last, len(n.Boxes) - 1, "float32 [?,8]"})
	return n
}

func TestNetworksAreWellFormedAndReadDownwards(t *testing.T) {
	for _, blocks := range []int{0, 1, 5, 96} {
		n := chain(blocks)
		var svg, dot bytes.Buffer
		if err := n.SVG(&svg); err != nil {
			t.Fatal(err)
		}
		wellFormed(t, svg.Bytes())
		if err := n.DOT(&dot); err != nil {
			t.Fatal(err)
		}
		f := n.fold(MaxBoxes)
		l := f.layOut()
		for i, a := range f.Arrows {
			if from, to := l.boxes[a.From], l.boxes[a.To]; from.y+from.h > to.y {
				t.Errorf("%d blocks: arrow %d leads from %q up to %q", blocks, i, f.Boxes[a.From].Name, f.Boxes[a.To].Name)
			}
		}
		for i, p := range l.boxes {
			for k, q := range l.boxes[:i] {
				if p.x < q.x+q.w && q.x < p.x+p.w && p.y < q.y+q.h && q.y < p.y+p.h {
					t.Errorf("%d blocks: %q covers %q", blocks, f.Boxes[i].Name, f.Boxes[k].Name)
				}
			}
			if p.x < 0 || p.x+p.w > l.width || p.y+p.h > l.height {
				t.Errorf("%q lies outside the picture", f.Boxes[i].Name)
			}
		}
	}
}

func TestRepeatedPartsOfNetworksAreDrawnOnce(t *testing.T) {
	n := chain(96)
	f := n.fold(MaxBoxes)
	var names []string
	for _, b := range f.Boxes {
		names = append(names, b.Name)
	}
	want := "x block_0/conv block_0/norm block_0/add 95 more like the 3 before y"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := n.Drawn(); got != len(f.Boxes) {
		t.Errorf("Drawn returned %d of %d", got, len(f.Boxes))
	}
	if small := chain(4); small.fold(MaxBoxes) != small {
		t.Error("a small network was folded")
	}
}

func TestNetworksWithoutRepeatsAreCut(t *testing.T) {
	n := &Network{}
	for i := range 1000 {
		// Classes of all lengths, so that nothing repeats.
		n.Boxes = append(n.Boxes, Box{LayerBox, "b", strings.Repeat("c", i)})
		if i > 0 {
			n.Arrows = append(n.Arrows, Arrow{i - 1, i, ""})
		}
	}
	f := n.fold(MaxBoxes)
	if len(f.Boxes) != maxBlocks || len(f.Arrows) != maxBlocks-1 {
		t.Errorf("%d boxes and %d arrows", len(f.Boxes), len(f.Arrows))
	}
	found := false
	for _, b := range f.Boxes {
		found = found || b.Name == "851 more"
	}
	if !found {
		t.Error("nothing says how many boxes are left out")
	}
}

func TestNetworksMayHaveCycles(t *testing.T) {
	n := &Network{Boxes: []Box{{Name: "a"}, {Name: "b"}, {Name: "c"}}, Arrows: []Arrow{{0, 1, "l"}, {1, 2, "m"}, {2, 0, "n"}, {1, 1, "o"}}}
	var svg bytes.Buffer
	if err := n.SVG(&svg); err != nil {
		t.Fatal(err)
	}
	wellFormed(t, svg.Bytes())
	if c := strings.Count(svg.String(), "Z\""); c != 3 {
		t.Errorf("%d arrowheads, want 3", c)
	}
}

func TestAlikeSiblingsOfATreeShareALine(t *testing.T) {
	g := network(30, true)
	var folded, whole bytes.Buffer
	if err := g.Text(&folded, &TextOptions{Fold: true}); err != nil {
		t.Fatal(err)
	}
	if err := g.Text(&whole, nil); err != nil {
		t.Fatal(err)
	}
	if f, w := strings.Count(folded.String(), "\n"), strings.Count(whole.String(), "\n"); f*3 > w || !strings.Contains(folded.String(), " more like ") {
		t.Errorf("%d lines of %d:\n%s", f, w, folded.String())
	}
	for i := range g.Nodes {
		if i > 100 && g.Nodes[i].Kind == Variable {
			g.Nodes[i].Value = "7" // a value is never hidden
			break
		}
	}
	folded.Reset()
	if err := g.Text(&folded, &TextOptions{Fold: true}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(folded.String(), "= 7") {
		t.Errorf("a value is missing:\n%s", folded.String())
	}
}

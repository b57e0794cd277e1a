package render

import (
	"bufio"
	"fmt"
	"io"
)

// The pictures are for people. So sizes, colors and the choice of folded parts may change, together with
// the goldens of the command that have pictures.

// Network is a picture of a model's computation: boxes, and tensors that flow between
// them. It is drawn from top to bottom. Packages savedmodel/describe and keras, and the
// verb show, make networks.
type Network struct {
	Title  string
	Boxes  []Box
	Arrows []Arrow
}

// BoxKind is the kind of a box of a network. Pictures colour boxes by it.
type BoxKind int

// The kinds of boxes.
const (
	LayerBox  BoxKind = iota // a layer or an op
	InputBox                 // an input of the model
	OutputBox                // an output of the model
	FoldedBox                // words about boxes that are left out
)

// Box is a layer, an op, an input or an output.
type Box struct {
	Kind BoxKind
	Name string
	Info string // below the name, in a smaller font: the class, or the ops
}

// Arrow is a tensor that flows from one box to another. Its label is the element type
// and shape.
type Arrow struct {
	From, To int // indices of boxes
	Label    string
}

// boxColors are the fills and borders of boxes.
var boxColors = map[BoxKind][2]string{
	LayerBox: {"#ffffff", "#5f6368"}, InputBox: {"#e8f0fe", "#1a73e8"}, OutputBox: {"#e6f4ea", "#188038"}, FoldedBox: {"#f8f9fa", frameColor},
}

// MaxBoxes is the number of boxes up to which a network is drawn as it is. In a larger
// one, repeated parts are drawn once.
const MaxBoxes = 60

// SVG writes the network as an SVG picture.
func (n *Network) SVG(w io.Writer) error { return n.Draw(SVGSurface(w)) }

// Drawn returns the number of boxes that a picture of the network has, with repeated parts
// folded.
func (n *Network) Drawn() int { return len(n.fold(MaxBoxes).Boxes) }

// DOT writes the network in Graphviz's language, with repeated parts folded as in a picture.
func (n *Network) DOT(w io.Writer) error {
	n = n.fold(MaxBoxes)
	b := bufio.NewWriter(w)
	b.WriteString("digraph network {\n  rankdir=TB;\n  node [shape=box, style=\"filled,rounded\", fontname=\"Helvetica\", fontsize=12];\n  edge [fontname=\"Helvetica\", fontsize=10, color=\"#5f6368\", arrowsize=0.6];\n")
	fmt.Fprintf(b, "  label=%s;\n  labelloc=t;\n", dotString(n.Title))
	for i, x := range n.Boxes {
		label := dotString(x.Name)
		if x.Info != "" {
			label = label[:len(label)-1] + `\n` + dotString(x.Info)[1:]
		}
		fmt.Fprintf(b, "  n%d [label=%s, fillcolor=%q, color=%q];\n", i, label, boxColors[x.Kind][0], boxColors[x.Kind][1])
	}
	for _, a := range n.Arrows {
		fmt.Fprintf(b, "  n%d -> n%d [label=%s];\n", a.From, a.To, dotString(a.Label))
	}
	b.WriteString("}\n")
	return b.Flush()
}

// Sizes of a network's picture, in pixels unless the comment says otherwise.
const (
	boxHeight     = 26.0 // of a box with a name alone
	infoHeight    = 15.0 // of the words below the name
	rankGap       = 46.0 // between rows of boxes, for arrows and their labels
	boxGap        = 22.0 // between boxes of a row
	arrowSize     = 10.0 // of the font of arrows' labels and of boxes' Info
	maxBoxLetters = 44   // number of letters of a name; a longer one is cut in its middle
)

// Draw draws the network.
func (n *Network) Draw(s Surface) error {
	n = n.fold(MaxBoxes)
	l := n.layOut()
	c, err := s(max(l.width, marginX*2+widthOf(n.Title, letterSize+2)), l.height)
	if err != nil {
		return err
	}
	c.Text(marginX, marginTop+14, n.Title, TextStyle{Size: 14, Color: inkColor})
	for _, a := range l.arrows {
		p := MoveTo(a.points[0][0], a.points[0][1])
		for i, to := range a.points[1:] {
			from := a.points[i]
			mid := (from[1] + to[1]) / 2
			if from[0] == to[0] {
				p.LineTo(to[0], to[1])
			} else {
				p.CurveTo(from[0], mid, to[0], mid, to[0], to[1])
			}
		}
		c.Path(p, Stroke{Color: edgeColor, Width: 1.2, Arrow: true})
	}
	for _, a := range l.arrows {
		if a.label != "" {
			w := widthOf(a.label, arrowSize)
			c.Rect(a.labelX-1, a.labelY-arrowSize+1, w+2, arrowSize+2, 0, "#ffffff", "")
			c.Text(a.labelX, a.labelY, a.label, TextStyle{Size: arrowSize, Color: wordColor})
		}
	}
	for i, x := range n.Boxes {
		p := l.boxes[i]
		fill := boxColors[x.Kind]
		c.Rect(p.x, p.y, p.w, p.h, 5, fill[0], fill[1])
		c.Text(p.x+p.w/2, p.y+17, cut(x.Name, maxBoxLetters), TextStyle{Size: letterSize, Color: inkColor, Bold: x.Kind != FoldedBox, Middle: true})
		if x.Info != "" {
			c.Text(p.x+p.w/2, p.y+17+infoHeight, cut(x.Info, maxBoxLetters+6), TextStyle{Size: arrowSize, Color: wordColor, Middle: true})
		}
	}
	return c.Flush()
}

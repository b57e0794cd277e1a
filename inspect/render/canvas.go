package render

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"strings"
)

// Canvas is a surface for pictures: svgCanvas below writes SVG, package raster PNG. Lengths are pixels
// of an SVG, y grows downwards, and colours are written as "#rrggbb". Methods keep the first error
// for Flush.
type Canvas interface {
	// Rect draws a rectangle with round corners. An empty fill or border is left out.
	Rect(x, y, w, h, radius float64, fill, border string)
	// Circle draws a filled circle. Its title is shown if a medium can, such as by a
	// browser below the pointer.
	Circle(x, y, r float64, fill, title string)
	// Path draws a line.
	Path(p *Path, s Stroke)
	// Text draws one line of text; y is its baseline.
	Text(x, y float64, words string, s TextStyle)
	// Flush ends the picture and returns the first error of writing it.
	Flush() error
}

// Surface makes the canvas for a picture of that size.
type Surface func(width, height float64) (Canvas, error)

// Stroke is the look of a line.
type Stroke struct {
	Color  string
	Width  float64
	Dashed bool
	Arrow  bool // the line ends in an arrowhead
}

// TextStyle is the look of a text.
type TextStyle struct {
	Size         float64
	Color        string
	Bold, Italic bool
	Middle       bool // x is the text's middle, not its start
}

// Path is a line of straight pieces and cubic curves.
type Path struct{ Pieces []Piece }

// Piece is a part of a [Path]. A curve has the control points (X1, Y1) and (X2, Y2). The
// first piece is only the start of the path.
type Piece struct {
	Curve          bool
	X1, Y1, X2, Y2 float64
	X, Y           float64 // the end of the piece
}

// MoveTo returns a path that begins at (x, y).
func MoveTo(x, y float64) *Path { return &Path{[]Piece{{X: x, Y: y}}} }

// LineTo appends a straight piece and returns the path.
func (p *Path) LineTo(x, y float64) *Path {
	p.Pieces = append(p.Pieces, Piece{X: x, Y: y})
	return p
}

// CurveTo appends a cubic curve and returns the path.
func (p *Path) CurveTo(x1, y1, x2, y2, x, y float64) *Path {
	p.Pieces = append(p.Pieces, Piece{true, x1, y1, x2, y2, x, y})
	return p
}

// arrowLength is the length of an arrowhead in pixels, arrowHalf half of its width.
const arrowLength, arrowHalf = 7.0, 3.5

// Arrowhead returns the corners of the arrowhead at a path's end, whose tip comes first.
func (p *Path) Arrowhead() [3][2]float64 {
	last := p.Pieces[len(p.Pieces)-1]
	fromX, fromY := last.X2, last.Y2
	if !last.Curve && len(p.Pieces) > 1 {
		before := p.Pieces[len(p.Pieces)-2]
		fromX, fromY = before.X, before.Y
	}
	dx, dy := last.X-fromX, last.Y-fromY
	if n := hypot(dx, dy); n > 0 {
		dx, dy = dx/n, dy/n
	} else {
		dy = 1
	}
	x, y := last.X-dx*arrowLength, last.Y-dy*arrowLength
	return [3][2]float64{{last.X, last.Y}, {x - dy*arrowHalf, y + dx*arrowHalf}, {x + dy*arrowHalf, y - dx*arrowHalf}}
}

// SVGSurface returns the surface that writes an SVG picture to w.
func SVGSurface(w io.Writer) Surface {
	return func(width, height float64) (Canvas, error) {
		b := bufio.NewWriter(w)
		fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" font-family="Helvetica, Arial, sans-serif" font-size="12">`+"\n",
			width, height, width, height)
		b.WriteString(`<rect width="100%" height="100%" fill="#ffffff"/>` + "\n")
		return &svgCanvas{b}, nil
	}
}

// svgCanvas writes the elements of an SVG.
type svgCanvas struct{ b *bufio.Writer }

func (c *svgCanvas) Rect(x, y, w, h, radius float64, fill, border string) {
	if fill == "" {
		fill = "none"
	}
	fmt.Fprintf(c.b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f"`, x, y, w, h)
	if radius > 0 {
		fmt.Fprintf(c.b, ` rx="%.0f"`, radius)
	}
	fmt.Fprintf(c.b, ` fill="%s"`, fill)
	if border != "" {
		fmt.Fprintf(c.b, ` stroke="%s"`, border)
	}
	c.b.WriteString("/>\n")
}

func (c *svgCanvas) Circle(x, y, r float64, fill, title string) {
	fmt.Fprintf(c.b, `<circle cx="%.1f" cy="%.1f" r="%.0f" fill="%s"`, x, y, r, fill)
	if title == "" {
		c.b.WriteString("/>\n")
		return
	}
	fmt.Fprintf(c.b, "><title>%s</title></circle>\n", escapeXML(title))
}

func (c *svgCanvas) Path(p *Path, s Stroke) {
	c.b.WriteString(`<path d="`)
	x, y := 0.0, 0.0
	for i, e := range p.Pieces {
		if i > 0 {
			c.b.WriteByte(' ')
		}
		switch {
		case i == 0:
			fmt.Fprintf(c.b, "M%.1f %.1f", e.X, e.Y)
		case e.Curve:
			fmt.Fprintf(c.b, "C%.1f %.1f %.1f %.1f %.1f %.1f", e.X1, e.Y1, e.X2, e.Y2, e.X, e.Y)
		case e.Y == y:
			fmt.Fprintf(c.b, "H%.1f", e.X)
		case e.X == x:
			fmt.Fprintf(c.b, "V%.1f", e.Y)
		default:
			fmt.Fprintf(c.b, "L%.1f %.1f", e.X, e.Y)
		}
		x, y = e.X, e.Y
	}
	fmt.Fprintf(c.b, `" fill="none" stroke="%s" stroke-width="%.1f"`, s.Color, s.Width)
	if s.Dashed {
		c.b.WriteString(` stroke-dasharray="4 3"`)
	}
	c.b.WriteString("/>\n")
	if s.Arrow {
		a := p.Arrowhead()
		fmt.Fprintf(c.b, `<path d="M%.1f %.1f L%.1f %.1f L%.1f %.1f Z" fill="%s"/>`+"\n", a[0][0], a[0][1], a[1][0], a[1][1], a[2][0], a[2][1], s.Color)
	}
}

func (c *svgCanvas) Text(x, y float64, words string, s TextStyle) {
	if words == "" {
		return
	}
	fmt.Fprintf(c.b, `<text x="%.1f" y="%.1f" fill="%s"`, x, y, s.Color)
	if s.Size != letterSize {
		fmt.Fprintf(c.b, ` font-size="%.0f"`, s.Size)
	}
	if s.Bold {
		c.b.WriteString(` font-weight="bold"`)
	}
	if s.Italic {
		c.b.WriteString(` font-style="italic"`)
	}
	if s.Middle {
		c.b.WriteString(` text-anchor="middle"`)
	}
	fmt.Fprintf(c.b, ">%s</text>\n", escapeXML(words))
}

func (c *svgCanvas) Flush() error {
	c.b.WriteString("</svg>\n")
	return c.b.Flush()
}

// escapeXML escapes words for XML and removes control characters, which XML excludes.
func escapeXML(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0xfffe || r == 0xffff {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	return html.EscapeString(s)
}

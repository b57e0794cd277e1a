package plot

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// svgCanvas writes a picture of vectors.
type svgCanvas struct{ b *bufio.Writer }

func newSVG(w io.Writer, width, height float64) *svgCanvas {
	c := &svgCanvas{bufio.NewWriter(w)}
	fmt.Fprintf(c.b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]g %[2]g" width="%[1]g" height="%[2]g" font-family="Helvetica, Arial, sans-serif">`+"\n", width, height)
	c.b.WriteString(`<rect width="100%" height="100%" fill="#ffffff"/>` + "\n")
	return c
}

func (c *svgCanvas) rect(x, y, w, h float64, fill color) {
	fmt.Fprintf(c.b, `<rect x="%.2f" y="%.2f" width="%.2f" height="%.2f" fill="%s"/>`+"\n", x, y, w, h, fill)
}

func (c *svgCanvas) text(x, y, size float64, a anchor, fill color, s string) {
	place := ""
	switch a {
	case atMiddle:
		place = ` text-anchor="middle"`
	case atEnd:
		place = ` text-anchor="end"`
	}
	fmt.Fprintf(c.b, `<text x="%.2f" y="%.2f" font-size="%g"%s fill="%s">`, x, y, size, place, fill)
	xml.EscapeText(c.b, []byte(strings.ToValidUTF8(s, "?"))) // the writer keeps the error
	c.b.WriteString("</text>\n")
}

func (c *svgCanvas) flush() error {
	c.b.WriteString("</svg>\n")
	return c.b.Flush()
}

func (c color) String() string { return fmt.Sprintf("#%02x%02x%02x", c[0], c[1], c[2]) }

// Package plot draws histograms as SVG and PNG pictures, for the verb stat. It is separate from
// package render so that programs which draw none link no font. Sizes, colors and labels may
// change, together with the golden of the command that has an SVG.
package plot

import (
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Histogram is one panel of [Histograms].
type Histogram struct {
	Title    string
	Note     string  // below the title, in a smaller font
	Low      float64 // the value at which the first bin begins
	BinWidth float64 // in values; all bins have it
	Counts   []int   // elements in each bin
}

// Sizes of the picture, in pixels of an SVG; a PNG has twice as many.
const (
	panelWidth  = 320.0
	panelHeight = 200.0
	gap         = 16.0 // between panels and around them
	titleSize   = 12.0 // of the title's font
	tickSize    = 10.0 // of the font of labels and the note
	tickLength  = 4.0
)

var (
	ink   = color{0x20, 0x21, 0x24}
	gray  = color{0x5f, 0x63, 0x68}
	pale  = color{0x80, 0x86, 0x8b}
	blue  = color{0x1a, 0x73, 0xe8}
	white = color{0xff, 0xff, 0xff}
)

type color [3]uint8

// anchor is the point of a text that its place refers to.
type anchor int

const (
	atStart anchor = iota
	atMiddle
	atEnd
)

// canvas is the surface on which a panel is drawn: pngCanvas or svgCanvas. Places and sizes are
// pixels of an SVG, from the upper left corner. A text's y is its baseline. The first error of
// writing is kept for flush.
type canvas interface {
	rect(x, y, w, h float64, c color)
	text(x, y, size float64, a anchor, c color, s string)
	flush() error
}

// CheckName returns an error unless name's suffix is that of a picture that
// [Histograms] draws.
func CheckName(name string) error {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".svg", ".png":
		return nil
	}
	return fmt.Errorf("%q: a picture's name ends in .svg or .png", name)
}

// Histograms draws panels in a grid to w, in the format of name's suffix: .svg
// or .png.
func Histograms(w io.Writer, name string, hists []Histogram) error {
	if len(hists) == 0 {
		return errors.New("no histogram to draw")
	}
	if err := CheckName(name); err != nil {
		return err
	}
	columns := min(3, len(hists))
	rows := (len(hists) + columns - 1) / columns
	width, height := gap+float64(columns)*(panelWidth+gap), gap+float64(rows)*(panelHeight+gap)
	var c canvas
	var err error
	if strings.EqualFold(filepath.Ext(name), ".png") {
		c, err = newPNG(w, width, height)
	} else {
		c = newSVG(w, width, height)
	}
	if err != nil {
		return err
	}
	for i, h := range hists {
		h.draw(c, gap+float64(i%columns)*(panelWidth+gap), gap+float64(i/columns)*(panelHeight+gap))
	}
	return c.flush()
}

// draw draws the panel with its upper left corner at x, y.
func (h Histogram) draw(c canvas, x, y float64) {
	most := 0
	for _, n := range h.Counts {
		most = max(most, n)
	}
	note := h.Note
	if most == 0 {
		note = strings.TrimPrefix(note+", no finite value", ", ")
	}
	c.text(x, y+titleSize, titleSize, atStart, ink, shorten(h.Title, 46))
	c.text(x, y+titleSize+tickSize+4, tickSize, atStart, gray, note)

	top := max(float64(most)*1.05, 1)
	up := ticks(0, top, true)
	left := 0.0
	for _, t := range up {
		left = max(left, textWidth(t.label, tickSize))
	}
	left += x + tickLength + 4
	right := x + panelWidth
	head, foot := y+titleSize+tickSize+14, y+panelHeight-tickSize-tickLength-4
	for _, t := range up {
		at := foot - t.value/top*(foot-head)
		c.rect(left-tickLength, at-0.25, tickLength, 0.5, pale)
		c.text(left-tickLength-3, at+tickSize*0.35, tickSize, atEnd, gray, t.label)
	}
	if lo, hi, ok := h.span(); ok {
		for i, n := range h.Counts {
			if n == 0 {
				continue
			}
			w := (right - left) / float64(len(h.Counts))
			tall := max(float64(n)/top*(foot-head), 0.5) // one among millions can still be seen
			c.rect(left+float64(i)*w, foot-tall, w, tall, blue)
		}
		reach := -math.MaxFloat64 // the end of the last label
		for _, t := range ticks(lo, hi, false) {
			at := left + (t.value-lo)/(hi-lo)*(right-left)
			c.rect(at-0.25, foot, 0.5, tickLength, pale)
			half := textWidth(t.label, tickSize) / 2
			mid := min(at, right-half+4)
			if mid-half < reach+4 {
				continue // would run into the one before
			}
			reach = mid + half
			c.text(mid, foot+tickLength+tickSize, tickSize, atMiddle, gray, t.label)
		}
	}
	c.rect(left-0.25, head, 0.5, foot-head, pale)
	c.rect(left, foot-0.25, right-left, 0.5, pale)
}

// span returns the range of values that the bins cover; ok is false if there is
// none to draw.
func (h Histogram) span() (lo, hi float64, ok bool) {
	hi = h.Low + h.BinWidth*float64(len(h.Counts))
	return h.Low, hi, hi > h.Low && !math.IsInf(hi-h.Low, 0)
}

// textWidth returns about how wide a text is drawn.
func textWidth(s string, size float64) float64 {
	return float64(utf8.RuneCountInString(s)) * size * 0.58
}

// shorten keeps the end of a long name, which is more distinctive than its
// beginning.
func shorten(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return "…" + string(r[len(r)-n+1:])
}

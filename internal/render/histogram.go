package render

import (
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Histogram is one panel of [Histograms].
type Histogram struct {
	Title    string
	Note     string // in small letters behind the title
	Low      float64
	BinWidth float64
	Counts   []int
}

// Histograms draws panels in a grid to w, as the suffix of name says: .svg or
// .png.
func Histograms(w io.Writer, name string, hists []Histogram) error {
	if len(hists) == 0 {
		return errors.New("no histogram to draw")
	}
	columns := min(3, len(hists))
	rows := (len(hists) + columns - 1) / columns
	width, height := vg.Length(columns)*8.4*vg.Centimeter, vg.Length(rows)*5.2*vg.Centimeter
	var c vg.CanvasSizer
	var to io.WriterTo
	switch suffix := strings.ToLower(filepath.Ext(name)); suffix {
	case ".svg":
		s := vgsvg.New(width, height)
		c, to = s, s
	case ".png":
		i := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(144))
		c, to = i, vgimg.PngCanvas{Canvas: i}
	default:
		return fmt.Errorf("%q: a picture's name ends in .svg or .png", name)
	}
	grid := make([][]*plot.Plot, rows)
	for r := range grid {
		grid[r] = make([]*plot.Plot, columns)
		for k := range grid[r] {
			if n := r*columns + k; n < len(hists) {
				p, err := panel(hists[n])
				if err != nil {
					return err
				}
				grid[r][k] = p
			}
		}
	}
	tiles := draw.Tiles{Rows: rows, Cols: columns, PadX: 14, PadY: 14, PadTop: 8, PadBottom: 8, PadLeft: 8, PadRight: 12}
	dc := draw.New(c)
	canvases := plot.Align(grid, tiles, dc)
	for r := range grid {
		for k, p := range grid[r] {
			if p != nil {
				p.Draw(canvases[r][k])
			}
		}
	}
	_, err := to.WriteTo(w)
	return err
}

func panel(h Histogram) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = shorten(h.Title, 46)
	if h.Note != "" {
		p.Title.Text += "\n" + h.Note
	}
	p.Title.TextStyle.Font.Size = font.Length(8)
	p.Title.Padding = 4
	p.Title.TextStyle.Font.Variant = "Sans"
	small := func(a *plot.Axis) {
		a.Tick.Label.Font.Size = font.Length(7)
		a.Tick.Length = 3
		a.LineStyle.Width = 0.5
		a.Tick.LineStyle.Width = 0.5
		a.LineStyle.Color = color.Gray{0x80}
		a.Tick.LineStyle.Color = color.Gray{0x80}
		a.Tick.Marker = fewTicks{}
		a.Tick.Label.Font.Variant = "Sans"
	}
	small(&p.X)
	small(&p.Y)
	p.Y.Tick.Marker = fewTicks{whole: true}
	bins := make([]plotter.HistogramBin, len(h.Counts))
	most := 0
	for i, n := range h.Counts {
		bins[i] = plotter.HistogramBin{Min: h.Low + float64(i)*h.BinWidth, Max: h.Low + float64(i+1)*h.BinWidth, Weight: float64(n)}
		most = max(most, n)
	}
	if most == 0 {
		p.Title.Text += "\nno finite value"
	}
	if h.BinWidth > 0 && !math.IsInf(h.BinWidth, 0) {
		p.Add(&plotter.Histogram{Bins: bins, Width: h.BinWidth, FillColor: color.RGBA{0x1a, 0x73, 0xe8, 0xff}, LineStyle: draw.LineStyle{Width: 0}})
		p.X.Min, p.X.Max = bins[0].Min, bins[len(bins)-1].Max
	}
	p.Y.Min, p.Y.Max = 0, max(float64(most)*1.05, 1)
	return p, nil
}

// fewTicks marks an axis at three to five round numbers, all told apart.
type fewTicks struct {
	whole bool // counts: no fractions
}

func (f fewTicks) Ticks(lo, hi float64) []plot.Tick {
	if !(hi > lo) || math.IsInf(hi-lo, 0) {
		return []plot.Tick{{Value: lo, Label: strconv.FormatFloat(lo, 'g', 3, 64)}}
	}
	raw := (hi - lo) / 4
	step := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5, 10} {
		if m*step >= raw {
			step *= m
			break
		}
	}
	if f.whole {
		step = max(1, math.Round(step))
	}
	var ticks []plot.Tick
	for k := math.Ceil(lo/step - 1e-9); k*step <= hi+step*1e-9 && len(ticks) < 12; k++ {
		v := k * step
		// As many digits as the step needs at this magnitude.
		digits := 1
		if a := max(math.Abs(lo), math.Abs(hi)); a > 0 {
			digits = max(1, int(math.Floor(math.Log10(a))-math.Floor(math.Log10(step)))+1)
		}
		if k == 0 {
			v = 0
		}
		label := strconv.FormatFloat(v, 'g', min(digits, 15), 64)
		if f.whole || math.Abs(v) < 1e5 && math.Abs(v) >= 1e-3 {
			label = strconv.FormatFloat(v, 'f', max(0, -int(math.Floor(math.Log10(step)+1e-9))), 64)
		}
		ticks = append(ticks, plot.Tick{Value: v, Label: label})
	}
	if len(ticks) == 0 { // numbers so small that steps between them vanish
		for _, v := range []float64{lo, hi} {
			ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'g', 3, 64)})
		}
	}
	return ticks
}

// shorten keeps the end of a long name, which tells more than its beginning.
func shorten(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return "…" + string(r[len(r)-n+1:])
}

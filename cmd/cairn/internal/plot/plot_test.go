package plot

import (
	"bytes"
	"encoding/xml"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"
)

func TestHistogramsAreDrawnInBothFormats(t *testing.T) {
	h := []Histogram{{Title: strings.Repeat("long/", 30), Note: "float32 [3]", Low: -1, BinWidth: 0.5, Counts: []int{1, 5, 0, 2}}, {Title: "none", Counts: make([]int, 4)}}
	var svg, pic bytes.Buffer
	if err := Histograms(&svg, "x.SVG", h); err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(&svg); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if err := Histograms(&pic, "x.png", h); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&pic)
	if err != nil {
		t.Fatal(err)
	}
	bars := 0
	for x := range img.Bounds().Dx() {
		for y := range img.Bounds().Dy() {
			if img.At(x, y) == img.ColorModel().Convert(blue.rgba()) {
				bars++
			}
		}
	}
	if all := img.Bounds().Dx() * img.Bounds().Dy(); bars < all/100 || bars > all/2 {
		t.Errorf("%d of %d pixels are bars", bars, all)
	}
	if err := Histograms(io.Discard, "x.gif", h); err == nil {
		t.Error("a .gif was drawn")
	}
	if err := Histograms(io.Discard, "x.svg", nil); err == nil {
		t.Error("nothing was drawn")
	}
}

func TestTicksTellNumbersApart(t *testing.T) {
	for _, r := range [][2]float64{{0, 1}, {1.76, 1.9}, {-0.173, -0.143}, {6e-4, 7.5e-4}, {1e9, 1e9 + 4}, {-1e300, 1e300}, {0, 3}, {1e-310, 2e-310}, {5, 5}} {
		seen := map[string]bool{}
		list := ticks(r[0], r[1], false)
		if len(list) == 0 || len(list) > 12 {
			t.Errorf("%v: %d ticks", r, len(list))
		}
		for _, k := range list {
			if seen[k.label] || math.IsNaN(k.value) {
				t.Errorf("%v: %q twice, or no number", r, k.label)
			}
			seen[k.label] = true
		}
	}
}

func TestZeroHasNoSign(t *testing.T) {
	for _, k := range ticks(-1, 1, false) {
		if strings.HasPrefix(k.label, "-0") && k.value == 0 {
			t.Error(k)
		}
	}
}

package main

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/cairnml/cairn/internal/app/render"
)

func TestTablesWrapOnTerminalsOnly(t *testing.T) {
	long := strings.Repeat("layer/", 20) + "kernel"
	for _, tty := range []bool{false, true} {
		var out bytes.Buffer
		tab := &table{head: []string{"NAME", "BYTES"}, right: []bool{false, true}}
		tab.add(long, "12")
		tab.add("x", "3")
		tab.print(&app{out: &out, width: 80, outTTY: tty})
		lines := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
		if want := map[bool]int{false: 3, true: 4}[tty]; len(lines) != want {
			t.Errorf("terminal %v: %d lines, want %d:\n%s", tty, len(lines), want, out.String())
		}
		for _, l := range lines {
			if tty && len(l) > 80 && l != long {
				t.Errorf("%d columns: %s", len(l), l)
			}
		}
	}
}

func TestColumnsOfWideLettersAreAligned(t *testing.T) {
	var out bytes.Buffer
	tab := &table{head: []string{"NAME", "BYTES"}, right: []bool{false, true}}
	for _, name := range []string{"plain", "模型/权重", "e\u0301te\u0301", "ｆｕｌｌ", "ok 👍🏽"} {
		tab.add(name, "7")
	}
	tab.print(&app{out: &out, width: 80, outTTY: true})
	for l := range strings.Lines(out.String()) {
		if w := render.Width(strings.TrimSuffix(l, "\n")); w != 16 {
			t.Errorf("%q ends at column %d, want 16", l, w)
		}
	}
}

func TestSmallNumbersArePrintedPlainly(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want string
	}{{math.Copysign(0, -1), "0"}, {0, "0"}, {1.5, "1.5"}, {-3, "-3"}, {1e7, "1e+07"}, {math.NaN(), "-"}} {
		if got := number(c.v); got != c.want {
			t.Errorf("%v: %q, want %q", c.v, got, c.want)
		}
	}
	for in, want := range map[[2]int]string{{1, 0}: "1 histogram", {3, 0}: "3 histograms", {60, 1941}: "the first 60 of 2001 histograms; name the tensors to draw others"} {
		if got := histogramWords(in[0], in[1]); got != want {
			t.Errorf("%v: %q", in, got)
		}
	}
}

package main

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/cairnml/cairn/inspect/render"
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
		if want := map[bool]int{false: 3, true: 5}[tty]; len(lines) != want {
			t.Errorf("terminal %v: %d lines, want %d:\n%s", tty, len(lines), want, out.String())
		}
		if joined := strings.ReplaceAll(out.String(), "\n  ", ""); !strings.Contains(joined, long) {
			t.Errorf("terminal %v: the name isn't whole:\n%s", tty, out.String())
		}
		for _, l := range lines {
			if tty && len(l) > 80 {
				t.Errorf("%d columns: %s", len(l), l)
			}
		}
	}
}

// A shape may be wider than the space that names leave: it has a separate line, and
// the texts after it stay in their columns.
func TestAWideShapeHasALineOfItsOwn(t *testing.T) {
	shape := "[" + strings.Repeat("1,", 31) + "128]"
	print := func(width int, tty bool) string {
		var out bytes.Buffer
		tab := &table{head: []string{"NAME", "DTYPE", "SHAPE", "BYTES"}, right: []bool{false, false, false, true}}
		tab.add("a", "int8", "[2]", "2")
		tab.add("layer/kernel", "float32", shape, "512")
		tab.print(&app{out: &out, width: width, outTTY: tty})
		return out.String()
	}
	space := func(n int) string { return strings.Repeat(" ", n) }
	want := "NAME" + space(10) + "DTYPE    SHAPE" + space(47) + "BYTES\n" +
		"a" + space(13) + "int8     [2]" + space(53) + "2\n" +
		"layer/kernel  float32\n" + space(80-len(shape)) + shape + "\n" + space(77) + "512\n"
	if got := print(80, true); got != want {
		t.Errorf("on 80 columns:\n%swant:\n%s", got, want)
	}
	// If it is wider than the terminal, it has several.
	if got := print(40, true); !strings.Contains(got, "\n"+shape[:39]+"\n  "+shape[39:]+"\n") {
		t.Errorf("on 40 columns:\n%s", got)
	}
	for _, got := range []string{print(80, false), print(200, true)} {
		if !strings.Contains(got, "layer/kernel  float32  "+shape+"    512\n") {
			t.Errorf("with room for all:\n%s", got)
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

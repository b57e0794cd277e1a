package describe

import (
	"bufio"
	"strings"
	"testing"

	"github.com/cairnml/cairn/inspect/render"
)

// TestNamesAreBrokenOnlyOnTerminals checks the table of layers.
func TestNamesAreBrokenOnlyOnTerminals(t *testing.T) {
	long := strings.Repeat("expanded_conv_project_", 5) + "BN"
	layers := []Layer{{Name: "model", Class: "Functional"}, {Depth: 1, Name: long, Class: "BatchNormalization", Output: "float32[?,112,112,16]"}}
	for _, terminal := range []bool{false, true} {
		var b strings.Builder
		x := &text{w: bufio.NewWriter(&b), o: TextOptions{Tree: render.TextOptions{Width: 80, Break: terminal}}}
		x.layers(layers)
		x.w.Flush()
		if strings.Contains(b.String(), long) == terminal || strings.Contains(b.String(), "…") != terminal {
			t.Errorf("terminal %v:\n%s", terminal, b.String())
		}
	}
}

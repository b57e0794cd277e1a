package keras_test

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"io"
	"strings"
	"testing"

	"github.com/cairnml/cairn/inspect/render"
	"github.com/cairnml/cairn/inspect/render/raster"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// networkText writes a network, a line an arrow.
func networkText(n *render.Network) string {
	var b strings.Builder
	for _, a := range n.Arrows {
		from, to := n.Boxes[a.From], n.Boxes[a.To]
		fmt.Fprintf(&b, "%s (%s) -> %s (%s) %s\n", from.Name, from.Info, to.Name, to.Info, a.Label)
	}
	return b.String()
}

func ExampleNetwork() {
	s := keras.Symbolic(context.Background())
	x := keras.Input(s, tensor.Shape{4}, nil)
	h := (&layers.Dense{Units: 4}).Call(s, x)
	y := (&layers.Dense{Units: 2}).Call(s, keras.Named("sum", &layers.Add{}).Call(s, []*ops.Value{x, h}))
	model, err := keras.NewModel(x, y, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	n, err := keras.Network(model)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(networkText(n)) // n.SVG(w), n.DOT(w) and n.Draw(raster.Surface(w)) write pictures
	// Output:
	// input_1 (InputLayer) -> dense (Dense) float32 [?,4]
	// input_1 (InputLayer) -> sum (Add) float32 [?,4]
	// dense (Dense) -> sum (Add) float32 [?,4]
	// sum (Add) -> dense_1 (Dense) float32 [?,4]
	// dense_1 (Dense) -> dense_1 () float32 [?,2]
}

func TestSequentialModelsAreDrawnAsARow(t *testing.T) {
	in := new(layers.InputLayer)
	in.BatchInputShape = base.Shape{-1, 6}
	m := keras.NewSequential(in, &layers.Reshape{TargetShape: []int{2, 3}}, &layers.Flatten{})
	n, err := keras.Network(m)
	if err != nil {
		t.Fatal(err)
	}
	want := "input_1 (InputLayer) -> reshape (Reshape) float32 [?,6]\nreshape (Reshape) -> flatten (Flatten) float32 [?,2,3]\nflatten (Flatten) -> flatten () float32 [?,6]\n"
	if got := networkText(n); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for kind, draw := range map[string]func(w io.Writer) error{
		"<svg": n.SVG, "digraph": n.DOT, "\x89PNG": func(w io.Writer) error { return n.Draw(raster.Surface(w)) },
	} {
		var b bytes.Buffer
		if err := draw(&b); err != nil || !strings.Contains(b.String()[:min(b.Len(), 200)], kind) {
			t.Errorf("%s: %v, %.40q", kind, err, b.String())
		}
		if strings.HasPrefix(kind, "\x89") {
			if _, err := png.Decode(&b); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestOnlyBuiltSequentialModelsAreDrawn(t *testing.T) {
	if _, err := keras.Network(keras.NewSequential(&layers.Flatten{})); err == nil || !strings.Contains(err.Error(), "has not been built") {
		t.Errorf("got %v", err)
	}
}

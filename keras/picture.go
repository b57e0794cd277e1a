package keras

import (
	"fmt"

	"github.com/cairnml/cairn/inspect/render"
	"github.com/cairnml/cairn/ops"
)

// Network returns a model's layers and the tensors between them, ready to be drawn as
// plot_model does in Python: names, classes, element types and shapes. Its methods write SVG
// and Graphviz's DOT, and draw on any surface. raster.Surface is a surface that makes a PNG:
//
//	n, err := keras.Network(model)
//	err = n.SVG(file)
//	err = n.Draw(raster.Surface(file))
//
// A model in the model is one box, and so is a subclassed model. A sequential model whose
// input's shape isn't known is an error. The picture of a model may change.
func Network(model Callable) (*render.Network, error) {
	n := &render.Network{Title: modelName(model)}
	var err error
	switch m := model.(type) {
	case *Functional:
		m.draw(n)
	case *Sequential:
		err = m.draw(n)
	default:
		box(n, render.LayerBox, modelName(model), className(model))
	}
	if err != nil {
		return nil, fmt.Errorf("keras: Network: %w", err)
	}
	return n, nil
}

// box adds a box and returns its number.
func box(n *render.Network, kind render.BoxKind, name, class string) int {
	n.Boxes = append(n.Boxes, render.Box{Kind: kind, Name: name, Info: class})
	return len(n.Boxes) - 1
}

// layerBox adds the box of a layer.
func layerBox(n *render.Network, l Callable, name string) int {
	kind := render.LayerBox
	if isInput(l) {
		kind = render.InputBox
	}
	return box(n, kind, name, className(l))
}

// arrow adds an arrow for a tensor.
func arrow(n *render.Network, from, to int, v *ops.Value) {
	n.Arrows = append(n.Arrows, render.Arrow{From: from, To: to, Label: fmt.Sprintf("%v %v", v.DType(), v.Fact().Shape)})
}

// draw adds the layers, each once, and an arrow for each tensor that one takes.
func (m *network) draw(n *render.Network) {
	at := map[Callable]int{}
	for _, l := range m.layers {
		at[l] = layerBox(n, l, nameOf(l))
	}
	for _, node := range m.nodes {
		for _, p := range m.sources(node) {
			arrow(n, at[p.Node.Layer], at[node.Layer], p.Node.Outputs[p.Index])
		}
	}
	for _, v := range m.outputs.values {
		if p, ok := m.graph.PlaceOf(v); ok {
			arrow(n, at[p.Node.Layer], box(n, render.OutputBox, nameOf(p.Node.Layer), ""), v)
		}
	}
}

// draw adds the layers in a row.
func (m *Sequential) draw(n *render.Network) error {
	flow, err := m.flow()
	if err != nil {
		return err
	}
	names := m.layerNames()
	last := layerBox(n, m.input(names), modelName(m.input(names)))
	for i, l := range m.computed() {
		next := layerBox(n, l, names[i])
		arrow(n, last, next, flow[i])
		last = next
	}
	arrow(n, last, box(n, render.OutputBox, n.Boxes[last].Name, ""), flow[len(flow)-1])
	return nil
}

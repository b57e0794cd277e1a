package keras

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// SummaryOptions are the options of [Summary].
type SummaryOptions struct {
	// LineLength is the number of columns. Default: 65, or 98 with connections.
	LineLength int
	// ExpandNested lists the layers of models in the model. Default: false.
	ExpandNested bool
	// ShowTrainable adds a column with Y or N. Default: false.
	ShowTrainable bool
}

// Summary writes the table that model.summary() prints in Python: each layer's name,
// class, output shape and number of parameters, and the layers before it unless they form
// a line. A sequential model whose input's shape isn't known is an error.
//
// The text is that of tf_keras's layer_utils.print_summary, byte for byte.
func Summary(w io.Writer, model Callable, opts *SummaryOptions) error {
	if opts == nil {
		opts = &SummaryOptions{}
	}
	rows, connected, err := summaryRows(model)
	if err != nil {
		return fmt.Errorf("keras: Summary: %w", err)
	}
	t := summaryTable{opts: opts, out: w, connected: connected}
	t.columns()
	t.line(`Model: "` + modelName(model) + `"`)
	t.line(strings.Repeat("_", t.width))
	head := []string{"Layer (type)", "Output Shape", "Param #"}
	if connected {
		head = append(head, "Connected to")
	}
	if opts.ShowTrainable {
		head = append(head, "Trainable")
	}
	t.row(head, 0)
	t.line(strings.Repeat("=", t.width))
	for _, row := range rows {
		t.layer(&row, 0, false)
	}
	t.line(strings.Repeat("=", t.width))
	trainable, fixed := count(Trainable(model)), count(Variables(model))
	fixed.elements -= trainable.elements
	fixed.bytes -= trainable.bytes
	for _, c := range []struct {
		name string
		n    amount
	}{{"Total", amount{trainable.elements + fixed.elements, trainable.bytes + fixed.bytes}}, {"Trainable", trainable}, {"Non-trainable", fixed}} {
		t.line(fmt.Sprintf("%s params: %d (%s)", c.name, c.n.elements, memory(float64(c.n.bytes))))
	}
	t.line(strings.Repeat("_", t.width))
	return t.err
}

func modelName(model Callable) string {
	if name := nameOf(model); name != "" {
		return name
	}
	return base.AutomaticName(model)
}

// amount is a number of parameters and their size.
type amount struct{ elements, bytes int64 }

func count(vars []*trackable.Variable) amount {
	var a amount
	for _, v := range vars {
		n := int64(1)
		for _, size := range v.Shape() {
			n *= int64(size)
		}
		a.elements += n
		a.bytes += n * int64(v.DType().Size())
	}
	return a
}

// memory returns a size as tf_keras prints it.
func memory(size float64) string {
	units := []string{"Byte", "KB", "MB", "GB", "TB", "PB"}
	for _, unit := range units {
		if size/1024 < 1 {
			return fmt.Sprintf("%.2f %s", size, unit)
		}
		size /= 1024
	}
	return fmt.Sprintf("%.2f %s", size, units[len(units)-1])
}

// summaryRow describes a layer.
type summaryRow struct {
	name, class, shape, params, connections string // as printed
	trainable                               bool
	inner                                   []summaryRow // the layers of a model in the model
}

// summaryRows describes the layers of a model. connected reports whether they form
// something else than a line.
func summaryRows(model Callable) (rows []summaryRow, connected bool, err error) {
	switch m := model.(type) {
	case *Functional:
		calls := m.calls()
		for _, l := range m.layers {
			row, err := rowOf(l, nameOf(l))
			if err != nil {
				return nil, false, err
			}
			row.shape = shapeOf(l, calls[l])
			row.connections = m.connections(calls[l])
			rows = append(rows, row)
		}
		return rows, !m.isLine(), nil
	case *Sequential:
		flow, err := m.flow()
		if err != nil {
			return nil, false, err
		}
		names := m.layerNames()
		for i, l := range m.computed() {
			row, err := rowOf(l, names[i])
			if err != nil {
				return nil, false, err
			}
			row.shape = pythonShape(base.ShapeOf(flow[i+1]))
			rows = append(rows, row)
		}
		return rows, false, nil
	}
	var names base.Names
	edges, err := trackable.Children(model)
	if err != nil {
		return nil, false, err
	}
	for _, e := range edges {
		l, ok := e.Child.(Callable)
		if _, isLayer := e.Child.(base.LayerLike); !ok || !isLayer {
			continue
		}
		name := nameOf(l)
		if name == "" {
			name = names.Next(l)
		}
		row, err := rowOf(l, name)
		if err != nil {
			return nil, false, err
		}
		row.shape = "multiple"
		rows = append(rows, row)
	}
	return rows, false, nil
}

func rowOf(l Callable, name string) (summaryRow, error) {
	row := summaryRow{name: name, class: className(l), params: strconv.FormatInt(count(Variables(l)).elements, 10), trainable: true}
	if layer, ok := l.(base.LayerLike); ok {
		row.trainable = !layer.AsLayer().NotTrainable
		if !layer.AsLayer().Built() && !isInput(l) {
			row.params = "0 (unused)"
		}
	}
	if base.IsModel(l) {
		inner, _, err := summaryRows(l)
		if err != nil {
			return row, err
		}
		row.inner = inner
	}
	return row, nil
}

func className(l Callable) string {
	if class, ok := classes().ClassOf(l); ok {
		return class.Name
	}
	name := fmt.Sprintf("%T", l)
	return name[strings.LastIndexByte(name, '.')+1:]
}

// flow returns the symbolic input and the layers' outputs.
func (m *Sequential) flow() ([]*ops.Value, error) {
	in := m.input(m.layerNames())
	if in == nil {
		return nil, errors.New("the model has not been built, since the shape of its input isn't known; call it, or begin it with a layers.InputLayer")
	}
	return m.flowFor(ops.NewScope(context.Background()), base.Shapes{tensor.Shape(in.BatchInputShape)})
}

// shapeOf returns the shapes of a layer's outputs in its calls as Python prints them.
func shapeOf(l Callable, calls []*base.Node) string {
	var text string
	for _, n := range calls {
		var shapes []string
		for _, v := range n.Outputs {
			shapes = append(shapes, pythonShape(base.ShapeOf(v)))
		}
		next := shapes[0]
		if f, ok := l.(*Functional); ok && f.outputs.kind == mapOfTensors {
			for i, key := range f.outputs.keys {
				shapes[i] = fmt.Sprintf("'%s': %s", key, shapes[i])
			}
			next = "{" + strings.Join(shapes, ", ") + "}"
		} else if len(shapes) > 1 || isInput(l) {
			next = "[" + strings.Join(shapes, ", ") + "]"
			switch l.(type) { // which return tuples in Python
			case *layers.MultiHeadAttention, *layers.Attention, *layers.AdditiveAttention:
				next = "(" + strings.Join(shapes, ", ") + ")"
			}
		}
		if text != "" && text != next {
			return "multiple"
		}
		text = next
	}
	return text
}

func pythonShape(shape tensor.Shape) string {
	if shape == nil {
		return "<unknown>"
	}
	sizes := make([]string, len(shape))
	for i, n := range shape {
		if sizes[i] = strconv.Itoa(n); n < 0 {
			sizes[i] = "None"
		}
	}
	if len(sizes) == 1 {
		return "(" + sizes[0] + ",)"
	}
	return "(" + strings.Join(sizes, ", ") + ")"
}

// connections lists the outputs that a layer's calls take, as Python prints them.
func (n *network) connections(calls []*base.Node) string {
	list := []string{}
	for _, call := range calls {
		for _, p := range n.sources(call) {
			list = append(list, fmt.Sprintf("'%s[%d][%d]'", nameOf(p.Node.Layer), p.Node.Index, p.Index))
		}
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// sources returns the outputs that a node takes.
func (n *network) sources(node *base.Node) []base.Place {
	var list []base.Place
	look := func(v *ops.Value) *ops.Value {
		if p, ok := n.graph.PlaceOf(v); ok {
			list = append(list, p)
		}
		return v
	}
	for _, x := range node.Inputs {
		base.MapValues(x, look)
	}
	for _, key := range node.ArgNames() {
		base.MapValues(node.Args[key], look)
	}
	return list
}

// isLine reports whether each node takes the output of one other, and no layer is shared.
func (n *network) isLine() bool {
	seen := map[Callable]bool{}
	depths := map[int]bool{}
	for _, node := range n.nodes {
		if len(n.sources(node)) > 1 || seen[node.Layer] || depths[n.depth[node]] {
			return false
		}
		seen[node.Layer], depths[n.depth[node]] = true, true
	}
	return true
}

// summaryTable writes rows of columns.
type summaryTable struct {
	opts      *SummaryOptions
	out       io.Writer
	connected bool
	width     int
	ends      []int // of the columns
	err       error
}

// columns sets the columns' places. The widths and fractions are tf_keras's.
func (t *summaryTable) columns() {
	t.width = 65
	places := []float64{0.45, 0.85, 1}
	if t.connected {
		t.width, places = 98, []float64{0.3, 0.6, 0.7, 1}
	}
	if t.opts.LineLength > 0 {
		t.width = t.opts.LineLength
	}
	for _, p := range places {
		t.ends = append(t.ends, int(float64(t.width)*p))
	}
	if t.opts.ShowTrainable {
		t.width += 11
		t.ends = append(t.ends, t.width)
	}
}

func (t *summaryTable) line(text string) {
	if t.err == nil {
		_, t.err = io.WriteString(t.out, text+"\n")
	}
}

// layer writes the row of a layer, and those of the layers in it.
func (t *summaryTable) layer(r *summaryRow, level int, last bool) {
	fields := []string{r.name + " (" + r.class + ")", r.shape, r.params}
	if t.connected {
		fields = append(fields, r.connections)
	}
	if t.opts.ShowTrainable {
		fields = append(fields, map[bool]string{true: "Y", false: "N"}[r.trainable])
	}
	t.row(fields, level)
	rule := func(level int, fill string) {
		bars := strings.Repeat("|", level)
		t.line(bars + strings.Repeat(fill, max(0, t.width-2*level)) + bars)
	}
	if t.opts.ExpandNested && len(r.inner) > 0 {
		rule(level+1, "¯")
		for i := range r.inner {
			t.layer(&r.inner[i], level+1, i == len(r.inner)-1)
		}
		rule(level, "¯")
	}
	if !last {
		rule(level, " ")
	}
}

// row writes fields into the columns, on as many lines as they need. A line ends after a
// comma that ends a tuple, a list or a string.
func (t *summaryTable) row(fields []string, level int) {
	left := make([][]rune, len(fields))
	for i, f := range fields {
		left[i] = []rune(f)
	}
	for slices.ContainsFunc(left, func(r []rune) bool { return len(r) > 0 }) {
		var line []rune
		pad := func(n int) {
			for range n {
				line = append(line, ' ')
			}
		}
		for col := range left {
			start, end, last := 0, t.ends[col], col == len(t.ends)-1
			if col > 0 {
				start = t.ends[col-1]
			}
			cutoff := end - start
			if !last {
				cutoff -= 3
			}
			if col == 0 {
				cutoff -= level
			}
			cutoff = max(1, cutoff)
			fits := left[col][:min(cutoff, len(left[col]))]
			if at := breakAfter(fits); at > 0 {
				fits = fits[:at]
			}
			if col == 0 {
				line = append(line, []rune(strings.Repeat("|", level)+" ")...)
			}
			line = append(line, fits...)
			left[col] = left[col][len(fits):]
			if !last {
				pad(2)
			}
			if level > 0 && last {
				pad(end - len(line) - level)
			} else {
				pad(end - len(line))
			}
		}
		t.line(string(line) + strings.Repeat("|", level))
	}
}

// breakAfter returns the end of the first part of a text that a line should end with, 0 for
// none.
func breakAfter(text []rune) int {
	s, first := string(text), 0
	for _, end := range []string{"),", "},", "],", "',"} {
		if i := strings.Index(s, end); i >= 0 && (first == 0 || i+2 < first) {
			first = i + 2
		}
	}
	return len([]rune(s[:first]))
}

package describe

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cairnml/cairn/inspect"
	"github.com/cairnml/cairn/inspect/render"
)

// TextOptions are the settings of [Description.Text]; nil means the defaults.
type TextOptions struct {
	// Title is the first line. Default: the file's name.
	Title string
	// All shows every function, and functions in the tree of objects too. Default:
	// those of the root, and how many others there are.
	All bool
	// Tree are the settings of the tree of objects. Its Width is that of the whole
	// text.
	Tree render.TextOptions
	// Names is the tree of variable names for a model without objects; nil
	// leaves it out. Text sets the title of its root.
	Names *render.Graph
}

// Text writes the description for people.
func (d *Description) Text(w io.Writer, opts *TextOptions) error {
	var o TextOptions
	if opts != nil {
		o = *opts
	}
	if o.Tree.Width <= 0 {
		o.Tree.Width = 80
	}
	t := &text{w: bufio.NewWriter(w), o: o}
	if o.Title == "" {
		o.Title = d.File
	}
	t.line("", o.Title)
	if f := d.Fingerprint; f != nil {
		t.line("  ", "fingerprint "+f.Checksum+"  graph "+f.Graph+"  checkpoint "+f.Checkpoint)
	}
	for _, g := range d.MetaGraphs {
		if err := t.metaGraph(g, len(d.MetaGraphs) > 1); err != nil {
			return err
		}
	}
	return t.w.Flush()
}

// text writes a description. Goldens of the command have it; programs read the JSON.
type text struct {
	w *bufio.Writer
	o TextOptions
}

// head writes the title of a section, and more after it; "" adds nothing.
func (t *text) head(name, more string) {
	if t.o.Tree.Color {
		name = "\x1b[1m" + name + "\x1b[0m"
	}
	if more != "" {
		name += "  " + more
	}
	fmt.Fprintf(t.w, "\n%s\n", name)
}

// line writes words, broken at blanks if they are too long.
func (t *text) line(indent, words string) {
	for i, l := range render.Wrap(render.Printable(words), t.o.Tree.Width-len(indent)) {
		if i > 0 {
			l = "  " + l
		}
		t.whole(indent, l)
	}
}

// whole writes a line that isn't broken at blanks. It takes several lines if a
// name is too long for a terminal.
func (t *text) whole(indent, l string) {
	lines := []string{l}
	if t.o.Tree.Break {
		lines = render.Break(l, t.o.Tree.Width-len(indent))
	}
	fmt.Fprintln(t.w, indent+strings.Join(lines, "\n  "+indent))
}

func (t *text) metaGraph(g *MetaGraph, several bool) error {
	from := "TensorFlow " + g.TensorFlow
	if g.TensorFlow == "" {
		from = "an unknown TensorFlow"
	}
	tags := "no tags"
	if len(g.Tags) > 0 {
		tags = "tags " + strings.Join(g.Tags, ",")
	}
	about := fmt.Sprintf("%s, saved by %s, graph version %d, %s", tags, from, g.Producer, counted(g.Library, "function"))
	if several {
		t.head("MetaGraph", "")
	}
	if g.meta.SavedModel().IsGraphDef() {
		t.line("  ", fmt.Sprintf("graph version %d, %s, %s", g.Producer, counted(g.Nodes, "node"), counted(g.Library, "function")))
		t.endpoints("Feeds", "the graph has no placeholder", g.Feeds)
		t.endpoints("Fetches", "every output is used by another node", g.Fetches)
		t.ops(g)
		return nil
	}
	t.line("  ", about)
	t.head("Signatures", "")
	if len(g.Signatures) == 0 {
		t.line("  ", "none")
	}
	for _, s := range g.Signatures {
		t.signature(s)
	}
	if g.chosen {
		return nil
	}
	if len(g.Layers) > 0 {
		t.layers(g.Layers)
	}
	if err := t.objects(g); err != nil {
		return err
	}
	t.functions(g)
	t.assets(g)
	t.ops(g)
	return nil
}

// endpoints writes the feeds or the fetches of a GraphDef, or none if the list is empty.
func (t *text) endpoints(name, none string, list []Tensor) {
	t.head(name, "")
	if len(list) == 0 {
		t.line("  ", none)
	}
	width := 0
	for _, x := range list {
		width = max(width, render.Width(render.Printable(x.Name)))
	}
	for _, x := range list {
		t.whole("  ", pad(render.Printable(x.Name), min(width, 48))+"  "+typeWords(x))
	}
}

func (t *text) signature(s Signature) {
	title := s.Name
	if s.Method != "" {
		title += "  " + s.Method
	}
	t.line("  ", title)
	name, kind := 0, 0
	for _, list := range [][]Tensor{s.Inputs, s.Outputs} {
		for _, x := range list {
			name, kind = max(name, render.Width(render.Printable(x.Name))), max(kind, render.Width(typeWords(x)))
		}
	}
	name, kind = min(name, 32), min(kind, 32)
	for i, list := range [][]Tensor{s.Inputs, s.Outputs} {
		what := []string{"in ", "out"}[i]
		for _, x := range list {
			n := render.Printable(x.Name)
			words := what + "  " + pad(n, name) + "  " + pad(typeWords(x), kind)
			if x.Default != "" {
				words += "  = " + x.Default
			}
			if x.Tensor != "" {
				if more := "  " + render.Printable(x.Tensor); 4+render.Width(words+more) <= t.o.Tree.Width {
					words += more
				} else {
					words = strings.TrimRight(words, " ") + "\n     " + strings.TrimSpace(more)
				}
			}
			for l := range strings.SplitSeq(strings.TrimRight(words, " "), "\n") {
				t.whole("    ", l)
			}
			for _, p := range x.Parts {
				t.line("         ", p.Name+"  "+typeWords(p)+"  "+p.Tensor)
			}
		}
	}
}

// typeWords returns the type and shape of a tensor.
func typeWords(x Tensor) string {
	s := x.DType + " " + x.Shape.String()
	switch {
	case x.Type == operation:
		return "operation"
	case x.DType == "?" && !x.Shape.HasRank():
		s = "?"
	case x.Shape.HasRank() && x.Shape.Rank() == 0:
		s = x.DType
	}
	if x.Type != "" {
		s = x.Type + " of " + s
	}
	return s
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-render.Width(s)))
}

// layers writes a Keras model's layers. The first of the list is the model itself.
func (t *text) layers(list []Layer) {
	t.head("Keras", fmt.Sprintf("%s, %s parameters, %s of them trainable", counted(len(list)-1, "layer"), inspect.Grouped(list[0].Parameters), inspect.Grouped(list[0].Trainable)))
	rows := [][]string{{"layer", "class", "output", "parameters"}}
	for _, l := range list {
		rows = append(rows, []string{strings.Repeat("  ", l.Depth) + render.Printable(l.Name), render.Printable(l.Class), render.Printable(l.Output), inspect.Grouped(l.Parameters)})
	}
	widths := make([]int, 4)
	for _, r := range rows {
		for i, c := range r {
			widths[i] = max(widths[i], render.Width(c))
		}
	}
	over := 0 // how much is too much for a terminal's line; elsewhere nothing is cut
	if t.o.Tree.Break {
		over = 2 + 6 + widths[0] + widths[1] + widths[2] + widths[3] - t.o.Tree.Width
	}
	for ; over > 0; over-- {
		i := 0
		for k := range 3 {
			if widths[k] > widths[i] {
				i = k
			}
		}
		if widths[i] <= 8 {
			break
		}
		widths[i]--
	}
	for _, r := range rows {
		line := "  "
		for i := range 3 {
			line += pad(cut(r[i], widths[i]), widths[i]) + "  "
		}
		fmt.Fprintln(t.w, line+strings.Repeat(" ", max(0, widths[3]-len(r[3])))+r[3])
	}
}

// cut shortens s to width columns.
func cut(s string, width int) string {
	if render.Width(s) <= width {
		return s
	}
	used := 0
	for i, r := range s {
		if used += render.Width(string(r)); used > width-1 {
			return s[:i] + "…"
		}
	}
	return s
}

func (t *text) objects(g *MetaGraph) error {
	tree, name := g.Objects(t.o.All), "Objects"
	if len(g.meta.Objects) == 0 {
		if tree, name = t.o.Names, "Variables"; tree == nil {
			return nil
		}
	}
	var bytes int64
	trained := 0
	for _, v := range g.Variables {
		bytes += v.Bytes
		if v.Trainable {
			trained++
		}
	}
	words := ""
	if len(g.Variables) > 0 {
		words = fmt.Sprintf("%s, %d trainable, %s", counted(len(g.Variables), "variable"), trained, inspect.Size(bytes))
	}
	t.head(name, words)
	if len(tree.Edges) == 0 {
		words := "the root alone"
		if len(g.meta.Objects) > 0 && len(g.Objects(true).Edges) > 0 {
			words = "functions alone: --all shows them"
		}
		t.line("  ", words)
		return nil
	}
	t.w.Flush()
	tree.Nodes[0].Title = "root"
	return tree.Text(t.w, &t.o.Tree)
}

func (t *text) functions(g *MetaGraph) {
	if len(g.Functions) == 0 {
		return
	}
	traces := 0
	for _, f := range g.Functions {
		traces += len(f.Traces)
	}
	t.head("Functions", fmt.Sprintf("%s with %s", counted(len(g.Functions), "function"), counted(traces, "trace")))
	rest := 0
	for _, f := range g.Functions {
		// TensorFlow makes a function of each signature and of the ops that
		// save a resource; the signatures were listed above. Only the root's
		// own functions have paths without "/".
		own := strings.HasPrefix(f.Path, "signatures/") || strings.Contains(f.Path, "/")
		if own && !t.o.All {
			rest++
			continue
		}
		t.line("  ", f.Path+f.Parameters)
		for _, c := range f.Traces {
			words := "(" + c.Takes + ")"
			if c.Takes == "" {
				words = c.Name
			}
			if c.Gives != "" {
				words += " → " + c.Gives
			}
			if c.Captures > 0 {
				words += fmt.Sprintf(", captures %d", c.Captures)
			}
			t.line("    ", words)
		}
	}
	if rest > 0 {
		t.line("  ", fmt.Sprintf("%s deeper in the tree: --all shows them", counted(rest, "function")))
	}
}

func (t *text) assets(g *MetaGraph) {
	if len(g.Assets) > 0 {
		t.head("Assets", "")
		seen := map[string]bool{} // one file may be the asset of several objects
		for _, a := range g.Assets {
			if seen[a.Name] {
				continue
			}
			seen[a.Name] = true
			size := "not in the directory"
			if a.Bytes >= 0 {
				size = inspect.Size(a.Bytes)
			}
			t.line("  ", a.Name+"  "+size)
		}
	}
	if len(g.Collections) > 0 {
		t.head("Collections", "")
		var words []string
		for _, c := range g.Collections {
			words = append(words, fmt.Sprintf("%s %d", c.Name, c.Len))
		}
		t.line("  ", strings.Join(words, ", "))
	}
}

func (t *text) ops(g *MetaGraph) {
	nodes := 0
	var words []string
	var none, undefined []string
	for _, o := range g.Ops {
		n := o.Graph + o.Functions
		nodes += n
		words = append(words, fmt.Sprintf("%s %d", o.Op, n))
		switch {
		case !o.Defined:
			undefined = append(undefined, o.Op)
		case !o.Kernel:
			none = append(none, o.Op)
		}
	}
	t.head("Ops", fmt.Sprintf("%s in %s", counted(len(g.Ops), "kind"), counted(nodes, "node")))
	t.line("  ", strings.Join(words, ", "))
	for _, x := range []struct {
		words string
		ops   []string
	}{{"without a kernel here: ", none}, {"that nobody defines: ", undefined}} {
		if len(x.ops) > 0 {
			slices.Sort(x.ops)
			t.line("  ", x.words+strings.Join(x.ops, ", "))
		}
	}
}

// counted returns a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return inspect.Grouped(int64(n)) + " " + noun + "s"
}

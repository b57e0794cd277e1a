package main

import (
	"fmt"
	"go/token"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairnml/cairn/inspect"
	"github.com/cairnml/cairn/inspect/render"
	"github.com/cairnml/cairn/inspect/render/raster"
	"github.com/cairnml/cairn/savedmodel/describe"
	"github.com/cairnml/cairn/tensorfile"
)

// showFlags are the flags of show.
type showFlags struct {
	dot, svg     string // the file to draw to, "-" for stdout, "" if not asked for
	ascii, slots bool
	all, goTypes bool     // of a SavedModel
	sizes        bool     // of a SavedModel
	tags         []string // nil: all MetaGraphs; empty: the one that loading chooses
	signature    string   // "" for all
	pkg          string   // the Go package of --go
	force        bool
	output       string // --output, a file
	depth        int    // levels of the tree below the root
	objects      bool   // draw a model's objects, not its computation

	// resolve sets these two from the flags above: format is "svg", "png", "dot", "json", "go" or
	// "tree", and file the destination, "" for stdout.
	format, file string
}

func newShow(a *app) *cobra.Command {
	f := &showFlags{}
	c := &cobra.Command{
		Use:   "show PATH",
		Short: "Show a SavedModel, or the object graph as a tree or picture",
		Long: `Show the object graph that a checkpoint was saved from: as a tree, or drawn
in the colours of TensorFlow's checkpoint guide, the optimizer red, variables
blue, slot variables orange. In a picture large graphs are folded. Name-based
checkpoints and .npz files, which have no objects, show the tree of their names.

A variable stands below the object that uses it, not below the optimizer; any
path of the tree is a name for cat. Tensors that no object holds come last.

Of a SavedModel's directory it shows the signatures, Keras's layers, the
objects, the functions with what they take and give, assets, and the ops with
those that have no kernel here. Nothing of it is run. --go prints a Go package
that calls its signatures, --sizes how much each object takes.

A picture of a SavedModel, or of a GraphDef, is that of its network: the layers
and the tensors between them, from the inputs to the outputs of a signature.
Variables, and what saves and restores them, are left out. --objects draws the
object graph.

Of a GraphDef, a .pb or .pbtxt file such as a frozen graph, it shows the feeds,
the fetches and the ops. Of a whole Keras model, a .keras or .h5 file, it shows
the table of layers: output shapes, parameters, connections.`,
		Example: `  cairn show model/ckpt-10
  cairn show model/ckpt-10 --svg graph.svg
  cairn show model/ckpt-10 -o graph.svg                  or .png, .dot, .json
  cairn show saved_model -o network.png                  layers and shapes
  cairn show model/ckpt-10 --dot | dot -Tpdf > graph.pdf
  cairn show model.keras                                 layers, parameters
  cairn show saved_model --signature serving_default
  cairn show saved_model --go -o model.go`,
		Args:              need(1, 2, "a PATH, and a FILE if it draws"),
		ValidArgsFunction: completePaths,
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := f.resolve(a, args)
			if err != nil {
				return err
			}
			if dir, ok := a.modelDir(path); ok {
				return f.showModel(cmd.Context(), a, dir)
			}
			if tensorfile.IsGraphDef(nil, path) {
				return f.showGraphDef(cmd.Context(), a, path)
			}
			if err := f.onlyForModels(); err != nil {
				return err
			}
			s, err := a.openFile(cmd.Context(), path)
			if err != nil {
				return err
			}
			defer s.Close()
			if f.file != "" {
				if err := checkPicture(s, f.file, f.force); err != nil {
					return err
				}
			}
			if ok, err := f.showKeras(cmd.Context(), a, path, s); ok || err != nil {
				return err
			}
			v, err := inspect.Graph(cmd.Context(), s)
			if err != nil {
				return err
			}
			if f.file != "" {
				return a.writePicture(s, f.file, f.force, func(w io.Writer) error { return f.draw(a, w, s, v) })
			}
			return f.draw(a, a.out, s, v)
		},
	}
	c.Flags().StringVar(&f.dot, "dot", "", "write Graphviz's language, to `FILE` or stdout")
	c.Flags().BoolVar(&f.objects, "objects", false, "draw a SavedModel's objects, not its network")
	c.Flags().StringVar(&f.svg, "svg", "", "write an SVG picture, to `FILE` or stdout")
	c.Flags().Lookup("dot").NoOptDefVal = "-"
	c.Flags().Lookup("svg").NoOptDefVal = "-"
	c.Flags().BoolVar(&f.ascii, "ascii", false, "draw the tree with ASCII letters")
	c.Flags().BoolVar(&f.slots, "slots", false, "give slot variables lines of their own in the tree")
	c.Flags().StringVarP(&f.output, "output", "o", "", "write to `FILE`, as its suffix says")
	c.Flags().BoolVarP(&f.force, "force", "f", false, "replace FILE, if there is one")
	c.Flags().IntVar(&f.depth, "depth", 64, "levels of the tree; 0 is the root alone")
	c.Flags().BoolVar(&f.all, "all", false, "show what is folded, and all functions of a SavedModel")
	c.Flags().BoolVar(&f.sizes, "sizes", false, "list how much of a SavedModel each object takes")
	c.Flags().BoolVar(&f.goTypes, "go", false, "print the Go package that calls a SavedModel")
	c.Flags().StringVar(&f.pkg, "package", "", "call the Go package `NAME`, not model")
	c.Flags().StringSliceVar(&f.tags, "tags", nil, "show the MetaGraph tagged `A,B`, or '' for the default")
	c.Flags().StringVar(&f.signature, "signature", "", "show the signature `NAME` alone")
	completeFlag(c, "signature", completeSignatures)
	return c
}

// maxDepth bounds a tree, whose lines grow with its depth.
const maxDepth = 1000

// resolve determines the output and its destination, and returns the PATH. A
// FILE may follow --svg as it follows -o, before PATH or after it.
func (f *showFlags) resolve(a *app, args []string) (path string, err error) {
	if f.objects && f.dot == "" && f.svg == "" && suffix(f.output) == "" {
		return "", usagef("--objects is for pictures: --svg, --dot or -o FILE.png")
	}
	if f.depth < 0 || f.depth > maxDepth {
		return "", usagef("--depth is a number from 0 to %d", maxDepth)
	}
	f.format = "tree"
	asked := 0
	for _, way := range []struct {
		name, value string
		suffixes    []string
	}{{"svg", f.svg, []string{".svg"}}, {"dot", f.dot, []string{".dot", ".gv"}}} {
		if way.value == "" {
			continue
		}
		asked++
		f.format = way.name
		if way.value != "-" {
			f.file = way.value
		} else if len(args) == 2 {
			f.file = args[1]
			if slices.Contains(way.suffixes, suffix(args[0])) && !slices.Contains(way.suffixes, suffix(args[1])) {
				args[0], f.file = args[1], args[0]
			}
			args = args[:1]
		}
	}
	if a.json {
		asked++
		f.format = "json"
	}
	if f.goTypes {
		asked++
		f.format = "go"
	}
	switch {
	case f.pkg != "" && !token.IsIdentifier(f.pkg):
		return "", usagef("--package %s: that can't be a Go package's name", f.pkg)
	case f.pkg != "" && !f.goTypes && suffix(f.output) != ".go":
		return "", usagef("--package is for --go; add it")
	case asked > 1:
		return "", usagef("--dot, --svg, --go and --json are four forms; use one")
	case len(args) == 2 && f.file != "":
		return "", usagef("two files to draw to, %s and %s; name one", f.file, args[1])
	case len(args) == 2:
		return "", usagef("a second argument is the file to draw to; choose a form, as in --svg graph.svg")
	case f.output == "":
		return args[0], nil
	case f.file != "":
		return "", usagef("two files to draw to, %s and %s; name one", f.file, f.output)
	}
	f.file = f.output
	format := map[string]string{".svg": "svg", ".png": "png", ".dot": "dot", ".gv": "dot", ".json": "json", ".go": "go", ".txt": "tree", "": "tree"}[suffix(f.output)]
	switch {
	case asked == 1 && format != "" && format != "tree" && format != f.format:
		return "", usagef("-o %s: the name asks for %s, --%s for another form; use one", f.output, format, f.format)
	case asked == 1:
	case format == "":
		return "", usagef("-o %s: graphs are drawn as .svg, .png and .dot and written as .json, .go and .txt", f.output)
	default:
		f.format = format
	}
	return args[0], nil
}

func suffix(path string) string { return strings.ToLower(filepath.Ext(path)) }

// surface returns the surface on which a picture is drawn.
func (f *showFlags) surface(w io.Writer) render.Surface {
	if f.format == "png" {
		return raster.Surface(w)
	}
	return render.SVGSurface(w)
}

// drawNetwork draws the computation of a model's one MetaGraph.
func (f *showFlags) drawNetwork(w io.Writer, title string, d *describe.Description) error {
	if len(d.MetaGraphs) > 1 {
		return usagef("there are %d MetaGraphs: --tags chooses one, '' the one that is loaded without tags", len(d.MetaGraphs))
	}
	n, err := d.MetaGraphs[0].Network(f.signature)
	if err != nil {
		return fmt.Errorf("draw %s: %w", title, err)
	}
	n.Title = render.Printable(title)
	if f.format == "dot" {
		return n.DOT(w)
	}
	return n.Draw(f.surface(w))
}

// picture reports whether show draws.
func (f *showFlags) picture() bool {
	return f.format == "dot" || f.format == "svg" || f.format == "png"
}

// draw writes the graph to w.
func (f *showFlags) draw(a *app, w io.Writer, s *tensorfile.File, v *inspect.View) error {
	switch f.format {
	case "json":
		text, err := compactJSON(graphJSON(s.Prefix, kindWord(s.Kind), v))
		if err == nil {
			_, err = fmt.Fprintf(w, "%s\n", text)
		}
		return err
	case "dot":
		return v.DOT(w)
	case "svg", "png":
		return v.Draw(f.surface(w))
	}
	a.sayFound(s)
	depth := f.depth
	if depth == 0 {
		depth = -1
	}
	err := v.Text(w, &render.TextOptions{Color: a.color && f.file == "", ASCII: f.ascii, Slots: f.slots, MaxDepth: depth, Width: a.width, Break: a.outTTY && f.file == "", Fold: a.outTTY && f.file == "" && !f.all})
	if err != nil {
		return err
	}
	if len(v.Outside) > 0 {
		fmt.Fprintf(w, "%s outside the graph:\n", inspect.Tensors(len(v.Outside)))
		for _, e := range v.Outside {
			line := fmt.Sprintf("%s  %v %v", render.Printable(tensorfile.Short(e.Name)), e.DType, e.Shape)
			lines := []string{line}
			if a.outTTY && f.file == "" {
				lines = render.Break(line, a.width-3)
			}
			fmt.Fprintf(w, "   %s\n", strings.Join(lines, "\n     "))
		}
	}
	if !v.Objects {
		a.note("no object graph: a tree of names")
	}
	return nil
}

// jsonEdge, jsonNode and jsonGraph are the JSON of a graph, which docs/json.md describes.
type jsonEdge struct {
	Name string `json:"name"`
	Node int    `json:"node"`
}

type jsonNode struct {
	ID       int             `json:"id"`
	Path     string          `json:"path"`
	Kind     string          `json:"kind"`
	Info     string          `json:"info,omitempty"`
	Value    describe.Scalar `json:"value,omitempty"`
	Children []jsonEdge      `json:"children"`
	Slots    []jsonEdge      `json:"slots,omitempty"`
}

// jsonGraph is the output of --json for a graph.
type jsonGraph struct {
	Path    string `json:"path"`
	Kind    string `json:"kind"`
	Objects bool   `json:"objects"`
	inspect.Count
	Nodes   []jsonNode `json:"nodes"`
	Outside []string   `json:"outside"`
}

// graphJSON returns the JSON of a graph. kind is the kind of its file, from kindWord.
func graphJSON(path, kind string, g *inspect.View) jsonGraph {
	kinds := map[render.NodeKind]string{render.Plain: "object", render.Optimizer: "optimizer", render.Variable: "variable", render.Slot: "slot"}
	nodes := make([]jsonNode, len(g.Nodes))
	for i, n := range g.Nodes {
		nodes[i] = jsonNode{ID: i, Path: g.Path(i), Kind: kinds[n.Kind], Info: n.Info, Value: describe.Scalar(n.Value), Children: []jsonEdge{}}
	}
	for _, e := range g.Edges {
		n := &nodes[e.From]
		switch {
		case e.Slot && n.Kind == "optimizer": // the other side of an edge from the variable
		case e.Slot:
			n.Slots = append(n.Slots, jsonEdge{e.Label, e.To})
		default:
			n.Children = append(n.Children, jsonEdge{e.Label, e.To})
		}
	}
	outside := []string{}
	for _, e := range g.Outside {
		outside = append(outside, e.Name)
	}
	return jsonGraph{path, kind, g.Objects, g.Count, nodes, outside}
}

// kindWord names a kind of file as JSON has it: "checkpoint", "npz".
func kindWord(k tensorfile.Kind) string {
	return strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(k.String(), "."), " file"))
}

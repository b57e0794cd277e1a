package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairnml/cairn/internal/inspect"
	"github.com/cairnml/cairn/internal/render"
	"github.com/cairnml/cairn/internal/store"
)

func newShow(a *app) *cobra.Command {
	var dot, svg, ascii, slots bool
	var output string
	var depth int
	c := &cobra.Command{
		Use:   "show PATH [FILE]",
		Short: "Show the object graph: a tree, or a picture",
		Long: `Show the graph of objects that a checkpoint was saved from: as a tree, or drawn
as in TensorFlow's checkpoint guide, the optimizer red, variables blue, slot
variables orange, the edges to these dashed; FILE takes the picture. Name-based
checkpoints and .npz files, which have no objects, show the tree of their names.`,
		Example: `  cairn show model/ckpt-10
  cairn show model/ckpt-10 --svg graph.svg
  cairn show model/ckpt-10 --dot | dot -Tpdf > graph.pdf`,
		Args:              need(1, 2, "a PATH, and a FILE if it draws"),
		ValidArgsFunction: completePaths,
		RunE: func(cmd *cobra.Command, args []string) error {
			if dot && svg || dot && a.json || svg && a.json {
				return usagef("--dot, --svg and --json are three ways to show; give one")
			}
			if len(args) == 2 {
				if !dot && !svg || output != "" {
					return usagef("a second argument is the file to draw to: --svg graph.svg")
				}
				output = args[1]
			}
			if a.json && output != "" {
				return usagef("--json goes to stdout: > graph.json")
			}
			s, err := store.Open(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer s.Close()
			g, objects, err := inspect.Graph(cmd.Context(), s)
			if err != nil {
				return err
			}
			var w io.Writer = a.out
			if output != "" {
				f, err := store.CreateFile(output, true)
				if err != nil {
					return err
				}
				defer f.Abort()
				w = f
			}
			switch {
			case a.json:
				return a.printJSON(graphJSON(s, g, objects))
			case dot:
				err = g.DOT(w)
			case svg:
				err = g.SVG(w)
			default:
				a.sayFound(s)
				err = g.Text(w, render.TextOptions{Color: a.color && output == "", ASCII: ascii, Slots: slots, MaxDepth: depth, Width: a.width})
				if !objects && err == nil {
					a.note("no object graph: a tree of names")
				}
			}
			if f, ok := w.(*store.File); ok && err == nil {
				err = f.Commit()
				a.note("wrote %s", output)
			}
			return err
		},
	}
	c.Flags().BoolVar(&dot, "dot", false, "write Graphviz's language")
	c.Flags().BoolVar(&svg, "svg", false, "write an SVG picture")
	c.Flags().BoolVar(&ascii, "ascii", false, "draw the tree with ASCII letters")
	c.Flags().BoolVar(&slots, "slots", false, "give slot variables lines of their own in the tree")
	c.Flags().StringVarP(&output, "output", "o", "", "write to `FILE` instead of stdout")
	c.Flags().IntVar(&depth, "depth", 64, "how deep the tree goes")
	return c
}

type jsonEdge struct {
	Name string `json:"name"`
	Node int    `json:"node"`
}

type jsonNode struct {
	ID       int        `json:"id"`
	Path     string     `json:"path"`
	Kind     string     `json:"kind"`
	Info     string     `json:"info,omitempty"`
	Value    string     `json:"value,omitempty"`
	Children []jsonEdge `json:"children"`
	Slots    []jsonEdge `json:"slots,omitempty"`
}

func graphJSON(s *store.Store, g *render.Graph, objects bool) any {
	kinds := map[render.NodeKind]string{render.Plain: "object", render.Optimizer: "optimizer", render.Variable: "variable", render.Slot: "slot"}
	nodes := make([]jsonNode, len(g.Nodes))
	for i, n := range g.Nodes {
		nodes[i] = jsonNode{ID: i, Path: g.Path(i), Kind: kinds[n.Kind], Info: n.Info, Value: n.Value, Children: []jsonEdge{}}
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
	return struct {
		Path    string     `json:"path"`
		Kind    string     `json:"kind"`
		Objects bool       `json:"objects"`
		Nodes   []jsonNode `json:"nodes"`
	}{s.Prefix, strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(s.Kind.String(), "."), " file")), objects, nodes}
}

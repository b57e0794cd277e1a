package cairn

import (
	"context"
	"fmt"
	"io"
	"io/fs"

	"github.com/cairnml/cairn/internal/app/inspect"
	"github.com/cairnml/cairn/internal/app/render"
)

// GraphFormat is a form in which [Show] writes an object graph.
type GraphFormat int

// The forms of an object graph.
const (
	Tree GraphFormat = iota // an indented tree of text
	DOT                     // Graphviz's language
	SVG                     // a picture
)

// ShowOptions say how [Show] writes an object graph; nil means the defaults.
type ShowOptions struct {
	// Format is the form. Default: Tree.
	Format GraphFormat
	// FS is the path's file system. Default: the operating system's.
	FS fs.FS
	// MaxMemory raises the memory that reading may take. Default: for each file 64
	// MiB and 16 times its bytes on the disk, so that a small file can't fill the
	// memory; less than that has no effect.
	MaxMemory int64

	// The rest is for trees. ASCII draws the branches with letters that every
	// terminal has, Slots gives each slot variable a line of its own, and Color
	// uses a terminal's colours. Default: false.
	ASCII, Slots, Color bool
	// MaxDepth is how deep the tree goes; what is deeper is counted. Default: 64.
	MaxDepth int
	// Width is the number of columns to keep to where possible. Default: 80.
	Width int
}

// Show writes the graph of objects that the checkpoint at path was saved from
// to w. Files without one, name-based checkpoints and .npz, show the tree of
// their tensors' names.
func Show(ctx context.Context, w io.Writer, path string, o *ShowOptions) error {
	if o == nil {
		o = &ShowOptions{}
	}
	s, err := open(ctx, o.FS, path, o.MaxMemory)
	if err != nil {
		return err
	}
	defer s.Close()
	g, err := inspect.Graph(ctx, s)
	if err != nil {
		return err
	}
	switch o.Format {
	case Tree:
		return g.Text(w, render.TextOptions{Color: o.Color, ASCII: o.ASCII, Slots: o.Slots, MaxDepth: o.MaxDepth, Width: o.Width})
	case DOT:
		return g.DOT(w)
	case SVG:
		return g.SVG(w)
	}
	return fmt.Errorf("cairn: Show: no graph format has the number %d", o.Format)
}

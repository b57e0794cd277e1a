package inspect

import (
	"context"
	"fmt"
	"io"

	"github.com/cairnml/cairn/inspect/render"
	"github.com/cairnml/cairn/tensorfile"
)

// StatOptions are the settings of [Stat]; nil means the defaults.
type StatOptions struct {
	// Names keep the tensors whose names contain one of them, or match one with *
	// or ? in it. Default: all tensors.
	Names []string
	// Open are the settings by which the path is opened. Default: a path of the
	// operating system, no limit raised.
	Open tensorfile.Options
	// Progress is called with the bytes read and the bytes in all. Default: nil.
	Progress Progress
}

// Stat returns statistics of the tensors of the file or directory at path, in the
// order of their names. The object graph is left out. One large tensor, or several small
// ones, are in memory at a time.
func Stat(ctx context.Context, path string, opts *StatOptions) ([]Stats, error) {
	if opts == nil {
		opts = &StatOptions{}
	}
	f, err := tensorfile.Open(ctx, path, &opts.Open)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.Filter(ctx, opts.Names)
	if err != nil {
		return nil, err
	}
	entries = entries.Keep(func(e tensorfile.Entry) bool { return e.Name != tensorfile.GraphKey })
	var done, total int64
	for e := range entries.All() {
		total += e.Bytes
	}
	out := make([]Stats, 0, entries.Len())
	err = StatEach(ctx, f, entries, func(e tensorfile.Entry, sum Stats) {
		out = append(out, sum)
		if done += e.Bytes; opts.Progress != nil {
			opts.Progress(done, total)
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// GraphFormat is a form in which [Show] writes an object graph.
type GraphFormat int

// The forms of an object graph.
const (
	Tree GraphFormat = iota // an indented tree of text
	DOT                     // Graphviz's language
	SVG                     // a picture
)

// ShowOptions are the settings of [Show]; nil means the defaults.
type ShowOptions struct {
	// Format is the form. Default: Tree.
	Format GraphFormat
	// Open are the settings by which the path is opened. Default: a path of the
	// operating system, no limit raised.
	Open tensorfile.Options
	// Text are the settings of a tree.
	Text render.TextOptions
}

// Show writes the object graph that the checkpoint at path was saved from
// to w. For files without one, name-based checkpoints and .npz, it writes the tree of
// their tensors' names.
func Show(ctx context.Context, w io.Writer, path string, opts *ShowOptions) error {
	if opts == nil {
		opts = &ShowOptions{}
	}
	f, err := tensorfile.Open(ctx, path, &opts.Open)
	if err != nil {
		return err
	}
	defer f.Close()
	g, err := Graph(ctx, f)
	if err != nil {
		return err
	}
	switch opts.Format {
	case Tree:
		return g.Text(w, &opts.Text)
	case DOT:
		return g.DOT(w)
	case SVG:
		return g.SVG(w)
	}
	return fmt.Errorf("inspect: show %s: no graph format has the number %d; Tree, DOT and SVG are the formats", path, opts.Format)
}

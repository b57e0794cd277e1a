package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cairnml/cairn/inspect/render"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/savedmodel/describe"
	"github.com/cairnml/cairn/tensorfile"
)

// showGraphDef runs the verb show for a path that tensorfile.IsGraphDef recognizes. It shows the
// inputs, outputs and ops of a GraphDef, or the picture of its network. The JSON is in docs/json.md.
func (f *showFlags) showGraphDef(ctx context.Context, a *app, path string) error {
	if f.all || f.tags != nil || f.signature != "" || f.format == "go" || f.objects {
		return usagef("%s is a graph alone: it has no signatures, tags or functions of objects to choose", path)
	}
	fsys := os.DirFS(filepath.Dir(path))
	m, err := savedmodel.ReadGraphDef(ctx, fsys, filepath.Base(path), &savedmodel.ReadOptions{MaxMemory: a.open.MaxMemory})
	if err != nil {
		return inFile(path, err)
	}
	d, err := describe.Describe(ctx, fsys, m, kernel.All())
	if err != nil {
		return inFile(path, err)
	}
	draw := func(w io.Writer) error {
		if f.picture() {
			return f.drawNetwork(w, path, d)
		}
		if f.format == "json" {
			text, err := compactJSON(struct {
				Path string `json:"path"`
				Kind string `json:"kind"`
				*describe.Description
			}{path, kindWord(tensorfile.GraphDef), d})
			if err == nil {
				_, err = fmt.Fprintf(w, "%s\n", text)
			}
			return err
		}
		return d.Text(w, &describe.TextOptions{
			Title: render.Printable(path) + "  (GraphDef)",
			Tree:  render.TextOptions{Color: a.color && f.file == "", Width: a.width, Break: a.outTTY && f.file == ""},
		})
	}
	if f.file == "" {
		return draw(a.out)
	}
	s, err := a.openFile(ctx, path)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := checkPicture(s, f.file, f.force); err != nil {
		return err
	}
	return a.writePicture(s, f.file, f.force, draw)
}

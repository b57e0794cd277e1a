package main

import (
	"context"
	"fmt"
	"io"

	"github.com/cairnml/cairn/inspect/render"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/kerasfile"
	"github.com/cairnml/cairn/keras/saving"
	"github.com/cairnml/cairn/tensorfile"
)

// showKeras shows the model of a .keras or .h5 file: the table of its layers, which is the one of
// keras.Summary, or their picture. ok is false if the file has no model, if the user wants JSON or
// objects, or if the model can't be loaded, as with unknown classes; a note reports the last. Then
// newShow shows the file's tensors as a tree.
func (f *showFlags) showKeras(ctx context.Context, a *app, path string, s *tensorfile.File) (ok bool, err error) {
	k := s.Keras()
	if k == nil || len(k.Config) == 0 || f.format == "json" || f.objects {
		return false, nil
	}
	m, err := saving.LoadModelFrom(ctx, k, &saving.ModelOptions{OmitOptimizer: true})
	if err != nil {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		a.note("shown as names alone: %s", trimPrefixes(err.Error()))
		return false, nil
	}
	draw := func(w io.Writer) error { return f.drawKeras(a, w, path, k, m.Model) }
	if f.file == "" {
		return true, draw(a.out)
	}
	return true, a.writePicture(s, f.file, f.force, draw)
}

// drawKeras writes the table or the picture.
func (f *showFlags) drawKeras(a *app, w io.Writer, path string, k *kerasfile.File, model keras.Callable) error {
	if f.picture() {
		n, err := kerasNetwork(model)
		if err != nil {
			return err
		}
		n.Title = render.Printable(path)
		if f.format == "dot" {
			return n.DOT(w)
		}
		return n.Draw(f.surface(w))
	}
	fmt.Fprintf(w, "%s  (%v, Keras %d)\n", render.Printable(path), k.Format, saving.Version(k))
	width := 80
	if a.width > 0 {
		width = max(65, min(a.width, 120))
	}
	return keras.Summary(w, model, &keras.SummaryOptions{LineLength: width, ExpandNested: f.all})
}

// kerasNetwork returns the picture of a model's layers. Sources that ListLayers doesn't list, such as
// layers inside of a nested model, get no arrow.
func kerasNetwork(model keras.Callable) (*render.Network, error) {
	layers, err := keras.ListLayers(model)
	if err != nil {
		return nil, err
	}
	n := &render.Network{}
	place := map[string]int{}
	for i, l := range layers {
		place[l.Name] = i
		kind := render.LayerBox
		if l.Class == "InputLayer" {
			kind = render.InputBox
		}
		n.Boxes = append(n.Boxes, render.Box{Kind: kind, Name: l.Name, Info: l.Class})
	}
	for i, l := range layers {
		for _, from := range l.Sources {
			if j, ok := place[from]; ok {
				n.Arrows = append(n.Arrows, render.Arrow{From: j, To: i, Label: layers[j].Shape})
			}
		}
	}
	return n, nil
}

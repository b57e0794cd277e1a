package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/cairnml/cairn/inspect"
	"github.com/cairnml/cairn/inspect/render"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/savedmodel/describe"
	"github.com/cairnml/cairn/tensorfile"
)

// modelDir returns the directory of the SavedModel that the user's path refers to, and
// reports it if it is another one than the path; false if there is none.
func (a *app) modelDir(path string) (dir string, ok bool) {
	if dir, ok = tensorfile.FindModel(nil, path); ok && dir != path && filepath.Dir(dir) == filepath.Clean(path) {
		a.note("%s: the latest version, %s", render.Printable(path), render.Printable(dir))
	}
	return dir, ok
}

// onlyForModels refuses flags that mean something for SavedModels alone.
func (f *showFlags) onlyForModels() error {
	for _, x := range []struct {
		flag  string
		given bool
	}{{"--go", f.format == "go"}, {"--sizes", f.sizes}, {"--tags", f.tags != nil}, {"--signature", f.signature != ""}, {"--objects", f.objects}} {
		if x.given {
			return usagef("%s is for the directory of a SavedModel", x.flag)
		}
	}
	return nil
}

// shownModel is a SavedModel as show has read it.
type shownModel struct {
	path  string
	bare  bool // there is no checkpoint of variables
	about *describe.Description
	view  *inspect.View // the objects, or the tree of the variables' names
}

// showModel shows a SavedModel's directory.
func (f *showFlags) showModel(ctx context.Context, a *app, path string) error {
	if f.sizes {
		return f.showSizes(ctx, a, path)
	}
	m, err := f.readModel(ctx, a, path)
	if err != nil {
		return err
	}
	if f.file == "" {
		return f.drawModel(a, a.out, m)
	}
	if err := outsideOf(path, f.file); err != nil {
		return err
	}
	w, err := tensorfile.CreateFile(f.file, f.force)
	if err != nil {
		return err
	}
	defer w.Abort()
	if err := f.drawModel(a, w, m); err != nil {
		return err
	}
	if err := w.Commit(); err != nil {
		return err
	}
	a.note("wrote %s", f.file)
	return nil
}

// outsideOf returns an error if file is a file of the model's directory dir, also by a link. Files
// that can't be read aren't compared, because file can't be one that exists and is readable then.
func outsideOf(dir, file string) error {
	there, err := os.Stat(file)
	if err != nil {
		return nil // nothing that could be lost
	}
	return filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if info, err := os.Stat(p); err == nil && os.SameFile(there, info) {
			return &tensorfile.OverwriteError{Path: file, Source: dir}
		}
		return nil
	})
}

// showSizes lists how much of a SavedModel each object takes.
func (f *showFlags) showSizes(ctx context.Context, a *app, path string) error {
	if f.goTypes || f.signature != "" || f.file != "" {
		return usagef("--sizes prints a list; it goes with --tags, --all and --json")
	}
	fsys := os.DirFS(path)
	m, err := savedmodel.Read(ctx, fsys, &savedmodel.ReadOptions{MaxMemory: a.open.MaxMemory})
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	g, err := m.Find(f.tags...)
	if err != nil {
		return err
	}
	rows, err := describe.Sizes(ctx, fsys, g)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(rows)
	}
	t := &table{head: []string{"BYTES", "KIND", "PATH", "NOTE"}, right: []bool{true, false, false, false}}
	var total int64
	empty := 0
	for _, r := range rows {
		total += r.Bytes
		if r.Bytes == 0 && !f.all {
			empty++
			continue
		}
		t.add(strconv.FormatInt(r.Bytes, 10), r.Kind, render.Printable(r.Path), render.Printable(r.Note))
	}
	t.print(a)
	if empty > 0 {
		a.note("%d objects without bytes of their own; --all lists them", empty)
	}
	a.note("%s in all", inspect.Size(total))
	return nil
}

// readModel reads all that show needs of the model at path. A checkpoint that is missing or damaged
// is a note, and the model is shown without the values of its variables.
func (f *showFlags) readModel(ctx context.Context, a *app, path string) (*shownModel, error) {
	fsys := os.DirFS(path)
	m, err := savedmodel.Read(ctx, fsys, &savedmodel.ReadOptions{MaxMemory: a.open.MaxMemory})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	about, err := describe.Describe(ctx, fsys, m, kernel.All())
	if err != nil {
		return nil, err
	}
	if f.tags != nil {
		if err := about.Choose(m, f.tags); err != nil {
			return nil, err
		}
	}
	if f.signature != "" {
		if err := about.ChooseSignature(f.signature); err != nil {
			return nil, err
		}
	}
	v, bare := &inspect.View{Objects: true}, false
	s, err := a.openFile(ctx, path)
	switch {
	case err == nil:
		defer s.Close()
		stored, err := inspect.Graph(ctx, s)
		if err == nil {
			about.SetValues(inspect.SmallValues(ctx, s))
			v.Count, v.Outside, v.Objects, v.Graph = stored.Count, stored.Outside, stored.Objects, stored.Graph
		} else if err := a.withoutValues(ctx, err); err != nil {
			return nil, err
		}
	case errors.Is(err, fs.ErrNotExist) || isNoCheckpoint(err):
		bare = true
		most := 0
		for _, g := range m.MetaGraphs {
			most = max(most, inspect.ModelVariables(g))
		}
		if most > 0 {
			a.note("%s: the checkpoint %s is missing, and with it the values of the variables (%d)", render.Printable(path), savedmodel.VariablesPrefix, most)
		}
	case a.withoutValues(ctx, err) != nil:
		return nil, err
	}
	// Pictures leave out the same edges as the text: functions, and Keras's second
	// lists.
	if g := about.MetaGraphs[0].Objects(!f.picture() || f.all); len(g.Edges) > 0 || v.Graph == nil {
		v.Graph, v.Objects = g, true
	}
	return &shownModel{path, bare, about, v}, nil
}

// withoutValues prints a note that a model is shown without its variables' values, because of err. If ctx
// has ended, or a limit was reached, it returns err instead.
func (a *app) withoutValues(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	a.note("shown without the variables' values: %s", trimPrefixes(err.Error()))
	return nil
}

// isNoCheckpoint reports whether err, of opening a model's tensors, means that it has no checkpoint.
func isNoCheckpoint(err error) bool {
	var foreign *tensorfile.ForeignError
	return errors.As(err, &foreign)
}

// drawModel writes the model to w, as was asked for.
func (f *showFlags) drawModel(a *app, w io.Writer, m *shownModel) error {
	m.view.Nodes[0].Title = render.Printable(m.path)
	switch f.format {
	case "json":
		text, err := compactJSON(struct {
			jsonGraph
			*describe.Description
		}{graphJSON(m.path, kindWord(tensorfile.SavedModel), m.view), m.about})
		if err == nil {
			_, err = fmt.Fprintf(w, "%s\n", text)
		}
		return err
	case "dot", "svg", "png":
		if !f.objects {
			return f.drawNetwork(w, m.path, m.about)
		}
		if f.format == "dot" {
			return m.view.DOT(w)
		}
		return m.view.Draw(f.surface(w))
	case "go":
		if len(m.about.MetaGraphs) > 1 {
			return usagef("there are %d MetaGraphs: --tags chooses one, '' the one that is loaded without tags", len(m.about.MetaGraphs))
		}
		b, err := m.about.MetaGraphs[0].GoTypes(cmp.Or(f.pkg, "model"))
		if err == nil {
			_, err = w.Write(b)
		}
		return err
	}
	depth := f.depth
	if depth == 0 {
		depth = -1
	}
	title := fmt.Sprintf("%s  (SavedModel, %v)", m.path, m.view.Count)
	if m.bare {
		title = m.path + "  (SavedModel, no checkpoint of variables)"
	}
	o := &describe.TextOptions{
		Title: title, All: f.all,
		Tree: render.TextOptions{Color: a.color && f.file == "", ASCII: f.ascii, Slots: f.slots, MaxDepth: depth, Width: a.width, Break: a.outTTY && f.file == "", Fold: a.outTTY && f.file == "" && !f.all},
	}
	if !m.view.Objects {
		o.Names = m.view.Graph
	}
	return m.about.Text(w, o)
}

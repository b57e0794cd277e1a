package saving

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/kerasfile"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// kerasVersion is the version of tf_keras whose files are written.
const kerasVersion = "2.21.0"

// SaveOptions are the options of [SaveWeights] and [WriteWeights].
type SaveOptions struct {
	// Optimizer is the optimizer whose state a .weights.h5 file gets. It must have the new
	// layout (optimizers.NewLayout), as the file has no place for the state of a legacy optimizer. Default: none.
	Optimizer optimizers.Optimizer
	// Classes are the known classes: their names are parts of the paths in the file.
	// An older .h5 file names layers alone. Default: keras.Classes().
	Classes *config.Classes
}

// SaveWeights writes the weights of a model as tf_keras's model.save_weights does. path
// ends in ".weights.h5", or in ".h5" or ".hdf5" for the older form. A file of that name is
// replaced as a whole. Variables for which the format has no place, such as those of
// layers in a list within a list, are an error.
func SaveWeights(ctx context.Context, model trackable.Trackable, path string, opts *SaveOptions) error {
	var format kerasfile.Format
	switch {
	case strings.HasSuffix(path, ".weights.h5"):
		format = kerasfile.Weights
	case strings.HasSuffix(path, ".h5"), strings.HasSuffix(path, ".hdf5"):
		format = kerasfile.LegacyWeights
	default:
		return fmt.Errorf("saving: save weights: the file name must end in .weights.h5, .h5 or .hdf5 (got %q)", filepath.Base(path))
	}
	dir, name := vfs.OSDir(filepath.Dir(path)), filepath.Base(path)
	return replaceFile(dir, name, func(w io.Writer) error { return WriteWeights(ctx, w, model, format, opts) })
}

// replaceFile writes a file under a temporary name, name.tmp, and renames it. An error leaves the
// older file; a failed Sync may have replaced it.
func replaceFile(dir vfs.Dir, name string, write func(io.Writer) error) error {
	temporary := name + ".tmp"
	err := vfs.WriteFile(dir, temporary, write)
	if err == nil {
		err = dir.Rename(temporary, name)
	}
	if err != nil {
		dir.Remove(temporary)
		return fmt.Errorf("saving: write %s: %w", name, err)
	}
	if err := dir.Sync(); err != nil {
		return fmt.Errorf("saving: write %s: %w", name, err)
	}
	return nil
}

// WriteWeights writes the same as [SaveWeights] to w, as a kerasfile.Weights or
// a kerasfile.LegacyWeights file. It takes the gate, so no training
// step runs meanwhile.
func WriteWeights(ctx context.Context, w io.Writer, model trackable.Trackable, format kerasfile.Format, opts *SaveOptions) error {
	if opts == nil {
		opts = &SaveOptions{}
	}
	return trackable.Freeze(ctx, func(ctx context.Context) error {
		var c *kerasfile.Contents
		var err error
		switch format {
		case kerasfile.Weights:
			c, err = objectContents(model, keras2, opts)
		case kerasfile.LegacyWeights:
			c, err = legacyContents(model, keras2, opts)
		default:
			err = fmt.Errorf("no format of weights alone (got %v)", format)
		}
		if err != nil {
			return fmt.Errorf("saving: save weights: %w", err)
		}
		return kerasfile.Write(ctx, w, format, c)
	})
}

// objectContents returns the weights by the paths of objects, for .weights.h5 files and archives.
// An object without weights has an empty group, as in Keras's files.
func objectContents(model trackable.Trackable, d dialect, opts *SaveOptions) (*kerasfile.Contents, error) {
	classes := opts.Classes
	if classes == nil {
		classes = keras.Classes()
	}
	var c kerasfile.Contents
	saved := map[*trackable.Variable]bool{}
	for _, p := range placesOf(model, d, classes) {
		g := group(p.path, p.vars)
		for i, name := range weightNames(p.obj) {
			if i < len(g.Weights) {
				g.Weights[i].Name = name
			}
		}
		for _, v := range append(adaptVariables(p.obj), p.vars...) {
			saved[v] = true
		}
		if d == keras3 {
			g.Name = nameOf(p.obj)
		}
		if _, ok := p.obj.(*layers.Discretization); ok { // its bins are in its config
			g.Weights = nil
		}
		c.Groups = append(c.Groups, g)
	}
	if err := complete(model, saved); err != nil {
		return nil, err
	}
	if opts.Optimizer != nil {
		groups, err := optimizerState(model, opts.Optimizer)
		if err != nil {
			return nil, err
		}
		c.Groups = append(c.Groups, groups...)
	}
	return &c, nil
}

// nameOf returns the name of a layer.
func nameOf(obj trackable.Trackable) string {
	if l, ok := obj.(base.LayerLike); ok && l.AsLayer().Name != "" {
		return l.AsLayer().Name
	}
	return base.AutomaticName(obj)
}

// optimizerState returns the variables of an optimizer of the new layout.
func optimizerState(model trackable.Trackable, o optimizers.Optimizer) ([]kerasfile.Group, error) {
	if err := o.Build(keras.Trainable(model)); err != nil {
		return nil, fmt.Errorf("optimizer: %w", err)
	}
	if names := edges(o); !slices.ContainsFunc(names, func(e trackable.Edge) bool { return e.Name == "_iterations" }) {
		return nil, fmt.Errorf("the optimizer %T has the legacy layout, for which the file has no place; SetLayout(optimizers.NewLayout) before the first step, or leave the optimizer out", o)
	}
	return stateOf(o)
}

// legacyContents returns the weights by the names of layers, for older .h5 files.
func legacyContents(model trackable.Trackable, d dialect, opts *SaveOptions) (*kerasfile.Contents, error) {
	if opts.Optimizer != nil {
		return nil, fmt.Errorf("an older .h5 file of weights has no place for an optimizer's state; write .weights.h5, or leave the optimizer out")
	}
	graph, err := trackable.Walk(model, nil)
	if err != nil {
		return nil, err
	}
	layers, top, err := legacyLayers(model, graph, d)
	if err != nil {
		return nil, err
	}
	c := &kerasfile.Contents{KerasVersion: kerasVersion, Backend: "tensorflow"}
	saved := map[*trackable.Variable]bool{}
	add := func(name string, vars []*trackable.Variable) error {
		g := kerasfile.Group{Path: name, Name: name}
		for _, v := range vars {
			id, ok := graph.ID(v)
			if !ok {
				return fmt.Errorf("the variable %v is not reached from the model", v)
			}
			g.Weights = append(g.Weights, weight(graph.Nodes[id].FullName+":0", v))
			saved[v] = true
		}
		c.Groups = append(c.Groups, g)
		return nil
	}
	for _, l := range layers {
		if err := add(l.name, l.weights); err != nil {
			return nil, err
		}
	}
	if err := add(kerasfile.TopLevel, top); err != nil {
		return nil, err
	}
	if d == keras3 {
		for _, p := range placesOf(model, d, keras.Classes()) {
			for _, v := range adaptedState(p) {
				saved[v] = true
			}
		}
	}
	return c, complete(model, saved)
}

// complete returns an error if a variable of the model has no place in the file.
func complete(model trackable.Trackable, saved map[*trackable.Variable]bool) error {
	var lost []string
	for _, v := range keras.Variables(model) {
		if !saved[v] {
			lost = append(lost, v.String())
		}
	}
	if len(lost) > 0 {
		return fmt.Errorf("the format has no place for %d variables, the first is %s: a layer must be in a field, a list or a map of a layer or a model; a checkpoint holds any object", len(lost), lost[0])
	}
	return nil
}

// group returns variables as a group, in which their names are numbers from 0.
func group(path string, vars []*trackable.Variable) kerasfile.Group {
	g := kerasfile.Group{Path: path}
	for i, v := range vars {
		g.Weights = append(g.Weights, weight(strconv.Itoa(i), v))
	}
	return g
}

// weight returns a variable as a weight of a file.
func weight(name string, v *trackable.Variable) kerasfile.Weight {
	return kerasfile.Weight{Name: name, DType: v.DType(), Shape: v.Shape(), Read: func(context.Context) (*tensor.Tensor, error) { return v.Load(), nil }}
}

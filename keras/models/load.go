package models

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/trackable"
)

// LoadOptions are the options of [Load].
type LoadOptions struct {
	// Classes are the known classes of configs. Default: keras.Classes().
	Classes *config.Classes
	// Read are the options for reading the files. Default: savedmodel.ReadOptions's
	// defaults.
	Read *savedmodel.ReadOptions
}

// Loaded is a Keras model that was opened.
type Loaded struct {
	// Model is the model: a *keras.Sequential, a *keras.Functional, an object of a class of
	// the program, or a [*Generic].
	Model Model
	// Trainer has the compile state of the file, the optimizer's variables included; nil
	// if the model was not compiled, or if the state couldn't be read (CompileError).
	Trainer *keras.Trainer
	// CompileError is the reason why a compile state couldn't be read, such as an
	// unknown loss.
	CompileError error
	// Training is the JSON of the compile state, in the form of a .h5 file's training_config;
	// nil if the model was not compiled.
	Training json.RawMessage
	// Objects lists the layers and models of the file, in its order.
	Objects []Revived
	// Unused lists the keys of values in the file that no object took, such as an
	// optimizer's.
	Unused []string
}

// Revived is how an object of the file was made.
type Revived struct {
	// Path leads to the object, as Keras writes it: "root.layer-1".
	Path string
	// Class and Name are those of the Python object.
	Class, Name string
	// Generic reports whether the object calls the saved functions, since its class is
	// unknown.
	Generic bool
	// Reason is the reason why the object is generic; "" for others.
	Reason string
}

// Load opens a Keras model that tf_keras or [Save] saved as a SavedModel, of any version
// since TensorFlow 2.0. Layers whose class is known are made from their configs, and take
// the file's values; the others are generic ones ([Generic]), which call the saved
// functions. A SavedModel without Keras metadata is an error; savedmodel.Restore opens it.
func Load(ctx context.Context, fsys fs.FS, opts *LoadOptions) (*Loaded, error) {
	if opts == nil {
		opts = &LoadOptions{}
	}
	l := &loader{opts: opts, out: &Loaded{}, byName: map[string]*savedmodel.KerasObject{}, generic: map[string]string{}}
	if err := l.load(ctx, fsys); err != nil {
		return nil, fmt.Errorf("models: load: %w", err)
	}
	return l.out, nil
}

// loader opens one model.
type loader struct {
	ctx      context.Context // of objects that are made from configs
	opts     *LoadOptions
	out      *Loaded
	classes  *config.Classes
	objects  []savedmodel.KerasObject
	byName   map[string]*savedmodel.KerasObject // layers by their names
	generic  map[string]string                  // why layers are generic, by their names
	restored *savedmodel.Restored
	paths    map[int]string                  // of the objects in the file; nil before the first use
	all      map[any]*savedmodel.KerasObject // by the restored objects; nil before the first generic one
}

func (l *loader) load(ctx context.Context, fsys fs.FS) error {
	sm, err := savedmodel.Read(ctx, fsys, l.opts.Read)
	if err != nil {
		return err
	}
	if len(sm.MetaGraphs) != 1 {
		return fmt.Errorf("the file has %d graphs, want the one that Keras writes", len(sm.MetaGraphs))
	}
	g := sm.MetaGraphs[0]
	if l.objects, err = g.Keras(); err != nil {
		return err
	}
	var root *savedmodel.KerasObject
	for i := range l.objects {
		o := &l.objects[i]
		if o.Object.ID == 0 {
			root = o
		}
		if o.Name != "" && o.Identifier != "_tf_keras_metric" && l.byName[o.Name] == nil { // of several, that nearest to the root
			l.byName[o.Name] = o
		}
	}
	if root == nil {
		return errors.New("the file has no Keras metadata of its root; savedmodel.Restore opens models that Keras didn't save")
	}
	if l.restored, err = savedmodel.Restore(ctx, fsys, &savedmodel.RestoreOptions{Read: l.opts.Read}); err != nil {
		return err
	}
	l.classes = l.opts.Classes
	if l.classes == nil {
		l.classes = keras.Classes()
	}
	known := l.classes
	var size int64
	for _, o := range g.Variables() {
		if shape, ok := o.Variable.Shape.Tensor(); ok {
			size = base.AddBytes(size, o.Variable.DType, shape)
		}
	}
	l.ctx = base.WithWeightsOfFile(ctx, size)
	l.classes = known.WithContext(l.ctx).WithUnknown(l.unknown).WithDecoded(func(obj any) error { return l.decoded(ctx, obj) })
	if l.out.Model, err = l.model(known, root); err != nil {
		return err
	}
	var d description
	if json.Unmarshal([]byte(root.Metadata), &d) == nil && len(d.Training) > 0 && string(d.Training) != "null" {
		l.out.Training = d.Training
		l.out.CompileError = l.compile(d.Training)
	}
	paths := g.Paths()
	for _, o := range l.objects {
		if o.Identifier == "_tf_keras_metric" || strings.HasPrefix(paths[o.Object.ID], "keras_api/metrics") {
			continue // the trainer makes metrics anew
		}
		why := l.generic[o.Name]
		path := o.Path
		if path == "" { // TensorFlow up to 2.4 kept none
			path = "root"
			if edges := paths[o.Object.ID]; edges != "" {
				path += "." + strings.ReplaceAll(edges, "/", ".")
			}
		}
		l.out.Objects = append(l.out.Objects, Revived{Path: path, Class: o.Class, Name: o.Name, Generic: why != "", Reason: why})
	}
	return l.values(ctx, fsys)
}

// values restores the variables of the model, and of its optimizer. Values of layers that aren't
// built stay deferred until their first call.
func (l *loader) values(ctx context.Context, fsys fs.FS) error {
	options := &checkpoint.Options{}
	if l.out.Trainer != nil {
		options.Children = withOptimizer(l.out.Model, l.out.Trainer.Optimizer())
	}
	ck, err := checkpoint.New(l.out.Model, options)
	if err != nil {
		return err
	}
	report, err := ck.ReadFS(ctx, fsys, savedmodel.VariablesPrefix, &checkpoint.RestoreOptions{Partial: true})
	if err != nil {
		return err
	}
	for _, item := range report.Unused {
		l.out.Unused = append(l.out.Unused, item.Key)
	}
	if !l.out.Model.AsLayer().Built() {
		return nil
	}
	if l.out.Trainer != nil && slices.ContainsFunc(report.Deferred, ofOptimizer) {
		// The optimizer's variables take their values now, so that a save before the first
		// step has them.
		err := trackable.Step(ctx, func(context.Context) error {
			return l.out.Trainer.Optimizer().Build(keras.Trainable(l.out.Model))
		})
		if err != nil {
			return fmt.Errorf("the optimizer: %w", err)
		}
	}
	report.AllowMissing() // layers that the program adds later are new
	return nil
}

// ofOptimizer reports whether a value is a part of the optimizer's state.
func ofOptimizer(item checkpoint.Item) bool {
	return strings.HasPrefix(item.Key, optimizerEdge+"/") || strings.Contains(item.Key, "/.OPTIMIZER_SLOT/"+optimizerEdge+"/")
}

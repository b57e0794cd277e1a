package saving

import (
	"context"
	"errors"
	"fmt"
	"os"
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
)

// LoadOptions are the options of [LoadWeights].
type LoadOptions struct {
	// ByName loads the layers of an older .h5 file whose names the model has, and leaves
	// the others alone. Default: by the order of the layers that have weights.
	ByName bool
	// SkipMismatch leaves layers alone that differ from the file's in the number or the
	// shapes of their weights, and accepts a file with more. Report lists them. Default:
	// they are errors.
	SkipMismatch bool
	// Optimizer takes the optimizer's state, if the file has one. It must be of the layout
	// that the file was written with. Default: the state is left out.
	Optimizer optimizers.Optimizer
	// Classes are the known classes: their names are parts of the paths in the file.
	// Default: keras.Classes().
	Classes *config.Classes
	// Read are the options for reading the file. Default: the defaults of
	// kerasfile.Options.
	Read *kerasfile.Options
}

// Report lists the parts that a load has left out.
type Report struct {
	// Skipped lists the layers that SkipMismatch left alone, with the reasons.
	Skipped []string
	// Unused lists the paths of weights in the file that nothing has taken: with an
	// optimizer's state and metrics if these were not asked for.
	Unused []string
}

// A MismatchError reports a layer whose weights differ from those in a file.
type MismatchError struct {
	Layer string // the path of the layer, or its name
	What  string
}

// Error returns the layer and the difference.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("saving: load %s: %s", strconv.Quote(e.Layer), e.What)
}

// LoadWeights sets the weights of a model to those of a file of the operating system:
// .weights.h5, .h5 or .keras, of Keras 2 or 3. The model must be built: its layers make
// their variables at the first call, or by keras.Build. The errors are a
// *[MismatchError] if the weights differ in number or shape, and those of the file; a
// mismatch is found before any weight is changed.
func LoadWeights(ctx context.Context, model trackable.Trackable, path string, opts *LoadOptions) (*Report, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("saving: load weights: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("saving: load weights: %w", err)
	}
	var read *kerasfile.Options
	if opts != nil {
		read = opts.Read
	}
	f, err := kerasfile.Open(file, info.Size(), read)
	if err != nil {
		return nil, fmt.Errorf("saving: load weights %s: %w", path, err)
	}
	return LoadWeightsFrom(ctx, model, f, opts)
}

// LoadWeightsFrom does the same as [LoadWeights], from an open file.
func LoadWeightsFrom(ctx context.Context, model trackable.Trackable, f *kerasfile.File, opts *LoadOptions) (*Report, error) {
	if opts == nil {
		opts = &LoadOptions{}
	}
	l := loader{file: f, opts: opts}
	return l.load(ctx, model)
}

// load takes the weights and the state of the file, and stores them.
func (l *loader) load(ctx context.Context, model trackable.Trackable) (*Report, error) {
	l.taken, l.report = map[string]bool{}, &Report{}
	f := l.file
	var err error
	if f.Format == kerasfile.LegacyModel || f.Format == kerasfile.LegacyWeights {
		err = l.legacy(model)
	} else {
		err = l.objects(model)
	}
	if err == nil {
		err = l.optimizer(model)
	}
	if err == nil {
		err = l.unused()
	}
	if err == nil {
		err = l.store(ctx)
	}
	if err != nil {
		return nil, err
	}
	return l.report, nil
}

// loader collects the values to store, and stores them at the end. So a mismatch changes no
// variable; an error of reading may leave some stored.
type loader struct {
	file   *kerasfile.File
	opts   *LoadOptions
	report *Report
	taken  map[string]bool // paths of groups

	vars    []*trackable.Variable
	weights []kerasfile.Weight
	places  []string
	rate    *kerasfile.Weight // the learning rate of Keras 3
	made    bool              // the loader made the model, which no other code has seen
}

// largeWeight is the number of bytes from which on a weight of a new model is read in place. It
// decides only the speed.
const largeWeight = 64 << 10

// inPlace reads a weight into the memory of a new model's variable, if it fits there.
func (l *loader) inPlace(ctx context.Context, w *kerasfile.Weight, v *trackable.Variable) (ok bool, err error) {
	if !l.made || w.ReadInto == nil || w.DType != v.DType() || w.DType == tensor.String {
		return false, nil
	}
	t := v.Load()
	if len(t.Bytes()) < largeWeight || !t.Shape().Equal(w.Shape) {
		return false, nil
	}
	return true, w.ReadInto(ctx, t)
}

func (l *loader) classes() *config.Classes {
	if l.opts.Classes != nil {
		return l.opts.Classes
	}
	return keras.Classes()
}

// version returns the version of Keras that wrote the file.
func (l *loader) version() dialect {
	if major, _, ok := strings.Cut(l.file.KerasVersion, "."); ok {
		if n, err := strconv.Atoi(major); err == nil && n >= 3 {
			return keras3
		}
		return keras2
	}
	for _, g := range l.file.Groups { // Keras 3 stores the names of objects
		if g.Name != "" {
			return keras3
		}
	}
	return keras2
}

// objects takes the weights of a file that has objects by path: .keras or .weights.h5.
func (l *loader) objects(model trackable.Trackable) error {
	if l.opts.ByName {
		return errors.New("saving: load weights: only older .h5 files have the layers' names (got an archive or a .weights.h5 file); leave ByName out")
	}
	for _, p := range placesOf(model, l.version(), l.classes()) {
		var weights []kerasfile.Weight
		if g := l.file.Group(p.path); g != nil {
			weights = g.Weights
		}
		l.taken[p.path] = true
		if err := l.take(p.path, p.obj, p.vars, weights); err != nil {
			return err
		}
	}
	return nil
}

// legacy takes the weights of an older .h5 file.
func (l *loader) legacy(model trackable.Trackable) error {
	graph, err := trackable.Walk(model, nil)
	if err != nil {
		return fmt.Errorf("saving: load weights: %w", err)
	}
	layers, top, err := legacyLayers(model, graph, l.version())
	if err != nil {
		return fmt.Errorf("saving: load weights: %w", err)
	}
	var groups []*kerasfile.Group
	for i := range l.file.Groups {
		if g := &l.file.Groups[i]; g.Path != kerasfile.TopLevel && g.Path != kerasfile.OptimizerWeights {
			groups = append(groups, g)
		}
	}
	if l.opts.ByName {
		for _, g := range groups {
			if i := slices.IndexFunc(layers, func(x legacyLayer) bool { return x.name == g.Path }); i >= 0 {
				l.taken[g.Path] = true
				if err := l.take(g.Path, nil, layers[i].weights, g.Weights); err != nil {
					return err
				}
			}
		}
	} else {
		groups = slices.DeleteFunc(groups, func(g *kerasfile.Group) bool { return len(g.Weights) == 0 })
		layers = slices.DeleteFunc(layers, func(x legacyLayer) bool { return len(x.weights) == 0 })
		if len(groups) != len(layers) {
			return &MismatchError{"", fmt.Sprintf("the file has %d layers with weights, the model has %d; build the model before, or load by name", len(groups), len(layers))}
		}
		for i, g := range groups {
			l.taken[g.Path] = true
			if err := l.take(g.Path, nil, layers[i].weights, g.Weights); err != nil {
				return err
			}
		}
	}
	if g := l.file.Group(kerasfile.TopLevel); g != nil {
		l.taken[g.Path] = true
		return l.take(g.Path, nil, top, g.Weights)
	}
	return nil
}

// take notes the weights of an object for its variables, in order. name is the object's path or
// the layer's name; obj is nil in older .h5 files. A Discretization takes a summary of any width,
// [2, n]. Other types of floating elements are converted when they are stored.
func (l *loader) take(name string, obj trackable.Trackable, vars []*trackable.Variable, weights []kerasfile.Weight) error {
	what := ""
	switch {
	case len(vars) != len(weights):
		what = fmt.Sprintf("the file has %d weights, the model has %d", len(weights), len(vars))
		if layer, ok := obj.(base.LayerLike); ok && len(vars) == 0 && !layer.AsLayer().Built() {
			what += "; build the model before"
		}
	default:
		for i, w := range weights {
			v := vars[i]
			if _, open := obj.(*layers.Discretization); !slices.Equal(v.Shape(), w.Shape) && !(open && len(w.Shape) == 2 && w.Shape[0] == 2) {
				what = fmt.Sprintf("weight %d, %s: the file has the shape %v, the model has %v", i, w.Name, w.Shape, v.Shape())
				break
			}
			if w.DType != v.DType() && !(w.DType.IsFloating() && v.DType().IsFloating()) {
				what = fmt.Sprintf("weight %d, %s: the file has elements of type %v, the model has %v", i, w.Name, w.DType, v.DType())
				break
			}
		}
	}
	if what != "" {
		if l.opts.SkipMismatch {
			l.report.Skipped = append(l.report.Skipped, fmt.Sprintf("%q: %s", name, what))
			return nil
		}
		return &MismatchError{name, what}
	}
	for i := range vars {
		l.vars, l.weights, l.places = append(l.vars, vars[i]), append(l.weights, weights[i]), append(l.places, name)
	}
	return nil
}

// optimizer takes the state of the optimizer.
func (l *loader) optimizer(model trackable.Trackable) error {
	o := l.opts.Optimizer
	name := "optimizer"
	if l.file.Format == kerasfile.LegacyModel {
		name = kerasfile.OptimizerWeights
	}
	g := l.file.Group(name)
	if o == nil || g == nil || len(g.Weights) == 0 {
		return nil
	}
	state, ok := o.(stateful)
	if !ok {
		return fmt.Errorf("saving: load weights: the optimizer %T has no method Variables", o)
	}
	if err := o.Build(keras.Trainable(model)); err != nil {
		return fmt.Errorf("saving: load weights: optimizer: %w", err)
	}
	weights := g.Weights
	if l.version() == keras3 && len(weights) == len(state.Variables())+1 { // the second is the learning rate
		l.rate = &weights[1]
		weights = append([]kerasfile.Weight{weights[0]}, weights[2:]...)
	}
	l.taken[name] = true
	if rest, ok := beforeSteps(g.Weights, len(state.Variables())); ok {
		if len(rest) > 0 {
			l.rate = &rest[len(rest)-1]
		}
		return nil
	}
	return l.take(name, nil, state.Variables(), weights)
}

// beforeSteps reports whether the weights are those of an optimizer before its first step, though a
// built one has n variables. Such weights are counts of 0 steps, and the learning rates of Keras 3,
// which are returned.
func beforeSteps(weights []kerasfile.Weight, n int) (rates []kerasfile.Weight, ok bool) {
	if len(weights) >= n || len(weights) > 4 {
		return nil, false
	}
	for i, w := range weights {
		switch {
		case len(w.Shape) > 0, w.DType.IsFloating() != (i%2 == 1):
			return nil, false
		case i%2 == 1:
			rates = append(rates, w)
		}
	}
	return rates, true
}

// unused lists the parts that nothing has taken. Weights of layers are an error; the state of an
// optimizer, of metrics and of random generators isn't.
func (l *loader) unused() error {
	var layers []string
	for _, g := range l.file.Groups {
		if l.taken[g.Path] || len(g.Weights) == 0 {
			continue
		}
		l.report.Unused = append(l.report.Unused, g.Path)
		first, _, _ := strings.Cut(g.Path, "/")
		state := first == "optimizer" || first == "metrics" || first == kerasfile.OptimizerWeights || strings.HasSuffix("/"+g.Path, "/seed_generator")
		if !state && !l.opts.ByName {
			layers = append(layers, g.Path)
		}
	}
	if len(layers) == 0 || l.opts.SkipMismatch {
		return nil
	}
	return &MismatchError{layers[0], fmt.Sprintf("the model has no such layer with weights (%d of the file's are left over)", len(layers))}
}

// store reads the weights into the variables.
func (l *loader) store(ctx context.Context) error {
	return trackable.Step(ctx, func(ctx context.Context) error {
		for i, v := range l.vars {
			done, err := l.inPlace(ctx, &l.weights[i], v)
			if done && err == nil {
				continue
			}
			var t *tensor.Tensor
			if err == nil {
				t, err = l.weights[i].Read(ctx)
			}
			if err == nil && t.DType() != v.DType() {
				t, err = tensor.Cast(t, v.DType())
			}
			if err == nil {
				err = v.Store(t)
			}
			if err != nil {
				return fmt.Errorf("saving: load %q, weight %s: %w", l.places[i], l.weights[i].Name, err)
			}
		}
		if l.rate == nil {
			return nil
		}
		t, err := l.rate.Read(ctx)
		if err == nil {
			t, err = tensor.Cast(t, tensor.Float64)
		}
		if err != nil {
			return fmt.Errorf("saving: load the learning rate: %w", err)
		}
		if t.Len() != 1 {
			return &MismatchError{"optimizer", fmt.Sprintf("the learning rate has the shape %v, want a scalar", t.Shape())}
		}
		return l.opts.Optimizer.SetLearningRate(tensor.Values[float64](t)[0])
	})
}

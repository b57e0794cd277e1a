package saving

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/kerasfile"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Loaded is a model of a file.
type Loaded struct {
	// Model is the model, built and with its weights: a *keras.Sequential, a
	// *keras.Functional or a program's own class.
	Model base.Callable
	// Optimizer is the optimizer that the model was compiled with, with its state; nil if
	// it was not compiled. keras.Compile takes it.
	Optimizer optimizers.Optimizer
	// Training is the JSON of the compilation, with the names or the configs of the
	// optimizer, the losses and the metrics: compile_config of an archive, training_config
	// of a .h5 file. For a file of Keras 3 it is translated to the form of Keras 2's
	// archives. It is nil if the model was not compiled.
	Training json.RawMessage
}

// ModelOptions are the options of [LoadModel].
type ModelOptions struct {
	// Classes are the known classes; a program joins its own. Default: keras.Classes().
	Classes *config.Classes
	// OmitOptimizer leaves out the optimizer and its state, for a file with one of an unknown
	// class. Default: the optimizer is read, and an unknown class is an error.
	OmitOptimizer bool
	// Read are the options for reading the file. Default: the defaults of
	// kerasfile.Options.
	Read *kerasfile.Options
}

// LoadModel reads a model of Keras 2 or 3 from a .keras archive or a .h5 file of the operating
// system: its layers by their classes, the weights, the vocabularies, and the optimizer with
// its state. A file of weights alone, unknown classes, and layers and options of Keras 3 that
// Keras 2 lacks are errors. Code in a file is never run: a Lambda is an error unless the
// program has a class for it.
func LoadModel(ctx context.Context, path string, opts *ModelOptions) (*Loaded, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("saving: load model: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("saving: load model: %w", err)
	}
	if opts == nil {
		opts = &ModelOptions{}
	}
	f, err := kerasfile.Open(file, info.Size(), opts.Read)
	if err != nil {
		return nil, fmt.Errorf("saving: load model %s: %w", path, err)
	}
	return LoadModelFrom(ctx, f, opts)
}

// LoadModelFrom does the same as [LoadModel], from an open file.
func LoadModelFrom(ctx context.Context, f *kerasfile.File, opts *ModelOptions) (*Loaded, error) {
	if opts == nil {
		opts = &ModelOptions{}
	}
	out, err := loadModel(ctx, f, opts)
	if err != nil {
		return nil, fmt.Errorf("saving: load model: %w", err)
	}
	return out, nil
}

func loadModel(ctx context.Context, f *kerasfile.File, opts *ModelOptions) (*Loaded, error) {
	weights := LoadOptions{Classes: opts.Classes}
	l := loader{file: f, opts: &weights, made: true}
	switch {
	case f.Format != kerasfile.Archive && f.Format != kerasfile.LegacyModel:
		return nil, fmt.Errorf("the file has weights alone (got %v); make the model and use LoadWeights", f.Format)
	case len(f.Config) == 0:
		return nil, errors.New("the file has no configuration; make the model and use LoadWeights")
	}
	conf, training, err := configOf(ctx, f, l.version())
	if err != nil {
		return nil, err
	}
	// Weights are 0 until the file's follow. The size of those bounds what a config may ask for.
	ctx = base.WithWeightsOfFile(ctx, sizeOf(f))
	obj, err := l.classes().WithContext(ctx).Decode(conf)
	if err != nil {
		return nil, err
	}
	model, ok := obj.(base.Callable)
	if _, layer := obj.(base.LayerLike); !ok || !layer {
		return nil, fmt.Errorf("the configuration is that of a %T, want a model", obj)
	}
	out := &Loaded{Model: model, Training: training}
	if err := buildLoaded(ctx, model); err != nil {
		return nil, err
	}
	if training != nil && !opts.OmitOptimizer {
		if out.Optimizer, err = optimizerOf(training, l.classes()); err != nil {
			return nil, err
		}
	}
	if out.Optimizer != nil && l.version() == keras3 {
		if out.Optimizer, err = l.scaled(out.Optimizer, keras.Trainable(model)); err != nil {
			return nil, err
		}
	}
	return out, l.loadAll(ctx, model, out.Optimizer)
}

// scaled returns the optimizer that a model of Keras 3 was trained with. Keras 3 scales the
// losses of models in mixed_float16, but the compilation doesn't say so. Then the optimizer's
// group has four more variables, those of the LossScaleOptimizer.
func (l *loader) scaled(o optimizers.Optimizer, vars []*trackable.Variable) (optimizers.Optimizer, error) {
	g := l.file.Group("optimizer")
	based, ok := o.(optimizers.Based)
	if _, already := o.(*optimizers.LossScaleOptimizer); g == nil || !ok || already {
		return o, nil
	}
	alone, err := withLayout(o, optimizers.Keras3Layout, l.classes())
	if err != nil {
		return nil, err
	}
	if err := alone.Build(vars); err != nil {
		return nil, err
	}
	if list, ok := alone.(stateful); !ok || len(g.Weights) != len(list.Variables())+4 {
		return o, nil
	}
	return optimizers.NewLossScaleOptimizer(based, nil), nil
}

// sizeOf returns the number of bytes of a file's weights.
func sizeOf(f *kerasfile.File) int64 {
	var size int64
	for _, g := range f.Groups {
		for _, w := range g.Weights {
			size = base.AddBytes(size, w.DType, w.Shape)
		}
	}
	return size
}

// loadAll sets the weights of a model, and the state of its optimizer.
func (l *loader) loadAll(ctx context.Context, model base.Callable, o optimizers.Optimizer) error {
	l.opts.Optimizer = o
	if o == nil || l.version() == keras2 {
		_, err := l.load(ctx, model)
		return err
	}
	stored, err := withLayout(o, optimizers.Keras3Layout, l.classes())
	if err != nil {
		return err
	}
	l.opts.Optimizer = stored
	if _, err := l.load(ctx, model); err != nil {
		return err
	}
	return copyState(o, stored, keras.Trainable(model))
}

// buildLoaded makes the variables of a model for the shapes that its config names.
func buildLoaded(ctx context.Context, model base.Callable) error {
	layer := model.(base.LayerLike)
	if layer.AsLayer().Built() {
		return nil
	}
	shapes := layer.AsLayer().BuiltShapes()
	if s, ok := model.(*keras.Sequential); ok && len(shapes) == 0 && len(s.Layers) > 0 {
		if first, ok := s.Layers[0].(base.LayerLike); ok && first.AsLayer().BatchInputShape != nil {
			shapes = base.Shapes{tensor.Shape(first.AsLayer().BatchInputShape)}
		}
	}
	if len(shapes) == 0 {
		return errors.New("the configuration names no shape of the input, so the variables can't be made; make the model, call it and use LoadWeights")
	}
	return keras.Build(base.WithConfigWeights(ctx, function.Eager(ctx)), layer, shapes...)
}

// withoutCompilation leaves compile_config out of a model's JSON. JSON that can't be read is
// returned unchanged, so that the decoder of configs reports it.
func withoutCompilation(data []byte) []byte {
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil {
		return data
	}
	delete(fields, "compile_config")
	out, err := json.Marshal(fields)
	if err != nil {
		return data
	}
	return out
}

// trainingOf returns the JSON of the compilation; nil for none.
func trainingOf(f *kerasfile.File) (json.RawMessage, error) {
	if f.Format == kerasfile.LegacyModel {
		return f.TrainingConfig, nil
	}
	var fields struct {
		Compile json.RawMessage `json:"compile_config"`
	}
	if err := json.Unmarshal(f.Config, &fields); err != nil {
		return nil, err
	}
	if s := string(fields.Compile); s == "null" || s == "{}" {
		return nil, nil
	}
	return fields.Compile, nil
}

// optimizerOf makes the optimizer of a compilation.
func optimizerOf(training []byte, classes *config.Classes) (optimizers.Optimizer, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(training, &fields); err != nil {
		return nil, fmt.Errorf("the configuration of the training: %w", err)
	}
	data := fields["optimizer_config"]
	if data == nil {
		data = fields["optimizer"]
	}
	if data == nil || string(data) == "null" {
		return nil, nil
	}
	obj, err := classes.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("optimizer: %w", err)
	}
	o, ok := obj.(optimizers.Optimizer)
	if !ok {
		return nil, fmt.Errorf("optimizer: got a %T", obj)
	}
	return o, nil
}

// Version returns the version of Keras that wrote a file, 2 or 3.
func Version(f *kerasfile.File) int { return int((&loader{file: f}).version()) }

package saving

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	k3 "github.com/cairnml/cairn/keras/internal/keras3"
	"github.com/cairnml/cairn/keras/kerasfile"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/trackable"
)

// keras3Version is the version of Keras 3 whose files are written.
const keras3Version = "3.15.1"

// TranslationError reports a class, an option or a function of a model that the other version
// of Keras lacks. The model can be saved in the version of its file.
type TranslationError struct {
	// To is the version of Keras to which the model was translated, 2 or 3.
	To int
	// Err names the layer and the reason.
	Err error
}

// Error returns the version and the reason.
func (e *TranslationError) Error() string {
	return fmt.Sprintf("translate the model to Keras %d: %v", e.To, e.Err)
}

// Unwrap returns Err.
func (e *TranslationError) Unwrap() error { return e.Err }

// This file has the parts of loads and saves that only files of Keras 3 need. Package
// keras/internal/keras3 (k3) translates their configs.

// configOf returns the configs of the model and of its compilation in the form of Keras 2, with
// the vocabularies of the archive's assets. training is nil if the model was not compiled.
func configOf(ctx context.Context, f *kerasfile.File, version dialect) (conf, training []byte, err error) {
	conf = withoutCompilation(f.Config)
	if conf, err = withVocabularies(ctx, f, conf); err != nil {
		return nil, nil, err
	}
	if training, err = trainingOf(f); err != nil {
		return nil, nil, err
	}
	if version == keras2 {
		return conf, training, nil
	}
	r, err := k3.ToKeras2(conf)
	if err != nil {
		return nil, nil, &TranslationError{To: 2, Err: err}
	}
	conf = r.JSON
	if training == nil {
		return conf, nil, nil
	}
	if r, err = k3.CompilationToKeras2(training); err != nil {
		return nil, nil, fmt.Errorf("the compilation of a model of Keras 3: %w", err)
	}
	return conf, r.JSON, nil
}

// contents3 returns the contents of a file of Keras 3. A compilation that can't be translated is
// left out and noted.
func contents3(model base.Callable, format kerasfile.Format, opts *SaveModelOptions, classes *config.Classes) (*kerasfile.Contents, error) {
	note := func(what string) error {
		if opts.Note == nil {
			return errors.New(what)
		}
		opts.Note(what)
		return nil
	}
	conf, err := classes.Encode(model, &config.EncodeOptions{Learned: true, Shared: &config.SharedObjects{Select: base.IsLayer}})
	if err != nil {
		return nil, err
	}
	r, err := k3.ToKeras3(conf)
	if err != nil {
		return nil, &TranslationError{To: 3, Err: err}
	}
	for _, n := range r.Notes {
		if err := note(n); err != nil {
			return nil, err
		}
	}
	var c *kerasfile.Contents
	if format == kerasfile.LegacyModel {
		c, err = legacyContents(model, keras3, &SaveOptions{Classes: classes})
	} else {
		c, err = objectContents(model, keras3, &SaveOptions{Classes: classes})
	}
	if err != nil {
		return nil, err
	}
	c.Config, c.KerasVersion = r.JSON, keras3Version
	if opts.Optimizer == nil {
		return c, nil
	}
	training, groups, err := compilation3(model, opts, classes)
	if err != nil {
		return c, note(fmt.Sprintf("the compilation and the optimizer's state: %v", err))
	}
	if format == kerasfile.LegacyModel {
		c.TrainingConfig, err = trainingConfig3(training)
		groups[0].Path = kerasfile.OptimizerWeights
		c.Groups = append(c.Groups, groups[0])
		return c, err
	}
	c.Config = append(bytes.TrimSuffix(bytes.TrimSpace(c.Config), []byte("}")), `, "compile_config": `...)
	c.Config = append(append(c.Config, training...), '}')
	c.Groups = append(c.Groups, groups...)
	return c, nil
}

// trainingConfig3 returns a compilation in the form of .h5 files.
func trainingConfig3(training []byte) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(training, &fields); err != nil {
		return nil, err
	}
	fields["optimizer_config"] = fields["optimizer"]
	delete(fields, "optimizer")
	var losses any
	if err := json.Unmarshal(fields["loss"], &losses); err != nil {
		return nil, err
	}
	var err error
	if fields["loss"], err = json.Marshal(longNames(losses)); err != nil {
		return nil, err
	}
	return json.Marshal(fields)
}

// longLosses are the names of losses that Keras 3 accepts in compile, and not in a .h5 file.
var longLosses = map[string]string{"bce": "binary_crossentropy", "kld": "kl_divergence", "mae": "mean_absolute_error",
	"mse": "mean_squared_error", "mape": "mean_absolute_percentage_error", "msle": "mean_squared_logarithmic_error"}

// longNames replaces the short names of losses.
func longNames(v any) any {
	switch v := v.(type) {
	case string:
		if long, ok := longLosses[strings.ToLower(v)]; ok {
			return long
		}
	case []any:
		for i := range v {
			v[i] = longNames(v[i])
		}
	case map[string]any:
		if _, isObject := v["class_name"]; isObject {
			return v
		}
		for name := range v {
			v[name] = longNames(v[name])
		}
	}
	return v
}

// compilation3 returns the compilation in the form of Keras 3, and the optimizer's state. The
// optimizer is copied twice: to the layout whose config k3 translates, and to that of the
// variables in the file. The program's optimizer stays as it is, apart from being built.
func compilation3(model base.Callable, opts *SaveModelOptions, classes *config.Classes) (training []byte, groups []kerasfile.Group, err error) {
	vars := keras.Trainable(model)
	if err := opts.Optimizer.Build(vars); err != nil {
		return nil, nil, err
	}
	described, err := withLayout(opts.Optimizer, optimizers.NewLayout, classes)
	if err != nil {
		return nil, nil, err
	}
	if err := described.Build(vars); err != nil {
		return nil, nil, err
	}
	if err := copyState(described, opts.Optimizer, vars); err != nil {
		return nil, nil, err
	}
	data, err := compilation(false, &SaveModelOptions{Optimizer: described, Training: opts.Training}, classes)
	if err != nil {
		return nil, nil, err
	}
	r, err := k3.CompilationToKeras3(data)
	if err != nil {
		return nil, nil, err
	}
	stored, err := withLayout(described, optimizers.Keras3Layout, classes)
	if err != nil {
		return nil, nil, err
	}
	if err := stored.Build(vars); err != nil {
		return nil, nil, err
	}
	if err := copyState(stored, described, vars); err != nil {
		return nil, nil, err
	}
	groups, err = stateOf(stored)
	return r.JSON, groups, err
}

// stateOf returns the variables of an optimizer, as an archive stores them. The variables of the
// optimizer in a LossScaleOptimizer are stored twice.
func stateOf(o optimizers.Optimizer) ([]kerasfile.Group, error) {
	list, ok := o.(stateful)
	if !ok {
		return nil, fmt.Errorf("the optimizer %T has no method Variables", o)
	}
	groups := []kerasfile.Group{group("optimizer", list.Variables())}
	if scaled, ok := o.(*optimizers.LossScaleOptimizer); ok {
		if inner, ok := scaled.InnerOptimizer().(stateful); ok {
			groups = append(groups, group("optimizer/inner_optimizer", inner.Variables()))
		}
	}
	return groups, nil
}

// stateful is implemented by optimizers that list their variables.
type stateful interface{ Variables() []*trackable.Variable }

// withLayout returns an optimizer with the settings of another one and a different layout.
func withLayout(o optimizers.Optimizer, l optimizers.Layout, classes *config.Classes) (optimizers.Optimizer, error) {
	data, err := classes.Encode(o, nil)
	if err != nil {
		return nil, err
	}
	obj, err := classes.Decode(data)
	if err != nil {
		return nil, err
	}
	made, ok := obj.(interface {
		optimizers.Optimizer
		SetLayout(optimizers.Layout) error
	})
	if !ok {
		return nil, fmt.Errorf("the optimizer %T has no layouts", o)
	}
	return made, made.SetLayout(l)
}

// copyState copies the state of an optimizer to one with another layout.
func copyState(to, from optimizers.Optimizer, vars []*trackable.Variable) error {
	c, ok := to.(interface {
		CopyState(optimizers.Optimizer, []*trackable.Variable) error
	})
	if !ok {
		return fmt.Errorf("the optimizer %T takes no state of another one", to)
	}
	if err := to.Build(vars); err != nil {
		return err
	}
	return c.CopyState(from, vars)
}

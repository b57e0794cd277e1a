package saving

import (
	"bytes"
	"context"
	"errors"
	"fmt"

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

// contents3 returns what a file of Keras 3 holds.
func contents3(model base.Callable, format kerasfile.Format, opts *SaveModelOptions, classes *config.Classes) (*kerasfile.Contents, error) {
	if format != kerasfile.Archive {
		return nil, errors.New("models of Keras 3 are written as .keras archives; Keras 3 calls its .h5 files obsolete")
	}
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
	c, err := objectContents(model, keras3, &SaveOptions{Classes: classes})
	if err != nil {
		return nil, err
	}
	c.Config, c.KerasVersion = r.JSON, keras3Version
	if opts.Optimizer == nil {
		return c, nil
	}
	training, state, err := compilation3(model, opts, classes)
	if err != nil {
		return c, note(fmt.Sprintf("the compilation and the optimizer's state: %v", err))
	}
	c.Config = append(bytes.TrimSuffix(bytes.TrimSpace(c.Config), []byte("}")), `, "compile_config": `...)
	c.Config = append(append(c.Config, training...), '}')
	c.Groups = append(c.Groups, state)
	return c, nil
}

// compilation3 returns the compilation in the form of Keras 3, and the optimizer's state.
func compilation3(model base.Callable, opts *SaveModelOptions, classes *config.Classes) (training []byte, state kerasfile.Group, err error) {
	vars := keras.Trainable(model)
	if err := opts.Optimizer.Build(vars); err != nil {
		return nil, state, err
	}
	described, err := withLayout(opts.Optimizer, optimizers.NewLayout, classes)
	if err != nil {
		return nil, state, err
	}
	if err := described.Build(vars); err != nil {
		return nil, state, err
	}
	if err := copyState(described, opts.Optimizer, vars); err != nil {
		return nil, state, err
	}
	data, err := compilation(false, &SaveModelOptions{Optimizer: described, Training: opts.Training}, classes)
	if err != nil {
		return nil, state, err
	}
	r, err := k3.CompilationToKeras3(data)
	if err != nil {
		return nil, state, err
	}
	stored, err := withLayout(described, optimizers.Keras3Layout, classes)
	if err != nil {
		return nil, state, err
	}
	if err := stored.Build(vars); err != nil {
		return nil, state, err
	}
	if err := copyState(stored, described, vars); err != nil {
		return nil, state, err
	}
	list, ok := stored.(interface{ Variables() []*trackable.Variable })
	if !ok {
		return nil, state, fmt.Errorf("the optimizer %T has no method Variables", stored)
	}
	return r.JSON, group("optimizer", list.Variables()), nil
}

// withLayout returns an optimizer with the settings of another one and a layout of its own.
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

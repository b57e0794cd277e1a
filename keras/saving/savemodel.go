package saving

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/kerasfile"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// SaveModelOptions are the options of [SaveModel].
type SaveModelOptions struct {
	// Optimizer is the optimizer whose config and state are saved. An archive takes the new
	// layout only. Default: none.
	Optimizer optimizers.Optimizer
	// Training is the JSON of the compilation, in the form of [Loaded].Training for the same
	// kind of file; the optimizer in it is replaced by Optimizer. It needs an Optimizer.
	// Default: the optimizer alone, without a loss or metrics, or nothing without one.
	Training json.RawMessage
	// Classes are the known classes. Default: keras.Classes().
	Classes *config.Classes
	// Keras is the version of Keras that opens the file, 2 or 3. Default: 2, which is
	// tf_keras.
	Keras int
	// Note is called with each part that the file can't hold and that changes no output,
	// such as the optimizer's state in another version's form. Default: such a part is an
	// error.
	Note func(string)
}

// SaveModel writes a model to a .keras archive or a .h5 file that tf_keras opens, or Keras 3
// if the options require it: its config, its weights and the optimizer. The model's class
// must be known. A file of that name is replaced as a whole. Vocabularies and bins that
// layers adapted to become settings. A layer or an option that the version lacks is an
// error.
func SaveModel(ctx context.Context, model base.Callable, path string, opts *SaveModelOptions) error {
	var format kerasfile.Format
	switch {
	case strings.HasSuffix(path, ".weights.h5"):
		return errors.New("saving: save model: a .weights.h5 file has no model; use SaveWeights")
	case strings.HasSuffix(path, ".keras"):
		format = kerasfile.Archive
	case strings.HasSuffix(path, ".h5"), strings.HasSuffix(path, ".hdf5"):
		format = kerasfile.LegacyModel
	default:
		return fmt.Errorf("saving: save model: the file name must end in .keras, .h5 or .hdf5 (got %q)", filepath.Base(path))
	}
	dir, name := vfs.OSDir(filepath.Dir(path)), filepath.Base(path)
	return replaceFile(dir, name, func(w io.Writer) error { return WriteModel(ctx, w, model, format, opts) })
}

// WriteModel writes the same as [SaveModel] to w, as a kerasfile.Archive or a
// kerasfile.LegacyModel. It runs between training steps.
func WriteModel(ctx context.Context, w io.Writer, model base.Callable, format kerasfile.Format, opts *SaveModelOptions) error {
	if opts == nil {
		opts = &SaveModelOptions{}
	}
	return trackable.Freeze(ctx, func(ctx context.Context) error {
		c, err := modelContents(model, format, opts)
		if err != nil {
			return fmt.Errorf("saving: save model: %w", err)
		}
		return kerasfile.Write(ctx, w, format, c)
	})
}

func modelContents(model base.Callable, format kerasfile.Format, opts *SaveModelOptions) (*kerasfile.Contents, error) {
	classes := opts.Classes
	if classes == nil {
		classes = keras.Classes()
	}
	if opts.Training != nil && opts.Optimizer == nil {
		return nil, errors.New("the option Training needs an Optimizer")
	}
	if l, ok := model.(base.LayerLike); !ok || !l.AsLayer().Built() {
		return nil, errors.New("the model is not built; call it, or use keras.Build")
	}
	switch opts.Keras {
	case 0, 2:
	case 3:
		return contents3(model, format, opts, classes)
	default:
		return nil, fmt.Errorf("there is no version %d of Keras' files, want 2 or 3", opts.Keras)
	}
	legacy := format == kerasfile.LegacyModel
	conf, err := classes.Encode(model, &config.EncodeOptions{Legacy: legacy, Learned: true, Shared: &config.SharedObjects{Select: base.IsLayer}})
	if err != nil {
		return nil, err
	}
	training, err := compilation(legacy, opts, classes)
	if err != nil {
		return nil, err
	}
	weights := &SaveOptions{Classes: classes}
	switch format {
	case kerasfile.Archive:
		weights.Optimizer = opts.Optimizer
		c, err := objectContents(model, keras2, weights)
		if err != nil {
			return nil, err
		}
		if training != nil {
			conf = append(bytes.TrimSuffix(bytes.TrimSpace(conf), []byte("}")), ", \"compile_config\": "...)
			conf = append(append(conf, training...), '}')
		}
		c.Config, c.KerasVersion = conf, kerasVersion
		return c, nil
	case kerasfile.LegacyModel:
		c, err := legacyContents(model, keras2, weights)
		if err != nil {
			return nil, err
		}
		c.Config, c.TrainingConfig = conf, training
		if opts.Optimizer == nil {
			return c, nil
		}
		g, err := legacyOptimizer(model, opts.Optimizer)
		c.Groups = append(c.Groups, g)
		return c, err
	}
	return nil, fmt.Errorf("no format of whole models (got %v)", format)
}

// compilation returns the JSON of the compilation; nil for none. legacy is true for a .h5 file,
// whose fields are those of tf_keras's saving_utils.model_metadata; an archive has those of
// Model.get_compile_config.
func compilation(legacy bool, opts *SaveModelOptions, classes *config.Classes) ([]byte, error) {
	if opts.Optimizer == nil {
		return nil, nil
	}
	optimizer, err := classes.Encode(opts.Optimizer, &config.EncodeOptions{Legacy: legacy})
	if err != nil {
		return nil, err
	}
	key := "optimizer"
	defaults := []string{"loss", "metrics", "loss_weights", "weighted_metrics", "run_eagerly", "steps_per_execution", "jit_compile"}
	if legacy {
		key = "optimizer_config"
		defaults = []string{"loss", "metrics", "weighted_metrics", "loss_weights"}
	}
	fields := map[string]json.RawMessage{}
	for _, name := range defaults {
		fields[name] = json.RawMessage("null")
	}
	if opts.Training != nil {
		if err := json.Unmarshal(opts.Training, &fields); err != nil {
			return nil, fmt.Errorf("the option Training: %w", err)
		}
	}
	delete(fields, "optimizer_config") // of another kind of file
	delete(fields, "optimizer")
	fields[key] = optimizer
	return json.Marshal(fields)
}

// legacyOptimizer returns the state of an optimizer as a .h5 file has it: the weights by their
// full names, in the order of the optimizer's variables.
func legacyOptimizer(model trackable.Trackable, o optimizers.Optimizer) (kerasfile.Group, error) {
	g := kerasfile.Group{Path: kerasfile.OptimizerWeights, Name: kerasfile.OptimizerWeights}
	state, ok := o.(interface{ Variables() []*trackable.Variable })
	if !ok {
		return g, fmt.Errorf("the optimizer %T has no method Variables", o)
	}
	if err := o.Build(keras.Trainable(model)); err != nil {
		return g, fmt.Errorf("optimizer: %w", err)
	}
	graph, err := trackable.Walk(&struct{ Model, Optimizer any }{model, o}, nil)
	if err != nil {
		return g, err
	}
	for _, v := range state.Variables() {
		id, ok := graph.ID(v)
		if !ok {
			return g, fmt.Errorf("the variable %v is not reached from the optimizer", v)
		}
		g.Weights = append(g.Weights, weight(graph.Nodes[id].FullName+":0", v))
	}
	return g, nil
}

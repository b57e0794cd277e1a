package models

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/training"
	"github.com/cairnml/cairn/trackable"
)

// optimizerEdge leads from a compiled model to its optimizer.
const optimizerEdge = "optimizer"

// trainingConfig returns Keras's form of compile's arguments, as tf_keras's
// saving_utils.model_metadata does. Its fields and their order must stay.
func (x *exporter) trainingConfig(t *keras.Trainer) (config.Fields, error) {
	o := t.CompileOptions()
	var f config.Fields
	for _, part := range []struct {
		name  string
		value any
	}{{"loss", o.Loss}, {"metrics", o.Metrics}, {"weighted_metrics", o.WeightedMetrics}, {"loss_weights", o.LossWeights}} {
		v, err := x.compiled(part.value, 0)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", part.name, err)
		}
		f = append(f, config.Pair{Name: part.name, Value: v})
	}
	optimizer, err := x.objectOf(t.Optimizer())
	if err != nil {
		return nil, fmt.Errorf("optimizer: %w", err)
	}
	class := optimizer.Class
	if bytes.HasPrefix(class, []byte(`"`)) && !bytes.Contains(class, []byte(">")) && !legacy(optimizer.Config) {
		class = append([]byte(`"Custom>`), class[1:]...) // the package of tf_keras's newer optimizers
	}
	return append(f, config.Pair{Name: "optimizer_config", Value: config.Fields{{Name: "class_name", Value: class}, {Name: "config", Value: optimizer.Config}}}), nil
}

// legacy reports whether a config is that of an optimizer of TensorFlow 2.10 or earlier.
func legacy(text json.RawMessage) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) != nil {
		return false
	}
	_, newer := fields["jit_compile"]
	return !newer
}

// compiled returns an argument of compile as JSON: names, objects, lists and maps of them. The limit
// of the depth is ours.
func (x *exporter) compiled(v any, depth int) (any, error) {
	if depth > 4 {
		return nil, fmt.Errorf("lists nest deeper than 4")
	}
	switch v := v.(type) {
	case nil, string, float64, int, []float64, map[string]float64:
		return v, nil
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Slice:
		list := make([]any, r.Len())
		for i := range list {
			var err error
			if list[i], err = x.compiled(r.Index(i).Interface(), depth+1); err != nil {
				return nil, err
			}
		}
		return list, nil
	case reflect.Map:
		out := map[string]any{}
		for _, key := range r.MapKeys() {
			var err error
			if out[key.String()], err = x.compiled(r.MapIndex(key).Interface(), depth+1); err != nil {
				return nil, err
			}
		}
		return out, nil
	case reflect.Func:
		return nil, fmt.Errorf("a Go function has no name in Python; leave SaveOptions.Trainer out, or use an object of a registered class")
	}
	o, err := x.objectOf(v)
	if err != nil {
		return nil, err
	}
	return config.Fields{{Name: "class_name", Value: o.Class}, {Name: "config", Value: o.Config}}, nil
}

// compile makes a trainer of the file's compile state. After an error the model has no trainer.
func (l *loader) compile(text json.RawMessage) error {
	known := l.opts.Classes
	if known == nil {
		known = keras.Classes()
	}
	o, err := training.DecodeCompile(known, text)
	if err != nil {
		return err
	}
	l.out.Trainer, err = keras.Compile(l.out.Model, o)
	return err
}

// withOptimizer lists the edges of the objects of a compiled model: the optimizer is one of the
// root's. The reader of the checkpoint asks it for edges.
func withOptimizer(root trackable.Trackable, optimizer trackable.Trackable) func(obj trackable.Trackable) ([]trackable.Edge, error) {
	return func(obj trackable.Trackable) ([]trackable.Edge, error) {
		edges, err := trackable.Children(obj)
		if obj == root && err == nil {
			edges = append(edges[:len(edges):len(edges)], trackable.Edge{Name: optimizerEdge, Child: optimizer})
		}
		return edges, err
	}
}

package models

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/metrics"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
)

// metadata returns the file with Keras's metadata of its objects.
func (x *exporter) metadata(nodes []savedmodel.SavedNode) ([]byte, error) {
	if x.failed != nil {
		return nil, x.failed
	}
	var list []savedmodel.KerasNode
	loaded := map[any]*savedmodel.KerasObject{} // objects below generic ones, whose metadata is written unchanged
	for _, n := range nodes {
		if g, ok := n.Object.(*Generic); ok {
			loaded = g.all
			break
		}
	}
	for _, n := range nodes {
		id := identifierOf(n.Object)
		if o := loaded[n.Object]; id == "" && o != nil {
			list = append(list, savedmodel.KerasNode{ID: n.ID, Path: kerasPath(n), Identifier: o.Identifier, Metadata: o.Metadata})
			continue
		}
		if id == "" {
			continue
		}
		a, err := x.attributesOf(n.Object)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", n.Path, err)
		}
		text, err := x.knownClasses().Encode(a.properties, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", n.Path, err)
		}
		list = append(list, savedmodel.KerasNode{ID: n.ID, Path: kerasPath(n), Identifier: id, Metadata: string(text)})
	}
	return savedmodel.MarshalKeras(list), nil
}

// kerasPath returns the path of a node as Keras writes it.
func kerasPath(n savedmodel.SavedNode) string {
	if n.Path == "" {
		return "root"
	}
	return "root." + n.Path
}

// object is the class and the config of a Keras object.
type object struct {
	Class  json.RawMessage `json:"class_name"`
	Config json.RawMessage `json:"config"`
}

func (x *exporter) objectOf(obj any) (o object, err error) {
	data, err := x.knownClasses().Encode(obj, &config.EncodeOptions{SavedModel: true, Shared: &x.numbers})
	if err != nil {
		return o, err
	}
	return o, json.Unmarshal(data, &o)
}

// properties returns the JSON of a Keras object, with tf_keras's keys in its order.
func (x *exporter) properties(obj any, id string) (config.Fields, error) {
	o, err := x.objectOf(obj)
	if err != nil {
		return nil, err
	}
	class, conf := config.Pair{Name: "class_name", Value: o.Class}, config.Pair{Name: "config", Value: o.Config}
	switch m := obj.(type) {
	case *layers.InputLayer:
		shape := tuple(tensor.Shape(m.BatchInputShape))
		return config.Fields{class, {Name: "name", Value: m.Name}, {Name: "dtype", Value: m.DType}, {Name: "sparse", Value: m.Sparse},
			{Name: "ragged", Value: m.Ragged}, {Name: "batch_input_shape", Value: shape}, conf}, nil
	case metrics.Accumulator:
		return config.Fields{class, {Name: "name", Value: metrics.NameOf(m)}, {Name: "dtype", Value: "float32"}, conf}, nil
	}
	var f config.Fields
	if g, ok := obj.(*Generic); ok {
		if f, err = orderedFields([]byte(g.saved.Metadata)); err != nil {
			return nil, err
		}
		f = slices.DeleteFunc(f, func(p config.Pair) bool { return p.Name == "training_config" })
	} else {
		f = x.describeLayer(obj.(base.LayerLike), id, class, conf)
	}
	if t := x.opts.Trainer; t != nil && obj == any(x.model) {
		state, err := x.trainingConfig(t)
		if err != nil {
			return nil, err
		}
		f = append(f, config.Pair{Name: "training_config", Value: state})
	}
	return f, nil
}

// knownClasses returns the classes of configs.
func (x *exporter) knownClasses() *config.Classes {
	if x.known == nil {
		known := x.opts.Classes
		if known == nil {
			known = keras.Classes()
		}
		x.known = config.Must(known.With(savedOnly))
	}
	return x.known
}

// describeLayer returns the JSON of a layer or a model: the fields of tf_keras's
// LayerSavedModelSaver and ModelSavedModelSaver, in their order.
func (x *exporter) describeLayer(obj base.LayerLike, id string, class, conf config.Pair) config.Fields {
	l := obj.AsLayer()
	_, keeps := obj.(interface{ KeepsInputTypes() })
	var shape any
	if l.BatchInputShape != nil {
		shape = tuple(tensor.Shape(l.BatchInputShape))
	}
	f := config.Fields{
		{Name: "name", Value: l.Name}, {Name: "trainable", Value: !l.NotTrainable}, {Name: "expects_training_arg", Value: parametersOf(obj).training},
		{Name: "dtype", Value: dtypeOf(l)}, {Name: "batch_input_shape", Value: shape},
	}
	model := base.IsModel(obj)
	if !model {
		stateful := false
		if s, ok := obj.(base.Stateful); ok {
			stateful = s.IsStateful()
		}
		f = append(f, config.Pair{Name: "stateful", Value: stateful})
	}
	f = append(f, config.Pair{Name: "must_restore_from_config", Value: mustRestore(obj)}, config.Pair{Name: "preserve_input_structure_in_config", Value: isFunction(obj)},
		config.Pair{Name: "autocast", Value: !keeps && !model}, class, conf)
	var shapes []any
	for _, s := range l.BuiltShapes() {
		shapes = append(shapes, config.Fields{{Name: "class_name", Value: "TensorShape"}, {Name: "items", Value: base.Shape(s)}})
	}
	switch len(shapes) {
	case 0:
	case 1:
		f = append(f, config.Pair{Name: "build_input_shape", Value: shapes[0]})
	default:
		f = append(f, config.Pair{Name: "build_input_shape", Value: shapes})
	}
	if !model {
		return f
	}
	_, functional := obj.(*keras.Functional)
	_, sequential := obj.(*keras.Sequential)
	f = append(f, config.Pair{Name: "is_graph_network", Value: functional || sequential})
	if calls := x.calls[obj]; calls != nil {
		var specs []any
		for i, fact := range calls[0].inputs {
			name := fmt.Sprintf("input_%d", i+1)
			if m, ok := obj.(*keras.Functional); ok {
				name = m.InputNames()[i]
			}
			specs = append(specs, typeSpec(fact, name))
		}
		var first any = specs
		if len(specs) == 1 {
			first = specs[0]
		}
		full := config.Fields{{Name: "class_name", Value: "__tuple__"}, {Name: "items", Value: []any{[]any{first}, config.Fields{}}}}
		f = append(f, config.Pair{Name: "full_save_spec", Value: full}, config.Pair{Name: "save_spec", Value: first})
	}
	return append(f, config.Pair{Name: "keras_version", Value: kerasVersion}, config.Pair{Name: "backend", Value: "tensorflow"},
		config.Pair{Name: "model_config", Value: config.Fields{class, conf}})
}

// savedOnly are classes that have a config in a SavedModel, and can't be made from it alone.
var savedOnly = []config.Class{
	config.Of[*Generic]("cairn", "Generic"), config.PrivateOf[*layers.ConvLSTMCell]("tf_keras.src.layers.rnn.base_conv_lstm", "ConvLSTMCell"),
}

// kerasVersion is the release of tf_keras whose files a save writes.
const kerasVersion = "2.21.0"

// typeSpec returns the JSON of a tf.TensorSpec.
func typeSpec(fact graph.Fact, name string) config.Fields {
	var dims any
	if fact.Shape.HasRank() {
		dims = base.Shape(fact.Shape.Anonymous().Dims())
	}
	serialized := []any{config.Fields{{Name: "class_name", Value: "TensorShape"}, {Name: "items", Value: dims}}, fact.DType.String(), name}
	return config.Fields{{Name: "class_name", Value: "TypeSpec"}, {Name: "type_spec", Value: "tf.TensorSpec"}, {Name: "serialized", Value: serialized}}
}

// dtypeOf returns the dtype policy as metadata has it.
func dtypeOf(l *base.Layer) any {
	if l.DType == "" {
		return "float32"
	}
	return l.DType
}

func tuple(shape tensor.Shape) config.Fields {
	return config.Fields{{Name: "class_name", Value: "__tuple__"}, {Name: "items", Value: base.Shape(shape)}}
}

func isFunction(obj any) bool {
	switch obj.(type) {
	case *layers.TFOpLambda, *layers.SlicingOpLambda:
		return true
	}
	return false
}

// mustRestore reports whether Keras opens a layer from its config only.
func mustRestore(obj any) bool {
	switch obj.(type) {
	case *layers.Normalization, *layers.Discretization, *layers.StringLookup, *layers.IntegerLookup, *layers.TextVectorization:
		return true
	}
	return isFunction(obj)
}

package models

import (
	"errors"

	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/metrics"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/trackable"
)

// identifierOf returns the kind of a Keras object, by which tf_keras chooses its loader; "" for an
// object that the metadata doesn't list. The order of the cases matters: a model is a layer too.
// The strings are those of tf_keras's saved_model/constants.py.
func identifierOf(obj trackable.Trackable) string {
	switch obj := obj.(type) {
	case *Generic:
		return obj.saved.Identifier
	case *layers.InputLayer:
		return "_tf_keras_input_layer"
	case *keras.Functional:
		return "_tf_keras_network"
	case *keras.Sequential:
		return "_tf_keras_sequential"
	case metrics.Accumulator:
		return "_tf_keras_metric"
	}
	switch {
	case base.IsModel(obj):
		return "_tf_keras_model"
	case isRecurrent(obj):
		return "_tf_keras_rnn_layer"
	}
	if _, ok := obj.(base.LayerLike); ok {
		return "_tf_keras_layer"
	}
	return ""
}

// isRecurrent reports whether a layer goes over time steps.
func isRecurrent(obj any) bool {
	switch obj.(type) {
	case *layers.RNN, *layers.SimpleRNN, *layers.LSTM, *layers.GRU, *layers.ConvLSTM1D, *layers.ConvLSTM2D, *layers.ConvLSTM3D:
		return true
	}
	return false
}

// classes lists the classes of the objects, one for each identifier.
func (x *exporter) classes() (*savedmodel.Classes, error) {
	c := new(savedmodel.Classes)
	var failed error
	for _, id := range []string{"_tf_keras_input_layer", "_tf_keras_network", "_tf_keras_sequential", "_tf_keras_model", "_tf_keras_rnn_layer", "_tf_keras_layer", "_tf_keras_metric"} {
		if x.opts.Level == InferenceOnly {
			break
		}
		failed = errors.Join(failed, savedmodel.Register(c, savedmodel.Class[trackable.Trackable]{
			Name:    id,
			Matches: func(obj trackable.Trackable) bool { return identifierOf(obj) == id },
			Save:    x.spec,
		}))
	}
	return c, failed
}

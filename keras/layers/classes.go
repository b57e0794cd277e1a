// Package layers has the layers of Keras 2. A zero value of a layer, with its required
// fields set, has tf_keras's defaults:
//
//	l1 := &layers.Dense{Units: 5}
//	y := l1.Call(s, x)
package layers

import "github.com/cairnml/cairn/keras/config"

// Classes lists the layers for configs.
func Classes() []config.Class {
	const module = "keras.layers"
	return []config.Class{
		config.Of[*Activation](module, "Activation"),
		config.Of[*Dense](module, "Dense"),
		config.Of[*Dropout](module, "Dropout"),
		config.Of[*Flatten](module, "Flatten"),
		config.Of[*InputLayer](module, "InputLayer"),

		// Recurrent layers.
		config.Of[*Bidirectional](module, "Bidirectional"),
		config.Of[*ConvLSTM1D](module, "ConvLSTM1D"),
		config.Of[*ConvLSTM2D](module, "ConvLSTM2D"),
		config.Of[*ConvLSTM3D](module, "ConvLSTM3D"),
		config.Of[*GRU](module, "GRU"),
		config.Of[*GRUCell](module, "GRUCell"),
		config.Of[*LSTM](module, "LSTM"),
		config.Of[*LSTMCell](module, "LSTMCell"),
		config.Of[*RNN](module, "RNN"),
		config.Of[*SimpleRNN](module, "SimpleRNN"),
		config.Of[*SimpleRNNCell](module, "SimpleRNNCell"),
		config.Of[*StackedRNNCells](module, "StackedRNNCells"),
		config.Of[*TimeDistributed](module, "TimeDistributed"),
		config.Of[*Wrapper](module, "Wrapper"),
	}
}

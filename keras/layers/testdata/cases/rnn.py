"""Cases of RNN over cells, StackedRNNCells and a program's own cell."""
import numpy as np
import tensorflow as tf
import tf_keras
from tf_keras import layers

x = (2, 3)
seq = (2, 4, 3)
mask = np.array([[True, True, False, True], [False, True, False, False]])
rng = np.random.RandomState(3)


def state(n=5):
    return rng.uniform(-1, 1, (2, n)).astype("float32")


@tf_keras.utils.register_keras_serializable("test")
class ShiftedCell(layers.Layer):
    """A cell whose output, of another size than its state, is shifted by a constant."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.state_size = units
        self.output_size = 2 * units

    def build(self, shape):
        self.kernel = self.add_weight(name="kernel", shape=(shape[-1], self.units), initializer="uniform")
        super().build(shape)

    def call(self, inputs, states, constants=None):
        h = tf.tanh(tf.matmul(inputs, self.kernel) + 0.5 * states[0])
        shift = constants[0] if constants else 1.0
        return tf.concat([h, h * shift], -1), [h]

    def get_config(self):
        return {**super().get_config(), "units": self.units}


def stacked(**kw):
    return layers.StackedRNNCells([layers.LSTMCell(4), layers.GRUCell(3, reset_after=False), layers.SimpleRNNCell(2)], **kw)


CASES = [
    dict(name="rnn_lstm", layer=lambda: layers.RNN(layers.LSTMCell(4)), inputs=[seq]),
    dict(name="rnn_gru_masked", layer=lambda: layers.RNN(layers.GRUCell(4), return_sequences=True, return_state=True, name="r"), inputs=[seq], mask=[mask]),
    dict(name="rnn_simple_unrolled", layer=lambda: layers.RNN(layers.SimpleRNNCell(4, name="c"), go_backwards=True, time_major=True, unroll=True), inputs=[(4, 2, 3)]),
    dict(name="rnn_zeros", layer=lambda: layers.RNN(layers.SimpleRNNCell(4), zero_output_for_mask=True, return_sequences=True), inputs=[seq], mask=[mask]),
    dict(name="rnn_initial", layer=lambda: layers.RNN(layers.LSTMCell(5)), inputs=[seq], mask=[mask], args={"initial_state": [(2, 5), (2, 5)]}),
    dict(name="rnn_stateful", layer=lambda: layers.RNN(layers.LSTMCell(5), stateful=True), inputs=[seq], states=[state(), state()]),
    dict(name="rnn_list", layer=lambda: layers.RNN([layers.LSTMCell(4), layers.LSTMCell(3)], return_state=True), inputs=[seq]),
    dict(name="rnn_stacked", layer=lambda: layers.RNN(stacked(), return_sequences=True, return_state=True), inputs=[seq], mask=[mask]),
    dict(name="rnn_stacked_unrolled", layer=lambda: layers.RNN(stacked(), unroll=True, go_backwards=True), inputs=[seq], mask=[mask]),
    dict(name="rnn_stacked_dropout", layer=lambda: layers.RNN([layers.GRUCell(3, dropout=0.5), layers.GRUCell(2, recurrent_dropout=0.5)]), inputs=[seq], training=[False]),
    dict(name="rnn_stacked_float64", layer=lambda: layers.RNN([layers.GRUCell(3, dtype="float64"), layers.GRUCell(2, dtype="float64")], dtype="float64"), inputs=[seq]),
    dict(name="rnn_own", layer=lambda: layers.RNN(ShiftedCell(4), return_sequences=True, return_state=True), inputs=[seq], mask=[mask]),
    dict(name="rnn_own_constants", layer=lambda: layers.RNN(ShiftedCell(4)), inputs=[seq], mask=[mask], args={"constants": [(2, 4)]}),
    dict(name="rnn_own_all", layer=lambda: layers.RNN(ShiftedCell(4), return_sequences=True), inputs=[seq], args={"constants": [(2, 4)], "initial_state": [(2, 4)]}),
    dict(name="rnn_own_stacked", layer=lambda: layers.RNN([ShiftedCell(4), layers.GRUCell(3)]), inputs=[seq], args={"constants": [(2, 4)]}),
    dict(name="rnn_own_stacked_last", layer=lambda: layers.RNN([layers.GRUCell(3), ShiftedCell(4)]), inputs=[seq], mask=[mask], args={"constants": [(2, 4)]}),
    dict(name="stacked_cells", layer=stacked, inputs=[x], args={"states": [(2, 4), (2, 4), (2, 3), (2, 2)]}),
]

"""Cases of Wrapper, TimeDistributed and Bidirectional."""
import numpy as np
import tensorflow as tf
import tf_keras
from tf_keras import layers

seq = (2, 4, 3)
mask = np.array([[True, True, False, True], [False, True, False, False]])
rng = np.random.RandomState(3)


def state(n=5):
    return rng.uniform(-1, 1, (2, n)).astype("float32")


@tf_keras.utils.register_keras_serializable("test")
class Centered(layers.Layer):
    """A layer whose output depends on the whole batch."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.supports_masking = True

    def build(self, shape):
        self.kernel = self.add_weight(name="kernel", shape=(shape[-1], self.units), initializer="uniform")
        super().build(shape)

    def call(self, inputs):
        y = tf.matmul(inputs, self.kernel)
        return y - tf.reduce_mean(y, 0, keepdims=True)

    def get_config(self):
        return {**super().get_config(), "units": self.units}


Bi, TD = layers.Bidirectional, layers.TimeDistributed


def frozen(layer):
    layer.trainable = False
    return layer


CASES = [
    dict(name="time_batch", layer=lambda: layers.TimeDistributed(layers.BatchNormalization(momentum=0.5)), inputs=[(3, 4, 2)]),
    dict(name="time_batch_constructed_frozen", layer=lambda: layers.TimeDistributed(layers.BatchNormalization(momentum=0.5), trainable=False), inputs=[(3, 4, 2)]),
    dict(name="time_batch_frozen", layer=lambda: frozen(layers.TimeDistributed(layers.BatchNormalization(momentum=0.5))), inputs=[(3, 4, 2)]),
    dict(name="wrapper", layer=lambda: layers.Wrapper(layers.Dense(3)), inputs=[(2, 3)]),
    dict(name="time_dense", layer=lambda: TD(layers.Dense(5, activation="tanh")), inputs=[seq]),
    dict(name="time_dense_masked", layer=lambda: TD(layers.Dense(5), name="t"), inputs=[seq], mask=[mask]),
    dict(name="time_dense_deep_mask", layer=lambda: TD(layers.Dense(2)), inputs=[(2, 4, 2, 3)], mask=[np.stack([mask, ~mask], -1)]),
    dict(name="time_flatten", layer=lambda: TD(layers.Flatten()), inputs=[(2, 3, 4, 2)]),
    dict(name="time_lstm", layer=lambda: TD(layers.LSTM(2)), inputs=[(2, 3, 4, 2)]),
    dict(name="time_lstm_masked", layer=lambda: TD(layers.LSTM(2, return_sequences=True)), inputs=[(2, 4, 2, 3)], mask=[np.stack([mask, ~mask], -1)]),
    dict(name="time_lstm_last_masked", layer=lambda: TD(layers.GRU(2)), inputs=[(2, 4, 2, 3)], mask=[np.stack([mask, ~mask], -1)]),
    dict(name="time_time", layer=lambda: TD(TD(layers.Dense(2))), inputs=[(2, 3, 2, 3)]),
    dict(name="time_bidirectional", layer=lambda: TD(Bi(layers.GRU(2), merge_mode="sum")), inputs=[(2, 3, 2, 3)]),
    dict(name="time_own", layer=lambda: TD(Centered(2)), inputs=[seq]),
    dict(name="time_own_masked", layer=lambda: TD(Centered(2)), inputs=[seq], mask=[mask]),
    dict(name="time_stateful", layer=lambda: TD(layers.SimpleRNN(2, stateful=True, return_sequences=True)), inputs=[(2, 3, 2, 3)], states=[state(2)]),
    dict(name="time_frozen", layer=lambda: TD(layers.Dense(2), trainable=False), inputs=[seq]),
    dict(name="time_float64", layer=lambda: TD(layers.Dense(2, dtype="float64"), dtype="float64"), inputs=[seq]),
    dict(name="both_own_cell", layer=lambda: Bi(layers.RNN([layers.GRUCell(3), layers.LSTMCell(2)], return_sequences=True)), inputs=[seq], mask=[mask]),
    dict(name="both_custom_backward", layer=lambda: Bi(
        layers.LSTM(3, return_sequences=True, name="there"), backward_layer=layers.GRU(2, return_sequences=True, go_backwards=True, name="back")),
        inputs=[seq], mask=[mask]),
    dict(name="both_float64", layer=lambda: Bi(layers.GRU(3, dtype="float64"), dtype="float64"), inputs=[seq]),
    dict(name="both_activity", layer=lambda: Bi(layers.LSTM(3, activity_regularizer="l2", kernel_regularizer="l1")), inputs=[seq]),
    dict(name="both_major", layer=lambda: Bi(layers.LSTM(3, time_major=True, return_sequences=True)), inputs=[(4, 2, 3)], mask=[mask.T.copy()]),
    dict(name="both_unrolled", layer=lambda: Bi(layers.LSTM(3, unroll=True, return_sequences=True)), inputs=[seq], mask=[mask]),
    dict(name="both_backwards", layer=lambda: Bi(layers.GRU(3, go_backwards=True, return_sequences=True)), inputs=[seq], mask=[mask]),
    dict(name="both_initial", layer=lambda: Bi(layers.LSTM(3)), inputs=[seq], mask=[mask], args={"initial_state": [(2, 3)] * 4}),
    dict(name="both_stateful", layer=lambda: Bi(layers.GRU(3, stateful=True, return_state=True)), inputs=[seq], states=[[state(3)], [state(3)]]),
    dict(name="both_dropout", layer=lambda: Bi(layers.GRU(3, dropout=0.5, recurrent_dropout=0.5)), inputs=[seq], training=[False]),
    dict(name="both_frozen", layer=lambda: Bi(layers.SimpleRNN(3, trainable=False)), inputs=[seq]),
]
for mode in ["concat", "sum", "mul", "ave", None]:
    for sequences in [False, True]:
        CASES.append(dict(name=f"both_{mode}_{'sequences' if sequences else 'last'}", layer=lambda mode=mode, sequences=sequences: Bi(
            layers.LSTM(3, return_sequences=sequences, return_state=mode in ("sum", None)), merge_mode=mode), inputs=[seq], mask=[mask]))

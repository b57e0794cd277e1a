"""Cases of SimpleRNN, LSTM and GRU and of their cells."""
import numpy as np
from tf_keras import layers

x = (2, 3)
seq = (2, 4, 3)
mask = np.array([[True, True, False, True], [False, True, False, False]])
rng = np.random.RandomState(3)


def state(n=5):
    return rng.uniform(-1, 1, (2, n)).astype("float32")


CASES = []
for name, cell, count in [("simple", layers.SimpleRNNCell, 1), ("lstm", layers.LSTMCell, 2), ("gru", layers.GRUCell, 1)]:
    CASES += [
        dict(name=f"{name}_cell", layer=lambda cell=cell: cell(5), inputs=[x], args={"states": [(2, 5)] * count}),
        dict(name=f"{name}_cell_options", layer=lambda cell=cell: cell(
            4, activation="relu", use_bias=False, kernel_initializer="he_normal", recurrent_initializer="glorot_uniform",
            kernel_regularizer="l1", recurrent_regularizer="l2", kernel_constraint="max_norm",
            recurrent_constraint="unit_norm", dropout=0.2, recurrent_dropout=0.3), inputs=[x],
            args={"states": [(2, 4)] * count}, training=[False]),
    ]
CASES += [
    dict(name="lstm_cell_forget", layer=lambda: layers.LSTMCell(
        3, unit_forget_bias=False, recurrent_activation="hard_sigmoid", implementation=1, enable_caching_device=False), inputs=[x], args={"states": [(2, 3)] * 2}),
    dict(name="gru_cell_before", layer=lambda: layers.GRUCell(3, reset_after=False, implementation=1), inputs=[x], args={"states": [(2, 3)]}),
    dict(name="gru_cell_before_no_bias", layer=lambda: layers.GRUCell(3, reset_after=False, use_bias=False), inputs=[x], args={"states": [(2, 3)]}),
    dict(name="gru_cell_linear", layer=lambda: layers.GRUCell(3, activation=None, recurrent_activation="softsign"), inputs=[x], args={"states": [(2, 3)]}),
]
for name, layer, count in [("simple", layers.SimpleRNN, 1), ("lstm", layers.LSTM, 2), ("gru", layers.GRU, 1)]:
    def make(layer=layer, **kw):
        return lambda: layer(5, **kw)
    major = {} if name == "simple" else {"time_major": True}
    CASES += [
        dict(name=name, layer=make(), inputs=[seq]),
        dict(name=f"{name}_sequences", layer=make(return_sequences=True), inputs=[seq]),
        dict(name=f"{name}_state", layer=make(return_sequences=True, return_state=True), inputs=[seq], mask=[mask]),
        dict(name=f"{name}_masked", layer=make(), inputs=[seq], mask=[mask], args={"initial_state": [(2, 5)] * count}),
        dict(name=f"{name}_masked_unrolled", layer=make(unroll=True, return_sequences=True), inputs=[seq], mask=[mask], args={"initial_state": [(2, 5)] * count}),
        dict(name=f"{name}_backwards", layer=make(go_backwards=True, return_sequences=True, return_state=True), inputs=[seq], mask=[mask]),
        dict(name=f"{name}_backwards_unrolled", layer=make(go_backwards=True, unroll=True, return_sequences=True), inputs=[seq], mask=[mask]),
        dict(name=f"{name}_zeros", layer=make(zero_output_for_mask=True, return_sequences=True), inputs=[seq], mask=[mask]),
        dict(name=f"{name}_zeros_last", layer=make(zero_output_for_mask=True), inputs=[seq], mask=[mask]),
        dict(name=f"{name}_zeros_unrolled", layer=make(zero_output_for_mask=True, return_sequences=True, go_backwards=True, unroll=True), inputs=[seq], mask=[mask]),
        dict(name=f"{name}_stateful", layer=make(stateful=True, return_state=True, batch_input_shape=(2, 4, 3)), inputs=[seq], states=[state() for _ in range(count)]),
        dict(name=f"{name}_stateful_initial", layer=make(stateful=True), inputs=[seq], states=[state() for _ in range(count)], args={"initial_state": [(2, 5)] * count}),
        dict(name=f"{name}_stateful_zeros", layer=make(stateful=True), inputs=[seq], states=[np.zeros((2, 5), "float32")] * count, args={"initial_state": [(2, 5)] * count}),
        dict(name=f"{name}_activity", layer=make(activity_regularizer="l2", bias_regularizer="l1", recurrent_regularizer="l2", bias_initializer="ones", return_sequences=True, name="it"), inputs=[seq]),
        dict(name=f"{name}_dropout", layer=make(dropout=0.5, recurrent_dropout=0.25), inputs=[seq], training=[False]),
        dict(name=f"{name}_float64", layer=make(dtype="float64"), inputs=[seq]),
        dict(name=f"{name}_bfloat16", layer=make(dtype="mixed_bfloat16", return_sequences=True), inputs=[(2, 2, 3)]),
        dict(name=f"{name}_float16", layer=make(dtype="mixed_float16", return_sequences=True), inputs=[seq]),
        dict(name=f"{name}_frozen", layer=make(trainable=False), inputs=[seq]),
        dict(name=f"{name}_major", layer=make(return_sequences=True, **major), inputs=[(4, 2, 3)] if major else [seq], mask=[mask.T.copy() if major else mask]),
    ]
CASES += [
    dict(name="lstm_no_bias", layer=lambda: layers.LSTM(3, use_bias=False, unit_forget_bias=False, implementation=1), inputs=[seq]),
    dict(name="gru_before", layer=lambda: layers.GRU(3, reset_after=False, return_sequences=True), inputs=[seq], mask=[mask]),
    dict(name="gru_before_no_bias", layer=lambda: layers.GRU(3, reset_after=False, use_bias=False, implementation=1), inputs=[seq]),
    dict(name="gru_before_dropout", layer=lambda: layers.GRU(3, reset_after=False, recurrent_dropout=0.5), inputs=[seq], training=[False]),
]

"""Cases of layers of numbers with sparse and ragged inputs."""
import numpy as np
import tensorflow as tf
from tf_keras import layers as L


def ragged(values=((1.0, -2.0), (), (3.0,))):
    return lambda: tf.ragged.constant([list(v) for v in values], dtype="float32")


def steps():
    """Rows of 2, 0, 3 and 1 steps with 2 features."""
    return tf.RaggedTensor.from_row_lengths(tf.constant([[0.5, -1], [2, 0.25], [-0.75, 1], [1, 1], [0, -0.5], [0.3, 0.1]], "float32"), [2, 0, 3, 1])


def full():
    """Rows of 2, 3 and 1 steps with 2 features."""
    return tf.RaggedTensor.from_row_lengths(tf.constant([[0.5, -1], [2, 0.25], [-0.75, 1], [1, 1], [0, -0.5], [0.3, 0.1]], "float32"), [2, 3, 1])


def nested():
    return tf.ragged.constant([[[1.0, 2.0], [3.0]], [], [[4.0]]], dtype="float32")


def ids():
    return tf.ragged.constant([[1, 4], [], [0, 2, 2]], dtype="int64")


def matrix():
    return tf.sparse.from_dense(np.array([[1.0, 0, 2], [0, 0, 0], [0, 0.5, -3]], "float32"))


def numbers():
    return tf.sparse.from_dense(np.array([[1, 0, 2], [0, 0, 4]], "int64"))


def each(name, make, x=ragged()):
    return dict(name=name, layer=make, inputs=[x], gradients=False)


CASES = [
    each("relu", lambda: L.ReLU(0.5, 0.1)),
    each("relu_nested", L.ReLU, nested),
    each("leaky", L.LeakyReLU),
    each("elu", L.ELU),
    each("thresholded", lambda: L.ThresholdedReLU(0.5)),
    each("activation", lambda: L.Activation("tanh")),
    each("activation_softmax", lambda: L.Activation("softmax"), steps),
    each("softmax", L.Softmax, steps),
    each("rescaling", lambda: L.Rescaling(2.0, 0.5)),
    each("identity", L.Identity),
    each("identity_sparse", L.Identity, matrix),
    dict(name="dropout", layer=lambda: L.Dropout(0.5), inputs=[ragged()], gradients=False, training=[False]),
    dict(name="noise", layer=lambda: L.GaussianNoise(0.5), inputs=[ragged()], gradients=False, training=[False]),
    each("dense", lambda: L.Dense(3, activation="tanh"), steps),
    dict(name="dense_sparse", layer=lambda: L.Dense(2, activation="sigmoid"), inputs=[matrix]),
    dict(name="dense_sparse_no_bias", layer=lambda: L.Dense(2, use_bias=False, kernel_regularizer="l2"), inputs=[matrix]),
    each("embedding", lambda: L.Embedding(5, 3), ids),
    dict(name="embedding_sparse", layer=lambda: L.Embedding(5, 3), inputs=[numbers]),
    dict(name="mean", layer=L.GlobalAveragePooling1D, inputs=[full]),
    dict(name="mean_keepdims", layer=lambda: L.GlobalAveragePooling1D(keepdims=True), inputs=[full]),
    dict(name="max", layer=L.GlobalMaxPooling1D, inputs=[full]),
    dict(name="max_empty", layer=L.GlobalMaxPooling1D, inputs=[steps]),
    dict(name="lstm", layer=lambda: L.LSTM(3), inputs=[steps]),
    dict(name="lstm_sequences", layer=lambda: L.LSTM(3, return_sequences=True), inputs=[steps], gradients=False),
    dict(name="lstm_backwards", layer=lambda: L.LSTM(3, go_backwards=True), inputs=[full]),
    dict(name="lstm_backwards_sequences", layer=lambda: L.LSTM(3, go_backwards=True, return_sequences=True), inputs=[full], gradients=False),
    dict(name="lstm_state", layer=lambda: L.LSTM(2, return_state=True), inputs=[full]),
    dict(name="gru", layer=lambda: L.GRU(3), inputs=[steps]),
    dict(name="gru_sequences", layer=lambda: L.GRU(3, return_sequences=True, reset_after=False), inputs=[steps], gradients=False),
    dict(name="simple", layer=lambda: L.SimpleRNN(3), inputs=[full]),
    dict(name="rnn", layer=lambda: L.RNN(L.LSTMCell(2)), inputs=[steps]),
    dict(name="both", layer=lambda: L.Bidirectional(L.LSTM(2)), inputs=[full]),
    dict(name="both_sequences", layer=lambda: L.Bidirectional(L.GRU(2, return_sequences=True)), inputs=[full], gradients=False),
    dict(name="both_apart", layer=lambda: L.Bidirectional(L.SimpleRNN(2, return_sequences=True), merge_mode=None), inputs=[full], gradients=False),
    *[dict(name=f"merge_{c.__name__}", layer=c, inputs=[steps, lambda: steps() * 2.0 - 1.0], gradients=False) for c in (L.Add, L.Subtract, L.Multiply, L.Average, L.Maximum, L.Minimum)],
    dict(name="concatenate", layer=L.Concatenate, inputs=[steps, lambda: steps() * 2.0], gradients=False),
    dict(name="concatenate_sparse", layer=L.Concatenate, inputs=[matrix, matrix], gradients=False),
]

"""Cases of the layers that turn numbers, strings and categories into numbers of categories."""
import numpy as np
import tensorflow as tf
from tf_keras import layers as L

ids = np.array([[0, 2, 2], [3, 1, 0]])
column = np.array([[0], [3], [2]], "int32")
vector = np.array([1, 1, 3])
words = np.array([["cat", "dog"], ["", "cat"], ["ant", "bee"]], np.bytes_)
floats = np.array([[-1.5, 0.0, 0.25], [3.0, 0.5, 1.0]], "float32")


def sparse(values, dtype=None):
    return lambda: tf.SparseTensor([[0, 1], [0, 3], [2, 0]], tf.constant(values, dtype), [3, 4])


def ragged(values):
    return lambda: tf.RaggedTensor.from_row_splits(tf.constant(values), np.array([0, 2, 2, 3]))


def C(*args, **kw):
    return lambda: L.CategoryEncoding(*args, **kw)


def H(*args, **kw):
    return lambda: L.Hashing(*args, **kw)


def D(*args, **kw):
    return lambda: L.Discretization(*args, **kw)


modes = ["one_hot", "multi_hot", "count"]
weights = np.array([[0.5, 1, 2], [3, 4, 0.25]], "float32")
data = np.random.RandomState(1).normal(size=(3, 200, 2)).astype("float32")

CASES = [
    *[dict(name=f"encoding_{m}_{n}", layer=C(4, m), inputs=[x]) for m in modes
      for n, x in [("matrix", ids), ("column", column), ("vector", vector), ("scalar", np.array(2)), ("single", np.array([2]))]
      if (m, n) != ("one_hot", "matrix")],
    *[dict(name=f"encoding_sparse_{m}", layer=C(4, m, sparse=True), inputs=[column]) for m in modes],
    *[dict(name=f"encoding_sparse_vector_{m}", layer=C(4, m, sparse=True), inputs=[vector]) for m in modes],
    dict(name="encoding_floats", layer=C(4), inputs=[np.array([[0.5, 3.9]], "float32")], gradients=False),
    dict(name="encoding_float64", layer=C(4, "count", dtype="float64"), inputs=[ids]),
    dict(name="encoding_int64", layer=C(4, "count", dtype="int64"), inputs=[ids]),
    dict(name="encoding_weights", layer=C(4, "count"), inputs=[ids], tensors={"count_weights": weights}, gradients=False),
    dict(name="encoding_weights_sparse", layer=C(4, "count", sparse=True), inputs=[ids], tensors={"count_weights": weights}, gradients=False),
    *[dict(name=f"encoding_of_sparse_{m}", layer=C(4, m), inputs=[sparse([1, 3, 0])]) for m in modes[1:]],
    *[dict(name=f"encoding_of_sparse_sparse_{m}", layer=C(4, m, sparse=True), inputs=[sparse([1, 3, 0], tf.int64)]) for m in modes[1:]],
    *[dict(name=f"encoding_of_ragged_{m}", layer=C(4, m), inputs=[ragged([1, 3, 0])]) for m in modes[1:]],
    *[dict(name=f"encoding_of_ragged_sparse_{m}", layer=C(4, m, sparse=True), inputs=[ragged([1, 3, 0])]) for m in modes[1:]],
    dict(name="hashing", layer=H(5), inputs=[words]),
    dict(name="hashing_ints", layer=H(5), inputs=[ids]),
    dict(name="hashing_salt", layer=H(5, salt=133), inputs=[words]),
    dict(name="hashing_salts", layer=H(50, salt=[133, 137]), inputs=[ids]),
    dict(name="hashing_mask", layer=H(5, mask_value=""), inputs=[words]),
    dict(name="hashing_mask_int", layer=H(5, 2, [1, 2]), inputs=[ids]),
    dict(name="hashing_mask_one", layer=H(1, mask_value=""), inputs=[words]),
    dict(name="hashing_int32", layer=H(5, dtype="int32"), inputs=[words]),
    dict(name="hashing_float", layer=H(5, dtype="float32"), inputs=[words]),
    *[dict(name=f"hashing_{m}", layer=H(5, output_mode=m), inputs=[words if m != "one_hot" else words[:, 0]]) for m in modes],
    *[dict(name=f"hashing_sparse_{m}", layer=H(5, output_mode=m, sparse=True), inputs=[words if m != "one_hot" else words[:, :1]]) for m in modes],
    dict(name="hashing_of_sparse", layer=H(7), inputs=[sparse(["a", "b", "a"])]),
    dict(name="hashing_of_sparse_count", layer=H(7, output_mode="count"), inputs=[sparse(["a", "b", "a"])]),
    dict(name="hashing_of_ragged", layer=H(7), inputs=[ragged(["a", "b", "a"])]),
    dict(name="hashing_of_ragged_count", layer=H(7, output_mode="count"), inputs=[ragged(["a", "b", "a"])]),
    *[dict(name=f"crossing_{n}", layer=lambda: L.HashedCrossing(5), inputs=[a, b]) for n, a, b in [
        ("vectors", words[:, 0], vector), ("columns", words[:, :1], words[:, 1:]), ("ints", column, column[::-1].copy()),
        ("scalars", np.array(b"x", np.bytes_), np.array(3))]],
    dict(name="crossing_three", layer=lambda: L.HashedCrossing(1000), inputs=[vector, vector[::-1].copy(), words[:, 0]]),
    dict(name="crossing_one_hot", layer=lambda: L.HashedCrossing(5, "one_hot"), inputs=[words[:, 0], vector]),
    dict(name="crossing_sparse", layer=lambda: L.HashedCrossing(5, "one_hot", True), inputs=[words[:, :1], column]),
    dict(name="crossing_int32", layer=lambda: L.HashedCrossing(5, dtype="int32"), inputs=[vector, vector]),
    dict(name="discretization", layer=D([0.0, 0.5, 1.0]), inputs=[floats]),
    dict(name="discretization_ints", layer=D([0.0, 1.5, 2.0]), inputs=[ids]),
    dict(name="discretization_float64", layer=D([0, 1], dtype="int32"), inputs=[floats.astype("float64")]),
    *[dict(name=f"discretization_{m}", layer=D([0.0, 0.5, 1.0], output_mode=m), inputs=[floats if m != "one_hot" else floats[0]]) for m in modes],
    dict(name="discretization_sparse", layer=D([0.0, 0.5, 1.0], output_mode="count", sparse=True), inputs=[floats]),
    dict(name="discretization_of_sparse", layer=D([0.0, 0.5, 1.0]), inputs=[sparse([0.5, 2.0, -1.0])]),
    dict(name="discretization_of_ragged", layer=D([0.0, 0.5, 1.0]), inputs=[ragged([0.5, 2.0, -1.0])]),
    dict(name="discretization_unadapted", layer=D(num_bins=3), inputs=[floats]),
    dict(name="discretization_adapted", layer=D(num_bins=4), inputs=[data[0]], adapt=data),
    dict(name="discretization_adapted_finely", layer=D(num_bins=7, epsilon=0.001, output_mode="multi_hot"), inputs=[data[1]], adapt=data),
    dict(name="discretization_adapted_coarsely", layer=D(num_bins=10, epsilon=0.3), inputs=[data[1]], adapt=data),
    dict(name="discretization_adapted_ints", layer=D(num_bins=2), inputs=[ids], adapt=np.array([[1, 5, 2], [7, 7, 7]])),
]

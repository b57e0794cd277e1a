"""Cases of StringLookup and IntegerLookup."""
import numpy as np
import tensorflow as tf
from tf_keras import layers as L

words = np.array([["cat", "dog"], ["", "cat"], ["ant", "bee"]], np.bytes_)
ids = np.array([[12, 36], [1138, 12], [42, 0]])
modes = ["one_hot", "multi_hot", "count"]
vocab = ["cat", "dog", "ant"]
numbers = [12, 36, 42]
idf = [0.25, 0.75, 0.6]


def sparse(values):
    return lambda: tf.SparseTensor([[0, 1], [0, 3], [2, 0]], tf.constant(values), [3, 4])


def ragged(values):
    return lambda: tf.RaggedTensor.from_row_splits(tf.constant(values), np.array([0, 2, 2, 3]))


def S(**kw):
    return lambda: L.StringLookup(**kw)


def I(**kw):
    return lambda: L.IntegerLookup(**kw)


batches = np.array([[["b", "a"], ["b", "c"]], [["d", "b"], ["c", "[UNK]"]], [["", "e"], ["", "d"]]], np.bytes_)
counted = np.array([[[1, 2], [2, 3]], [[4, 2], [3, -1]], [[0, 5], [0, 4]]])
distinct = np.array([[["b", "a"], ["b", "c"]], [["d", "b"], ["c", "e"]], [["z", "e"], ["z", "d"]]], np.bytes_)

CASES = [
    dict(name="strings", layer=S(vocabulary=vocab), inputs=[words]),
    dict(name="strings_scalar", layer=S(vocabulary=vocab), inputs=[np.array(b"dog", np.bytes_)]),
    dict(name="strings_mask", layer=S(vocabulary=vocab, mask_token=""), inputs=[words]),
    dict(name="strings_oov", layer=S(vocabulary=vocab, num_oov_indices=3, mask_token=""), inputs=[words]),
    dict(name="strings_no_oov", layer=S(vocabulary=vocab, num_oov_indices=0), inputs=[words[:1]]),
    dict(name="strings_special", layer=S(vocabulary=["", "[UNK]"] + vocab, mask_token=""), inputs=[words]),
    dict(name="strings_unknown", layer=S(vocabulary=vocab, oov_token="?", max_tokens=9), inputs=[words]),
    dict(name="strings_no_token", layer=S(vocabulary=vocab, oov_token=None), inputs=[words]),
    dict(name="strings_invert", layer=S(vocabulary=vocab, invert=True), inputs=[np.array([[0, 1], [3, 17]])]),
    dict(name="strings_invert_mask", layer=S(vocabulary=vocab, invert=True, mask_token="", num_oov_indices=2), inputs=[np.array([0, 1, 2, 3, 17], "int32")]),
    dict(name="strings_int32", layer=S(vocabulary=vocab, dtype="int32"), inputs=[words]),
    dict(name="strings_named", layer=S(vocabulary=vocab, dtype="string", encoding="latin-1"), inputs=[words]),
    *[dict(name=f"strings_{m}", layer=S(vocabulary=vocab, output_mode=m, mask_token=""), inputs=[words if m != "one_hot" else words[:, 0]]) for m in modes],
    *[dict(name=f"strings_scalar_{m}", layer=S(vocabulary=vocab, output_mode=m), inputs=[np.array(b"dog", np.bytes_)]) for m in modes],
    dict(name="strings_binary", layer=S(vocabulary=vocab, output_mode="binary", num_oov_indices=2), inputs=[words]),
    dict(name="strings_padded", layer=S(vocabulary=vocab, output_mode="count", max_tokens=7, pad_to_max_tokens=True), inputs=[words]),
    dict(name="strings_sparse", layer=S(vocabulary=vocab, output_mode="count", sparse=True), inputs=[words]),
    dict(name="strings_tf_idf", layer=S(vocabulary=vocab, idf_weights=idf, output_mode="tf_idf"), inputs=[words]),
    dict(name="strings_tf_idf_special", layer=S(vocabulary=["[UNK]"] + vocab, idf_weights=[0.1] + idf, output_mode="tf-idf"), inputs=[words]),
    dict(name="strings_tf_idf_padded", layer=S(vocabulary=vocab, idf_weights=idf, output_mode="tf_idf", pad_to_max_tokens=True, max_tokens=6), inputs=[words]),
    dict(name="strings_tf_idf_sparse", layer=S(vocabulary=vocab, idf_weights=idf, output_mode="tf_idf", sparse=True, dtype="float64"), inputs=[words]),
    dict(name="strings_of_sparse", layer=S(vocabulary=vocab), inputs=[sparse(["dog", "x", "cat"])]),
    dict(name="strings_of_sparse_count", layer=S(vocabulary=vocab, output_mode="count"), inputs=[sparse(["dog", "x", "cat"])]),
    dict(name="strings_of_ragged", layer=S(vocabulary=vocab), inputs=[ragged(["dog", "x", "cat"])]),
    dict(name="strings_of_ragged_multi_hot", layer=S(vocabulary=vocab, output_mode="multi_hot"), inputs=[ragged(["dog", "x", "cat"])]),
    dict(name="strings_of_ragged_tf_idf", layer=S(vocabulary=vocab, idf_weights=idf, output_mode="tf_idf", sparse=True), inputs=[ragged(["dog", "x", "cat"])]),
    dict(name="strings_adapted", layer=S(), inputs=[batches[0]], adapt=batches),
    dict(name="strings_adapted_mask", layer=S(mask_token="", max_tokens=4), inputs=[batches[1]], adapt=batches),
    dict(name="strings_adapted_count", layer=S(output_mode="count"), inputs=[batches[2]], adapt=batches),
    dict(name="strings_adapted_padded", layer=S(output_mode="multi_hot", max_tokens=10, pad_to_max_tokens=True), inputs=[batches[2]], adapt=batches),
    dict(name="strings_adapted_tf_idf", layer=S(output_mode="tf_idf"), inputs=[distinct[1]], adapt=distinct),
    dict(name="strings_adapted_tf_idf_padded", layer=S(output_mode="tf_idf", max_tokens=9, pad_to_max_tokens=True, num_oov_indices=2), inputs=[distinct[1]], adapt=distinct),
    dict(name="strings_adapted_vectors", layer=S(), inputs=[batches[0][0]], adapt=batches[:, 0]),
    dict(name="ints", layer=I(vocabulary=numbers), inputs=[ids]),
    dict(name="ints_special", layer=I(vocabulary=[0, -1] + numbers, mask_token=0), inputs=[ids]),
    dict(name="ints_oov", layer=I(vocabulary=numbers, num_oov_indices=3, mask_token=0), inputs=[ids.astype("int32")]),
    dict(name="ints_no_oov", layer=I(vocabulary=numbers, num_oov_indices=0), inputs=[ids[:1]]),
    dict(name="ints_invert", layer=I(vocabulary=numbers, invert=True, oov_token=-7), inputs=[np.array([[0, 1], [3, 17]])]),
    dict(name="ints_invert_mask", layer=I(vocabulary=numbers, invert=True, mask_token=0), inputs=[np.array([[0, 1], [2, 17]])]),
    dict(name="ints_int32", layer=I(vocabulary=numbers, vocabulary_dtype="int32", dtype="int32"), inputs=[ids]),
    *[dict(name=f"ints_{m}", layer=I(vocabulary=numbers, output_mode=m), inputs=[ids if m != "one_hot" else ids[:, 0]]) for m in modes],
    dict(name="ints_int64_count", layer=I(vocabulary=numbers, output_mode="count", dtype="int64"), inputs=[ids]),
    dict(name="ints_tf_idf", layer=I(vocabulary=numbers, idf_weights=idf, output_mode="tf_idf"), inputs=[ids]),
    dict(name="ints_of_ragged", layer=I(vocabulary=numbers), inputs=[ragged([12, 1, 36])]),
    dict(name="ints_adapted", layer=I(mask_token=0), inputs=[counted[0]], adapt=counted),
    dict(name="ints_adapted_tf_idf", layer=I(output_mode="tf_idf"), inputs=[counted[0]], adapt=np.array([[[1, 2], [2, 3]], [[4, 2], [3, 1]]])),
]

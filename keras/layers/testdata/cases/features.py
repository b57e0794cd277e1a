"""Cases of DenseFeatures and SequenceFeatures. names are the features' names, in order."""
import numpy as np
import tensorflow as tf
import tf_keras
from tf_keras import layers as L

fc = tf.feature_column
age = np.array([[3.0], [20.0], [45.0]], "float32")
point = np.array([[3.0, 1.0], [20.0, 0.25], [45.0, -2.0]], "float32")
kind = np.array([["a"], ["z"], [""]], np.bytes_)
words = np.array([["q", "r"], ["", ""], ["r", "r"]], np.bytes_)
ids = np.array([[1, 3], [-1, 0], [4, -1]])
wide = np.array([[1, 30], [-1, 0], [4, -5]])
weights = np.array([[0.5, 2.0], [0.0, 1.5], [0.25, 0.0]], "float32")


def sparse(values):
    return lambda: tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant(values), [3, 2])


def F(*columns, **kw):
    return lambda: L.DenseFeatures([c() if callable(c) else c for c in columns], **kw)


def numeric():
    return fc.numeric_column("age")


def listed(**kw):
    return fc.categorical_column_with_vocabulary_list("kind", ["a", "b"], **kw)


def hashed():
    return fc.categorical_column_with_hash_bucket("words", 10)


def identity(**kw):
    return fc.categorical_column_with_identity("ids", 5, **kw)


def bins():
    return fc.bucketized_column(numeric(), [10, 30.5])


def weighted():
    return fc.weighted_categorical_column(identity(), "weights")


def steps(values, indices=((0, 0), (0, 1), (2, 0)), shape=(3, 2)):
    return lambda: tf.SparseTensor(indices, tf.constant(values), shape)


def deep(values):
    return steps(values, ((0, 0, 0), (0, 1, 0), (0, 1, 1), (2, 0, 1)), (3, 2, 2))


def S(*columns, **kw):
    return lambda: tf_keras.experimental.SequenceFeatures([c() for c in columns], **kw)


def words_steps():
    return fc.sequence_categorical_column_with_hash_bucket("words", 10)


def id_steps():
    return fc.sequence_categorical_column_with_identity("ids", 5)


def rating(**kw):
    return fc.sequence_numeric_column("rating", **kw)


def file():
    return fc.categorical_column_with_vocabulary_file("kind", "words.txt", vocabulary_size=2, num_oov_buckets=1)


I, E = fc.indicator_column, fc.embedding_column

CASES = [
    dict(name="numeric", layer=F(numeric), inputs=[age], names=["age"]),
    dict(name="numeric_vector", layer=F(numeric), inputs=[age[:, 0].copy()], names=["age"]),
    dict(name="numeric_shape", layer=F(lambda: fc.numeric_column("point", shape=(2,), default_value=(0.0, 1.0))), inputs=[point], names=["point"]),
    dict(name="numeric_ints", layer=F(lambda: fc.numeric_column("ids", shape=2, dtype=tf.int64)), inputs=[ids], names=["ids"]),
    dict(name="bucketized", layer=F(bins), inputs=[age], names=["age"], gradients=False),
    dict(name="bucketized_shape", layer=F(lambda: fc.bucketized_column(fc.numeric_column("point", shape=(2,)), [0.0, 2.0])), inputs=[point], names=["point"], gradients=False),
    dict(name="bucketized_indicator", layer=F(lambda: I(fc.bucketized_column(fc.numeric_column("point", shape=(2,)), [0.0, 2.0]))), inputs=[point], names=["point"], gradients=False),
    dict(name="vocabulary", layer=F(lambda: I(listed())), inputs=[kind], names=["kind"]),
    dict(name="vocabulary_default", layer=F(lambda: I(listed(default_value=1))), inputs=[kind], names=["kind"]),
    dict(name="vocabulary_oov", layer=F(lambda: I(listed(num_oov_buckets=3))), inputs=[kind[:, 0].copy()], names=["kind"]),
    dict(name="vocabulary_ints", layer=F(lambda: I(fc.categorical_column_with_vocabulary_list("ids", [4, 3, 7], num_oov_buckets=2))), inputs=[ids], names=["ids"]),
    dict(name="hashed", layer=F(lambda: I(hashed())), inputs=[words], names=["words"]),
    dict(name="hashed_ints", layer=F(lambda: I(fc.categorical_column_with_hash_bucket("ids", 6, dtype=tf.int64))), inputs=[ids], names=["ids"]),
    dict(name="hashed_sparse", layer=F(lambda: I(hashed())), inputs=[sparse(["q", "r", "q"])], names=["words"]),
    dict(name="identity", layer=F(lambda: I(identity())), inputs=[ids], names=["ids"]),
    dict(name="identity_default", layer=F(lambda: I(identity(default_value=2))), inputs=[wide], names=["ids"]),
    dict(name="weighted", layer=F(lambda: I(weighted())), inputs=[ids, weights], names=["ids", "weights"], gradients=False),
    dict(name="embedding", layer=F(lambda: E(hashed(), 3)), inputs=[words], names=["words"]),
    dict(name="embedding_sum", layer=F(lambda: E(identity(), 3, combiner="sum", initializer=tf.compat.v1.random_normal_initializer(0.0, 0.5))), inputs=[ids], names=["ids"]),
    dict(name="embedding_sqrtn", layer=F(lambda: E(identity(), 2, combiner="sqrtn", max_norm=0.75)), inputs=[ids], names=["ids"]),
    dict(name="embedding_frozen", layer=F(lambda: E(listed(), 2, trainable=False)), inputs=[kind], names=["kind"]),
    dict(name="embedding_fast", layer=F(lambda: E(identity(), 2, use_safe_embedding_lookup=False)), inputs=[np.array([[1, 3], [2, 0]])], names=["ids"]),
    *[dict(name=f"embedding_weighted_{c}", layer=F(lambda c=c: E(weighted(), 2, combiner=c)), inputs=[ids, weights], names=["ids", "weights"]) for c in ["mean", "sum", "sqrtn"]],
    dict(name="embedding_bucketized", layer=F(lambda: E(bins(), 2)), inputs=[age], names=["age"], gradients=False),
    dict(name="crossed", layer=F(lambda: I(fc.crossed_column(["words", "kind"], 7))), inputs=[kind, words], names=["kind", "words"]),
    dict(name="crossed_key", layer=F(lambda: I(fc.crossed_column(["words", "ids"], 50, hash_key=5))), inputs=[ids, words], names=["ids", "words"]),
    dict(name="crossed_columns", layer=F(lambda: E(fc.crossed_column([bins(), "kind", identity()], 20), 2)), inputs=[age, ids, kind], names=["age", "ids", "kind"], gradients=False),
    dict(name="crossed_nested", layer=F(lambda: I(fc.crossed_column([fc.crossed_column(["words", "kind"], 7), bins()], 30))), inputs=[age, kind, words], names=["age", "kind", "words"], gradients=False),
    dict(name="many", layer=F(numeric, bins, lambda: I(listed()), lambda: E(hashed(), 3), lambda: E(weighted(), 2), name="features"),
         inputs=[age, ids, kind, weights, words], names=["age", "ids", "kind", "weights", "words"], gradients=False),
    dict(name="frozen", layer=F(lambda: E(hashed(), 3), trainable=False), inputs=[words], names=["words"]),
    dict(name="vocabulary_file", layer=F(lambda: I(file())), inputs=[kind], names=["kind"]),
    dict(name="sequence_numeric", layer=S(rating), inputs=[steps([1.0, 2.0, 3.0])], names=["rating"], gradients=False),
    dict(name="sequence_numeric_default", layer=S(lambda: rating(default_value=-1.5)), inputs=[steps([1.0, 2.0, 3.0])], names=["rating"], gradients=False),
    dict(name="sequence_numeric_shape", layer=S(lambda: rating(shape=(2,))), names=["rating"], gradients=False,
         inputs=[steps([1.0, 2.0, 3.0, 4.0, 5.0], ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1)), (3, 4))]),
    dict(name="sequence_numeric_deep", layer=S(lambda: rating(shape=(2,))), inputs=[deep([1.0, 2.0, 3.0, 4.0])], names=["rating"], gradients=False),
    dict(name="sequence_numeric_ints", layer=S(lambda: rating(dtype=tf.int64, default_value=0)), inputs=[steps([1, 2, 3])], names=["rating"], gradients=False),
    dict(name="sequence_embedding", layer=S(lambda: E(words_steps(), 3)), inputs=[steps(["q", "r", "q"])], names=["words"]),
    dict(name="sequence_embedding_sum", layer=S(lambda: E(id_steps(), 2, combiner="sum")), inputs=[deep([1, 2, 3, 0])], names=["ids"]),
    dict(name="sequence_embedding_dense", layer=S(lambda: E(id_steps(), 2)), inputs=[ids], names=["ids"]),
    dict(name="sequence_indicator", layer=S(lambda: I(id_steps())), inputs=[deep([1, 2, 2, 0])], names=["ids"], gradients=False),
    dict(name="sequence_indicator_list", layer=S(lambda: I(fc.sequence_categorical_column_with_vocabulary_list("kind", ["a", "b"], num_oov_buckets=1))),
         inputs=[steps(["a", "z", "b"])], names=["kind"], gradients=False),
    dict(name="sequence_indicator_file", layer=S(lambda: I(fc.sequence_categorical_column_with_vocabulary_file("kind", "words.txt", vocabulary_size=2))),
         inputs=[steps(["a", "z", "b"])], names=["kind"], gradients=False),
    dict(name="sequence_empty", layer=S(lambda: E(id_steps(), 2)), inputs=[steps(np.zeros([0], "int64"), np.zeros([0, 2], "int64"), (3, 0))], names=["ids"], gradients=False),
    dict(name="sequence_many", layer=S(rating, lambda: E(id_steps(), 2), lambda: I(words_steps()), name="steps"),
         inputs=[steps([1, 2, 3]), steps([1.0, 2.0, 3.0]), steps(["q", "r", "q"])], names=["ids", "rating", "words"], gradients=False),
]

"""Writes SavedModels that differ from "base" in one way each, for the comparison of models,
and models of Keras whose parameters Keras counts.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_models.py
"""

import os
import shutil
import tempfile

import keras
import numpy as np
import tensorflow as tf
import tf_keras


class Model(tf.Module):
    def __init__(self, words, scale=1.0, extra=False):
        super().__init__(name="model")
        self.w = tf.Variable([1.0, 2.0], name="w")
        self.words = tf.saved_model.Asset(words)
        self.table = tf.lookup.StaticHashTable(
            tf.lookup.TextFileInitializer(self.words, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER), -1)
        self.scale = scale
        if extra:
            self.extra = tf.Variable(0, name="extra")

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
    def __call__(self, x):
        y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * self.w * self.scale), [0, x])[1]
        return {"y": y}

    @tf.function(input_signature=[tf.TensorSpec([], tf.string, name="word")])
    def look(self, word):
        return {"id": self.table.lookup(word)}


def save(name, signatures, words="a\nb\n", **options):
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "words.txt")
        with open(path, "w") as f:
            f.write(words)
        m = Model(path, **options)
        shutil.rmtree(name, ignore_errors=True)
        tf.saved_model.save(m, name, signatures=signatures(m))


both = lambda m: {"serving_default": m.__call__, "look": m.look}
save("base", both)
save("again", both)  # the same program: other numbers in the names of functions
save("constant", both, scale=2.0)  # in the body of a loop
save("asset", both, words="a\nc\n")
save("object", both, extra=True)
save("signature", lambda m: {"serving_default": m.__call__, "words": m.look})


def train(k):
    """Returns a model whose 35 parameters are trained, with metrics and an optimizer."""
    m = k.Sequential([k.Input((4,)), k.layers.Dense(3), k.layers.BatchNormalization(), k.layers.Dropout(0.5), k.layers.Dense(2)])
    m.compile("adam", "mse", metrics=["mae"])
    m.fit(np.zeros((8, 4), "f"), np.zeros((8, 2), "f"), verbose=0)
    assert m.count_params() == 35
    return m


m, mean = train(keras), keras.metrics.Mean()
m.export("keras3_export", verbose=False)
tf.train.Checkpoint(model=m, metric=tf_keras.metrics.Mean()).write("keras3_checkpoint/ckpt")
train(tf_keras).save("keras2")

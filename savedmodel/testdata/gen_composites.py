"""Writes a SavedModel whose signatures and functions accept and return sparse and ragged tensors, and
TensorFlow 2.21's results.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_composites.py
"""
import json
import os
import shutil

import numpy as np
import tensorflow as tf

DIR = os.path.join(os.path.dirname(os.path.abspath(__file__)), "models", "composites")


def pack(v):
    v = np.asarray(v)
    p = {"dtype": tf.as_dtype(v.dtype).name, "shape": list(v.shape)}
    if v.dtype.kind in "OS":
        return dict(p, strings=[x.decode() for x in v.reshape(-1).tolist()])
    return dict(p, values=v.reshape(-1).tolist())


class Texts(tf.Module):
    def __init__(self):
        self.scale = tf.Variable(2.0)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="text")])
    def words(self, text):
        words = tf.strings.split(text)
        lengths = tf.ragged.map_flat_values(lambda w: tf.cast(tf.strings.length(w), tf.float32) * self.scale, words)
        return {"words": words, "a_lengths": lengths.to_sparse(), "rows": words.row_lengths()}

    @tf.function(input_signature=[tf.SparseTensorSpec([None, 3], tf.float32), tf.RaggedTensorSpec([None, None], tf.int64)])
    def join(self, s, r):
        return tf.sparse.to_dense(s) * self.scale, r + 1


def answer(name, model, f, **args):
    """A call of a signature with its plain inputs; the parts of composites are named as Go names them."""
    out = {}
    for k, v in f(**args).items():
        if isinstance(v, tf.SparseTensor):
            out.update({k + "/indices": v.indices, k + "/values": v.values, k + "/dense_shape": v.dense_shape})
        elif isinstance(v, tf.RaggedTensor):
            out.update({"%s/component_%d" % (k, i): t for i, t in enumerate(tf.nest.flatten(v, expand_composites=True))})
        else:
            out[k] = v
    return {"tags": [], "signature": name, "in": {k: pack(v) for k, v in args.items()}, "out": {k: pack(v) for k, v in out.items()}}


def main():
    shutil.rmtree(DIR, ignore_errors=True)
    m = Texts()
    tf.saved_model.save(m, DIR, signatures={"serving_default": m.words, "join": m.join})
    loaded = tf.saved_model.load(DIR)
    answers = [
        answer("serving_default", loaded, loaded.signatures["serving_default"], text=tf.constant(["the cat sat", "", "on"])),
        answer("join", loaded, loaded.signatures["join"], s=tf.constant([[0, 1], [1, 2]], tf.int64), s_1=tf.constant([1.0, 2.0]),
               s_2=tf.constant([2, 3], tf.int64), r=tf.constant([1, 2, 3], tf.int64), r_1=tf.constant([0, 1, 3], tf.int64)),
    ]
    os.remove(os.path.join(DIR, "fingerprint.pb"))
    with open(os.path.join(DIR, "answers.json"), "w") as f:
        json.dump(answers, f)


main()

"""Writes a SavedModel whose functions read an asset themselves, and TensorFlow 2.21's
results for it. The variable in which the graph keeps the asset's path has the
name of another one that is an object of the model.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_assets.py
"""
import json
import os
import shutil
import tempfile

import numpy as np
import tensorflow as tf

DIR = os.path.join(os.path.dirname(os.path.abspath(__file__)), "models", "assets")
WORDS = os.path.join(tempfile.mkdtemp(), "words.txt")
with open(WORDS, "w") as f:
    f.write("alpha\nbeta\n")


class Reader(tf.Module):
    def __init__(self):
        self.words = tf.saved_model.Asset(WORDS)
        self.count = tf.Variable(3, trainable=False)
        self.table = tf.lookup.StaticVocabularyTable(tf.lookup.TextFileInitializer(self.words, tf.string, 0, tf.int64, -1), 2)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="w")])
    def serve(self, w):
        self.count.assign_add(1)
        return {"n": self.count + 0, "id": self.table.lookup(w), "text": tf.io.read_file(self.words)}


def pack(v):
    p = {"dtype": tf.as_dtype(v.dtype).name, "shape": list(v.shape)}
    if v.dtype.kind in "OS":
        return dict(p, strings=[x.decode() for x in v.reshape(-1).tolist()])
    return dict(p, values=v.reshape(-1).tolist())


m = Reader()
shutil.rmtree(DIR, ignore_errors=True)
tf.saved_model.save(m, DIR, signatures=m.serve)
os.remove(os.path.join(DIR, "fingerprint.pb"))
f = tf.saved_model.load(DIR).signatures["serving_default"]
answers = []
for w in (["beta", "x"], ["alpha"]):
    w = np.array([x.encode() for x in w], object)
    answers.append({"signature": "serving_default", "in": {"w": pack(w)}, "out": {k: pack(np.asarray(v.numpy(), dtype=object if v.dtype == tf.string else None)) for k, v in f(w=tf.constant(w)).items()}})
with open(os.path.join(DIR, "answers.json"), "w") as f:
    json.dump(answers, f)

"""Writes a SavedModel with a mutable table, which one signature changes and another one looks up, with TensorFlow 2.21.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_mutable_table.py
"""
import json
import os
import shutil

import tensorflow as tf

DIR = os.path.join(os.path.dirname(os.path.abspath(__file__)), "models", "mutable_table")


class Counts(tf.Module):
    def __init__(self):
        self.table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
        self.table.insert(["old"], [1])

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "k"), tf.TensorSpec([None], tf.int64, "v")])
    def put(self, k, v):
        self.table.insert(k, v)
        return {"size": self.table.size()}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "k")])
    def get(self, k):
        return {"v": self.table.lookup(k)}


m = Counts()
shutil.rmtree(DIR, ignore_errors=True)
tf.saved_model.save(m, DIR, signatures={"put": m.put, "get": m.get})
shutil.rmtree(os.path.join(DIR, "assets"), ignore_errors=True)
os.remove(os.path.join(DIR, "fingerprint.pb"))
with open(os.path.join(DIR, "answers.json"), "w") as f:
    json.dump([{"tags": [], "signature": "get", "in": {"k": {"dtype": "string", "shape": [2], "strings": ["old", "x"]}},
                "out": {"v": {"dtype": "int64", "shape": [2], "values": [1, -1]}}}], f)

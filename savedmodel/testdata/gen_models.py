"""Writes small SavedModels and TensorFlow 2.21's results for them.

    TF_USE_LEGACY_KERAS=1 TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_models.py
"""
import json
import os
import shutil

import numpy as np
import tensorflow as tf
import tf_keras

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "models")
rng = np.random.default_rng(5)
tf_keras.utils.set_random_seed(7)


def record(name, runs):
    model = tf.saved_model.load(os.path.join(HERE, name))
    f = model.signatures["serving_default"]
    out = []
    for r in runs:
        got = f(**{k: tf.constant(v) for k, v in r.items()})
        out.append({"in": {k: pack(v) for k, v in r.items()}, "out": {k: pack(v.numpy()) for k, v in got.items()}})
    with open(os.path.join(HERE, name, "answers.json"), "w") as f:
        json.dump(out, f)


def pack(v):
    return {"dtype": v.dtype.name, "shape": list(v.shape), "values": v.reshape(-1).tolist()}


def save(name, write):
    d = os.path.join(HERE, name)
    shutil.rmtree(d, ignore_errors=True)
    write(d)
    shutil.rmtree(os.path.join(d, "assets"), ignore_errors=True)
    for f in ["fingerprint.pb", "keras_metadata.pb"]:
        if os.path.exists(os.path.join(d, f)):
            os.remove(os.path.join(d, f))


m = tf_keras.Sequential([tf_keras.layers.Dense(4, activation="relu", input_shape=(3,)), tf_keras.layers.Dense(2, activation="softmax")])
save("mlp", lambda d: m.export(d))
m2 = tf_keras.Sequential([tf_keras.layers.Embedding(10, 3), tf_keras.layers.LSTM(4), tf_keras.layers.Dense(2)])
m2.build((None, None))
m2(np.zeros((1, 2), np.int32))


class Recurrent(tf.Module):
    def __init__(self):
        self.m = m2

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32, name="x")])
    def serve(self, x):
        return {"y": self.m(x)}


r = Recurrent()
save("lstm", lambda d: tf.saved_model.save(r, d, signatures=r.serve))


class Counter(tf.Module):
    def __init__(self):
        self.n = tf.Variable(0.0)

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32, name="x")])
    def serve(self, x):
        if x > 0:
            self.n.assign_add(x)
        else:
            self.n.assign(0.0)
        return {"n": self.n.read_value()}


c = Counter()
save("counter", lambda d: tf.saved_model.save(c, d, signatures=c.serve))


class Noise(tf.Module):
    """Draws by a generator, by the ops that generators of older releases used, and by nodes with seeds."""

    def __init__(self):
        self.g = tf.random.Generator.from_seed(7)

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32, name="alpha")])
    def serve(self, alpha):
        normal = self.g.normal([3])
        binomial = self.g.binomial([2, 1], counts=[20.0], probs=[0.3])
        handle = self.g.state.handle
        uniform = tf.raw_ops.StatefulUniform(resource=handle, algorithm=np.int64(1), shape=[2], dtype=tf.float32)
        self.g.skip(3)
        gamma = tf.raw_ops.RandomGamma(shape=[2], alpha=alpha, seed=3, seed2=4)
        return {"normal": normal, "binomial": binomial, "uniform": uniform, "gamma": gamma, "state": self.g.state.read_value()}


noise = Noise()
save("noise", lambda d: tf.saved_model.save(noise, d, signatures=noise.serve))


def v1(d):
    with tf.Graph().as_default(), tf.compat.v1.Session() as s:
        x = tf.identity(tf.compat.v1.placeholder(tf.float32, [None, 2]), name="fed")
        w = tf.compat.v1.get_variable("w", initializer=np.array([[1.0, 2.0], [3.0, 4.0]], np.float32), use_resource=False)
        y = tf.matmul(x, w) + 1.0
        s.run(tf.compat.v1.global_variables_initializer())
        tf.compat.v1.saved_model.simple_save(s, d, {"x": x}, {"y": y})


save("session", v1)
x3 = rng.normal(size=(2, 3)).astype(np.float32)
name = list(tf.saved_model.load(os.path.join(HERE, "mlp")).signatures["serving_default"].structured_input_signature[1])[0]
record("mlp", [{name: x3}])
record("lstm", [{"x": rng.integers(0, 10, (2, 5)).astype(np.int32)}, {"x": rng.integers(0, 10, (1, 3)).astype(np.int32)}])
record("noise", [{"alpha": np.float32(v).reshape(())} for v in (2, 0.5, 1)])
record("counter", [{"x": np.float32(v).reshape(())} for v in (2, 3, -1, 4)])
record("session", [{"x": rng.normal(size=(3, 2)).astype(np.float32)}])

"""Writes random recurrent layers of tf_keras: config, checkpoint, inputs, outputs and gradients.

    recurrent.py DIRECTORY COUNT
"""
import json
import os
import pathlib
import random
import sys

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
import tf_keras
from tf_keras import layers
from tf_keras.src.saving import serialization_lib

ACTIVATIONS = ["tanh", "relu", "linear", "softsign", "hard_sigmoid", "elu", "swish"]


def cell_options(r):
    o = {"activation": r.choice(ACTIVATIONS), "use_bias": r.random() < 0.8}
    if r.random() < 0.5:
        o = {}
    return o


def options(r):
    o = {k: r.random() < 0.4 for k in ("return_sequences", "return_state", "go_backwards", "unroll")}
    if r.random() < 0.3 and not o["unroll"]:
        o["zero_output_for_mask"] = True
    return o


def cell(r, units=None):
    kind = r.choice([layers.SimpleRNNCell, layers.LSTMCell, layers.GRUCell])
    o = cell_options(r)
    if kind is layers.GRUCell:
        o["reset_after"] = r.random() < 0.5
    return kind(units or r.randint(1, 6), **o)


def recurrent(r):
    kind = r.randrange(5)
    if kind == 0:
        return layers.SimpleRNN(r.randint(1, 6), **cell_options(r), **options(r))
    if kind == 1:
        return layers.LSTM(r.randint(1, 6), recurrent_activation=r.choice(["sigmoid", "hard_sigmoid"]), **cell_options(r), **options(r))
    if kind == 2:
        return layers.GRU(r.randint(1, 6), reset_after=r.random() < 0.6, **cell_options(r), **options(r))
    if kind == 3:
        return layers.RNN(cell(r), **options(r))
    return layers.RNN([cell(r) for _ in range(r.randint(1, 3))], **options(r))


def layer(r, shape):
    kind = r.randrange(4)
    if kind == 0:
        return layers.TimeDistributed(r.choice([lambda: layers.Dense(r.randint(1, 5)), lambda: layers.LSTM(r.randint(1, 4))])()), shape + [3]
    if kind == 1:
        while True:
            inner = recurrent(r)
            if not inner.unroll:  # tf_keras fails for masks of unrolled layers without sequences
                return layers.Bidirectional(inner, merge_mode=r.choice(["concat", "sum", "mul", "ave", None])), shape
    if kind == 2:
        return layers.ConvLSTM2D(
            r.randint(1, 4), r.randint(1, 3), padding=r.choice(["valid", "same"]), strides=r.randint(1, 2), return_sequences=r.random() < 0.5,
            go_backwards=r.random() < 0.5), shape[:2] + [r.randint(4, 6), r.randint(4, 6), shape[2]]
    return recurrent(r), shape


def main(folder, count):
    for i in range(count):
        r, rng = random.Random(i), np.random.RandomState(i)
        tf_keras.utils.set_random_seed(i)
        l, shape = layer(r, [r.randint(1, 4), r.randint(1, 7), r.randint(1, 5)])
        if isinstance(l, layers.TimeDistributed) and isinstance(l.layer, layers.Dense):
            shape = shape[:3]
        x = tf.Variable(rng.uniform(-1, 1, shape).astype("float32"))
        mask = tf.constant(rng.uniform(size=shape[:2]) < 0.7) if r.random() < 0.5 and not isinstance(l, layers.TimeDistributed) else None
        l(x)
        for w in l.weights:
            w.assign(rng.uniform(-1, 1, w.shape))
        with tf.GradientTape() as tape:
            out = tf.nest.flatten(l(x, **({} if mask is None else {"mask": mask})))
            loss = sum(tf.reduce_sum(tf.tanh(y) * (k + 1)) for k, y in enumerate(out))
        path = pathlib.Path(folder) / f"{i:03}"
        path.mkdir(parents=True)
        arrays = {"x": x.numpy(), "gradient": tape.gradient(loss, x).numpy()}
        if mask is not None:
            arrays["mask"] = mask.numpy()
        for k, y in enumerate(out):
            arrays[f"out{k}"] = y.numpy()
        np.savez(path / "arrays.npz", **arrays)
        (path / "config.json").write_text(json.dumps(serialization_lib.serialize_keras_object(l)))
        tf.train.Checkpoint(layer=l).write(str(path / "ckpt"))


main(sys.argv[1], int(sys.argv[2]))

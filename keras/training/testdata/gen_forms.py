"""Writes forms.json and forms.npz: trainings of tf_keras with sparse and ragged inputs,
and with losses of add_loss.

Run in this directory, with TensorFlow 2.21 and tf_keras 2.21:

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_forms.py
"""
import json
import os
import pathlib

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
import tf_keras as keras
from tf_keras.src.saving import serialization_lib
from tf_keras.src.saving.legacy.saved_model import json_utils

L = keras.layers
here = pathlib.Path(__file__).parent
rng = np.random.RandomState(5)
N = 12
wide = rng.uniform(-1, 1, (N, 6)).astype("float32") * (rng.uniform(size=(N, 6)) < 0.3)
lengths = rng.randint(0, 5, N)
lengths[0] = 3
words = tf.RaggedTensor.from_row_lengths(rng.randint(0, 7, lengths.sum()).astype("int64"), lengths)
steps = tf.RaggedTensor.from_row_lengths(rng.uniform(-1, 1, (lengths.sum(), 2)).astype("float32"), lengths)
y = rng.uniform(-1, 1, (N, 1)).astype("float32")


def sparse():
    x = keras.Input((6,), sparse=True, name="wide")
    return keras.Model(x, L.Dense(1)(L.Dense(4, activation="tanh")(x)), name="sparse")


def ragged():
    x = keras.Input((None, 2), ragged=True, name="steps")
    return keras.Model(x, L.Dense(1)(L.LSTM(3)(L.ReLU()(L.Dense(4)(x)))), name="ragged")


def both():
    a, b, c = keras.Input((None,), ragged=True, dtype="int64", name="words"), keras.Input((6,), sparse=True, name="wide"), keras.Input((6,), name="plain")
    h = L.Bidirectional(L.GRU(2))(L.Embedding(7, 3)(a))
    return keras.Model([a, b, c], L.Dense(1)(L.Concatenate()([h, L.Dense(2)(b), c])), name="both")


def sequential():
    return keras.Sequential([keras.Input((None, 2), ragged=True), L.Dense(3, activation="relu"), L.GlobalMaxPooling1D(), L.Dense(1)], name="pooled")


def added():
    x = keras.Input((6,))
    h = L.Dense(3, activation="tanh")(x)
    m = keras.Model(x, L.Dense(1)(h), name="added")
    m.add_loss(0.1 * tf.reduce_sum(tf.square(h)))
    m.add_loss(tf.reduce_mean(tf.abs(m.output)))
    return m


arrays, cases = {}, []
full = tf.RaggedTensor.from_row_lengths(rng.uniform(-1, 1, (2 * N, 2)).astype("float32"), [1, 3] * (N // 2))
for make, inputs in ((sparse, [tf.sparse.from_dense(wide)]), (ragged, [steps]), (both, [words, tf.sparse.from_dense(wide), wide]), (sequential, [full]), (added, [wide])):
    keras.backend.clear_session()
    keras.utils.set_random_seed(3)
    model = make()
    forms = []
    for i, x in enumerate(inputs):
        forms.append({tf.SparseTensor: "sparse", tf.RaggedTensor: "ragged"}.get(type(x), ""))
        parts = [x.indices, x.values, x.dense_shape] if forms[i] == "sparse" else [x.flat_values, *x.nested_row_splits] if forms[i] else [x]
        for k, p in enumerate(parts):
            arrays[f"{model.name}/x{i}/{k}"] = np.asarray(p)
    arrays[f"{model.name}/y"] = y
    for i, w in enumerate(model.get_weights()):
        arrays[f"{model.name}/weight{i}"] = w
    config = serialization_lib.serialize_keras_object(model)
    model.compile(keras.optimizers.Adam(0.01), "mse", metrics=["mae"])
    x = inputs if len(inputs) > 1 else inputs[0]
    lines = []
    model.summary(print_fn=lines.append)
    history = model.fit(x, y, batch_size=5, epochs=3, shuffle=False, verbose=0).history
    arrays[f"{model.name}/predicted"] = model.predict(x, batch_size=5, verbose=0)
    cases.append({"name": model.name, "config": config, "forms": forms,
                  "history": history, "evaluate": model.evaluate(x, y, batch_size=4, verbose=0), "summary": "\n".join(lines) + "\n"})
np.savez_compressed(here / "forms.npz", **arrays)
(here / "forms.json").write_text(json.dumps(cases, indent=1, default=json_utils.get_json_type) + "\n")

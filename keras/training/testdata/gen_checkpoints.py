"""Writes checkpoints.json and checkpoints/: weights and optimizers of functional models that
tf_keras has trained, as save_weights writes them.

Run in this directory, with TensorFlow 2.21 and tf_keras 2.21:

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_checkpoints.py
"""
import json
import os
import pathlib
import shutil

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tf_keras as keras
from tf_keras.src.saving import serialization_lib
from tf_keras.src.saving.legacy.saved_model import json_utils

L, O = keras.layers, keras.optimizers
here = pathlib.Path(__file__).parent
rng = np.random.RandomState(5)
words = rng.randint(0, 6, (12, 4))
x = rng.uniform(-1, 1, (12, 3)).round(3).astype("float32")
y = rng.uniform(-1, 1, (12, 1)).round(3).astype("float32")


def model():
    a, b = keras.Input((4,), dtype="int64", name="words"), keras.Input((3,), name="numbers")
    shared = L.Dense(3, activation="tanh", name="shared")
    inner_in = keras.Input((3,))
    inner = keras.Model(inner_in, L.BatchNormalization()(L.Dense(3, use_bias=False)(inner_in)), name="inner")
    h = L.LSTM(3, name="steps")(L.Embedding(6, 2, name="table")(a))
    h = L.Add()([shared(h), shared(b), inner(b) * 0.5])
    return keras.Model([a, b], keras.Sequential([L.Dense(2, activation="relu"), L.Dense(1)], name="head")(h), name="functional")


CASES = {
    "adam": lambda: O.Adam(0.02),
    "adamw": lambda: O.AdamW(0.02, ema_momentum=0.9, use_ema=True),
    "rmsprop": lambda: O.RMSprop(0.01, momentum=0.5, centered=True),
    "sgd_schedule": lambda: O.SGD(O.schedules.ExponentialDecay(0.05, 3, 0.5), momentum=0.5),
    "legacy_adam": lambda: O.legacy.Adam(0.02, amsgrad=True),
    "legacy_sgd": lambda: O.legacy.SGD(0.05, momentum=0.9),
}

shutil.rmtree("checkpoints", ignore_errors=True)
cases = []
for name, make in CASES.items():
    keras.backend.clear_session()
    keras.utils.set_random_seed(2)
    m = model()
    config = serialization_lib.serialize_keras_object(m)
    start = [w.tolist() for w in m.get_weights()]
    m.compile(make(), "mse")
    optimizer = serialization_lib.serialize_keras_object(m.optimizer)
    fit = lambda n: m.fit([words, x], y, batch_size=4, epochs=n, shuffle=False, verbose=0).history["loss"]
    first = fit(2)
    m.save_weights(f"checkpoints/{name}")
    cases.append({"name": name, "config": config, "optimizer": optimizer, "start": start, "first": first, "second": fit(2)})
os.remove("checkpoints/checkpoint")
text = {"words": words.tolist(), "x": x.tolist(), "y": y.tolist(), "cases": cases}
(here / "checkpoints.json").write_text(json.dumps(text, default=json_utils.get_json_type) + "\n")

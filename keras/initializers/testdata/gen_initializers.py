"""Writes initializers.npz: the first values that tf_keras 2.21 makes for seeds.

Run in this directory, with TensorFlow 2.21 and tf_keras 2.21:

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_initializers.py

A name is <config as JSON>/<dtype>. models/ has the weights of models after
set_random_seed.
"""
import json
import os
import pathlib

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
import tf_keras
from tf_keras import initializers as I
from tf_keras import layers as L
from tf_keras.src.saving import serialization_lib

here = pathlib.Path(__file__).parent
arrays = {}
for x in (I.RandomUniform(seed=1), I.RandomUniform(-2.0, 3.0, seed=123456789), I.RandomNormal(seed=2), I.RandomNormal(1.0, 3.0, seed=-5), I.TruncatedNormal(seed=3),
          I.TruncatedNormal(0.5, 2.0, seed=4), I.VarianceScaling(seed=5), I.VarianceScaling(3.0, "fan_out", "uniform", seed=6), I.VarianceScaling(2.0, "fan_avg", "untruncated_normal", seed=7),
          I.GlorotUniform(seed=8), I.GlorotNormal(seed=9), I.HeUniform(seed=10), I.HeNormal(seed=11), I.LecunUniform(seed=12), I.LecunNormal(seed=13), I.Orthogonal(seed=14),
          I.Orthogonal(2.0, seed=15), I.Zeros(), I.Ones(), I.Constant(-2.5), I.Identity(), I.Identity(0.3)):
    for shape in ((3, 7), (7, 3), (2, 3, 5)):
        for d in ("float32", "float64", "float16", "bfloat16"):
            if isinstance(x, I.Orthogonal) and d in ("float16", "bfloat16"):
                continue  # TensorFlow has no decomposition of these
            if isinstance(x, I.Identity) and len(shape) != 2:
                continue
            if hasattr(x, "_random_generator"):
                x._random_generator._built = False
            v = x(shape, dtype=d)
            if d == "bfloat16":
                v = tf.cast(v, "float32")
            arrays[f"{json.dumps(serialization_lib.serialize_keras_object(x))}/{d}/{'x'.join(map(str, shape))}"] = v.numpy()
for d in ("int32", "int64"):
    arrays[f"{json.dumps(serialization_lib.serialize_keras_object(I.RandomUniform(-3, 9, seed=5)))}/{d}/3x7"] = I.RandomUniform(-3, 9, seed=5)((3, 7), dtype=d).numpy()

for seed in (0, 1, 7, 2**31, 2**32 - 1):
    tf_keras.utils.set_random_seed(seed)
    model = tf_keras.Sequential([L.Dense(4, kernel_initializer="he_normal"), L.LSTM(3), L.Dense(2)] if seed % 2 else [L.Dense(4), L.Dropout(0.5), L.Dense(3), L.Dense(2)])
    model(tf.zeros((2, 5, 3) if seed % 2 else (2, 3)), training=False)
    for i, w in enumerate(model.get_weights()):
        arrays[f"models/{seed}/{i}"] = w
np.savez_compressed(here / "initializers.npz", **arrays)
print(len(arrays), "arrays")

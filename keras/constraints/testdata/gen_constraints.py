"""Writes constraints.npz: the weights that the constraints of tf_keras 2.21 return, and the
losses of its regularizers.

Run in this directory, with TensorFlow 2.21 and tf_keras 2.21:

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_constraints.py

The names are <config as JSON>/<dtype>/<shape>/w and …/to.
"""
import json
import os
import pathlib

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
from tf_keras import constraints as C
from tf_keras import regularizers as R
from tf_keras.src.saving import serialization_lib

here = pathlib.Path(__file__).parent
arrays = {}
rng = np.random.RandomState(3)
anything, matrices, images = ((5,), (3, 4), (2, 3, 4), (3, 3, 2, 4)), ((3, 4), (4, 3), (1, 5)), ((3, 3, 1, 2), (5, 5, 2, 3), (4, 4, 1, 1))
for x, shapes in (
    (C.NonNeg(), anything), (C.MaxNorm(), anything), (C.MaxNorm(0.7), anything), (C.MaxNorm(1, axis=[0, 1]), anything[1:]), (C.MaxNorm(0.5, axis=-1), anything),
    (C.UnitNorm(), anything), (C.UnitNorm(axis=1), anything[1:]), (C.UnitNorm([0, 1, 2]), anything[2:]), (C.MinMaxNorm(), anything), (C.MinMaxNorm(0.6, 0.9), anything),
    (C.MinMaxNorm(0.2, 0.5, rate=0.3, axis=[0, 1]), anything[1:]), (C.RadialConstraint(), images), (R.L1(), anything), (R.L1(0.3), anything), (R.L2(), anything),
    (R.L2(0.4), anything), (R.L1L2(), anything), (R.L1L2(0.1, 0.2), anything), (R.OrthogonalRegularizer(), matrices), (R.OrthogonalRegularizer(0.5, "columns"), matrices),
):
    for shape in shapes:
        for d in ("float32", "float64", "float16"):
            if isinstance(x, (C.RadialConstraint, R.L1, R.L2, R.L1L2, R.OrthogonalRegularizer)) and d != "float32":
                continue
            w = rng.uniform(-2, 2, shape).astype(d)
            if shape == (3, 4):
                w[:, 1] = 0
            key = f"{json.dumps(serialization_lib.serialize_keras_object(x))}/{d}/{'x'.join(map(str, shape))}"
            try:
                arrays[key + "/to"] = np.asarray(x(tf.constant(w)))
            except tf.errors.InvalidArgumentError:
                continue  # constraints with numbers of their own take one type only
            arrays[key + "/w"] = w
np.savez_compressed(here / "constraints.npz", **arrays)
print(len(arrays), "arrays")

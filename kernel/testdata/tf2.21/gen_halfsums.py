"""Writes the fixtures of reductions that are rounded to half precision at every step, far/halfsums.json: rows, columns, and
dimensions in between, shorter and longer than the parts that are reduced as vectors or in halves.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_halfsums.py
"""
import numpy as np
import tensorflow as tf

from recorder import *

FAMILY = "far/halfsums"
rng = np.random.default_rng(7)


def reductions(op, d, make):
    for shape, axes in [
        ([2, 5], [1]), ([3, 9], [1]), ([3, 33], [1]), ([2, 331], [1]), ([1701], [0]), ([2, 1607], [1]),
        ([15, 9], [0]), ([17, 25], [0]), ([50, 13], [0]), ([3, 21, 13], [1]), ([2, 16, 8], [1]), ([2, 1, 18, 4], [1, 2]),
        ([4, 5, 7], [0, 2]), ([3, 4, 5, 6], [1, 3]), ([3, 4, 5, 6], [0, 2]), ([2, 3, 1, 2, 2, 3], [0, 3, 5]), ([1, 1], [0]), ([0, 3], [0]), ([7], []),
    ]:
        x = tf.cast(make(shape).astype(np.float32), d)
        case(FAMILY, op, [("input", x), ("axis", np.int32(axes))], {"keep_dims": False})


for op in ["Sum", "Mean", "EuclideanNorm"]:
    reductions(op, tf.float16, lambda s: rng.standard_normal(s) * 3 + 1)
for d in [tf.float16, tf.bfloat16]:
    reductions("Prod", d, lambda s: 1 + rng.standard_normal(s) * 0.02)
    for n in [5, 37, 333, 1030, 1700]:
        case(FAMILY, "L2Loss", [("t", tf.cast((rng.standard_normal(n) * 2).astype(np.float32), d))])

write()

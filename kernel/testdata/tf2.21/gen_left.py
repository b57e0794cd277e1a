"""Writes the fixtures of calls that random ones found to differ, far/left.json.

    TF_ENABLE_ONEDNN_OPTS=0 TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_left.py
"""
import numpy as np
import tensorflow as tf

from recorder import *

FAMILY = "far/left"
rng = np.random.default_rng(7)

# The code of zero in the range of sums is -1 for some ranges, and float32 distinguishes codes of 32 bits in steps of 256.
for _ in range(12):
    for d, low in [(tf.qint8, -128), (tf.quint8, 0)]:
        codes = [tf.bitcast(rng.integers(low, low + 256, shape).astype(np.int8 if low else np.uint8), d) for shape in [(2, 4), (4,)]]
        a, b, c, e = rng.uniform(0.1, 5, 4).astype(np.float32)
        case(FAMILY, "QuantizedBiasAdd", [("input", codes[0]), ("bias", codes[1]), ("min_input", -a), ("max_input", b), ("min_bias", -c),
                                          ("max_bias", e)], {"out_type": tf.qint32})

none, two = np.zeros((0, 3, 3, 2), np.float32), np.float32([1, 2])
for training in [True, False]:
    case(FAMILY, "FusedBatchNormGrad", [("y_backprop", none), ("x", none), ("scale", two), ("reserve_space_1", two), ("reserve_space_2", two)],
         {"is_training": training}, elsewhere=True, undefined=[3, 4])

write()

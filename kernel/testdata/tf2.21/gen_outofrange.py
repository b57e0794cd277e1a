"""Writes the fixtures of casts to integers that can't hold the number, far/outofrange.json: as many elements as make whole
vectors, and some more.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_outofrange.py
"""
import numpy as np
import tensorflow as tf

from recorder import *

FAMILY = "far/outofrange"
rng = np.random.default_rng(11)
SPECIAL = [300.0, -300.0, 200.0, -1.0, 255.9, -128.9, 20000.0, 32767.0, 32768.0, 40000.0, 65504.0, 65535.0, 65536.0, 70000.0, -70000.0, -40000.0,
           1e6, 2147483520.0, 2147483647.5, 2147483648.0, -2147483648.0, -2147483648.5, -2147483904.0, 3e9, -3e9, 4294967295.5, 5e9, 9.3e18,
           1e19, -1e19, 2e19, np.inf, -np.inf, np.nan]

for src in ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"]:
    for dst in ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]:
        for n in [7, 77, 133]:
            v = rng.permutation(np.resize(SPECIAL, n))
            x = tf.cast(v, src)
            if src == "float16" and n == 133:
                x = tf.where(tf.math.is_inf(x) & (v < 1e9), tf.cast(rng.uniform(-65000, 65000, n), src), x)
            case(FAMILY, "Cast", [("x", x)], {"DstT": tf.as_dtype(dst), "Truncate": False})

write()

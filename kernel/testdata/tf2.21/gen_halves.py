"""Writes the fixtures of sums and products that are rounded to half precision at every step, far/halves.json.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_halves.py
"""
import numpy as np
import tensorflow as tf

from recorder import *

FAMILY = "far/halves"

# Ones are lost after a number whose neighbours are two apart.
for d, big in [(tf.float16, 2048), (tf.bfloat16, 256)]:
    ones = tf.cast(np.float32([big] + [1] * 200), d)
    for attrs in [{}, {"exclusive": True}, {"reverse": True}]:
        case(FAMILY, "Cumsum", [("x", ones), ("axis", np.int32(0))], attrs)
    near = tf.cast(np.full((2, 60), 1.01, np.float32), d)
    for attrs in [{}, {"exclusive": True}, {"reverse": True}]:
        case(FAMILY, "Cumprod", [("x", near), ("axis", np.int32(1))], attrs)

write()

"""Writes the fixtures of resized images of codes, qresize.json.

    TF_ENABLE_ONEDNN_OPTS=0 TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_qresize.py
"""
import numpy as np
import tensorflow as tf

from recorder import case, rng, write

MAKE = {tf.quint8: lambda s: tf.bitcast(rng.integers(0, 256, s).astype(np.uint8), tf.quint8),
        tf.qint32: lambda s: tf.bitcast(rng.integers(-2**31, 2**31, s).astype(np.int32), tf.qint32),
        tf.float32: lambda s: tf.constant(rng.uniform(-3, 3, s).astype(np.float32))}
for d, make in MAKE.items():
    for corners, centers in [(False, False), (True, False), (False, True)]:
        for shape, size in [((2, 4, 5, 3), (7, 9)), ((1, 6, 7, 1), (3, 2)), ((1, 5, 3, 2), (5, 3)), ((1, 1, 1, 9), (3, 4)), ((1, 3, 4, 1), (1, 1)), ((1, 2, 3, 8), (4, 17))]:
            for lo, hi in [(-1, 3), (0, 255), (-5, -2), (2, 2)][: 4 if shape[0] == 2 else 1]:
                case("qresize", "QuantizedResizeBilinear", [("images", make(shape)), ("size", np.int32(size)), ("min", np.float32(lo)), ("max", np.float32(hi))],
                     {"align_corners": corners, "half_pixel_centers": centers})
write()

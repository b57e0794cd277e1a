"""Writes the fixtures of ops on images, AsString, ArgMax, ArgMin, TopK and AudioSpectrogram with NaN,
infinities and subnormal numbers, far/oddvalues.json. Neither gradients nor shapes are recorded for these.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_oddvalues.py
"""
import numpy as np
import tensorflow as tf

from recorder import *

FAMILY = "far/oddvalues"
N, INF = np.nan, np.inf

pixels = np.array([[N, .5, .2], [.1, .9, .3], [INF, .2, .1], [.3, N, .3], [.2, .3, N], [-INF, 0, 1], [N, N, N], [INF, INF, 1], [1, INF, -INF],
                   [.5, .25, .125], [N, 1, N], [2, N, INF]], np.float32).reshape(1, 12, 3)
plain = np.array([[.5, .25, .125], [.125, .75, .5], [.25, .5, .75], [1, 1, 1]], np.float32).reshape(1, 4, 3)
for by in [.25, 1.5, -2, 0]:
    case(FAMILY, "AdjustHue", [("images", pixels), ("delta", np.float32(by))])
    case(FAMILY, "AdjustSaturation", [("images", pixels), ("scale", np.float32(by))])
    case(FAMILY, "AdjustContrastv2", [("images", pixels), ("contrast_factor", np.float32(by))])
for by in [N]:
    case(FAMILY, "AdjustHue", [("images", plain), ("delta", np.float32(by))])
for by in [N, INF, -INF]:
    case(FAMILY, "AdjustSaturation", [("images", plain), ("scale", np.float32(by))])
    case(FAMILY, "AdjustContrastv2", [("images", plain), ("contrast_factor", np.float32(by))])

# TensorFlow's threads read subnormal numbers as zero.
bits = lambda n, t, v: tf.bitcast(tf.constant(v, n), t)
for x in [bits("uint16", "bfloat16", [1, 2, 3, 127, 0x8001, 0x80, 64]), bits("uint16", "float16", [1, 2, 0x8001]),
          np.array([1e-40, -1e-45, 1e-38, 2e-38], np.float32), np.array([1e-310, -5e-324, 3e-308])]:
    x = x if isinstance(x, np.ndarray) else x.numpy()
    for style in [{}, {"scientific": True}, {"shortest": True}]:
        case(FAMILY, "AsString", [("input", x)], style)

LOWEST, LOW16 = -3.4028234663852886e38, -65504
rows = np.array([[N, LOWEST, -INF], [-INF, LOWEST, N], [N, LOW16, -INF], [-INF, -INF, N], [N, -LOW16, INF], [N, -LOWEST, INF], [N, 1, 2], [1, N, 2], [2, 1, N], [N, N, N], [1, N, N], [N, N, 1], [-INF, N, -INF], [N, -INF, INF], [INF, N, INF], [0, -0., N]], np.float32)
for t in [tf.bfloat16, tf.float16, tf.float32, tf.float64]:
    x = tf.cast(rows, t).numpy()
    for axis in [0, 1]:
        case(FAMILY, "ArgMax", [("input", x), ("dimension", np.int32(axis))])
        case(FAMILY, "ArgMin", [("input", x), ("dimension", np.int32(axis))])
    for k in [1, 2, 3]:
        case(FAMILY, "TopKV2", [("input", x), ("k", np.int32(k))], {"sorted": True})

# The order of a whole row with NaN depends on TensorFlow's algorithm, and so does the largest element.
random = np.random.default_rng(31)
for t in [tf.bfloat16, tf.float16, tf.float32, tf.float64]:
    for n in [4, 7, 8, 13, 16, 17, 21, 40, 70, 300]:
        x = random.integers(-3, 6, (6, n)).astype(np.float32)
        for value, part in [(N, .3), (INF, .05), (-INF, .2)]:
            x[random.random(x.shape) < part] = value
        x[0, :n // 2], x[1, n // 2:], x[2] = N, N, np.where(random.random(n) < .8, N, -INF)
        x = tf.cast(x, t).numpy()
        for k in [1, n]:
            case(FAMILY, "TopKV2", [("input", x), ("k", np.int32(k))], {"sorted": True})
        case(FAMILY, "TopKV2", [("input", x), ("k", np.int32(n))], {"sorted": False})

sound = np.array([1, N, 3, 2, 1, 1, -1, 5, 2, 2, N, N, 0, 1, 2, 3], np.float32).reshape(-1, 1)
for squared in [False, True]:
    case(FAMILY, "AudioSpectrogram", [("input", sound)], {"window_size": 4, "stride": 2, "magnitude_squared": squared})

write()

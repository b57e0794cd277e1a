"""Writes sobol.bin, the direction numbers of SobolSample, as sobol.go describes it, from the points of
TensorFlow: a point whose index has one bit in Gray's code is a direction number.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_sobol.py
"""
import numpy as np
import tensorflow as tf

# degrees[s] is the number of dimensions whose primitive polynomial has degree s.
DEGREES = [0, 1, 1, 2, 2, 6, 6, 18, 16, 48, 60, 176, 144, 630, 756, 1800, 2048, 7710, 7776]

points = [tf.raw_ops.SobolSample(dim=21200, num_results=1, skip=2 ** (k + 1) - 2, dtype="float64").numpy()[0] for k in range(18)]
bits, dim = [], 1
for s, n in enumerate(DEGREES):
    for _ in range(n - (s == 18)):
        for k in range(1, s):
            m = int(points[k][dim] * 2 ** (k + 1))
            bits += [m >> b & 1 for b in range(1, k + 1)]
        dim += 1
np.packbits(np.array(bits, np.uint8), bitorder="little").tofile("sobol.bin")

"""Writes the fixtures of points of Sobol's sequence, sobol.json.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_sobol.py
"""
import numpy as np

from recorder import *

for dim, n, skip in [(1, 5, 0), (3, 9, 0), (7, 4, 100), (40, 3, 2**20 - 2), (1111, 2, 12345), (2, 6, 2**30 - 8), (21200, 1, 2**29 + 12345)]:
    for d in ["float32", "float64"]:
        if dim < 9999 or d == "float32":
            case("sobol", "SobolSample", [("dim", np.int32(dim)), ("num_results", np.int32(n)), ("skip", np.int32(skip))], {"dtype": d})
write()

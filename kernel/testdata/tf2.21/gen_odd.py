"""Writes the fixtures of arguments that are odd, and that TensorFlow takes, far/odd.json:
found by giving TensorFlow and the kernels the other fixtures' cases with something
changed. Neither gradients nor shapes are recorded for these.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_odd.py
"""
import struct
import zlib

import numpy as np
import tensorflow as tf

from recorder import *

FAMILY = "far/odd"
N, INF = np.nan, np.inf


def odd(op, attrs=None, **inputs):
    case(FAMILY, op, list(inputs.items()), attrs)


# Bessel functions at points where they have no values, or no limits.
for op in ["BesselI0", "BesselI1", "BesselI0e", "BesselI1e", "BesselK0", "BesselK0e", "BesselK1", "BesselK1e", "BesselJ0", "BesselJ1", "BesselY0", "BesselY1"]:
    for d in ["float32", "float64", "float16"]:
        odd(op, x=np.array([-INF, INF, N, -3, -0.5], np_of(d)))

# Rows without splits.
for short in [False, True]:
    ngrams = dict(separator="|", ngram_widths=[2], left_pad="L", right_pad="R", pad_width=1, preserve_short_sequences=short)
    odd("StringNGrams", ngrams, data=s("a", "b"), data_splits=np.int64([]))
    odd("StringNGrams", ngrams, data=s(), data_splits=np.int64([]))
    odd("StringNGrams", ngrams, data=s(), data_splits=np.int64([0, 0]))

for d in ["float32", "int32"]:
    for gated in [False, True]:
        odd("DebugNanCount", {"tensor_name": "x:0", "gated_grpc": gated}, input=np.array([[1, 2], [3, 4]], np_of(d)))

# Means of nothing.
for d in C + F + ["int32"]:
    odd("Mean", input=np.zeros((2, 0, 3), np_of(d)), axis=np.int32([0, -2]))
    odd("Mean", {"keep_dims": True}, input=np.zeros((2, 0), np_of(d)), axis=np.int32([1]))

# Indices aren't read if the shape stays.
odd("SparseReshape", input_indices=np.int64([[0, -1, 1], [1, 2, 9]]), input_shape=np.int64([2, 3, 5]), new_shape=np.int64([2, -1, 5]))

# Limits of counts.
none = np.float32([])
for least, most in [(-1, -1), (6, 0), (0, 0), (-1, 2), (6, 2), (2, -1)]:
    limits = dict(binary_output=False, minlength=least, maxlength=most)
    for values in [[1, 3, 1, 0], [], [[1, 3], [1, 0]]]:
        odd("DenseCountSparseOutput", limits, values=np.array(values, np.int64), weights=none)
    odd("SparseCountSparseOutput", limits, indices=np.int64([[0, 0], [1, 1]]), values=np.int64([1, 0]), dense_shape=np.int64([2, 2]), weights=none)
    odd("SparseCountSparseOutput", limits, indices=np.zeros((0, 2), np.int64), values=np.int64([]), dense_shape=np.int64([2, 2]), weights=none)
    odd("RaggedCountSparseOutput", limits, splits=np.int64([0, 1, 2]), values=np.int64([1, 0]), weights=none)
    odd("RaggedCountSparseOutput", limits, splits=np.int64([0, 0]), values=np.int64([]), weights=none)

for d in ["int32", "int64"]:
    odd("UnravelIndex", indices=np.array([-1, -7, 3, -5], np_of(d)), dims=np.array([2, 3], np_of(d)))
for d in F2 + C:
    diagonals = np.array([[1, 2, 0], [4, 5, 6], [0, 1, 2]], np_of(d))
    odd("TridiagonalSolve", {"partial_pivoting": True, "perturb_singular": True}, diagonals=diagonals, rhs=np.array([[1], [2], [3]], np_of(d)))

# Shapes with sizes that aren't known.
for d in ["int32", "int64"]:
    for a, b in [([], [-1, 0]), ([-1, 3], [-1, 3]), ([-1, 1], [1, 4])]:
        odd("BroadcastArgs", s0=np.array(a, np_of(d)), s1=np.array(b, np_of(d)))

# Colours below zero.
for delta in [0, 0.3, -0.4, 1]:
    pixels = np.float32([[[-1, 2, 0.5], [1, -7, 0.3], [-1, -2, -3], [0, -1, 0], [3, 2, 1], [0, 0, -1]]])
    odd("AdjustHue", images=pixels, delta=np.float32(delta))

# Frequencies that the spectrogram doesn't reach.
for hz, upper in [(8000, 4000), (8000, 4062.4), (8000, 4062.6), (8000, 1e30), (4, 3800)]:
    odd("Mfcc", {"upper_frequency_limit": upper, "filterbank_channel_count": 20, "dct_coefficient_count": 5}, spectrogram=np.abs(rand("float32", (1, 2, 65))), sample_rate=np.int32(hz))

# Opacities that are full: the pixels have one all the same.
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


full = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 2, 1, 8, 3, 0, 0, 0)) + chunk(b"PLTE", bytes(range(6))) + \
    chunk(b"tRNS", b"\xff\xff") + chunk(b"IDAT", zlib.compress(b"\0\1\0")) + chunk(b"IEND", b"")
for channels in [0, 3, 4]:
    odd("DecodePng", {"channels": channels}, contents=np.array(full, object))
write()

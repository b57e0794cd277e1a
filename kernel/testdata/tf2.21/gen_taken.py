"""Writes the fixtures of calls that look odd and that TensorFlow takes, far/taken.json.
Neither gradients nor shapes are recorded for these.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_taken.py
"""
import struct

import numpy as np
import tensorflow as tf

from recorder import *

FAMILY = "far/taken"
N, INF = np.nan, np.inf


def taken(op, attrs=None, **inputs):
    case(FAMILY, op, list(inputs.items()), attrs)


# Integers are rounded to nothing, and far from zero there is no error function.
for d in ["int32", "int64"]:
    taken("Round", x=rand(d, (17,), -9, 9))
    taken("Round", x=np_of(d)(np.iinfo(np_of(d)).max))
for d in F2:
    far = np.array([INF, -INF, 1e30, -1e30, N, 27.3, -27.3, 6, 0], np_of(d))
    for op in ["Erf", "Erfc"]:
        taken(op, x=far)
        taken(op, x=far[:1])
taken("Erf", x=np.float64([1e153, 1.34e154, 1.35e154, -1.35e154, -1e200, 1e308]))

# Two zeros.
for d in F:
    x = np.array([0, -0.0, 1, -0.0, 0, N, N, INF, -INF, INF], np_of(d))
    for op in ["Unique", "UniqueWithCounts"]:
        taken(op, x=x)
    for op in ["UniqueV2", "UniqueWithCountsV2"]:
        taken(op, x=x, axis=np.int32([]))
        taken(op, x=x, axis=np.int32([0]))
        taken(op, x=np.stack([x[:5], x[2:7]], 1), axis=np.int32([0]))

for d in F:
    taken("ListDiff", x=np.array([0, -0.0, N, 1, INF, 2], np_of(d)), y=np.array([-0.0, N, INF, 3], np_of(d)))

q32 = lambda v: tf.bitcast(np.asarray(v, np.int32), tf.qint32)
for lo, hi in [(-1e5, 1e5), (-3, 9), (0, 6), (-1e5, 0)]:
    for to in [(-1, 1), (-0.1, 0.3), (0, 2), (0, 0)]:
        for t in [tf.qint8, tf.quint8]:
            taken("Requantize", {"out_type": t}, input=q32(rng.integers(-2**31, 2**31, (3, 7)) >> rng.integers(0, 24, (3, 7))), input_min=np.float32(lo), input_max=np.float32(hi),
                  requested_output_min=np.float32(to[0]), requested_output_max=np.float32(to[1]))

# Indices in any order, repeated, and outside of the shape.
at = np.int64([[0, 1], [5, 7], [-1, 0], [0, 0], [0, 1], [1, 2]])
shape = np.int64([2, 3])
for d in ["float32", "int32", "string"]:
    v = s(*"abcdef") if d == "string" else rand(d, (6,))
    taken("SparseReorder", input_indices=at, input_values=v, input_shape=shape)
    for axis in [0, 1]:
        taken("SparseConcat", {"concat_dim": axis}, indices=[at, at], values=[v, v[::-1]], shapes=[shape, shape])
    for start, size in [([0, 0], [2, 2]), ([0, 1], [9, 9]), ([1, 0], [0, 3])]:
        taken("SparseSlice", indices=at, values=v, shape=shape, start=np.int64(start), size=np.int64(size))
for d in F2:
    for n in [4, 12]:
        at = rng.integers(0, 2, (n, 3))
        taken("SparseSoftmax", sp_indices=at, sp_values=rand(d, (n,)), sp_shape=np.int64([2, 2, 2]))

for k, shape in [(2, (3, 4)), (5, (3, 100)), (1, (2, 1025))]:
    taken("ApproxTopK", {"k": k, "aggregate_to_topk": False, "recall_target": 0.5}, input=rand("float32", shape))
taken("StringJoin", {"separator": ","}, inputs=[])


def bmp(w, h, bits, down=False):
    row = (w * bits // 8 + 3) // 4 * 4
    data = rng.integers(0, 256, row * h).astype(np.uint8).tobytes()
    return b"BM" + struct.pack("<IHHI", 54 + len(data), 0, 0, 54) + struct.pack("<IiiHHIIiiII", 40, w, -h if down else h, 1, bits, 0, len(data), 2835, 2835, 0, 0) + data


for bits in [8, 24, 32]:
    for channels in [0, 3, 4]:
        for w, h, down in [(3, 2, False), (5, 1, True), (4, 3, True)]:
            taken("DecodeBmp", {"channels": channels}, contents=one(bmp(w, h, bits, down)))
        taken("DecodeImage", {"channels": channels}, contents=one(bmp(3, 2, bits)))

# Areas of images one pixel wide or high.
for d in ["float32", "uint8"]:
    for shape, size in [((1, 4, 1, 1), (2, 2)), ((2, 1, 3, 3), (2, 2)), ((1, 1, 1, 1), (3, 3)), ((1, 1, 5, 2), (4, 3)), ((1, 4, 1, 3), (1, 5))]:
        for corners in [False, True]:
            taken("ResizeArea", {"align_corners": corners}, images=rand(d, shape, 0, 9), size=np.int32(size))
# Characters of many versions of Unicode.
taken("UnicodeScript", input=np.arange(0, 0x30000, 7, dtype=np.int32))
taken("UnicodeScript", input=np.int32([0x61d, 0x870, 0x88e, 0x9ffd, 0x20c0, 0x10570, 0x11f00, 0x1e4d0, 0x2ebf0, 0x31350, 0x323af, 0x10ffff, 0x110000, -1]))
write()

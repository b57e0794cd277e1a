"""Writes the fixtures of ops at the corners of their domains.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_corners.py
"""
import struct
import zlib

import numpy as np
import tensorflow as tf

from recorder import *

i32 = lambda *v: np.array(v, np.int32)


def corner(op, inputs, attrs=None, **kw):
    # The last file of all, so that the cases of the others keep their numbers
    # within an op, by which the recorded shapes name them.
    case("corners", op, inputs, attrs, **kw)


# Shapes that don't broadcast make tensors unequal, by an attribute.
for op in ["Equal", "NotEqual"]:
    for d in ["float32", "int64", "bool", "bfloat16"]:
        for dims in [(3, 2), (2, 3), (3,)]:
            corner(op, [("x", rand(d, (2, 3), 0, 2)), ("y", rand(d, dims, 0, 2))], {"incompatible_shape_error": False})
    corner(op, [("x", s("a", "b")), ("y", s("a", "b", "c"))], {"incompatible_shape_error": False})

for d in ["int32", "int64"]:
    corner("ConcatOffset", [("concat_dim", np.int32(1)), ("shape", [np.array([2, n, 5], d) for n in (3, 7, 0)])])

# Numbers that integers can't hold. Short rows of bfloat16 go another way in
# TensorFlow than long ones.
odd = np.array([np.nan, np.inf, -np.inf, -3.7, 300.2, -40000.0, 65000.0, -0.9])
for d in F:
    for to in I + U:
        corner("Cast", [("x", tf.cast(odd, d).numpy())], {"DstT": tf.as_dtype(to)})
for to in ["int32", "int64", "uint64", "int8", "uint16"]:
    corner("Cast", [("x", np.array([3e9, -3e9, 2147483647, -2147483648, 2147483648, -2147483649, 1e15, -1e15]))], {"DstT": tf.as_dtype(to)})
    corner("Cast", [("x", np.array([np.inf + 1j, -5 + 2j, 300.5, 7j]))], {"DstT": tf.as_dtype(to)})
rough = np.array([97.4, -97.4, 3.0000001, 1e-3, -70000.0, 1e-8, 0.1, np.inf])
for d in F2:
    for to in ["float16", "bfloat16", "float32"]:
        if d != to and (d, to) != ("float64", "bfloat16"):  # which TensorFlow rounds
            corner("Cast", [("x", rough.astype(d))], {"DstT": tf.as_dtype(to), "Truncate": True})

# The k largest, in whatever order a heap has them.
for d in ["float32", "int32", "float64", "uint8", "bfloat16"]:
    for n, k in [(6, 4), (40, 7), (40, 1), (40, 39), (40, 40), (9, 2), (3, 0)]:
        for ordered in [False, True]:
            corner("TopKV2", [("input", rand(d, (3, n), -9, 9)), ("k", np.int32(k))], {"sorted": ordered})
corner("TopKV2", [("input", np.zeros((2, 9), np.int32)), ("k", np.int32(5))], {"sorted": False})

# Windows that find no place.
for op, dims, ksizes, strides in [("ExtractImagePatches", (1, 1, 6, 2), [1, 2, 3, 1], [1, 1, 1, 1]), ("ExtractImagePatches", (2, 3, 4, 1), [1, 4, 5, 1], [1, 2, 3, 1]),
                                  ("ExtractVolumePatches", (1, 3, 1, 5, 2), [1, 2, 2, 1, 1], [1, 1, 1, 1, 1])]:
    attrs = {"ksizes": ksizes, "strides": strides, "padding": "VALID"}
    if op == "ExtractImagePatches":
        attrs["rates"] = [1, 1, 1, 1]
    corner(op, [("images" if "rates" in attrs else "input", rand("float32", dims))], attrs)
corner("Dilation2D", [("input", rand("float32", (1, 2, 6, 2))), ("filter", rand("float32", (2, 8, 2)))], {"strides": [1, 1, 3, 1], "rates": [1, 1, 1, 1], "padding": "VALID"})

corner("Bincount", [("arr", np.array([[1, 2, 2]], np.int32)), ("size", np.int32(4)), ("weights", rand("float32", (3,)))])
for op in ["Mod", "FloorDiv", "TruncateDiv", "FloorMod"]:
    corner(op, [("x", np.zeros((0, 2), np.int32)), ("y", i32(0, 2))])
corner("ListDiff", [("x", np.array([-0.0, 3, 0.0, 5], np.float32)), ("y", np.array([0.0], np.float32))])
corner("ListDiff", [("x", np.array([-0.0, 3, 0.0, 5])), ("y", np.array([-0.0]))])

# Colours to gray, with exponents and without.
def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(a, depth, *chunks):
    rows = b"".join(b"\0" + row.astype(">u2" if depth == 16 else "u1").tobytes() for row in a)
    head = struct.pack(">IIBBBBB", a.shape[1], a.shape[0], depth, {3: 2, 4: 6}[a.shape[2]], 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + b"".join(chunks) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


for depth in [8, 16]:
    for colours in [3, 4]:
        a = rng.integers(0, 1 << depth, (4, 5, colours))
        a[0, 0, :3] = a[0, 0, 0]
        for extra in [(), (chunk(b"gAMA", struct.pack(">I", 45455)),), (chunk(b"gAMA", struct.pack(">I", 100000)),), (chunk(b"sRGB", b"\0"),)]:
            for d in ["uint8", "uint16"]:
                corner("DecodePng", [("contents", one(png(a, depth, *extra)))], {"channels": 1, "dtype": tf.as_dtype(d)})

# JPEG images that might end early, and don't.
smooth = np.add.outer(np.arange(40) * 5, np.arange(37) * 2)[..., None] + np.array([0, 40, 90])
for fmt, data in [("rgb", smooth % 256), ("grayscale", smooth[..., :1] % 256)]:
    for progressive in [False, True]:
        whole = tf.io.encode_jpeg(data.astype(np.uint8), format=fmt, quality=90, progressive=progressive).numpy()
        corner("DecodeJpeg", [("contents", one(whole))], {"try_recover_truncated": True})

write()

"""Writes the fixtures of ops on NaN, infinities and numbers far from zero,
far/nan.json. Neither gradients nor shapes are recorded for these.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_far.py
"""
import numpy as np

from recorder import *

FAMILY = "far/nan"
N, INF = np.nan, np.inf
# TensorFlow's own kernels of three dimensions start elsewhere than those of oneDNN,
# which is in use by default.
ONEDNN = dict(elsewhere=True)

# The largest of a window is never NaN, and no less than the lowest finite number.
odd = np.array([N, 1, 2, N, N, N, 3, N, -INF, N, -INF, 2, -1, N, -INF, -INF]).reshape(1, 4, 4, 1)
for d in F:
    x = np.concatenate([odd, odd[:, ::-1], odd[:, :, ::-1]], -1).astype(np_of(d))
    for k, stride, padding in [(2, 2, "VALID"), (1, 1, "VALID"), (3, 2, "SAME"), (2, 1, "SAME")]:
        two = dict(ksize=[1, k, k, 1], strides=[1, stride, stride, 1], padding=padding)
        if d != "bfloat16":  # for which oneDNN starts at -Inf
            case(FAMILY, "MaxPool", [("input", x)], two)
        case(FAMILY, "MaxPoolV2", [("input", x), ("ksize", np.int32(two["ksize"])), ("strides", np.int32(two["strides"]))], {"padding": padding})
        case(FAMILY, "MaxPoolWithArgmax", [("input", x)], two)
    case(FAMILY, "MaxPool", [("input", x)], dict(ksize=[1, 1, 1, 3], strides=[1, 1, 1, 3], padding="VALID"))
three = np.stack([odd, odd[:, ::-1]], 1).astype(np.float32)
case(FAMILY, "MaxPool3D", [("input", three)], dict(ksize=[1, 1, 2, 2, 1], strides=[1, 1, 2, 2, 1], padding="VALID"), **ONEDNN)

# Gradients that are NaN stay so at points where the op is flat.
for d in F:
    g, x = np.array([N, 1, -1, INF, N, 2], np_of(d)), np.array([-1, 0, 3, 7, 7, N], np_of(d))
    for op in ["ReluGrad", "Relu6Grad", "EluGrad", "SeluGrad"]:
        case(FAMILY, op, [("gradients", g), ("outputs" if op in ("EluGrad", "SeluGrad") else "features", x)])

# Functions of complex numbers whose parts are large.
for d in C:
    big = np.array([300 + 1j, -3e9 + 1e10j, 1 - 400j, 720 + 2j, -720 - 2j, 3 + 1e8j, -3 - 1e8j, 1e9 - 2j, -1e12 + 0.5j, -3e4 + 2j], np_of(d))
    for op in ["Tan", "Tanh", "Asinh", "Atan", "Acosh"]:
        case(FAMILY, op, [("x", big)])
    for op in ["Asin", "Acos"]:
        case(FAMILY, op, [("x", np.array([1e8 + 1e8j, -1e8 + 2j, 3 + 1e7j, 1e5 - 3j, -2 + 0.5j, 0.3 - 1j], np_of(d)))])
    case(FAMILY, "Acosh", [("x", np.array([complex(-INF, 0), complex(INF, 0)], np_of(d)))])

# Near one, and NaN among the summands.
for d in F2:
    for op in ["Asin", "Acos"]:
        case(FAMILY, op, [("x", np.array([1 - 1e-7, 1e-7 - 1, 1 - 1e-5, 0.99, -0.99, 1, -1, 1e-7, 0], np_of(d)))])
    for exclusive in [False, True]:
        for x in [[1, -INF, 2], [-INF, -INF, 1], [INF, 1, 2], [1, INF, INF], [N, 1, 2], [1, N, N, 2]]:
            case(FAMILY, "CumulativeLogsumexp", [("x", np.array(x, np_of(d))), ("axis", np.int32(0))], {"exclusive": exclusive})

# Numbers without a sign take no flag for it.
for d in ["int8"] + U:
    for fill in ["+", " ", "-", "0"]:
        for width in [-1, 4]:
            case(FAMILY, "AsString", [("input", np.array([3, 0, 100], np_of(d)))], {"fill": fill, "width": width})

# Shifts count in 32 bits.
for shift in [[-9223372036854775807], [4294967298], [2147483647]]:
    case(FAMILY, "Roll", [("input", rand("float32", (5, 2))), ("shift", np.array(shift)), ("axis", np.array([0]))])
case(FAMILY, "Roll", [("input", rand("float32", (5, 2))), ("shift", np.array([3, 9, -1])), ("axis", np.array([0, 1, 0]))])

# Empty matrices have no negative powers.
case(FAMILY, "Pow", [("x", np.zeros((0, 2), np.int32)), ("y", np.int32([-1, 2]))])
write()

"""Writes the fixtures of special functions, and of ops on bits.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_special.py
"""
import numpy as np
import tensorflow as tf

from recorder import *


def special(op, *inputs, attrs=None, **kw):
    case("special", op, list(inputs), attrs, **kw)


def unary(op, types, lo, hi, edges=()):
    for d in types:
        special(op, ("x", rand(d, (3, 7), lo, hi)))
        if len(edges):
            special(op, ("x", np.array(edges, np_of(d))))
    special(op, ("x", rand("float32", (), lo, hi)))
    special(op, ("x", rand("float32", (0, 2), lo, hi)))


H = ["float32", "float64", "float16"]
nan, inf = np.nan, np.inf
for op in ["BesselI0", "BesselI1"]:
    unary(op, H, -6, 6, [0, 8, -8])
for op in ["BesselI0e", "BesselI1e"]:
    unary(op, H, -40, 40, [0, 8, -8, 300])
for op in ["BesselK0", "BesselK1", "BesselK0e", "BesselK1e"]:
    unary(op, H, 0.05, 9, [0.5, 1, 2, 30, 0])
for op in ["BesselJ0", "BesselJ1"]:
    unary(op, H, -12, 12, [0, 5, 8])
for op in ["BesselY0", "BesselY1"]:
    unary(op, H, 0.1, 12, [5, 8, 0])
unary("Dawsn", F2, -6, 6, [0, 1e-9, 3.25, -80, nan])
unary("Expint", F2, 0.05, 6, [0.5, 2, 20, 39, 60, nan])
unary("FresnelCos", F2, -5, 5, [0, 1.6, 36974, 1e9, nan])
unary("FresnelSin", F2, -5, 5, [0, 1.6, 36974, 1e9, nan])
unary("Spence", F2, 0, 6, [0, 1, 0.5, 2, 1.5, nan, -1])
unary("Erfinv", F2, -0.999, 0.999, [0, 1, -1, 2, nan])
unary("Ndtri", F2, 0.001, 0.999, [0.5, 0, 1, 1e-9, 2, nan])
for d in F2:
    for shapes in [((2, 3), (2, 3)), ((4,), ()), ((2, 1), (3,)), ((0,), (1,))]:
        a, x = rand(d, shapes[0], 0.2, 6), rand(d, shapes[1], 0.1, 8)
        for op in ["Igamma", "Igammac", "IgammaGradA"]:
            special(op, ("a", a), ("x", x))
        special("RandomGammaGrad", ("alpha", (a + 1).astype(a.dtype)), ("sample", x))
        special("Zeta", ("x", rand(d, shapes[0], 1.2, 9)), ("q", x))
        special("Polygamma", ("a", np.floor(rand(d, shapes[0], 0, 6))), ("x", x))
        special("NextAfter", ("x1", rand(d, shapes[0])), ("x2", rand(d, shapes[1])))
    special("Igamma", ("a", np.array([1, 0, -1, 2, 0, inf, 3, nan], np_of(d))), ("x", np.array([0, 1, 1, -1, 0, 1, inf, 1], np_of(d))))
    special("Igammac", ("a", np.array([1, 0, -1, 2, 0, inf, 3, nan], np_of(d))), ("x", np.array([0, 1, 1, -1, 0, 1, inf, 1], np_of(d))))
    special("Zeta", ("x", np.array([1, 0.5, 2, 2, 2.5], np_of(d))), ("q", np.array([1, 1, 0, -1, -0.5], np_of(d))))
    special("Polygamma", ("a", np.array([0.5, -1, 1, 2, 0], np_of(d))), ("x", np.array([1, 1, 0, 0.25, -0.5], np_of(d))))
    special("NextAfter", ("x1", np.array([0, 0, 1, 1, nan, inf, -1], np_of(d))), ("x2", np.array([1, -1, 1, 2, 1, 0, -inf], np_of(d))))
    a, b, x = rand(d, (2, 3), 0.3, 5), rand(d, (2, 3), 0.3, 5), rand(d, (2, 3), 0.01, 0.99)
    special("Betainc", ("a", a), ("b", b), ("x", x))
    special("Betainc", ("a", a[0, 0]), ("b", b), ("x", x))
    special("Betainc", ("a", a[0, 0]), ("b", b[0, 0]), ("x", np.array([0, 1, 0.5, -1, 2], np_of(d))))
    special("ApproximateEqual", ("x", np.array([1, 2, 3], np_of(d))), ("y", np.array([1 + 5e-6, 2.1, 3], np_of(d))))
    special("ApproximateEqual", ("x", np.array([[1, nan, inf]], np_of(d))), ("y", np.array([[1.25, nan, inf]], np_of(d))), attrs={"tolerance": 0.3})
for d in I + U:
    lo, hi = np.iinfo(np_of(d)).min, np.iinfo(np_of(d)).max
    x = np.array([1, 3, lo, hi, 7, hi, 2], np_of(d))
    for op in ["LeftShift", "RightShift"]:
        special(op, ("x", x), ("y", np.array([1, 0, 2, 3, 100, 63, hi], np_of(d))))
        special(op, ("x", x), ("y", np_of(d)(2)))
    if d in I:
        special("LeftShift", ("x", x), ("y", np_of(d)(-1)))
        special("RightShift", ("x", x), ("y", np_of(d)(-1)))
    special("LeftShift", ("x", rand(d, (2, 1), 0, 5)), ("y", rand(d, (3,), 0, 5)))
    special("PopulationCount", ("x", np.array([[lo, hi, 0, 1, 5]], np_of(d))))
special("PopulationCount", ("x", np.zeros((0,), np.int32)))
for d in F + I + U:
    special("Cross", ("a", rand(d, (2, 3))), ("b", rand(d, (2, 3))))
special("Cross", ("a", rand("float32", (3,))), ("b", rand("float32", (3,))))
special("Cross", ("a", rand("float32", (0, 3))), ("b", rand("float32", (0, 3))))
for d in F:
    for exclusive in (False, True):
        for reverse in (False, True):
            special("CumulativeLogsumexp", ("x", rand(d, (3, 4))), ("axis", np.int32(1)), attrs={"exclusive": exclusive, "reverse": reverse})
special("CumulativeLogsumexp", ("x", rand("float32", (3, 2, 2))), ("axis", np.int64(-3)))
special("CumulativeLogsumexp", ("x", rand("float32", (0, 2))), ("axis", np.int32(0)))
special("CumulativeLogsumexp", ("x", np.array([-800, 800, 801, -3], np.float32)), ("axis", np.int32(0)))
for d in ["uint8", "int8", "int16", "int32", "float32", "float64"]:
    special("AdjustContrast", ("images", rand(d, (2, 3, 4, 3), 0, 100)), ("contrast_factor", np.float32(1.7)), ("min_value", np.float32(5)), ("max_value", np.float32(90)), old=True)

write()

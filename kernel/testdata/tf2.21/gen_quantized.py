"""Writes quantized.json: arithmetic on integers that represent floats.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_quantized.py

The results are those of TensorFlow's own kernels: oneDNN's, which take the place
of some on some processors, round otherwise.
"""
import os

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
import recorder
from recorder import *

recorder.rng = np.random.default_rng(20261204)
S = lambda v: np.array(v, np.float32)
NP = {"qint8": np.int8, "quint8": np.uint8, "qint32": np.int32}


def codes(q, shape, lo=None, hi=None):
    info = np.iinfo(NP[q])
    v = recorder.rng.integers(info.min if lo is None else lo, info.max if hi is None else hi, shape, endpoint=True).astype(NP[q])
    return tf.bitcast(tf.constant(v), getattr(tf, q))


R = [((-1.0, 1.0), (0.0, 6.0)), ((-3.5, 1.25), (-0.5, 10.0)), ((0.0, 2.0), (-127.0, 3.0)), ((0.5, 1.5), (-8.0, -1.0))]


def two(x, y, a, b, n=("x", "y", "min_x", "max_x", "min_y", "max_y")):
    return list(zip(n, (x, y, S(a[0]), S(a[1]), S(b[0]), S(b[1]))))


for a, b in R:
    for sa, sb in [((3, 4), (3, 4)), ((3, 4), (4,)), ((), (5,)), ((2, 3, 17), (17,)), ((6,), ()), ((20,), (20,))]:
        for op in ("QuantizedAdd", "QuantizedMul"):
            case("quantized", op, two(codes("quint8", sa), codes("quint8", sb), a, b), {"Toutput": tf.qint32})
    for q in ("quint8", "qint8"):
        for s in [(3, 5), (2, 3, 4, 16)]:
            case("quantized", "QuantizedBiasAdd", two(codes(q, s), codes(q, s[-1:]), a, b, ("input", "bias", "min_input", "max_input", "min_bias", "max_bias")), {"out_type": tf.qint32})
    for ta in (False, True):
        for tb in (False, True):
            x, y = codes("quint8", (7, 3) if ta else (3, 7)), codes("quint8", (5, 7) if tb else (7, 5))
            case("quantized", "QuantizedMatMul", two(x, y, a, b, ("a", "b", "min_a", "max_a", "min_b", "max_b")), {"Toutput": tf.qint32, "transpose_a": ta, "transpose_b": tb})
    for f in ("quint8",):
        for st in (1, 2):
            for pad in ("SAME", "VALID"):
                case("quantized", "QuantizedConv2D", two(codes("quint8", (2, 5, 6, 3)), codes(f, (3, 2, 3, 4)), a, b, ("input", "filter", "min_input", "max_input", "min_filter", "max_filter")),
                     {"out_type": tf.qint32, "strides": [1, st, st, 1], "padding": pad})
    for r in (a, b):
        for q in ("quint8", "qint32"):
            for op in ("QuantizedRelu", "QuantizedRelu6"):
                case("quantized", op, [("features", codes(q, (3, 7))), ("min_features", S(r[0])), ("max_features", S(r[1]))], {"out_type": getattr(tf, q)})
            case("quantized", "QuantizedReshape", [("tensor", codes(q, (3, 4))), ("shape", np.array([2, -1], np.int32)), ("input_min", S(r[0])), ("input_max", S(r[1]))])
        for q in ("quint8", "qint8"):
            for k, st, pad in [(2, 2, "VALID"), (3, 2, "SAME"), (2, 1, "SAME")]:
                for op in ("QuantizedMaxPool", "QuantizedAvgPool"):
                    case("quantized", op, [("input", codes(q, (2, 5, 6, 3))), ("min_input", S(r[0])), ("max_input", S(r[1]))], {"ksize": [1, k, k, 1], "strides": [1, st, st, 1], "padding": pad})
        for g in ({}, {"output_range_given": True, "given_y_min": -1.5, "given_y_max": 2.0}, {"variance_epsilon": 0.5, "min_separation": 20.0}):
            case("quantized", "QuantizedInstanceNorm", [("x", codes("quint8", (2, 4, 5, 3))), ("x_min", S(r[0])), ("x_max", S(r[1]))], g)
    for q in ("quint8", "qint32"):
        v = [codes(q, (2, 3)), codes(q, (2, 1)), codes(q, (2, 4))]
        mins, maxs = [S(a[0]), S(b[0]), S(0)], [S(a[1]), S(b[1]), S(3)]
        case("quantized", "QuantizedConcat", [("concat_dim", np.int32(1)), ("values", v), ("input_mins", mins), ("input_maxes", maxs)])
for scaled in (True, False):
    for r in [(-4.0, 4.0), (0.0, 10.0)]:
        ins = []
        for n, s in (("t", (2, 3, 4, 3)), ("m", (3,)), ("v", (3,)), ("beta", (3,)), ("gamma", (3,))):
            lo, hi = (0.5, 9.0) if n == "v" else r
            ins += [(n, codes("quint8", s)), (n + "_min", S(lo)), (n + "_max", S(hi))]
        case("quantized", "QuantizedBatchNormWithGlobalNormalization", ins, {"out_type": tf.qint32, "variance_epsilon": 0.001, "scale_after_normalization": scaled})
for top in (1 << 31, 1 << 20):
    for lo in (-top, 0):
        for out in (tf.quint8, tf.qint8):
            x = codes("qint32", (1, 2, 3, 4), lo, top - 1)
            mins, maxs = S([-1, -20, 0, -3]), S([1, 5, 7, 300])
            for clip in (6.0, 1e9, 0.01):
                case("quantized", "RequantizationRangePerChannel", [("input", x), ("input_min", mins), ("input_max", maxs)], {"clip_value_max": clip})
            for r in [(-1.0, 2.0), (0.0, 6.0), (-100.0, 1.0)]:
                case("quantized", "RequantizePerChannel", [("input", x), ("input_min", mins), ("input_max", maxs), ("requested_output_min", S(r[0])), ("requested_output_max", S(r[1]))], {"out_type": out})


def grid(axis, n, lo=-20, hi=20):
    s = S(recorder.rng.uniform(0.001, 2, () if axis < 0 else (n,)))
    return s, recorder.rng.integers(lo, hi, s.shape).astype(np.int32)


B8 = {"quantization_min_val": -128, "quantization_max_val": 127}
B32 = {"quantization_min_val": -2**31, "quantization_max_val": 2**31 - 1}
attrs = lambda prefix, b, axis: {**{prefix + k: v for k, v in b.items()}, prefix + "quantization_axis": axis}
for q in ("qint8", "qint32"):
    for ai, ao in [(-1, -1), (1, 1), (-1, 1), (1, -1), (0, 0)]:
        for top in (127, 1 << 30) if q == "qint32" else (127,):
            gi, go = grid(ai, (2, 3, 4)[max(ai, 0)]), grid(ao, (2, 3, 4)[max(ao, 0)])
            case("quantized", "UniformRequantize", [("input", codes(q, (2, 3, 4), -top, top)), ("input_scales", gi[0]), ("input_zero_points", gi[1]), ("output_scales", go[0]), ("output_zero_points", go[1])],
                 {"Tout": tf.qint8, **attrs("input_", B8 if q == "qint8" else B32, ai), **attrs("output_", B8, ao)})
for sa, sb, axes in [((3, 4), (3, 4), (-1, -1, -1)), ((3, 4), (4,), (-1, -1, -1)), ((2, 3, 4), (2, 1, 4), (2, 2, 2)), ((2, 3, 4), (4,), (2, 0, 2)), ((), (3,), (-1, -1, -1))]:
    g = [grid(k, 4) for k in axes]
    case("quantized", "UniformQuantizedAdd", [("lhs", codes("qint32", sa, -10000, 10000)), ("rhs", codes("qint32", sb, -10000, 10000)), ("lhs_scales", g[0][0]), ("lhs_zero_points", g[0][1]),
                                              ("rhs_scales", g[1][0]), ("rhs_zero_points", g[1][1]), ("output_scales", g[2][0]), ("output_zero_points", g[2][1])],
         {**attrs("lhs_", B32, axes[0]), **attrs("rhs_", B32, axes[1]), **attrs("output_", {"quantization_min_val": -5000, "quantization_max_val": 5000}, axes[2])})
for axis in (-1, 1):
    s, z = grid(axis, 3)
    lo, hi = [tf.bitcast(tf.constant(recorder.rng.integers(*r, s.shape).astype(np.int32)), tf.qint32) for r in ((-50, 0), (1, 50))]
    case("quantized", "UniformQuantizedClipByValue", [("operand", codes("qint32", (2, 3, 4), -100, 100)), ("min", lo), ("max", hi), ("scales", s), ("zero_points", z)], attrs("", B32, axis))
for ar, ao in [(-1, -1), (1, 1), (1, -1)]:
    l, r, o = grid(-1, 1), grid(ar, 5), grid(ao, 5)
    case("quantized", "UniformQuantizedDot", [("lhs", codes("qint8", (3, 7))), ("rhs", codes("qint8", (7, 5))), ("lhs_scales", l[0]), ("lhs_zero_points", l[1]), ("rhs_scales", r[0]), ("rhs_zero_points", r[1]),
                                              ("output_scales", o[0]), ("output_zero_points", o[1])], {"Tout": tf.qint32, **attrs("lhs_", B8, -1), **attrs("rhs_", B8, ar), **attrs("output_", B32, ao)})
for axis in (-1, 1):
    s, z = grid(axis, 5)
    for lo, hi in [(-3, 4), (1, 2), (-9, -1), (0, 0)]:
        case("quantized", "UniformQuantizedDotHybrid", [("lhs", rand("float32", (3, 7), lo, hi)), ("rhs", codes("qint8", (7, 5))), ("rhs_scales", s), ("rhs_zero_points", z)], {"Tout": tf.float32, **attrs("rhs_", B8, axis)})
write()

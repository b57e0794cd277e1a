"""Writes quant.json: quantization.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_quant.py

The results are those of TensorFlow's own kernels: oneDNN's, which take the place
of some on some processors, round otherwise.
"""
import os

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
import recorder
from recorder import *

recorder.rng = np.random.default_rng(20260909)
S = lambda v: np.array(v, np.float32)
Q = {"qint8": tf.qint8, "quint8": tf.quint8, "qint16": tf.qint16, "quint16": tf.quint16, "qint32": tf.qint32}

X = rand("float32", (3, 5, 4), -8, 8)
X[0, 0, 0], X[0, 0, 1], X[0, 0, 2] = 0, 0.5, 1000
G = rand("float32", (3, 5, 4))
for a in [{}, {"num_bits": 4}, {"num_bits": 16, "narrow_range": True}, {"narrow_range": True}, {"num_bits": 2}]:
    for lo, hi in [(-6.0, 6.0), (-1.3, 2.7), (0.0, 3.1), (-4.0, 0.0), (0.5, 3.0), (-3.0, -0.5)]:
        case("quant", "FakeQuantWithMinMaxVars", [("inputs", X), ("min", S(lo)), ("max", S(hi))], a)
        case("quant", "FakeQuantWithMinMaxVarsGradient", [("gradients", G), ("inputs", X), ("min", S(lo)), ("max", S(hi))], a)
        if lo <= 0 <= hi:
            case("quant", "FakeQuantWithMinMaxArgs", [("inputs", X)], {**a, "min": lo, "max": hi})
            case("quant", "FakeQuantWithMinMaxArgsGradient", [("gradients", G), ("inputs", X)], {**a, "min": lo, "max": hi})
    lo, hi = S([-1.3, 0.0, -5.0, 0.0]), S([2.7, 0.0, 0.5, 3.0])
    for x, g in [(X, G), (X[0, 0], G[0, 0]), (X[0], G[0])]:
        case("quant", "FakeQuantWithMinMaxVarsPerChannel", [("inputs", x), ("min", lo), ("max", hi)], a)
        case("quant", "FakeQuantWithMinMaxVarsPerChannelGradient", [("gradients", g), ("inputs", x), ("min", lo), ("max", hi)], a)
case("quant", "FakeQuantWithMinMaxVars", [("inputs", X), ("min", S(0)), ("max", S(0))])
case("quant", "FakeQuantWithMinMaxVarsGradient", [("gradients", G), ("inputs", X), ("min", S(0)), ("max", S(0))])

for d in F:
    x = rand(d, (2, 3, 4), -5, 5)
    t = np_of(d)
    for signed in (True, False):
        for bits in (8, 3, 20):
            for given in (True, False):
                b = {"signed_input": signed, "range_given": given}
                for narrow in (False, True):
                    n = {**b, "narrow_range": narrow}
                    one = [("input", x), ("input_min", t(-1.5)), ("input_max", t(4))]
                    per = [("input", x), ("input_min", np.array([-1, -3, 0], t)), ("input_max", np.array([2, 1, 4], t))]
                    for ins, axis in [(one, -1), (per, 1)]:
                        case("quant", "QuantizeAndDequantizeV3", ins + [("num_bits", np.int32(bits))], {**n, "axis": axis})
                        if bits == 8:
                            for mode in ("HALF_TO_EVEN", "HALF_UP"):
                                case("quant", "QuantizeAndDequantizeV2", ins, {**n, "num_bits": bits, "axis": axis, "round_mode": mode})
                            case("quant", "QuantizeAndDequantizeV4", ins, {**n, "num_bits": bits, "axis": axis})
    g = rand(d, (2, 3, 4))
    for axis, lo, hi in [(-1, t(-1.5), t(4)), (1, np.array([-1, -3, 0], t), np.array([2, 1, 4], t))]:
        case("quant", "QuantizeAndDequantizeV4Grad", [("gradients", g), ("input", x), ("input_min", lo), ("input_max", hi)], {"axis": axis})

x = rand("float32", (2, 3, 4), -5, 5)
x[0, 0, 0], x[0, 0, 1] = 0, 0.25
codes = {}
for q, T in Q.items():
    for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED"):
        for rnd in ("HALF_AWAY_FROM_ZERO", "HALF_TO_EVEN") if mode == "SCALED" else ("HALF_AWAY_FROM_ZERO",):
            for narrow in (False, True) if mode == "SCALED" else (False,):
                for lo, hi in [(-4.0, 3.0), (0.0, 2.5), (-1.0, -1.0), (1.0, 6.0), (0.0, 0.001)]:
                    a = {"T": T, "mode": mode, "round_mode": rnd, "narrow_range": narrow}
                    case("quant", "QuantizeV2", [("input", x), ("min_range", S(lo)), ("max_range", S(hi))], a)
                    if lo == 0.0:
                        case("quant", "QuantizeV2", [("input", x), ("min_range", S(lo)), ("max_range", S(hi))], {**a, "ensure_minimum_range": 0.5})
                if mode != "MIN_FIRST":
                    case("quant", "QuantizeV2", [("input", x), ("min_range", S([-1, -3, 0])), ("max_range", S([2, 1, 4]))], {**a, "axis": 1})
    info = np.iinfo({"qint8": np.int8, "quint8": np.uint8, "qint16": np.int16, "quint16": np.uint16, "qint32": np.int32}[q])
    v = recorder.rng.integers(info.min, info.max, (2, 3, 4), endpoint=True).astype(info.dtype)
    # The largest int32 has no float32, and the kernel's result differs between processors.
    v[0, 0, 0], v[0, 0, 1] = info.min, info.max - (1000 if q == "qint32" else 0)
    qv = tf.bitcast(tf.constant(v), T)
    codes[q] = qv
    for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED"):
        for dt in (tf.float32, tf.bfloat16):
            for narrow in (False, True) if mode == "SCALED" else (False,):
                a = {"mode": mode, "narrow_range": narrow, "dtype": dt}
                for lo, hi in [(-4.0, 3.0), (0.0, 2.5), (1.0, 6.0), (2.0, 2.0)]:
                    case("quant", "Dequantize", [("input", qv), ("min_range", S(lo)), ("max_range", S(hi))], a)
                case("quant", "Dequantize", [("input", qv), ("min_range", S([-1, -3, 0])), ("max_range", S([2, 1, 4]))], {**a, "axis": 1})

for scale in (1 << 31, 1 << 20, 1000):
    v = recorder.rng.integers(-scale, scale, (3, 4)).astype(np.int32)
    qv = tf.bitcast(tf.constant(v), tf.qint32)
    for lo, hi in [(-1e3, 1e3), (-2.0, 5e5), (0.0, 1e4)]:
        ins = [("input", qv), ("input_min", S(lo)), ("input_max", S(hi))]
        case("quant", "RequantizationRange", ins)
        case("quant", "QuantizeDownAndShrinkRange", ins, {"out_type": tf.quint8})
        for a, b in [(-1.0, 1.0), (-100.0, 1000.0), (0.0, 50.0), (0.0, 0.0)]:
            case("quant", "Requantize", ins + [("requested_output_min", S(a)), ("requested_output_max", S(b))], {"out_type": tf.quint8})

for T, lo, hi in [(tf.qint8, -128, 127), (tf.qint8, -127, 127), (tf.qint32, -2147483648, 2147483647)]:
    a = {"quantization_min_val": lo, "quantization_max_val": hi}
    for s_, z, axis in [(S(0.05), np.int32(3), -1), (S([0.1, 0.02, 3.0]), np.array([1, -5, 0], np.int32), 1)]:
        case("quant", "UniformQuantize", [("input", x), ("scales", s_), ("zero_points", z)], {**a, "Tout": T, "quantization_axis": axis})
        case("quant", "UniformDequantize", [("input", codes[T.name]), ("scales", s_), ("zero_points", z)], {**a, "Tout": tf.float32, "quantization_axis": axis})
write()

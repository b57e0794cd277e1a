"""Writes zonednn.json: oneDNN's ops on codes of 8 bits, with bias, sum, relu and requantization.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_onednn.py

TensorFlow runs these ops in graphs only, and with constant filters. Processors without
VNNI let sums of two products overflow 16 bits, and halve filters for signed inputs: the
codes here are small, and filters even, so that all processors have one result.
"""
import functools
import os

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "1"
import recorder
from recorder import *
from tensorflow.core.framework import tensor_pb2
from tensorflow.python.framework import op_def_library

recorder.rng = np.random.default_rng(20261127)
S = lambda v: np.array(v, np.float32)
PLAIN = {tf.qint8: tf.int8, tf.quint8: tf.uint8, tf.qint32: tf.int32}
rng = recorder.rng


def codes(q, shape, lo, hi, by=1):
    v = rng.integers(lo, hi, shape, endpoint=True) * by
    return tf.bitcast(tf.constant(v.astype(PLAIN[q].as_numpy_dtype)), q)


def constant(v, d):
    if d not in PLAIN:
        return tf.constant(v)
    p = tensor_pb2.TensorProto(dtype=d.as_datatype_enum, tensor_content=v.tobytes())
    for n in v.shape:
        p.tensor_shape.dim.add(size=n)
    attrs = {"value": tf.compat.v1.AttrValue(tensor=p), "dtype": tf.compat.v1.AttrValue(type=d.as_datatype_enum)}
    return tf.compat.v1.get_default_graph().create_op("Const", [], [d], attrs=attrs).outputs[0]


def fresh(v, d):
    """A tensor that TensorFlow may write into: it does so with summands."""
    hold = tf.compat.v1.placeholder_with_default
    return tf.bitcast(tf.bitwise.invert(hold(~v, v.shape)), d) if d in PLAIN else -hold(-v, v.shape)


def ingraph(op):
    def run(**kwargs):
        plain = lambda x: (tf.bitcast(x, PLAIN[x.dtype]).numpy() if x.dtype in PLAIN else x.numpy(), x.dtype) if isinstance(x, tf.Tensor) else x
        kwargs = {k: [plain(x) for x in v] if isinstance(v, list) else plain(v) for k, v in kwargs.items()}
        with tf.Graph().as_default():
            one = lambda k, v: (fresh if k == "summand" else constant)(*v) if isinstance(v, tuple) else v
            kwargs = {k: [one(k, x) for x in v] if isinstance(v, list) else one(k, v) for k, v in kwargs.items()}
            fn = getattr(tf.raw_ops, op, None) or functools.partial(op_def_library.apply_op, op, name="node")
            out = flatten(fn(**kwargs))
            types = [o.dtype for o in out]
            with tf.compat.v1.Session() as session:
                got = session.run([tf.bitcast(o, PLAIN[o.dtype]) if o.dtype in PLAIN else o for o in out])
        return [tf.bitcast(tf.constant(v), t) if t in PLAIN else tf.constant(v) for v, t in zip(got, types)]
    return run


def record(op, inputs, attrs):
    case("zonednn", op, inputs, attrs, raw=ingraph(op))


# Products of matrices.
for m, k, n, lo in [(3, 7, 5, 0.0), (1, 600, 4, -0.01), (4, 1, 3, -0.25)]:
    for op, out in [("", tf.qint32), ("AndRelu", tf.qint32), ("AndReluAndRequantize", tf.quint8), ("AndRequantize", tf.quint8), ("AndDequantize", tf.float32)]:
        for mode in ("MIN_FIRST", "SCALED"):
            for q in (tf.float32, tf.qint32):
                if q == tf.qint32 and op == "AndRelu":
                    continue
                bias = rand("float32", (n,), -3, 3) if q == tf.float32 else codes(q, (n,), -3000, 3000)
                ins = [("a", codes(tf.quint8, (m, k), 0, 127)), ("b", codes(tf.qint8, (k, n), -127, 127)), ("bias", bias), ("min_a", S(lo)), ("max_a", S(2.5)), ("min_b", S(-1.5)), ("max_b", S(1.25))]
                if "quantize" in op:
                    ins += [("min_freezed_output", S(-3)), ("max_freezed_output", S(20))]
                record("QuantizedMatMulWithBias" + op, ins, {"Toutput": out, "input_quant_mode": mode})

# Convolutions.
UNSIGNED, BOTH = [tf.quint8], [tf.quint8, tf.qint8]
for op, types, out in [
    ("QuantizedConv2D", UNSIGNED, tf.qint32), ("QuantizedConv2DPerChannel", UNSIGNED, tf.qint32), ("QuantizedConv2DAndRelu", UNSIGNED, tf.qint32),
    ("QuantizedConv2DAndReluAndRequantize", UNSIGNED, tf.quint8), ("QuantizedConv2DAndRequantize", UNSIGNED, tf.qint8),
    ("QuantizedConv2DWithBias", BOTH, tf.qint32), ("QuantizedConv2DWithBiasAndRelu", BOTH, tf.qint32),
    ("QuantizedConv2DWithBiasAndReluAndRequantize", BOTH, tf.quint8), ("QuantizedConv2DWithBiasAndRequantize", BOTH, tf.qint8),
    ("QuantizedConv2DWithBiasSumAndRelu", UNSIGNED, tf.qint32), ("QuantizedConv2DWithBiasSumAndReluAndRequantize", UNSIGNED, tf.quint8),
    ("QuantizedConv2DWithBiasSignedSumAndReluAndRequantize", UNSIGNED, tf.quint8),
    ("QuantizedDepthwiseConv2D", UNSIGNED, tf.qint32), ("QuantizedDepthwiseConv2DWithBias", UNSIGNED, tf.qint32),
    ("QuantizedDepthwiseConv2DWithBiasAndRelu", UNSIGNED, tf.qint32), ("QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize", UNSIGNED, tf.quint8),
]:
    depth, single = "Depthwise" in op, op in ("QuantizedConv2D", "QuantizedConv2DAndRequantize")
    for q in types:
        for kind in (tf.float32, tf.qint32) if "Bias" in op and "Requantize" in op else (tf.float32,):
            for size, strides, padding, dilations, channels in [((3, 3), (1, 1), "SAME", (1, 1), 0), ((2, 3), (2, 1), "VALID", (1, 1), 1), ((3, 2), (1, 1), "VALID", (2, 1), 1), ((1, 1), (2, 2), "SAME", (1, 1), 0)]:
                if channels and single:
                    channels = 0
                ci, co = 3, 1 if depth else 4
                n = ci if depth else co
                x = codes(q, (1, 5, 6, ci), 0 if q == tf.quint8 else -64, 127 if q == tf.quint8 else 63)
                f = codes(tf.qint8, (*size, ci, co), -63, 63, 2)
                r = (n,) if channels else ()
                ins = [("input", x), ("filter", f)]
                if "Bias" in op:
                    ins.append(("bias", rand("float32", (n,), -3, 3) if kind == tf.float32 else codes(kind, (n,), -3000, 3000)))
                ins += [("min_input", S(-0.25)), ("max_input", S(2.5)), ("min_filter", S(-rng.uniform(0.1, 2, r))), ("max_filter", S(rng.uniform(0.1, 2, r)))]
                if "Requantize" in op:
                    ins += [("min_freezed_output", S(-3)), ("max_freezed_output", S(16))]
                if "Sum" in op:
                    h, w = [-(-(i if padding == "SAME" else i - (k - 1) * d) // s) for i, k, s, d in zip((5, 6), size, strides, dilations)]
                    if "Requantize" in op:
                        t = codes(tf.qint8, (1, h, w, co), -128, 127) if "Signed" in op else codes(tf.quint8, (1, h, w, co), 0, 255)
                        ins += [("summand", t), ("min_summand", S(-1)), ("max_summand", S(7))]
                    else:
                        ins.append(("summand", rand("float32", (1, h, w, co), -9, 9)))
                record(op, ins, {"out_type": out, "strides": [1, *strides, 1], "padding": padding, "dilations": [1, *dilations, 1]})

# Joined values.
for q, lo, hi in [(tf.quint8, 0, 255), (tf.qint8, -128, 127)]:
    for mins, maxs in [([-1, -1, -1], [2, 2, 2]), ([0, 0, 0], [2, 3, 5]), ([-1, -0.5, -3], [1, 2, 0.5]), ([0.5, 0.6, 0.7], [1, 2, 3])]:
        v = [codes(q, s, lo, hi) for s in ((2, 3), (2, 1), (2, 4))]
        record("QuantizedConcatV2", [("values", v), ("axis", np.int32(1)), ("input_mins", [S(x) for x in mins]), ("input_maxes", [S(x) for x in maxs])], {})

# Windows over volumes.
for q, lo, hi in [(tf.quint8, 0, 255), (tf.qint8, -128, 127)]:
    for k, st, pad in [((2, 2, 2), (2, 2, 2), "VALID"), ((1, 3, 2), (1, 2, 1), "SAME"), ((3, 2, 2), (2, 1, 3), "SAME")]:
        record("_QuantizedMaxPool3D", [("input", codes(q, (2, 4, 5, 6, 3), lo, hi)), ("min_input", S(-1)), ("max_input", S(2))],
               {"ksize": [1, *k, 1], "strides": [1, *st, 1], "padding": pad, "data_format": "NDHWC"})

write()

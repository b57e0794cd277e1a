"""Writes onednn.json: oneDNN's ops on codes of 8 bits, with bias, sum, relu and requantization.

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
from tensorflow.python.framework import op_def_library, op_def_registry

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


def defaults(op):
    """The defaults of the attributes of an op that has no function in Python."""
    d, out = op_def_registry.get(op), {}
    inferred = {n for a in d.input_arg for n in (a.type_attr, a.number_attr, a.type_list_attr)}
    for a in d.attr:
        v = a.default_value
        kind = v.WhichOneof("value")
        if kind and a.name not in inferred:
            out[a.name] = list(v.list.i) if kind == "list" else tf.as_dtype(v.type) if kind == "type" else getattr(v, kind)
    return out


def ingraph(op):
    def run(**kwargs):
        plain = lambda x: (tf.bitcast(x, PLAIN[x.dtype]).numpy() if x.dtype in PLAIN else x.numpy(), x.dtype) if isinstance(x, tf.Tensor) else x
        kwargs = {k: [plain(x) for x in v] if isinstance(v, list) else plain(v) for k, v in kwargs.items()}
        with tf.Graph().as_default():
            one = lambda k, v: (fresh if k in ("summand", "device_inputs3") else constant)(*v) if isinstance(v, tuple) else v
            kwargs = {k: [one(f"{k}{i}", x) for i, x in enumerate(v)] if isinstance(v, list) else one(k, v) for k, v in kwargs.items()}
            fn = getattr(tf.raw_ops, op, None) or functools.partial(op_def_library.apply_op, op, **{**defaults(op), **kwargs}, name="node")
            kwargs = kwargs if hasattr(tf.raw_ops, op) else {}
            out = flatten(fn(**kwargs))
            types = [o.dtype for o in out]
            with tf.compat.v1.Session() as session:
                got = session.run([tf.bitcast(o, PLAIN[o.dtype]) if o.dtype in PLAIN else o for o in out])
        return [tf.bitcast(tf.constant(v), t) if t in PLAIN else tf.constant(v) for v, t in zip(got, types)]
    return run


def record(op, inputs, attrs):
    case("onednn", op, inputs, attrs, raw=ingraph(op))


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

# Ops whose attribute fused_ops lists their steps.
ACTIVATIONS = ["Relu", "Relu6", "LeakyRelu", "Elu", "Tanh", "Sigmoid", "GeluApproximate", "GeluExact"]
FLOATS = (tf.float32, tf.bfloat16)


def product(fused, q=tf.quint8, bias=tf.float32, out=None, m=3, k=7, n=5, least=-0.25, columns=False, **attrs):
    out = out or (tf.quint8 if "Requantize" in fused else tf.float32 if "Dequantize" in fused else tf.qint32)
    by = -1 if q == tf.qint8 else 0
    a = codes(q, (m, k), 64 * by, 127 + 64 * by)
    b = codes(tf.qint8, (n, k) if attrs.get("transpose_b") else (k, n), -63, 63, 2)
    f = lambda d, shape: tf.cast(rng.uniform(-3, 3, shape).astype(np.float32), d)
    device = [a, b, codes(bias, (n,), -30000, 30000) if bias == tf.qint32 else f(bias, (n,))]
    if "Add" in fused:
        device.append(f(out, (m, n)))
        attrs["U"] = out
    r = (n,) if columns else ()
    host = [S(least), S(2.7), S(-rng.uniform(0.1, 2, r)), S(rng.uniform(0.1, 2, r))]
    if "Requantize" in fused:
        host += [S(-3.3), S(17)]
    record("_QuantizedMatMul", [("device_inputs", device), ("host_inputs", host)],
           {"T1": q, "T2": tf.qint8, "Tbias": bias, "Tout": out, "Tdevice_outputs": [out], "Thost_outputs": [] if out in FLOATS else [tf.float32] * 2, "fused_ops": fused, **attrs})


MODES = ("SCALED", "MIN_FIRST")
for q in (tf.quint8, tf.qint8):
    for mode in MODES:
        for bias in (tf.float32, tf.qint32, tf.bfloat16):
            for fused in (["BiasAdd"], ["BiasAdd", "Relu"]):
                if (bias, mode) != (tf.bfloat16, "MIN_FIRST"):
                    product(fused, q, bias, input_quant_mode=mode)
            for out in FLOATS:
                product(["BiasAdd", "Dequantize"], q, bias, out, input_quant_mode=mode)
            for out in (tf.quint8, tf.qint8):
                for to in MODES:
                    product(["BiasAdd", "Requantize"], q, bias, out, input_quant_mode=mode, output_quant_mode=to)
for activation in ACTIVATIONS:
    for out in FLOATS:
        product(["BiasAdd", activation, "Dequantize"], out=out, m=4, k=37, n=9)
    for out in (tf.quint8, tf.qint8):
        for to in MODES:
            product(["BiasAdd", activation, "Requantize"], tf.qint8, out=out, output_quant_mode=to)
for out in FLOATS:
    product(["BiasAdd", "Add", "Dequantize"], out=out)
    product(["BiasAdd", "Requantize"], out=out)
    product(["BiasAdd", "Requantize"], out=out, output_quant_mode="MIN_FIRST")
for out in (tf.quint8, tf.qint8, tf.qint32):
    product(["BiasAdd", "Dequantize"], out=out)
product(["BiasAdd", "Requantize"], out=tf.qint32)
product(["BiasAdd", "LeakyRelu", "Dequantize"], leakyrelu_alpha=0.5)
product(["BiasAdd", "Dequantize"], m=2, k=1100, n=3)
for mode in MODES:
    product(["BiasAdd", "Dequantize"], transpose_b=True, input_quant_mode=mode)
    for q in (tf.quint8, tf.qint8):
        for bias in (tf.float32, tf.qint32):
            for fused in (["BiasAdd"], ["BiasAdd", "Dequantize"], ["BiasAdd", "Relu", "Requantize"]):
                product(fused, q, bias, columns=True, input_quant_mode=mode)


def windows(fused, q, bias, out, summand, depth, size=(3, 3), strides=(1, 1), padding="SAME", dilations=(1, 1), channels=False, layout="NHWC", many=1):
    ci, co = 3, many if depth else 4
    n = ci * co if depth else co
    x = codes(q, (1, 5, 6, ci) if layout == "NHWC" else (1, ci, 5, 6), 0 if q == tf.quint8 else -64, 127 if q == tf.quint8 else 63)
    pads = [0, 0, 1, 2, 0, 1, 0, 0] if padding == "EXPLICIT" else []
    around = [3, 1] if pads else [0, 0]
    h, w = [-(-(i if padding == "SAME" else i + p - (k - 1) * d) // s) for i, p, k, s, d in zip((5, 6), around, size, strides, dilations)]
    device = [x, codes(tf.qint8, (*size, ci, co), -63, 63, 2)]
    r = (n,) if channels else ()
    host = [S(-0.25), S(2.5), S(-rng.uniform(0.1, 2, r)), S(rng.uniform(0.1, 2, r))]
    if "BiasAdd" in fused:
        device.append(rand("float32", (n,), -3, 3) if bias == tf.float32 else codes(bias, (n,), -3000, 3000))
    if "Sum" in fused:
        s = (1, h, w, n) if layout == "NHWC" else (1, n, h, w)
        device.append(rand("float32", s, -9, 9) if summand == tf.float32 else codes(summand, s, *((-128, 127) if summand == tf.qint8 else (0, 255))))
        host += [S(-1), S(7)] if "Requantize" in fused else []
    if "Requantize" in fused:
        host += [S(-3), S(16)]
    spread = lambda v: [1, *v, 1] if layout == "NHWC" else [1, 1, *v]
    pads = pads if layout == "NHWC" or not pads else [0, 0, 0, 0, 1, 2, 0, 1]
    record("_FusedQuantizedDepthwiseConv2D" if depth else "_FusedQuantizedConv2D", [("device_inputs", device), ("host_inputs", host)],
           {"Tinput": q, "Tfilter": tf.qint8, "Tbias": bias, "Tsummand": summand or out, "out_type": out, "Tdevice_outputs": [out], "Thost_outputs": [tf.float32] * 2,
            "fused_ops": fused, "strides": spread(strides), "padding": padding, "explicit_paddings": pads, "dilations": spread(dilations), "data_format": layout})


for depth in (False, True):
    for q in BOTH:
        for bias in (tf.float32, tf.qint32):
            for fused in ([], ["Relu"], ["BiasAdd"], ["BiasAdd", "Relu"]):
                windows(fused, q, bias, tf.qint32, None, depth)
            windows(["BiasAdd", "Sum", "Relu"], q, bias, tf.qint32, tf.float32, depth)
            for fused in (["Requantize"], ["Relu", "Requantize"], ["BiasAdd", "Requantize"], ["BiasAdd", "Relu", "Requantize"]):
                for out in BOTH:
                    windows(fused, q, bias, out, None, depth)
            for summand in BOTH:
                windows(["BiasAdd", "Sum", "Relu", "Requantize"], q, bias, tf.quint8, summand, depth)
    for layout in ("NHWC", "NCHW"):
        for size, strides, padding, dilations, channels in [((2, 3), (2, 1), "VALID", (1, 1), True), ((3, 2), (1, 1), "VALID", (2, 1), True), ((1, 1), (2, 2), "SAME", (1, 1), False), ((3, 3), (1, 1), "EXPLICIT", (1, 1), True)]:
            windows(["BiasAdd"], tf.quint8, tf.float32, tf.qint32, None, depth, size, strides, padding, dilations, channels, layout, 2)
            windows(["BiasAdd", "Sum", "Relu", "Requantize"], tf.quint8, tf.float32, tf.quint8, tf.quint8, depth, size, strides, padding, dilations, channels, layout)

write()

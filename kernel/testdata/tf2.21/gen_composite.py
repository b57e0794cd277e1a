"""Writes composite.json: ops that are made of other ops.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_composite.py
"""
import recorder
from recorder import *

recorder.rng = np.random.default_rng(20261207)
FAMILY = "composite"
A = np.array


def add(op, *inputs, old=False, **attrs):
    case(FAMILY, op, list(inputs), attrs, old=old)


for d in ("float32", "float64", "float16"):
    for scaled in (True, False):
        v = [rand(d, (2, 3, 2, 5)), rand(d, (5,)), rand(d, (5,), 0.5, 4), rand(d, (5,)), rand(d, (5,))]
        attrs = dict(variance_epsilon=0.01, scale_after_normalization=scaled, old=True)
        add("BatchNormWithGlobalNormalization", *zip(("t", "m", "v", "beta", "gamma"), v), **attrs)
        add("BatchNormWithGlobalNormalizationGrad", *zip(("t", "m", "v", "gamma", "backprop"), v[:3] + [v[4], rand(d, (2, 3, 2, 5))]), **attrs)
    x = rand(d, (1, 5, 6, 3))  # TensorFlow reflects the second image of a batch wrongly
    f = rand(d, (3, 2, 3, 4))
    for mode in ("REFLECT", "SYMMETRIC"):
        for pads in ([[0, 0], [1, 2], [0, 1], [0, 0]], [[0, 0], [0, 0], [0, 0], [0, 0]]):
            for strides, padding in (([1, 1, 1, 1], "VALID"), ([1, 2, 2, 1], "SAME")):
                p = ("paddings", A(pads, np.int32))
                add("FusedPadConv2D", ("input", x), p, ("filter", f), mode=mode, strides=strides, padding=padding)
                for corners in (False, True) if d != "float64" else ():  # which is resized in single precision here
                    add("FusedResizeAndPadConv2D", ("input", x), ("size", A([7, 4], np.int32)), p, ("filter", f), mode=mode, strides=strides, padding=padding, resize_align_corners=corners)
    x3, f3, y3 = rand(d, (1, 4, 3, 5, 2)), rand(d, (2, 2, 2, 2, 3)), rand(d, (1, 2, 2, 3, 3))
    for op in ("Conv3DBackpropInput", "Conv3DBackpropFilter"):
        add(op, ("input", x3), ("filter", f3), ("out_backprop", y3), strides=[1, 2, 2, 2, 1], padding="SAME", old=True)
add("FusedPadConv2D", ("input", rand("bfloat16", (1, 4, 4, 2))), ("paddings", A([[0, 0], [1, 1], [1, 1], [0, 0]], np.int32)), ("filter", rand("bfloat16", (2, 2, 2, 2))), mode="REFLECT", strides=[1, 1, 1, 1], padding="VALID")
for d in ("float32", "float64", "float16", "bfloat16", "int32"):
    for padding, extra in (("VALID", {}), ("SAME", {}), ("EXPLICIT", {"explicit_paddings": [0, 0, 1, 0, 2, 1, 0, 0]})):
        for strides in ([1, 1, 1, 1], [1, 2, 1, 1]):
            add("Conv", ("input", rand(d, (2, 5, 6, 2))), ("filter", rand(d, (3, 2, 2, 3))), strides=strides, padding=padding, **extra)
    add("Conv", ("input", rand(d, (2, 5, 6, 4))), ("filter", rand(d, (3, 2, 2, 6))), strides=[1] * 4, padding="SAME", groups=2)
    add("Conv", ("input", rand(d, (2, 7, 6, 4))), ("filter", rand(d, (3, 2, 4, 6))), strides=[1] * 4, padding="VALID", dilations=[1, 2, 1, 1])
    add("Conv", ("input", rand(d, (2, 3, 5, 6, 2))), ("filter", rand(d, (3, 2, 2, 3))), strides=[1] * 4, padding="SAME", batch_dims=2)
    add("Conv", ("input", rand(d, (5, 6, 2))), ("filter", rand(d, (3, 2, 2, 3))), strides=[1] * 4, padding="SAME", batch_dims=0)
    if d != "int32":
        add("Conv", ("input", rand(d, (2, 5, 6, 3, 2))), ("filter", rand(d, (3, 2, 2, 2, 3))), strides=[1, 1, 2, 1, 1], padding="SAME")
for da in ("float32", "bfloat16"):
    for db in ("float32", "bfloat16"):
        for ta, tb in ((False, False), (True, False), (False, True), (True, True)):
            a, b = rand(da, (4, 3) if ta else (3, 4)), rand(db, (5, 4) if tb else (4, 5))
            add("SparseMatMul", ("a", np.where(a > 0, a, 0).astype(a.dtype)), ("b", b), transpose_a=ta, transpose_b=tb, a_is_sparse=True)
for d in ("float32", "float64"):
    for attrs in ({}, {"signed_input": False}, {"num_bits": 4, "range_given": True, "input_min": -1.5, "input_max": 2.0}):
        add("QuantizeAndDequantize", ("input", rand(d, (3, 4))), old=True, **attrs)
for d in F:
    x = rand(d, (3, 4))
    x[0, 1] = x[2, 3] = np.nan
    add("DebugNanCount", ("input", x), tensor_name="x:0")
    for k, axis in ((2, -1), (3, 0), (0, 1), (1, 1)):
        if d != "float64":
            for best in (True, False):
                add("ApproxTopK", ("input", rand(d, (3, 4))), k=k, reduction_dimension=axis, is_max_k=best)
write()

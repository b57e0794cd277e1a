"""Writes the fixtures of convolutions with infinite filters, far/infinite.json: TensorFlow's
kernels of oneDNN multiply no padding.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_infinite.py
"""
import os

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "1"
import numpy as np
import tensorflow as tf

from recorder import *

FAMILY = "far/infinite"


def infinite(op, attrs=None, **inputs):
    case(FAMILY, op, list(inputs.items()), attrs)


def filters(*shape):
    for v in [np.inf, -np.inf, np.nan]:
        for at in [(0, 0), (0, shape[1] - 1), (shape[0] - 1, shape[1] - 1)]:
            f = np.abs(rand("float32", shape)) + 0.25
            f[at + (0, 0)] = v
            yield f


positive = lambda *shape: np.abs(rand("float32", shape)) + 0.25
for stride in [1, 2]:
    for f in filters(3, 3, 2, 5):
        attrs = {"strides": [1, stride, stride, 1], "padding": "SAME"}
        x = positive(2, 5, 6, 2)
        infinite("Conv2D", attrs, input=x, filter=f)
        out = tf.nn.conv2d(x, f, stride, "SAME").shape
        infinite("Conv2DBackpropInput", attrs, input_sizes=np.int32(x.shape), filter=f, out_backprop=positive(*out))
    for f in filters(3, 3, 2, 1):
        infinite("DepthwiseConv2dNative", attrs, input=positive(2, 5, 6, 2), filter=f)
    for f in filters(2, 3, 2, 2):
        infinite("DepthwiseConv2dNative", attrs, input=positive(2, 5, 6, 2), filter=f)
for f in filters(3, 2, 4, 16):
    infinite("Conv2D", {"strides": [1, 1, 1, 1], "padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 2, 0, 1, 0, 0]}, input=positive(1, 4, 4, 4), filter=f)
    infinite("Conv2DBackpropInput", {"strides": [1, 1, 1, 1], "padding": "VALID"}, input_sizes=np.int32([1, 6, 5, 4]), filter=f, out_backprop=positive(1, 4, 4, 16))


def gradients(d, *shape):
    """Gradients of outputs with an infinite element at a corner."""
    for v in [np.inf, -np.inf, np.nan]:
        y = np.abs(rand("float32", shape)) + 0.25
        y[(0,) + tuple(n - 1 for n in shape[1:])] = v
        yield y.astype(np_of(d))


# Gradients of filters, where the output's gradient is beside the padding.
typed = lambda d, *shape: positive(*shape).astype(np_of(d))
for stride in [1, 2]:
    out = [-(-n // stride) for n in (5, 6)]
    for y in gradients("float32", 2, *out, 5):
        infinite("Conv2DBackpropFilter", {"strides": [1, stride, stride, 1], "padding": "SAME"}, input=positive(2, 5, 6, 2), filter_sizes=np.int32([3, 3, 2, 5]), out_backprop=y)
    for d in ["float32", "float16"]:  # bfloat16 is multiplied in pairs, of which one may be padding
        for y in gradients(d, 2, 3, *out, 2) if stride == 1 else gradients(d, 2, 2, *out, 2):
            infinite("Conv3DBackpropFilterV2", {"strides": [1, stride, stride, stride, 1], "padding": "SAME"}, input=typed(d, 2, 3, 5, 6, 3), filter_sizes=np.int32([2, 3, 3, 3, 2]), out_backprop=y)
# Volumes.
for stride in [1, 2]:
    for f in filters(3, 3, 2, 5):
        f = np.stack([positive(3, 3, 2, 5), f])
        infinite("Conv3D", {"strides": [1, stride, stride, stride, 1], "padding": "SAME"}, input=typed("bfloat16", 1, 3, 4, 5, 2), filter=f.astype(np_of("bfloat16")))
write()

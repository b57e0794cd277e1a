"""Writes the fixtures of convolutions with infinite filters, far/zzzzzzzzzinfinite.json: TensorFlow's
kernels of oneDNN multiply no padding.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_infinite.py
"""
import os

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "1"
import numpy as np
import tensorflow as tf

from recorder import *

FAMILY = "far/zzzzzzzzzinfinite"


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
write()

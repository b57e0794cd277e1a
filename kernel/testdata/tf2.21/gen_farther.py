"""Writes the fixtures of calls of which TensorFlow's answer is not the obvious one, far/farther.json:
sums rounded at every step, squares beyond a type's range, filters and windows without elements.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_farther.py
"""
import numpy as np
import tensorflow as tf

from recorder import *

FAMILY = "far/farther"
N, INF = np.nan, np.inf


def farther(op, attrs=None, **inputs):
    case(FAMILY, op, list(inputs.items()), attrs)


# A label one past the last class means none, and a sequence may have no other.
for d in ["float32"]:
    logits = rand(d, (6, 3, 5))
    for merge in [True, False]:
        farther("CTCLoss", {"ctc_merge_repeated": merge}, inputs=logits, labels_indices=np.int64([[0, 0], [0, 1], [1, 0], [2, 0], [2, 1], [2, 2]]),
                labels_values=np.int32([0, 1, 4, 0, 1, 3]), sequence_length=np.int32([6, 6, 5]))
    farther("CTCLoss", inputs=rand(d, (7, 2, 2)), labels_indices=np.int64([[0, 0], [1, 0]]), labels_values=np.int32([1, 0]), sequence_length=np.int32([7, 4]))
    for width in [2, 10]:
        farther("CTCBeamSearchDecoder", {"beam_width": width, "top_paths": 2, "merge_repeated": False}, inputs=logits, sequence_length=np.int32([6, 4, 5]))

# The gradient of a volume's maximum goes to all that are within 1e-5 of it.
x = np.zeros((1, 2, 4, 4, 2), np.float32)
x += rng.integers(0, 3, x.shape) + rng.integers(-2, 3, x.shape) * 4e-6
y = tf.nn.max_pool3d(x, 2, 2, "VALID")
farther("MaxPool3DGrad", {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": "VALID"}, orig_input=x, orig_output=y, grad=rand("float32", y.shape))

# Logits and labels of any rank that broadcast to a matrix.
for d in F2:
    farther("SoftmaxCrossEntropyWithLogits", features=rand(d, (2, 3)), labels=rand(d, ()))
    farther("SoftmaxCrossEntropyWithLogits", features=rand(d, (3,)), labels=rand(d, (2, 3)))
    farther("SoftmaxCrossEntropyWithLogits", features=rand(d, (2, 3)), labels=rand(d, (3,)))
    farther("SoftmaxCrossEntropyWithLogits", features=rand(d, ()), labels=rand(d, (2, 4)))

# Normalization by a product with a matrix of ones and zeros.
for d in ["float32", "float16"]:
    for beta in [0.75, 0.5, 1.0, 0.0]:
        x = rand(d, (1, 2, 4, 16))
        x[0, 0, 0, 3], x[0, 0, 1, 9], x[0, 0, 2, 0], x[0, 1, 0, 5] = N, INF, -INF, 300
        farther("LRN", {"depth_radius": 2, "beta": beta, "alpha": 0.5}, input=x)
    farther("LRN", {"depth_radius": 2, "beta": 0.75, "alpha": -1.0}, input=rand(d, (1, 1, 4, 8)))

# Windows and filters without elements.
for d in ["float32", "float16", "int32"]:
    for k, strides, rates, padding in [((2, 0, 2), 1, 2, "VALID"), ((0, 3, 2), 2, 1, "VALID"), ((2, 0, 2), 1, 1, "SAME")]:
        farther("Dilation2D", {"strides": [1, strides, strides, 1], "rates": [1, rates, rates, 1], "padding": padding}, input=rand(d, (2, 5, 6, 2)), filter=rand(d, k))
for d in F2:
    for padding in ["SAME", "VALID"]:
        farther("Conv2DBackpropInput", {"strides": [1, 1, 1, 1], "padding": padding}, input_sizes=np.int32([1, 3, 4, 2]), filter=rand(d, (2, 2, 2, 0)), out_backprop=rand(d, (1, 3, 4, 0)))
    farther("Conv2DBackpropInput", {"strides": [1, 1, 1, 1], "padding": "SAME"}, input_sizes=np.int32([2, 3, 4, 2]), filter=rand(d, (2, 0, 2, 3)), out_backprop=rand(d, (2, 3, 4, 3)))
    farther("Conv2DBackpropFilter", {"strides": [1, 1, 1, 1], "padding": "SAME"}, input=rand(d, (2, 3, 4, 2)), filter_sizes=np.int32([2, 0, 2, 3]), out_backprop=rand(d, (2, 3, 4, 3)))
farther("DepthwiseConv2dNativeBackpropInput", {"strides": [1, 1, 1, 1], "padding": "VALID"}, input_sizes=np.int32([2, 5, 6, 3]), filter=rand("float32", (16, 17, 16, 0)), out_backprop=rand("float32", (17, 3, 8, 16)))

# Halves are rounded at every step.
for d in ["float16", "bfloat16"]:
    for exclusive in [False, True]:
        farther("CumulativeLogsumexp", {"exclusive": exclusive}, x=rand(d, (2, 300)), axis=np.int32(1))
    x, f = rand(d, (4, 9, 9, 2)), rand(d, (2, 2, 2))
    attrs = {"strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1], "padding": "SAME"}
    farther("Dilation2DBackpropFilter", attrs, input=x, filter=f, out_backprop=rand(d, x.shape))
    farther("Dilation2DBackpropInput", attrs, input=x, filter=f, out_backprop=rand(d, x.shape))

# Numbers are quantized by any scale and any zero.
for scale in [-1.0, 0.0, -0.25, INF, N, 0.5]:
    for zero in [3, 200, -200]:
        farther("UniformQuantize", {"Tout": tf.qint8, "quantization_min_val": -128, "quantization_max_val": 127},
                input=np.float32([1, -2, 3, 200, -300, 0.5]), scales=np.float32(scale), zero_points=np.int32(zero))
for lo, hi in [(0, 2), (2, 2), (2, 1)]:
    farther("UniformQuantize", {"Tout": tf.quint8, "quantization_min_val": lo, "quantization_max_val": hi}, input=np.float32([1, -2, 3, 200, -300, 0.5]), scales=np.float32(0.5), zero_points=np.int32(7))
    farther("UniformDequantize", {"Tout": tf.float32, "quantization_min_val": lo, "quantization_max_val": hi}, input=tf.bitcast(np.uint8([0, 7, 255]), tf.quint8), scales=np.float32(0.5), zero_points=np.int32(-7))

write()

"""Writes the fixtures of calls that were made from the ops' definitions alone, for which
kernels differed from TensorFlow, far/fresh.json. Neither gradients nor shapes
are recorded for these.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_fresh.py
"""
import numpy as np
import tensorflow as tf

from recorder import *

FAMILY = "far/fresh"
N, INF = np.nan, np.inf


def fresh(op, attrs=None, elsewhere=False, **inputs):
    case(FAMILY, op, list(inputs.items()), attrs, elsewhere=elsewhere)


# Means of integers whose sums need more bits.
for d in I + U:
    least, most = np.iinfo(np_of(d)).min, np.iinfo(np_of(d)).max
    if d not in ("int64", "uint64"):
        fresh("Mean", input=np.full((3, 70), most, np_of(d)), axis=np.int32([1]))
        fresh("Mean", input=np.full((70, 3), least, np_of(d)), axis=np.int32([0]))
        fresh("Mean", input=np.array([most, most - 1, 2], np_of(d)), axis=np.int32([0]))
        fresh("Mean", input=np.array([[least, 9], [least, 2]], np_of(d)), axis=np.int32([0, 1]))
    fresh("Mean", input=rand(d, (7, 300), 0, 100), axis=np.int32([1]))

# Values without a gradient stay without one.
for d in F + C:
    y = np.array([0, -0.0, N, INF, -INF, 1, 0, 2, 3], np_of(d))
    for op in ["SqrtGrad", "RsqrtGrad", "InvGrad", "ReciprocalGrad"]:
        fresh(op, y=y, dy=np.zeros(9, np_of(d)))
        fresh(op, y=np.array([2, 3, -1], np_of(d)), dy=np.array([0, -0.0, 2], np_of(d)))

for d in F2:
    fresh("ApproximateEqual", {"tolerance": 0.5}, x=np.array([1, 1, 1, 2], np_of(d)), y=np.array([1.5, 1.25, 0.5, 2.75], np_of(d)))
    fresh("ApproximateEqual", {"tolerance": 0.0}, x=np.array([1, 1, N, INF], np_of(d)), y=np.array([1, 1.1, N, INF], np_of(d)))
for d in F:
    fresh("Lgamma", x=np.array([-INF, INF, -1, -2, 0], np_of(d)))
for d in F2:
    x = np.array([1.0, 1.5, 8, 20, 40, 64, 100, 500, 1000, 1e6, 1e30], np_of(d))
    for op in ["BesselK0e", "BesselK1e"]:
        fresh(op, x=x)
    for op in ["BesselK0", "BesselK1"]:
        fresh(op, x=x[:7])

for d in C:
    z = np.array([0.5 + 5j, 0.5 - 5j, 5 + 0.5j, -5 + 0.5j, 0.5 + 0.5j, 1 - 5j, 3 + 3j], np_of(d))
    one_, zero = np.full(7, 1 + 1j, np_of(d)), np.zeros(7, np_of(d))
    for lo, hi in [(zero, one_), (zero[0], one_[0]), (zero, one_[0]), (zero[0], one_)]:
        fresh("ClipByValue", t=z, clip_value_min=lo, clip_value_max=hi)

# Ends of ranges that are the wrong way round, that are equal, or NaN.
g, x = np.float32([1, 2, 4, 8, 16, 32, 64]), np.float32([-3, -1, -0.5, 0, 0.5, 1, 3])
for lo, hi in [(1, -1), (2, 1), (-1, -2), (0.5, 0.5), (0, 0), (1, 2), (N, 1), (-1, INF)]:
    for narrow in [False, True]:
        a = {"num_bits": 8, "narrow_range": narrow}
        fresh("FakeQuantWithMinMaxVarsGradient", a, gradients=g, inputs=x, min=np.float32(lo), max=np.float32(hi))
        fresh("FakeQuantWithMinMaxVars", a, inputs=x, min=np.float32(lo), max=np.float32(hi))
        two = lambda v: np.stack([v, v], 1)
        fresh("FakeQuantWithMinMaxVarsPerChannelGradient", a, gradients=two(g), inputs=two(x), min=np.float32([lo, -1]), max=np.float32([hi, 1]))

# Gradients of gradients of pools whose outputs are others.
for d in F + I[2:]:
    images = np.array([1, 3, 2, 3, 5, 4], np_of(d)).reshape(1, 1, 6, 1)
    grads = np.array([10, 20, 30, 40, 50, 60], np_of(d)).reshape(1, 1, 6, 1)
    for out in [[3, 3, 5], [3, 5, 0], [0, 0, 0], [1, 2, 4]]:
        y = np.array(out, np_of(d)).reshape(1, 1, 3, 1)
        w = dict(ksize=[1, 1, 2, 1], strides=[1, 1, 2, 1], padding="VALID")
        fresh("MaxPoolGradGrad", w, orig_input=images, orig_output=y, grad=grads)
        fresh("MaxPoolGradGradV2", {"padding": "VALID"}, orig_input=images, orig_output=y, grad=grads, ksize=np.int32([1, 1, 2, 1]), strides=np.int32([1, 1, 2, 1]))
        w = dict(ksize=[1, 1, 1, 2, 1], strides=[1, 1, 1, 2, 1], padding="VALID")
        fresh("MaxPool3DGradGrad", w, orig_input=images[None], orig_output=y[None], grad=grads[None])

# Boxes and scores that are NaN.
boxes = np.float32([[0, 0, 1, 1], [0, 0, 1, 1.1], [N, 0, 1, 1], [2, 2, 3, 3], [0, N, 1, 1], [2, 2, 3, 3.05]])
for order, scores in [(range(6), [0.9, N, 0.8, 0.7, 0.6, N]), (range(6), [0.9, 0.85, 0.8, 0.7, 0.6, 0.5]), ([0, 1, 3, 3, 5, 5], [0.9, N, 0.8, 0.7, 0.6, N]),
                      ([0, 3, 0, 3, 1, 5], [N, 0.5, 0.4, N, 0.9, 0.1]), ([2, 0, 4, 2, 1, 5], [0.3, 0.2, 0.2, 0.1, 0.5, 0.6])]:
    given = dict(boxes=boxes[list(order)], scores=np.float32(scores), max_output_size=np.int32(6))
    fresh("NonMaxSuppression", {"iou_threshold": 0.5}, **given)
    fresh("NonMaxSuppressionV2", **given, iou_threshold=np.float32(0.5))
    for least in [-9, 0, 0.3]:
        limits = dict(iou_threshold=np.float32(0.5), score_threshold=np.float32(least))
        fresh("NonMaxSuppressionV3", **given, **limits)
        fresh("NonMaxSuppressionV4", **given, **limits)
        for sigma in [0, 0.5]:
            fresh("NonMaxSuppressionV5", **given, **limits, soft_nms_sigma=np.float32(sigma))

# Equal scores.
for k in range(14):
    many, classes = [(20, 1), (7, 4), (33, 2), (60, 3)][k % 4]
    q = classes if k % 3 == 0 else 1
    boxes = rng.integers(-2, 8, (2, many, q, 4)).astype(np.float32) / 4
    scores = rng.integers(0, 6, (2, many, classes)).astype(np.float32) / 5
    if k > 9:
        boxes[rng.random(boxes.shape) < 0.05] = N
        scores[rng.random(scores.shape) < 0.05] = N
    fresh("CombinedNonMaxSuppression", {"pad_per_class": k % 5 == 4, "clip_boxes": k % 2 == 0}, boxes=boxes, scores=scores, max_output_size_per_class=np.int32(3 + 5 * k),
          max_total_size=np.int32(40), iou_threshold=np.float32([0, 0.3, 0.5, 1][k % 3]), score_threshold=np.float32([-1, 0, 0.3][k % 3]))

# Roots of real matrices that have no real ones, and functions of NaN.
for d in F2 + C:
    for m in [[[-1, 0], [0, 2]], [[-2, 1], [0.5, 3]], [[0, 0], [0, 0]], [[0, 1], [-1, 0]], [[1, N], [0, 1]], [[4, 1], [2, 3]], [[0, 0], [0, 2]]]:
        fresh("MatrixSquareRoot", input=np.array(m, np_of(d)))
for d in C:
    for m in [[[N]], [[-1]], [[0, 1], [0, 0]], [[0, 0], [0, 2]], [[1, N], [0, 1]]]:
        fresh("MatrixLogarithm", input=np.array(m, np_of(d)))

# Scalars have one diagonal and one order; a vector of one element fills.
for d in ["float32", "string", "int64", "bool", "complex64"]:
    v = one("a") if d == "string" else np_of(d)(1)
    fresh("Reverse", tensor=v, dims=np.array([True, False]))
    fresh("Reverse", tensor=v, dims=np.array(True))
    fresh("ReverseV2", tensor=v, axis=np.int32([5]))
    fresh("ReverseV2", tensor=v, axis=np.ones((1, 2), np.int64))
    fresh("Fill", dims=np.int32([2]), value=np.reshape(v, (1,)))
for d in F2 + C + ["int32", "int64"]:
    fresh("DiagPart", input=np_of(d)(3))

for d in ["int32", "int64"]:
    fresh("DataFormatDimMap", {"src_format": "NHWC", "dst_format": "NCHW"}, x=np.array([4, 5, -5, -6, 100, -100, -4, -1], np_of(d)))
    fresh("DataFormatDimMap", {"src_format": "NDHWC", "dst_format": "NCDHW"}, x=np.array([5, 6, -6, -7, 100, -100], np_of(d)))
    for a, b in [([-1, 3], [-1, 3]), ([-1, 3], [1, 3]), ([-5], [2, -5]), ([-3, 1], [7])]:
        fresh("BroadcastArgs", s0=np.array(a, np_of(d)), s1=np.array(b, np_of(d)))
for corners in [False, True]:
    for d in F[:3] + ["int32"]:
        fresh("ResizeNearestNeighborGrad", {"align_corners": corners, "half_pixel_centers": True}, grads=rand(d, (2, 3, 4, 2)), size=np.int32([2, 3]))
fresh("SparseReshape", input_indices=np.int64([[5, 1], [1, 7]]), input_shape=np.int64([2, 3]), new_shape=np.int64([3, 2]))
fresh("SparseReshape", input_indices=np.int64([[5, 1], [-1, 7]]), input_shape=np.int64([2, 3]), new_shape=np.int64([6]))

q32 = lambda *v: tf.bitcast(np.int32(v), tf.qint32)
for lo, hi in [(7, 3), (-5, 5), (3, 7)]:
    fresh("UniformQuantizedClipByValue", {"quantization_min_val": -100, "quantization_max_val": 100}, operand=q32(1, 5, 9, 500), min=tf.reshape(q32(lo), []), max=tf.reshape(q32(hi), []),
          scales=np.float32(1), zero_points=np.int32(0))
for k in range(6):
    for scale, zero, axis in [(0.5, 0, -1), ([0.5, 1, 2], [1, -2, 3], 1), (0.3, -128, -1)]:
        fresh("UniformQuantizedDotHybrid", {"Tout": tf.float32, "rhs_quantization_axis": axis, "rhs_quantization_min_val": -128, "rhs_quantization_max_val": 127},
              lhs=rng.integers(-8, 9, (5, 4)).astype(np.float32) / 2, rhs=tf.bitcast(rng.integers(-128, 128, (4, 3)).astype(np.int8), tf.qint8), rhs_scales=np.float32(scale), rhs_zero_points=np.int32(zero))
write()

"""Writes the fixtures of ops that TensorFlow rounds to half precision at every step, halves/steps.json: as many elements as make
whole vectors, and some more. They hold bit for bit.

    TF_ENABLE_ONEDNN_OPTS=0 TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_steps.py
"""
import numpy as np
import tensorflow as tf

from recorder import *

tf.config.threading.set_intra_op_parallelism_threads(1)
FAMILY = "halves/steps"
rng = np.random.default_rng(5)


def normal(shape, d, scale=2.0, mean=0.0):
    return tf.cast((rng.standard_normal(shape) * scale + mean).astype(np.float32), d)


for d in [tf.float16, tf.bfloat16]:
    # rows
    for rows, n in [(3, 5), (4, 8), (2, 17), (3, 33), (2, 100), (1, 1605), (1, 2099), (17, 10), (0, 3)]:
        x = normal((rows, n), d)
        case(FAMILY, "Softmax", [("logits", x)])
        case(FAMILY, "LogSoftmax", [("logits", x)])
        labels = tf.cast(rng.dirichlet(np.ones(n), rows).astype(np.float32).reshape(rows, n), d)
        case(FAMILY, "SoftmaxCrossEntropyWithLogits", [("features", x), ("labels", labels)])
        case(FAMILY, "SparseSoftmaxCrossEntropyWithLogits", [("features", x), ("labels", rng.integers(0, n, rows).astype(np.int32))])
        case(FAMILY, "BiasAddGrad", [("out_backprop", x)], {"data_format": "NHWC"})
    case(FAMILY, "SoftmaxCrossEntropyWithLogits", [("features", normal((4, 5), d)), ("labels", tf.cast(np.float32([[0, 0, 1, 0, 0]]), d))])
    for shape in [(2, 3, 5, 7), (1, 8, 8, 16), (1, 33, 5, 3), (3, 4, 1, 9)]:
        x, c = normal(shape, d), shape[-1]
        for layout in ["NHWC", "NCHW"]:
            case(FAMILY, "BiasAddGrad", [("out_backprop", x)], {"data_format": layout})
        for size, multiplier, stride in [((3, 3), 1, 1), ((2, 3), 2, 2)]:
            case(FAMILY, "DepthwiseConv2dNative", [("input", x), ("filter", normal((*size, c, multiplier), d, 0.3))],
                 {"strides": [1, stride, stride, 1], "padding": "SAME"})
    for shape, size in [((1, 17, 17, 3), (17, 17)), ((1, 50, 50, 1), (50, 50)), ((1, 4, 5, 2), (2, 2))]:
        case(FAMILY, "AvgPool", [("value", normal(shape, d))], {"ksize": [1, *size, 1], "strides": [1, 1, 1, 1], "padding": "VALID"})
    # products, which bfloat16 cuts
    if d == tf.bfloat16:
        for m, k, n in [(1, 5, 3), (3, 8, 9), (5, 17, 16), (9, 33, 1)]:
            for ta, tb in [(False, False), (True, False), (False, True)]:
                a = tf.cast(rng.integers(-40, 40, (k, m) if ta else (m, k)).astype(np.float32) / 16, d)  # sums are exact in any order
                b = tf.cast(rng.integers(-40, 40, (n, k) if tb else (k, n)).astype(np.float32) / 16, d)
                case(FAMILY, "MatMul", [("a", a), ("b", b)], {"transpose_a": ta, "transpose_b": tb})
                case(FAMILY, "BatchMatMulV2", [("x", tf.stack([a, a])), ("y", b[None])], {"adj_x": ta, "adj_y": tb})
    # segments
    for n, width in [(5, 1), (40, 9), (100, 16), (900, 3)]:
        ids, x = np.sort(rng.integers(0, 3, n)).astype(np.int32), normal((n, width), d)
        for op in ["SegmentSum", "SegmentMean"]:
            case(FAMILY, op, [("data", x), ("segment_ids", ids)])
        case(FAMILY, "SegmentProd", [("data", normal((n, width), d, 0.05, 1.0)), ("segment_ids", ids)])
        case(FAMILY, "UnsortedSegmentSum", [("data", x), ("segment_ids", rng.permutation(ids)), ("num_segments", np.int32(4))])
    # element by element
    for n in [7, 37, 200]:
        x, y = normal(n, d), normal(n, d)
        for op, name in [("Sigmoid", "x"), ("Softplus", "features"), ("Softsign", "features"), ("Elu", "features"), ("Selu", "features")]:
            case(FAMILY, op, [(name, tf.concat([x, tf.cast([12.0, 90.0, -80.0, 0.0, -7.0, 7.0], d)], 0))])
        case(FAMILY, "Rsqrt", [("x", tf.abs(x))])
        for op in ["SquaredDifference", "FloorDiv", "TruncateDiv"]:
            case(FAMILY, op, [("x", x), ("y", y)])
        for op in ["Xlogy", "Xlog1py"]:
            case(FAMILY, op, [("x", tf.concat([x, tf.cast([0.0, 0.0], d)], 0)), ("y", tf.concat([tf.abs(y), tf.cast([0.0, np.inf], d)], 0))])
        g = tf.concat([y[:-1], tf.cast([0.0], d)], 0)
        for op in ["TanhGrad", "SigmoidGrad", "SqrtGrad", "RsqrtGrad", "ReciprocalGrad"]:
            case(FAMILY, op, [("y", tf.abs(x)), ("dy", g)])
        for op in ["EluGrad", "SeluGrad"]:
            case(FAMILY, op, [("gradients", y), ("outputs", x)])
        for op in ["SoftplusGrad", "SoftsignGrad"]:
            case(FAMILY, op, [("gradients", y), ("features", x)])
        case(FAMILY, "AddN", [("inputs", [normal(n, d) for _ in range(9)])])

write()

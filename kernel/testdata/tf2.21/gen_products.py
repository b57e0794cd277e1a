"""Writes the fixtures of products of half precision whose sums TensorFlow rounds at every step, halves/products.json. They hold bit
for bit.

    TF_ENABLE_ONEDNN_OPTS=0 TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_products.py
"""
import numpy as np
import tensorflow as tf

from recorder import *

tf.config.threading.set_intra_op_parallelism_threads(1)
FAMILY = "halves/products"
rng = np.random.default_rng(5)


def normal(shape, d, scale=1.0):
    return tf.cast((rng.standard_normal(shape) * scale).astype(np.float32), d)


for d in [tf.float16, tf.bfloat16]:
    # volumes: columns that make no vector, one, and more; one place; more depth than a block has
    for image, filter in [((1, 3, 4, 5, 2), (2, 2, 2, 2, 3)), ((2, 4, 5, 5, 3), (3, 2, 3, 3, 8)), ((1, 4, 5, 5, 3), (1, 1, 1, 3, 16)),
                          ((1, 3, 3, 3, 40), (3, 3, 3, 40, 17)), ((1, 4, 4, 4, 4), (1, 2, 2, 4, 1))]:
        for padding in ["SAME", "VALID"]:
            case(FAMILY, "Conv3D", [("input", normal(image, d, 2.0)), ("filter", normal(filter, d))],
                 {"strides": [1, 1, 1, 1, 1], "padding": padding})
    # matrices, vectors, and products so small that each element is computed by itself
    for b, i, j, k in [(1, 4, 4, 4), (2, 5, 6, 9), (2, 3, 4, 9), (2, 1, 8, 20), (2, 20, 19, 1), (2, 1, 21, 1), (2, 1, 130, 20), (3, 24, 8, 4),
                       (2, 9, 64, 8), (2, 21, 20, 33), (2, 7, 17, 1), (1, 3, 900, 9)]:
        sizes = dict(b=b, i=i, j=j, k=k)
        for equation in ["bij,bjk->bik", "bji,bjk->bik", "bij,bkj->bik", "bji,bkj->bki"] if j < 900 else ["bij,bjk->bik"]:
            terms = equation.split("->")[0].split(",")
            case(FAMILY, "Einsum", [("inputs", [normal([sizes[c] for c in t], d) for t in terms])], {"equation": equation})
    # several dimensions of a kind, and some that are summed over first
    sizes = dict(a=2, b=3, h=2, d=8, e=5, s=4, t=6)
    for equation in ["asd,dhe->ashe", "ashd,athd->ahst", "ahst,athd->ashd", "ashd,hde->ase", "asd->as", "asd->da", "asd,asd->", "asd,asd->a",
                     "asd,d->as", "asd,e->asd"]:
        terms = equation.split("->")[0].split(",")
        case(FAMILY, "Einsum", [("inputs", [normal([sizes[c] for c in t], d) for t in terms])], {"equation": equation})
    case(FAMILY, "Einsum", [("inputs", [normal((3, 3, 4), d)])], {"equation": "aas->a"})

for d in [tf.float16, tf.bfloat16]:
    for shape, size, multiplier, stride, padding in [((2, 6, 6, 8), 3, 1, 1, "VALID"), ((3, 7, 7, 5), 2, 2, 1, "SAME"), ((1, 13, 13, 3), 3, 1, 2, "SAME"),
                                                     ((2, 9, 9, 9), 3, 3, 3, "VALID"), ((1, 40, 40, 1), 2, 1, 1, "SAME")]:
        x, w = normal(shape, d), normal((size, size, shape[3], multiplier), d)
        attrs = {"strides": [1, stride, stride, 1], "padding": padding}
        g = normal(tf.raw_ops.DepthwiseConv2dNative(input=x, filter=w, **attrs).shape, d)
        case(FAMILY, "DepthwiseConv2dNativeBackpropFilter", [("input", x), ("filter_sizes", np.int32(w.shape)), ("out_backprop", g)], attrs)
        case(FAMILY, "DepthwiseConv2dNativeBackpropInput", [("input_sizes", np.int32(shape)), ("filter", w), ("out_backprop", g)], attrs)
for beta in [0.5, 1.0, 0.75]:
    for n, radius in [(3, 5), (8, 2), (33, 5), (100, 5), (385, 5), (5, 0)]:
        case(FAMILY, "LRN", [("input", normal((1, 2, 2, n) if n > 100 else (2, 2, 3, n), tf.float16, 2.0))],
             {"depth_radius": radius, "bias": 1.0 if radius else 1.3, "alpha": 0.1, "beta": beta})

write()

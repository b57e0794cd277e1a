"""Writes the fixtures of XLA's ops that TensorFlow runs on the CPU, xla.json.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_xla.py
"""
import numpy as np
import tensorflow as tf
from tensorflow.compiler.tf2xla.ops import gen_xla_ops as xla

from recorder import *

FAMILY = "xla"


def run(op, raw, attrs=None, **inputs):
    case(FAMILY, op, list(inputs.items()), attrs, raw=raw)


X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)

for x in [X, np.int32([3, 1]), np.float64(2)]:
    run("XlaSharding", xla.xla_sharding, {"sharding": ""}, input=x)
run("XlaOptimizationBarrier", xla.xla_optimization_barrier, input=[X, np.int32([1, 2])])

# Blocks that would lie outside are moved inside.
for d in ["int32", "int64"]:
    for at in [[0, 0, 0], [1, 1, 2], [9, -7, 3], [-1, 2, 4]]:
        at = np.array(at, np_of(d))
        run("XlaDynamicSlice", xla.xla_dynamic_slice, input=X, start_indices=at, size_indices=np.array([1, 2, 2], np_of(d)))
        run("XlaDynamicUpdateSlice", xla.xla_dynamic_update_slice, input=X, update=-np.ones([1, 2, 3], np.float32), indices=at)
for x in [np.arange(6), np.arange(6) < 3, np.arange(6).astype(np.complex64), np.arange(6).astype(np.uint8)]:
    run("XlaDynamicSlice", xla.xla_dynamic_slice, input=x, start_indices=np.int32([4]), size_indices=np.int32([3]))
    run("XlaDynamicUpdateSlice", xla.xla_dynamic_update_slice, input=x, update=x[:2], indices=np.int32([7]))

rng = np.random.RandomState(1)
for a, b, eq in [([3, 4], [4, 2], "ab,bc->ac"), ([3, 4], [3, 4], "ab,ab->b"), ([2, 3, 4], [2, 4, 5], "bij,bjk->bik"), ([3], [4], "i,j->ij"), ([2, 3, 4], [4, 3], "abc,cb->a")]:
    run("XlaEinsum", xla.xla_einsum, {"equation": eq}, a=rng.randn(*a).astype(np.float32), b=rng.randn(*b).astype(np.float32))

write()

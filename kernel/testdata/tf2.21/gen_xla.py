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

# Blocks that would reach outside are moved inside.
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


def message(**lists):
    """The bytes of a message whose fields are integers or lists of them, by number: f1=[0], f4=2."""
    out = b""
    for name, v in lists.items():
        for x in v if isinstance(v, list) else [v]:
            out += bytes([int(name[1:]) << 3, x])
    return out


def several(op, raw, types, attrs=None, **inputs):
    for t in types:
        run(op, raw, attrs, **{k: v.astype(np_of(t)) if v.dtype == np.float64 else v for k, v in inputs.items()})


P = np.arange(1.0, 7).reshape(2, 3)
for low, high, inner in [([1, 0], [0, 2], [0, 1]), ([-1, 2], [3, -2], [2, 0]), ([0, 0], [0, 0], [0, 0])]:
    several("XlaPad", xla.xla_pad, ["float32", "int32", "complex64", "uint8"], input=P, padding_value=np.array(9.0),
            padding_low=np.int32(low), padding_high=np.int32(high), padding_interior=np.int32(inner))
for a, b, where in [([2, 3], [3], [1]), ([2], [2, 3], [0]), ([2, 3], [], []), ([2, 3], [2, 3], []), ([2, 3, 4], [2, 4], [0, 2])]:
    run("XlaBroadcastHelper", xla.xla_broadcast_helper, lhs=rng.randn(*a).astype(np.float32), rhs=np.array(rng.randn(*b), np.float32), broadcast_dims=np.int32(where))
R = np.array([1.0, 1.1, -3.14159, 1e5, 65519.0, 65520.0, 1e-5, 6e-8, -0.0, np.inf, -np.inf, np.nan, 255.5, 1.0078125, 3.4e38])
for e, m in [(5, 10), (8, 7), (4, 3), (5, 2), (8, 23), (2, 1)]:
    several("XlaReducePrecision", xla.xla_reduce_precision, ["float32", "float64", "float16", "bfloat16"], dict(exponent_bits=e, mantissa_bits=m), operand=R)
for a, b, numbers in [([3, 4], [4, 2], dict(f1=1, f2=0)), ([3, 4], [3, 4], dict(f1=[0, 1], f2=[0, 1])), ([2, 3, 4], [2, 4, 5], dict(f1=2, f2=1, f3=0, f4=0)),
                      ([3], [4], {}), ([4, 2, 3], [5, 3, 2], dict(f1=[2], f2=[1], f3=[1], f4=[2])), ([2, 3, 2, 5], [5, 3, 4], dict(f1=[3, 1], f2=[0, 1]))]:
    for t in ["float32", "float64", "int32", "complex64"]:
        x, y = rng.randint(-8, 8, a).astype(np_of(t)), rng.randint(-8, 8, b).astype(np_of(t))
        if t != "int32":
            x, y = x / 8, y / 8
        run("XlaDot", xla.xla_dot, dict(dimension_numbers=message(**numbers), precision_config=b""), lhs=x.astype(np_of(t)), rhs=y.astype(np_of(t)))
    x, y = rng.randint(-100, 100, a), rng.randint(-100, 100, b)
    for s, t in [("int8", "int32"), ("float16", "float32"), ("float32", "float32")]:
        run("XlaDotV2", xla.xla_dot_v2, dict(dimension_numbers=message(**numbers), precision_config=b"", preferred_element_type=tf.as_dtype(t)),
            lhs=x.astype(np_of(s)), rhs=y.astype(np_of(s)))
G = np.arange(60.0).reshape(3, 4, 5)
for at, size, numbers in [([[0, 2], [2, 9], [-4, 1]], [1, 2, 5], dict(f1=[1, 2], f2=[0], f3=[0, 1], f4=1)), ([1, 0], [1, 4, 5], dict(f1=[1, 2], f2=[0], f3=[0], f4=1)),
                          ([[0, 1], [3, 2]], [2, 1, 3], dict(f1=[0, 2], f2=[1], f3=[1, 2], f4=0)), ([[1, 3], [0, 2], [2, 0]], [1, 1, 2], dict(f1=[2], f2=[1], f3=[1], f4=2, f5=[0], f6=[0]))]:
    several("XlaGather", xla.xla_gather, ["float32", "int32", "uint8", "bool"], dict(dimension_numbers=message(**numbers), indices_are_sorted=False),
            operand=G, start_indices=np.int32(at), slice_sizes=np.int32(size))
# Windows without elements in a dimension that the result lacks: zeros.
several("XlaGather", xla.xla_gather, ["float32", "bool"], dict(dimension_numbers=message(f1=[1, 2], f2=[0], f3=[0], f4=1), indices_are_sorted=False),
        operand=G, start_indices=np.int32([1, 9]), slice_sizes=np.int32([0, 4, 5]))
S = np.array([[3.0, -0.0, 0.0, np.inf, -2.5, np.nan, -np.inf, 1.0], [8, 7, 6, 5, 4, 3, 2, 1]])
several("XlaSort", xla.xla_sort, ["float32", "float64", "float16", "bfloat16"], input=S)
several("XlaSort", xla.xla_sort, ["int32", "uint8", "int64"], input=np.array([3.0, 1, 2, 250, 0]))
several("XlaKeyValueSort", xla.xla_key_value_sort, ["float32", "int32"], keys=np.array([[3.0, 1, 2], [-5, 9, 0]]), values=np.arange(6).reshape(2, 3))



run("XlaSpmdShardToFullShape", xla.xla_spmd_shard_to_full_shape, dict(manual_sharding="", full_shape=[2, 3, 4], dim=-1, unspecified_dims=[]), input=X)


def injit(raw):
    """Ops of which only compiled functions have kernels."""
    return lambda **kwargs: tf.function(lambda: raw(**kwargs), jit_compile=True)()


run("XlaSetBound", injit(xla.xla_set_bound), input=np.int32(3), bound=np.int32(5))
run("XlaSpmdFullToShardShape", injit(xla.xla_spmd_full_to_shard_shape), dict(manual_sharding="", dim=-1, unspecified_dims=[]), input=X)
NHWC = dict(f7=0, f8=3, f11=[1, 2], f3=2, f4=3, f6=[0, 1], f9=0, f10=3, f12=[1, 2])
NCHW = dict(f7=0, f8=1, f11=[2, 3], f3=1, f4=0, f6=[2, 3], f9=1, f10=0, f12=[3, 2])
for x, k, numbers, stride, pad, base, dilation, groups, batches in [
        ([2, 5, 6, 3], [3, 2, 3, 4], NHWC, [1, 1], [[0, 0], [0, 0]], [1, 1], [1, 1], 1, 1),
        ([1, 5, 6, 4], [2, 2, 2, 6], NHWC, [2, 1], [[1, 0], [2, 1]], [1, 1], [1, 2], 2, 1),
        ([2, 3, 4, 5], [2, 3, 2, 3], NCHW, [1, 1], [[1, 1], [-1, 2]], [2, 3], [1, 1], 1, 1),
        ([4, 3, 4, 2], [2, 2, 2, 6], NHWC, [1, 1], [[0, 0], [1, 0]], [1, 1], [1, 1], 1, 2),
        ([2, 7, 3], [3, 3, 2], dict(f7=0, f8=2, f11=[1], f3=1, f4=2, f6=[0], f9=0, f10=2, f12=[1]), [2], [[1, 1]], [1], [1], 1, 1)]:
    ins = dict(window_strides=np.int32(stride), padding=np.int32(pad), lhs_dilation=np.int32(base), rhs_dilation=np.int32(dilation), feature_group_count=np.int32(groups))
    for t in ["float32", "float64", "float16"]:
        a, b = rng.randint(-8, 8, x) / 8, rng.randint(-8, 8, k) / 8
        if batches == 1:
            run("XlaConv", xla.xla_conv, dict(dimension_numbers=message(**numbers), precision_config=b""), lhs=a.astype(np_of(t)), rhs=b.astype(np_of(t)), **ins)
    a, b = rng.randint(-100, 100, x), rng.randint(-100, 100, k)
    for s, t in [("float16", "float32"), ("float32", "float32")]:
        run("XlaConvV2", xla.xla_conv_v2, dict(dimension_numbers=message(**numbers), precision_config=b"", preferred_element_type=tf.as_dtype(t), batch_group_count=batches), lhs=a.astype(np_of(s)), rhs=b.astype(np_of(s)), **ins)

for shape in [[2], [2, 3], [1, 2, 3], [0], [2, 0]]:
    for transposed in [False, True]:
        for low, high in [(-1.0, 3.0), (0.1, 6.3), (-5e3, 7e-2)]:
            run("XlaDequantize", injit(xla.xla_dequantize), dict(min_range=low, max_range=high, mode="MIN_COMBINED", transpose_output=transposed), input=rng.randint(0, 2**32, shape).astype(np.uint32))
MOST = 2**64 - 1
for algorithm, states in [(1, [[1, 2], [7 << 32 | 5, MOST], [7, MOST, MOST], [3, 2, 1]]), (2, [[1, 2], [7 << 32 | 5, MOST - 2]]), (3, [[9, 8], [9, 8, 7]])]:
    for state in states:
        for t in [tf.uint64, tf.uint32, tf.uint8]:
            for shape in [[], [1], [7], [0, 3], [2, 3], [3, 4], [3, 5], [5, 3], [3, 3, 3], [1, 9]]:
                if t == tf.uint8 and len(shape) > 1 and algorithm != 2:
                    continue
                run("XlaRngBitGenerator", injit(xla.xla_rng_bit_generator), dict(dtype=t), algorithm=np.int32(algorithm), initial_state=np.uint64(state), shape=np.int64(shape) if len(shape) == 1 else np.int32(shape))

for shape in [[1], [2], [3], [4], [5], [6], [8], [9], [2, 3], [2, 2, 4], [0, 3], [0]]:
    a = rng.randn(*shape, shape[-1])
    for t in ["float32", "float64"]:
        for lower in [True, False]:
            run("XlaSelfAdjointEig", injit(xla.xla_self_adjoint_eig), dict(lower=lower, max_iter=100, epsilon=1e-6), a=a.astype(np_of(t)))
for a in [np.eye(3), np.zeros([3, 3]), np.diag([3.0, 1, 2]), np.array([[2.0, 1], [1, 3]])]:
    for t in ["float32", "float64", "float16", "bfloat16"]:
        run("XlaSelfAdjointEig", injit(xla.xla_self_adjoint_eig), dict(lower=True, max_iter=100, epsilon=1e-6), a=a.astype(np_of(t)))
a = rng.randn(5, 5)
for n in [0, 1, 2, 3]:
    run("XlaSelfAdjointEig", injit(xla.xla_self_adjoint_eig), dict(lower=True, max_iter=n, epsilon=1e-6), a=a)
for shape in [[1, 1], [2, 2], [3, 3], [4, 4], [6, 6], [1, 4], [4, 1], [3, 2], [2, 3], [5, 3], [3, 5], [2, 3, 3], [2, 2, 4, 2], [0, 3, 2]]:
    a = rng.randn(*shape)
    for t in ["float32", "float64"]:
        run("XlaSvd", injit(xla.xla_svd), dict(max_iter=100, epsilon=1e-6, precision_config=b""), a=a.astype(np_of(t)))
for a in [np.eye(3), np.diag([3.0, -1, 2]), np.array([[2.0, 1], [1, 3]]), np.array([[2.0, 0], [0, 0]])]:
    for t in ["float32", "float64"]:
        run("XlaSvd", injit(xla.xla_svd), dict(max_iter=100, epsilon=1e-6, precision_config=b""), a=a.astype(np_of(t)))
a = rng.randn(5, 4)
for n in [0, 1, 2, 3]:
    run("XlaSvd", injit(xla.xla_svd), dict(max_iter=n, epsilon=1e-6, precision_config=b""), a=a)

write()

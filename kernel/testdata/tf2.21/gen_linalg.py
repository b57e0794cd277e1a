"""Writes the fixtures of linear algebra.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_linalg.py

Singular vectors and eigenvectors are determined up to a factor of magnitude 1
each: kernel/linalg's tests compare the matrices that they reconstruct.
"""
import numpy as np
import tensorflow as tf

from recorder import *


def linalg(op, inputs, attrs=None, **kw):
    case("linalg", op, inputs, attrs, **kw)


T = F2 + C


def values(op, x, attrs, outputs, old=False):
    """A decomposition's values alone; its other outputs have no elements, by TensorFlow's shape function."""
    fn = legacy(op) if old else getattr(tf.raw_ops, op)
    linalg(op, [("input", x)], attrs, elsewhere=True,
           raw=lambda **kw: [flatten(fn(**kw))[0]] + [tf.zeros([0], tf.as_dtype(x.dtype))] * (outputs - 1))


def good(d, shape):
    """Matrices that are far from singular."""
    n = shape[-1]
    return (rand(d, shape, -1, 1) + (n + 1) * np.eye(n)[np.random.default_rng(3).permutation(n)]).astype(np_of(d))


def positive(d, shape):
    a = rand(d, shape, -1, 1)
    return (a @ np.conj(np.swapaxes(a, -1, -2)) + 2 * np.eye(shape[-1])).astype(np_of(d))


for d in T:
    for shape in [(4, 4), (2, 3, 3), (1, 1), (0, 0), (2, 0, 0), (0, 2, 2)]:
        m = good(d, shape)
        linalg("Cholesky", [("input", positive(d, shape))])
        for adjoint in (False, True):
            linalg("MatrixInverse", [("input", m)], {"adjoint": adjoint})
            linalg("MatrixSolve", [("matrix", m), ("rhs", rand(d, shape[:-1] + (2,)))], {"adjoint": adjoint})
            for lower in (False, True):
                linalg("MatrixTriangularSolve", [("matrix", m + 3 * np.eye(shape[-1], dtype=np_of(d))), ("rhs", rand(d, shape[:-1] + (2,)))], {"adjoint": adjoint, "lower": lower})
        linalg("MatrixDeterminant", [("input", m)])
        linalg("LogMatrixDeterminant", [("input", m)])
        if shape[-1] > 0:
            linalg("Lu", [("input", m)])
        values("SelfAdjointEigV2", positive(d, shape), {"compute_v": False}, 2)
    linalg("Lu", [("input", good(d, (3, 3)))], {"output_idx_type": tf.int64})
    linalg("MatrixTriangularSolve", [("matrix", good(d, (2, 1, 3, 3)) + 3 * np.eye(3, dtype=np_of(d))), ("rhs", rand(d, (4, 3, 2)))])
    values("SelfAdjointEigV2", rand(d, (3, 3), -1, 1), {"compute_v": False}, 2)
    for shape in [(3, 3), (2, 4, 2), (2, 4), (1, 3), (3, 1), (0, 2), (2, 0)]:
        for full in (False, True):
            if 0 not in shape:
                linalg("Qr", [("input", rand(d, shape))], {"full_matrices": full})
        values("Svd", rand(d, shape), {"compute_uv": False}, 3)
    linalg("TridiagonalMatMul", [("superdiag", rand(d, (2, 1, 4))), ("maindiag", rand(d, (2, 1, 4))), ("subdiag", rand(d, (2, 1, 4))), ("rhs", rand(d, (2, 4, 3)))])
    for shape in [(5,), (2, 4), (1,), (2,)]:
        diagonals = rand(d, shape[:-1] + (3, shape[-1]))
        for pivoting in (True, False):
            if not pivoting:
                diagonals[..., 1, :] += 9  # as large as the pivots need to be
            linalg("TridiagonalSolve", [("diagonals", diagonals), ("rhs", rand(d, shape + (2,)))], {"partial_pivoting": pivoting})
    linalg("MatrixDeterminant", [("input", np.array([[1, 2], [2, 4]], np_of(d)))])
    linalg("LogMatrixDeterminant", [("input", np.array([[1, 2], [2, 4]], np_of(d)))])
    m, old = good(d, (2, 3, 3)), dict(old=True)
    linalg("BatchMatrixDeterminant", [("input", m)], **old)
    linalg("BatchMatrixSolve", [("matrix", m), ("rhs", rand(d, (2, 3, 1)))], **old)
    linalg("BatchMatrixTriangularSolve", [("matrix", m + 3 * np.eye(3, dtype=np_of(d))), ("rhs", rand(d, (2, 3, 1)))], **old)
    values("BatchSvd", rand(d, (2, 3, 2)), {"compute_uv": False}, 3, True)
    if d in F2:
        values("BatchSelfAdjointEigV2", positive(d, (2, 3, 3)), {"compute_v": False}, 2, True)
        linalg("BatchCholesky", [("input", positive(d, (2, 3, 3)))], **old)
        linalg("BatchMatrixInverse", [("input", m)], **old)
linalg("MatrixInverse", [("input", good("float16", (3, 3)))])
linalg("Qr", [("input", rand("float16", (3, 2)))])

write()

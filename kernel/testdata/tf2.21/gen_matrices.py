"""Writes the fixtures of functions of matrices, least squares, triangles of
bands, eigenvalues of general matrices and older forms of decompositions.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_matrices.py

Eigenvectors are determined up to a factor of magnitude 1 each: kernel/linalg's
tests compare the matrices that they reconstruct. The older form, which always
returns them, is compared on diagonal matrices.
"""
import numpy as np
import tensorflow as tf

from recorder import *


def matrices(op, inputs, attrs=None, **kw):
    case("matrices", op, inputs, attrs, **kw)


def positive(d, shape):
    a = rand(d, shape, -1, 1)
    return (a @ np.conj(np.swapaxes(a, -1, -2)) + 2 * np.eye(shape[-1])).astype(np_of(d))


def apart(d, shape):
    """Matrices with eigenvalues of different magnitudes."""
    n = shape[-1]
    a = (rand(d, shape, -0.3, 0.3) + np.diag(2.0 * np.arange(1, n + 1))).astype(np_of(d))
    # TensorFlow leaves the values of real matrices in the order in which it finds them: in triangles, that of the diagonal.
    return a if d in C else np.triu(a)


for d in F2 + C:
    for shape in [(4, 4), (2, 3, 3), (1, 1), (0, 0), (0, 2, 2)]:
        out = tf.complex64 if d in ("float32", "complex64") else tf.complex128
        case("matrices", "Eig", [("input", apart(d, shape))], {"compute_v": False, "Tout": out}, elsewhere=True,
             raw=lambda **kw: [tf.raw_ops.Eig(**kw)[0], tf.zeros([0], kw["Tout"])])
        matrices("MatrixSquareRoot", [("input", positive(d, shape))])
        matrices("MatrixExponential", [("input", rand(d, shape, -0.3, 0.3))], old=True)
        if d in C:
            matrices("MatrixLogarithm", [("input", apart(d, shape))])
    for shape in [(4, 4), (2, 5, 3), (3, 5), (1, 3), (3, 1)]:
        for fast in (True, False):
            m = rand(d, shape) + (9 * np.eye(*shape[-2:])).astype(np_of(d))  # far from singular
            matrices("MatrixSolveLs", [("matrix", m), ("rhs", rand(d, shape[:-1] + (2,))), ("l2_regularizer", np.float64(0.25 if fast else 0))], {"fast": fast})
    matrices("MatrixSolveLs", [("matrix", rand(d, (5, 3))), ("rhs", rand(d, (5, 1))), ("l2_regularizer", np.float64(0))])
    for shape in [(2, 5), (3, 3, 4), (1, 3), (4, 4)]:
        for lower in (True, False):
            for adjoint in (True, False):
                bands = rand(d, shape)
                bands[..., 0 if lower else -1, :] += np_of(d)(9)
                matrices("BandedTriangularSolve", [("matrix", bands), ("rhs", rand(d, shape[:-2] + (shape[-1], 2)))], {"lower": lower, "adjoint": adjoint})
    bands = rand(d, (2, 1, 2, 4))
    bands[..., 0, :] += np_of(d)(9)
    matrices("BandedTriangularSolve", [("matrix", bands), ("rhs", rand(d, (3, 4, 2)))])
    if d in F2:
        for shape in [(4, 4), (2, 3, 3)]:
            l = np.linalg.cholesky(positive(d, shape)).astype(np_of(d))
            matrices("CholeskyGrad", [("l", l), ("grad", np.tril(rand(d, shape)).astype(np_of(d)))])
        matrices("BatchCholeskyGrad", [("l", l), ("grad", np.tril(rand(d, shape)).astype(np_of(d)))], old=True)
        diagonal = np.stack([np.diag([3, 1, 2]), np.diag([-1, 5, 4])]).astype(np_of(d))
        matrices("SelfAdjointEig", [("input", np.diag([1, 2, 4]).astype(np_of(d)))], old=True)
        matrices("BatchSelfAdjointEig", [("input", diagonal)], old=True)
        matrices("BatchMatrixSolveLs", [("matrix", rand(d, (2, 4, 3))), ("rhs", rand(d, (2, 4, 2))), ("l2_regularizer", np.float64(0.5))], old=True)

write()

"""Writes the fixtures of sparse matrices that are variants, programs/csr.json.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_csr.py
"""
import gen_programs
from gen_programs import *  # noqa: F403
from recorder import rand

FAMILY = "csr"
TYPES = [tf.float32, tf.float64, tf.complex64, tf.complex128]
A64 = lambda v, rank: np.array(v, np.int64).reshape(-1, rank)
PAIR = [[0, 1], [0, 3], [2, 0], [2, 1], [2, 3]]
BATCH = [[0, 0, 1], [0, 2, 0], [0, 2, 3], [2, 1, 2], [2, 2, 0]]
MATRICES = [("a matrix", PAIR, [3, 4]), ("a batch", BATCH, [3, 3, 4]), ("any order", PAIR[::-1], [3, 4]), ("places twice", [[1, 1], [1, 1], [0, 2]], [2, 3]),
            ("nothing", [], [3, 2]), ("no rows", [], [0, 2]), ("no columns", [], [2, 0]), ("batches of nothing", [], [2, 2, 2]), ("one", [[0, 0]], [1, 1])]


def values(d, n):
    return rand(d.name, (n,) if isinstance(n, int) else n, -3, 3)


def csr(p, at, shape):
    return p.SparseTensorToCSRSparseMatrix(A64(at, len(shape)), p.args[0], np.array(shape, np.int64))


for d in TYPES:
    for name, at, shape in MATRICES:
        p = P(d)
        m = csr(p, at, shape)
        p.ret(p.CSRSparseMatrixToDense(m, type=d), *p.CSRSparseMatrixToSparseTensor(m, type=d), p.SparseMatrixNNZ(m))
        for i in range(shape[0] if len(shape) == 3 else 1):
            p.results += p.CSRSparseMatrixComponents(m, np.array(i, np.int32), type=d)
        for conj in [False, True]:
            turned = p.SparseMatrixTranspose(m, type=d, conjugate=conj)
            p.results += p.CSRSparseMatrixComponents(turned, np.array(0, np.int32), type=d)
            p.results.append(p.CSRSparseMatrixToDense(turned, type=d))
        program(FAMILY, "%s of %s" % (name, d.name), p, [values(d, len(at))])
    for name, at, shape in MATRICES[:2]:
        p = P(d)
        m = p.DenseToCSRSparseMatrix(p.Reshape(p.args[0], np.array(shape, np.int32)), A64(at, len(shape)))
        p.ret(*p.CSRSparseMatrixToSparseTensor(m, type=d))
        program(FAMILY, "%s out of a dense one of %s" % (name, d.name), p, [values(d, shape)])
        for form in range(64):
            ta, aa, tb, ab, to, co = (bool(form >> i & 1) for i in range(6))
            if ta and aa or tb and ab or d in (tf.float32, tf.float64) and form not in (0, 1, 4, 5, 16, 10, 21, 32):
                continue
            rows, cols = shape[-2:]
            inner, n = (rows, 2) if ta or aa else (cols, 2)
            p = P(d, d)
            b = shape[:-2] + ([n, inner] if tb or ab else [inner, n])
            p.ret(p.SparseMatrixMatMul(csr(p, at, shape), p.Reshape(p.args[1], np.array(b, np.int32)), transpose_a=ta, adjoint_a=aa, transpose_b=tb, adjoint_b=ab, transpose_output=to, conjugate_output=co))
            program(FAMILY, "%s of %s by a dense one, form %d" % (name, d.name, form), p, [values(d, len(at)), values(d, b)])
            if form >= 16:
                continue
            p = P(d, d)
            places = [[i, j] for i in range(b[-2]) for j in range(b[-1]) if (i + j) % 3 != 1]
            places = [[k] + x for k in range(shape[0]) for x in places] if len(shape) == 3 else places
            second = p.SparseTensorToCSRSparseMatrix(A64(places, len(shape)), p.args[1], np.array(b, np.int64))
            c = p.SparseMatrixSparseMatMul(csr(p, at, shape), second, type=d, transpose_a=ta, adjoint_a=aa, transpose_b=tb, adjoint_b=ab)
            p.ret(*p.CSRSparseMatrixToSparseTensor(c, type=d))
            program(FAMILY, "%s of %s by a sparse one, form %d" % (name, d.name, form), p, [values(d, len(at)), values(d, len(places))])
    # Self-adjoint matrices with some zeros, the lower triangle alone, and such as have no factor.
    full = np.zeros((6, 6), tf.as_dtype(d).as_numpy_dtype)
    for i, j, v in [(1, 0, 1), (3, 0, -1), (4, 1, 0.5), (5, 2, 2), (5, 4, 1), (2, 0, 1)]:
        v = v * (1 + 0.5j) if d.is_complex else v
        full[i, j], full[j, i] = v, np.conj(v)
    full += np.diag(np.array([5, 4, 6, 3, 4, 7], full.dtype))
    for name, x in [("whole", full), ("lower triangle", np.tril(full)), ("not positive", full - 4 * np.eye(6, dtype=full.dtype)), ("other above", np.tril(full) + np.triu(full, 1) * 3)]:
        for order in [[0, 1, 2, 3, 4, 5], [3, 5, 0, 1, 4, 2]]:
            at = np.argwhere(x != 0)
            p = P(d)
            l = p.SparseMatrixSparseCholesky(csr(p, at, [6, 6]), np.array(order, np.int32), type=d)
            p.ret(*p.CSRSparseMatrixToSparseTensor(l, type=d))
            v = x[x != 0]
            program(FAMILY, "Cholesky of %s, %s, %s" % (name, d.name, order), p, ([v], "might not be valid") if name == "not positive" else [v])
    two = np.stack([full, full + np.eye(6, dtype=full.dtype)])
    p = P(d)
    l = p.SparseMatrixSparseCholesky(csr(p, np.argwhere(two != 0), [2, 6, 6]), np.array([[0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0]], np.int32), type=d)
    p.ret(*p.CSRSparseMatrixToSparseTensor(l, type=d))
    program(FAMILY, "Cholesky of two, %s" % d.name, p, [two[two != 0]])
for name, at, shape in [("a column outside", [[0, 5]], [2, 2]), ("a row outside", [[2, 0]], [2, 2]), ("a place before", [[-1, 0]], [2, 2])]:
    p = P(tf.float32)
    p.ret(p.SparseMatrixNNZ(csr(p, at, shape)))
    program(FAMILY, name, p, ([[1]], "out of bounds"))
gen_programs.write()

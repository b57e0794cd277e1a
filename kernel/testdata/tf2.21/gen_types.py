"""Writes types.json: ops of all families with element types that models seldom hold.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_types.py
"""
import recorder
from recorder import *

recorder.rng = np.random.default_rng(20261206)
FAMILY = "types"  # the cases of ops that stand elsewhere, too, keep their numbers
NP = {"qint8": np.int8, "quint8": np.uint8, "qint16": np.int16, "quint16": np.uint16, "qint32": np.int32}
SHAPES = [((2, 3), (2, 3)), ((4,), ()), ((3, 1), (1, 2)), ((0, 2), (2,))]
A = np.array


def add(op, *inputs, **attrs):
    case(FAMILY, op, list(inputs), attrs)


# --- complex numbers ---------------------------------------------------------------
for d in C:
    for op, names in [("TanhGrad", ("y", "dy")), ("SigmoidGrad", ("y", "dy")), ("SqrtGrad", ("y", "dy")), ("RsqrtGrad", ("y", "dy")), ("ReciprocalGrad", ("y", "dy")), ("InvGrad", ("y", "dy"))]:
        for shape in [(3, 4), (), (0,)]:
            add(op, (names[0], rand(d, shape)), (names[1], rand(d, shape)))
    for op in ("Xdivy", "Xlogy", "Xlog1py"):
        for a, b in SHAPES:
            x = rand(d, a)
            add(op, ("x", np.where(rng.integers(0, 3, a) == 0, 0, x).astype(x.dtype)), ("y", rand(d, b)))
    for op in ("Expm1", "Log1p"):
        for r in (4, 0.5) + ((0.01,) if op == "Expm1" else ()):  # TensorFlow's Log1p loses digits near 0
            add(op, ("x", rand(d, (3, 5), -r, r)))
    for axis in ([0], [1], [0, 1], [], [-1]):
        add("EuclideanNorm", ("input", rand(d, (3, 4))), ("axis", A(axis, np.int32)), keep_dims=axis == [1])
for d in I + U:
    for axis in ([0], [1], [0, 1], []):
        add("EuclideanNorm", ("input", rand(d, (3, 4), -4, 5)), ("axis", A(axis, np.int32)), keep_dims=axis == [1])

# --- halves ------------------------------------------------------------------------
for d in F[2:]:
    np_d = np_of(d)
    for v in [(0, 5, 1), (0.1, 5, 0.3), (3, -2, -0.7), (1, 1, 1), (0, 300, 1), (-0.5, 0.5, 0.01)]:
        add("Range", *[(n, A(x, np_d)) for n, x in zip(("start", "limit", "delta"), v)])
    rows = np.sort(rand(d, (3, 6)).astype(np.float32)).astype(np_d)
    values = np.concatenate([rows[:, ::2], rand(d, (3, 4))], 1)
    for op in ("LowerBound", "UpperBound"):
        for t in (tf.int32, tf.int64):
            add(op, ("sorted_inputs", rows), ("values", values), out_type=t)
    add("SparseFillEmptyRowsGrad", ("reverse_index_map", A([0, 3, 4], np.int64)), ("grad_values", rand(d, (6,))))
    at = A([[0, 1], [0, 2], [1, 0], [2, 2]], np.int64)
    for adjoint_a in (False, True):
        for adjoint_b in (False, True):
            add("SparseTensorDenseMatMul", ("a_indices", at), ("a_values", rand(d, (4,))), ("a_shape", A([3, 3], np.int64)), ("b", rand(d, (2, 3) if adjoint_b else (3, 2))), adjoint_a=adjoint_a, adjoint_b=adjoint_b)
for d in F:
    for a, b in SHAPES:
        y = rand(d, b)
        add("TruncateDiv", ("x", rand(d, a, -20, 20)), ("y", np.where(y == 0, np.ones_like(y), y).astype(np_of(d))))

# --- values that aren't numbers -------------------------------------------------------------
for x, y in [(s("a", "bc"), s("", "d")), (s("a", "b", shape=(2, 1)), s("x", "y", "zz")), (one("q"), s("1", "2")), (s(shape=(0,)), s("a"))]:
    add("Add", ("x", x), ("y", y))
for indices, shape, inner in [([[0], [2], [0]], [4], ()), ([[1], [1], [3]], [4, 2], (2,)), ([[0, 1], [0, 1], [1, 0]], [2, 2], ())]:
    updates = rand("bool", (3,) + inner)
    add("ScatterNd", ("indices", A(indices, np.int32)), ("updates", updates), ("shape", A(shape, np.int32)))
    words = s(*[chr(97 + i) * (i % 3) for i in range(updates.size)], shape=updates.shape)
    add("ScatterNd", ("indices", A(indices, np.int32)), ("updates", words), ("shape", A(shape, np.int32)))
    for op in ("ResourceScatterNdAdd", "ResourceScatterNdSub"):
        case(FAMILY, op, [("ref", rand("bool", shape)), ("indices", A(indices, np.int32)), ("updates", updates)], nvars=1)
for q, plain in NP.items():
    x, y = [tf.bitcast(tf.constant(recorder.rng.integers(0, 3, (2, 3)).astype(plain)), getattr(tf, q)) for _ in range(2)]
    for op in ("Equal", "NotEqual"):
        add(op, ("x", x), ("y", y))

# --- unsigned ----------------------------------------------------------------------
for d in ("uint32", "uint64"):
    x = rand(d, (2, 5, 6, 3), 0, 100)
    window = dict(ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
    y, at = tf.nn.max_pool_with_argmax(x.astype(np.float64), 2, 2, "SAME")
    y = y.numpy().astype(x.dtype)
    dy = rand(d, y.shape, 0, 50)
    add("MaxPoolGrad", ("orig_input", x), ("orig_output", y), ("grad", dy), **window)
    add("MaxPoolGradV2", ("orig_input", x), ("orig_output", y), ("grad", dy), ("ksize", A([1, 2, 2, 1], np.int32)), ("strides", A([1, 2, 2, 1], np.int32)), padding="SAME")
    add("MaxPoolGradGrad", ("orig_input", x), ("orig_output", y), ("grad", x), **window)
    add("MaxPoolGradGradV2", ("orig_input", x), ("orig_output", y), ("grad", x), ("ksize", A([1, 2, 2, 1], np.int32)), ("strides", A([1, 2, 2, 1], np.int32)), padding="SAME")
    add("MaxPoolWithArgmax", ("input", x), **window)
    add("MaxPoolGradWithArgmax", ("input", x), ("grad", dy), ("argmax", at.numpy()), **window)
for d in F + I[2:] + ["string", "bool"]:
    add("TensorSummary", ("tensor", s("a", "", "bc") if d == "string" else rand(d, (2, 3))))
write()

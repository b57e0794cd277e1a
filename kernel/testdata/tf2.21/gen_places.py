"""Writes the fixtures of the kernels of sparse and ragged tensors, and of those
that sort rows by their values: sparsetensor.json, ragged.json,
places.json.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_places.py
"""
from recorder import *  # noqa: F403

i32 = lambda *v: np.array(v, np.int32)
i64 = lambda *v: np.array(v, np.int64)


def put(family, op, *inputs, **attrs):
    names = [a.name for a in op_def_registry.get(op).input_arg]
    case(family, op, list(zip(names, inputs)), attrs)


def any_of(d, shape):
    if d == "string":
        x = np.empty(shape, object)
        x.reshape(-1)[:] = [b"v%d" % i for i in range(x.size)]
        return x
    return rand(d, shape)


# --- places ---------------------------------------------------------------------
for d in (np.int32,):
    case("places", "ConcatOffset", [("concat_dim", np.int32(1)), ("shape", [np.array([2, 3, 4], d), np.array([2, 5, 4], d), np.array([2, 0, 4], d)])])
    case("places", "ConcatOffset", [("concat_dim", np.int32(-1)), ("shape", [np.array([7], d), np.array([1], d)])])
for d in ["float32", "float64", "int32", "int64", "string", "bool", "complex64", "uint8", "float16"]:
    x = any_of(d, (4, 3))
    put("places", "Gather", x, np.array([[3, 0], [1, 1]], np.int32))
    put("places", "Gather", x, i64(2))
    for op in ["DynamicStitch", "ParallelDynamicStitch"]:
        case("places", op, [("indices", [i32(0, 2), np.array([[4, 1], [3, 2]], np.int32), np.array(1, np.int32)]), ("data", [any_of(d, (2, 3)), any_of(d, (2, 2, 3)), any_of(d, (3,))])])
    put("places", "DynamicPartition", x, i32(1, 0, 1, 1), num_partitions=3)
    put("places", "DynamicPartition", x, np.array([[1, 0, 1], [1, 0, 0], [0, 1, 0], [1, 1, 1]], np.int32), num_partitions=2)
    if d not in ("string", "bool", "uint8"):
        put("places", "DiagPart", any_of(d, (3, 3)))
        put("places", "DiagPart", any_of(d, (2, 3, 2, 3)))
        put("places", "Diag", any_of(d, (3,)))
        put("places", "Diag", any_of(d, (2, 2)))
case("places", "DynamicStitch", [("indices", [np.array(0, np.int32)]), ("data", [np.array(3, np.float32)])])
for d in ["int32", "int64", "string", "float32", "uint8"]:
    v = any_of(d, (6,)) if d == "string" else np.array([1, 3, 5, 3, 7, 1], np_of(d))
    w = v[1:3]
    for o in [tf.int32, tf.int64]:
        put("places", "ListDiff", v, w, out_idx=o)
    put("places", "ListDiff", v[:0], w)
    for op in ["UniqueV2", "UniqueWithCountsV2"]:
        for ax in [i32(), i32(0), i64(-1)]:
            put("places", op, v, ax, out_idx=tf.int64)
        m = np.stack([v, v, v[::-1]])
        for ax in [0, 1, -1]:
            put("places", op, m, i32(ax))
for d in ["int32", "int64", "float32", "float64"]:
    put("places", "Bucketize", np.array([[-3, 0, 10], [11, 100, 5]], np_of(d)), boundaries=[0.0, 10.0, 100.0])
    put("places", "Bucketize", rand(d, (7,)), boundaries=[-1.5, -0.5, 0.1, 0.1, 2.0])
    put("places", "Bucketize", rand(d, (2,)), boundaries=[])
    t = np_of(d)
    put("places", "Bincount", i32(1, 1, 5, 2, 9, 1), np.int32(6), np.zeros([0], t))
    put("places", "Bincount", i32(1, 1, 5, 2, 9, 1), np.int32(6), rand(d, (6,)))
    put("places", "Bincount", np.array([[1, 1], [0, 2]], np.int32), np.int32(3), np.zeros([0], t))
    for n in (np.int32, np.int64):
        for b in (False, True):
            put("places", "DenseBincount", np.array([1, 1, 5, 2, 9, 1], n), n(6), np.zeros([0], t), binary_output=b)
            put("places", "DenseBincount", np.array([[1, 1, 5], [2, 9, 1]], n), n(6), np.zeros([0, 0], t), binary_output=b)
        put("places", "DenseBincount", np.array([[1, 1, 5], [2, 9, 1]], n), n(6), rand(d, (2, 3)))
    for op in ["LowerBound", "UpperBound"]:
        for o in [tf.int32, tf.int64]:
            put("places", op, np.array([[0, 1, 1, 4], [2, 2, 3, 9]], t), np.array([[1, 5, -1], [2, 3, 10]], t), out_type=o)
for d in ["int8", "int16", "uint8", "uint16"]:
    for op in ["LowerBound", "UpperBound"]:
        put("places", op, np.array([[0, 1, 1, 4]], np_of(d)), np.array([[1, 5, 0]], np_of(d)))

case("places", "DisableCopyOnRead", [("resource", np.ones(2, np.float32))], nvars=1)

# --- sparse ---------------------------------------------------------------------
for d in ["float32", "int32", "int64", "string", "bool", "float64", "uint8", "complex64", "int8", "int16"]:
    zero = np.array(b"-", object) if d == "string" else np_of(d)(0)
    v = any_of(d, (3,))
    for n in (np.int32, np.int64):
        put("sparsetensor", "SparseToDense", np.array([[0, 1], [1, 0], [1, 2]], n), np.array([2, 3], n), v, zero)
        put("sparsetensor", "SparseToDense", np.array([1, 3, 4], n), np.array([6], n), v, any_of(d, ()) if d != "string" else zero)
    put("sparsetensor", "SparseToDense", np.array([[1, 2], [0, 0], [1, 2]], np.int64), i64(2, 3), v, zero, validate_indices=False)
    put("sparsetensor", "SparseToDense", i64(2), i64(4), v[:1].reshape(()), zero)
    put("sparsetensor", "SparseToDense", i64(0, 2), i64(4), v[:1].reshape(()), zero)
    put("sparsetensor", "SparseToDense", np.zeros((0, 2), np.int64), i64(2, 2), v[:0], zero)
    put("sparsetensor", "SparseReorder", np.array([[1, 2], [0, 1], [1, 0]], np.int64), v, i64(2, 3))
    put("sparsetensor", "SparseFillEmptyRows", np.array([[0, 1], [2, 0], [2, 2]], np.int64), v, i64(5, 3), zero)
    put("sparsetensor", "SparseFillEmptyRows", np.array([[2, 1], [0, 0], [2, 0]], np.int64), v, i64(3, 3), zero)
    put("sparsetensor", "SparseFillEmptyRows", np.array([[0, 1], [1, 0], [1, 2]], np.int64), v, i64(2, 3), zero)
    put("sparsetensor", "SparseFillEmptyRows", np.zeros((0, 2), np.int64), v[:0], i64(2, 3), zero)
    put("sparsetensor", "SparseFillEmptyRows", np.zeros((0, 2), np.int64), v[:0], i64(0, 3), zero)
    put("sparsetensor", "SparseSlice", np.array([[0, 1], [1, 0], [1, 2]], np.int64), v, i64(2, 3), i64(1, 0), i64(5, 2))
    put("sparsetensor", "SparseSlice", np.array([[0, 1], [1, 0], [1, 2]], np.int64), v, i64(2, 3), i64(0, 1), i64(2, 2))
    for axis in (0, 1, -1):
        case("sparsetensor", "SparseConcat", [("indices", [np.array([[0, 1], [1, 0]], np.int64), np.array([[0, 0], [1, 2]], np.int64)]), ("values", [v[:2], v[1:]]), ("shapes", [i64(2, 3), i64(2, 3)])], {"concat_dim": axis})
for d in ["float32", "float64", "int32", "int64"]:
    put("sparsetensor", "SparseFillEmptyRowsGrad", i64(0, 2, 3), rand(d, (5,)))
at = np.array([[0, 0, 1], [1, 2, 0], [1, 2, 4]], np.int64)
for to in [(30,), (5, 6), (-1, 3), (2, -1, 5), (3, 10), (2, 3, 5)]:
    put("sparsetensor", "SparseReshape", at, i64(2, 3, 5), i64(*to))
put("sparsetensor", "SparseReshape", np.zeros((0, 2), np.int64), i64(0, 3), i64(3, 0))
for op in ["SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN"]:
    for d in F + (["int8", "int16", "int32", "int64", "uint8"] if op == "SparseSegmentSum" else []):
        x = rand(d, (5, 3))
        for n in (np.int32, np.int64):
            put("sparsetensor", op, x, np.array([0, 4, 2, 2, 1], n), i32(0, 0, 1, 3, 3))
            put("sparsetensor", op + "WithNumSegments", x, np.array([0, 4, 2, 2, 1], n), i64(0, 0, 1, 3, 3), np.int32(6))
        put("sparsetensor", op, x, i32(), i32())
        put("sparsetensor", op, rand(d, (5, 2, 2)), i32(3, 3), i32(1, 1))
for d in ["float32", "float64", "int32", "complex64", "complex128"]:
    for aa in (False, True):
        for ab in (False, True):
            b = rand(d, (2, 4) if aa else (3, 4))
            put("sparsetensor", "SparseTensorDenseMatMul", np.array([[0, 1], [1, 0], [1, 2]], np.int64), rand(d, (3,)), i64(2, 3), np.ascontiguousarray(b.T) if ab else b, adjoint_a=aa, adjoint_b=ab)

# --- ragged ---------------------------------------------------------------------
for d in ["float32", "int32", "int64", "string", "bool", "float64", "uint8"]:
    zero = np.array(b"-", object) if d == "string" else np_of(d)(0)
    v, m = any_of(d, (6,)), any_of(d, (6, 2))
    for n in (np.int32, np.int64):
        splits, ids = np.array([0, 2, 2, 5, 6], n), np.array([0, 0, 2, 2, 2, 3], n)

        def tensor_of(shape, values, default, parts, types):
            case("ragged", "RaggedTensorToTensor", [("shape", shape), ("values", values), ("default_value", default), ("row_partition_tensors", parts)], {"row_partition_types": types},
                 elsewhere=np.ndim(shape) == 0)  # a graph wants such a shape constant

        for shape in [np.array(-1, n), np.array([-1, -1], n), np.array([4, 2], n), np.array([2, -1], n), np.array([6, 5], n)]:
            tensor_of(shape, v, zero, [splits], ["ROW_SPLITS"])
            tensor_of(shape, v, zero, [np.array(4, n), ids], ["FIRST_DIM_SIZE", "VALUE_ROWIDS"])
        for shape in [np.array([-1, -1, -1], n), np.array([3, 3, 2], n)]:
            tensor_of(shape, m, zero, [splits], ["ROW_SPLITS"])
            tensor_of(shape, m, any_of(d, (2,)), [np.array(4, n), ids], ["FIRST_DIM_SIZE", "VALUE_ROWIDS"])
        tensor_of(np.array([-1, -1, -1], n), v, zero, [np.array([0, 3, 4], n), splits], ["ROW_SPLITS", "ROW_SPLITS"])
        tensor_of(np.array([2, 2, 2], n), v, zero, [np.array(2, n), np.array([0, 0, 0, 1], n), ids], ["FIRST_DIM_SIZE", "VALUE_ROWIDS", "VALUE_ROWIDS"])
        tensor_of(np.array([-1, -1], n), v[:0], zero, [np.array([0, 0, 0], n)], ["ROW_SPLITS"])
        for outer, values in [([splits], v), ([splits], m), ([np.array([0, 3, 4], n), splits], v)]:
            case("ragged", "RaggedTensorToSparse", [("rt_nested_splits", outer), ("rt_dense_values", values)])
            rows = len(outer[0]) - 1
            for idx in [np.array([1, 0, 1], n), np.array([[0, 1], [1, 0]], n)]:
                case("ragged", "RaggedGather", [("params_nested_splits", outer), ("params_dense_values", values), ("indices", idx)], {"OUTPUT_RAGGED_RANK": len(outer) + idx.ndim - 1})
for d in ["int32", "int64", "float32", "float64"]:
    t = np_of(d)
    for o in [tf.int32, tf.int64]:
        put("ragged", "RaggedRange", np.array([0, 5, 3], t), np.array([3, 0, 3], t), np.array([1, -2, 1], t), Tsplits=o)
    put("ragged", "RaggedRange", t(0), np.array([3, 1, 0], t), t(1))
    put("ragged", "RaggedRange", t(0), t(4), t(3))
    put("ragged", "RaggedRange", np.array([], t), t(4), t(3))
    if d[0] == "f":
        put("ragged", "RaggedRange", np.array([0.5, -1], t), np.array([2.25, 1], t), t(0.3))
write()

"""Writes the fixtures of sums, parts, counts, sets and crosses of sparse tensors:
sets.json and programs/sets.json.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_sets.py
"""
import gen_programs
import recorder
from recorder import *  # noqa: F403

i64 = lambda *v: np.array(v, np.int64)
i32 = lambda *v: np.array(v, np.int32)
C_ = lambda op, inputs, attrs=None: case("sets", op, inputs, attrs)
NUMBERS = F + I + U + C
REAL = F + I + U
A = np.array([[0, 0], [0, 2], [2, 1], [2, 2]], np.int64)
B = np.array([[0, 1], [0, 2], [1, 0], [2, 1], [2, 2]], np.int64)
NONE = np.zeros((0, 2), np.int64)
S33 = i64(3, 3)
sp = lambda p, at, v, s: [(p + "_indices", at), (p + "_values", v), (p + "_shape", s)]
few = lambda d, n: rand(d, (n,), -3, 3) if d not in U else rand(d, (n,), 0, 4)

for d in NUMBERS:
    t = np_of(d)
    real = {"complex64": np.float32, "complex128": np.float64}.get(d, t)
    for thresh in (0, 1.5):
        a, b = few(d, 4), few(d, 5)
        C_("SparseAdd", sp("a", A, a, S33) + sp("b", B, b, S33) + [("thresh", np.asarray(thresh, dtype=np.float32).astype(real))])
    C_("SparseAddGrad", [("backprop_val_grad", few(d, 6)), ("a_indices", A), ("b_indices", B), ("sum_indices", np.array([[0, 0], [0, 1], [0, 2], [1, 0], [2, 1], [2, 2]], np.int64))])
    C_("SparseAddGrad", [("backprop_val_grad", few(d, 3)), ("a_indices", A), ("b_indices", B), ("sum_indices", np.array([[0, 0], [1, 0], [2, 2]], np.int64))])
    C_("SparseSliceGrad", [("backprop_val_grad", few(d, 2)), ("input_indices", A), ("input_start", i64(1, 0)), ("output_indices", np.array([[1, 1], [1, 2]], np.int64))])
    C_("SparseTensorDenseAdd", sp("a", A, few(d, 4), S33) + [("b", rand(d, (3, 3), 0, 4))])
    C_("SparseTensorDenseAdd", [("a_indices", i32(0, 2).reshape(2, 1)), ("a_values", few(d, 2)), ("a_shape", i32(3)), ("b", few(d, 3))])
    for keep in (False, True):
        for axes in (i32(1), i32(0), i32(-1, 0), i32(), np.int32(-2)):
            C_("SparseReduceSum", sp("input", A, few(d, 4), S33) + [("reduction_axes", axes)], {"keep_dims": keep})
            C_("SparseReduceSumSparse", sp("input", A, few(d, 4), S33) + [("reduction_axes", axes)], {"keep_dims": keep})
C_("SparseAdd", sp("a", NONE, few("float32", 0), S33) + sp("b", B, few("float32", 5), S33) + [("thresh", np.float32(0))])
C_("SparseAdd", sp("a", NONE, few("float32", 0), S33) + sp("b", NONE, few("float32", 0), S33) + [("thresh", np.float32(0))])
C_("SparseReduceSum", sp("input", NONE, few("float32", 0), S33) + [("reduction_axes", i32(0))])
C_("SparseReduceSumSparse", sp("input", NONE, few("float32", 0), S33) + [("reduction_axes", i32(0))])
for d in REAL:
    for axes in (i32(1), i32(0), i32(-1, 0), i32()):
        C_("SparseReduceMax", sp("input", A, few(d, 4), S33) + [("reduction_axes", axes)], {"keep_dims": axes.size == 1})
        C_("SparseReduceMaxSparse", sp("input", A, few(d, 4), S33) + [("reduction_axes", axes)], {"keep_dims": axes.size == 2})
    for op in ("SparseSparseMaximum", "SparseSparseMinimum"):
        C_(op, sp("a", A, few(d, 4), S33) + sp("b", B, few(d, 5), S33))
    for op in ("SparseDenseCwiseAdd", "SparseDenseCwiseMul", "SparseDenseCwiseDiv"):
        for shape in ((3, 3), (3,), (1, 3), (3, 1), (1,), ()):
            C_(op, sp("sp", A, few(d, 4), S33) + [("dense", np.asarray(rand(d, shape, 1, 5)).astype(np_of(d)).reshape(shape))])
for op in ("SparseSparseMaximum", "SparseSparseMinimum"):
    C_(op, sp("a", NONE, few("float32", 0), S33) + sp("b", NONE, few("float32", 0), S33))
for d in ["float32", "float64", "float16", "bfloat16"]:
    C_("SparseSoftmax", sp("sp", B, rand(d, (5,), -4, 4), S33))
    C_("SparseSoftmax", sp("sp", np.array([[0, 0, 1], [0, 1, 0], [0, 1, 1], [1, 0, 0]], np.int64), rand(d, (4,), -4, 4), i64(2, 2, 2)))
C_("SparseSoftmax", sp("sp", NONE, few("float32", 0), S33))

for d in ["float32", "int64", "bool", "complex64", "uint8"]:
    for axis, n in ((0, 3), (0, 2), (1, 1), (1, 2), (-1, 3)):
        v = rand(d, (5,))
        C_("SparseSplit", [("split_dim", np.int64(axis)), ("indices", B), ("values", v), ("shape", S33)], {"num_split": n})
C_("SparseSplit", [("split_dim", np.int64(0)), ("indices", A), ("values", s("a", "b", "c", "d")), ("shape", i64(7, 3))], {"num_split": 4})

for v in [few("float32", 5), s("a", "", "c", b"\xff", "e"), few("int64", 5), np.array([True, False, True, False, True])]:
    C_("SerializeSparse", sp("sparse", B, v, S33))
    C_("SerializeManySparse", sp("sparse", B, v, i64(4, 3)))
    one_ = tf.io.serialize_sparse(tf.SparseTensor(B, v, S33)).numpy()
    many = tf.io.serialize_many_sparse(tf.SparseTensor(B, v, i64(4, 3))).numpy()
    d = tf.convert_to_tensor(v).dtype
    C_("DeserializeSparse", [("serialized_sparse", one_)], {"dtype": d})
    C_("DeserializeSparse", [("serialized_sparse", one_.reshape(1, 3))], {"dtype": d})
    C_("DeserializeSparse", [("serialized_sparse", many)], {"dtype": d})
    C_("DeserializeSparse", [("serialized_sparse", many.reshape(2, 2, 3))], {"dtype": d})
    C_("DeserializeManySparse", [("serialized_sparse", many)], {"dtype": d})
    C_("DeserializeManySparse", [("serialized_sparse", one_.reshape(1, 3))], {"dtype": d})

for d in ["int32", "int64"]:
    t = np_of(d)
    for w in ["int32", "int64", "float32", "float64"]:
        for weights in (np.zeros((0,), np_of(w)), rand(w, (5,), 1, 5)):
            for binary in (False, True):
                for lo, hi in ((-1, -1), (6, -1), (-1, 3), (2, 2)):
                    k = {"minlength": lo, "maxlength": hi, "binary_output": binary}
                    v = np.array([1, 3, 1, 0, 3], t)
                    C_("SparseCountSparseOutput", [("indices", B), ("values", v), ("dense_shape", i64(4, 3)), ("weights", weights)], k)
                    C_("SparseCountSparseOutput", [("indices", B[:, 1:]), ("values", v), ("dense_shape", i64(3)), ("weights", weights)], k)
                    C_("DenseCountSparseOutput", [("values", v), ("weights", weights)], k)
                    C_("DenseCountSparseOutput", [("values", v[:4].reshape(2, 2)), ("weights", weights[:4].reshape(2, 2) if weights.size else weights)], k)
                    C_("RaggedCountSparseOutput", [("splits", i64(0, 3, 3, 5)), ("values", v), ("weights", weights)], k)
                for size in (2, 5):
                    k = {"binary_output": binary}
                    C_("SparseBincount", [("indices", B), ("values", v), ("dense_shape", i64(4, 3)), ("size", t(size)), ("weights", weights)], k)
                    C_("SparseBincount", [("indices", B[:, 1:]), ("values", v), ("dense_shape", i64(3)), ("size", t(size)), ("weights", weights)], k)
                    C_("RaggedBincount", [("splits", i64(0, 3, 3, 5)), ("values", v), ("size", t(size)), ("weights", weights)], k)

for d in F:
    for it in (np.int32, np.int64):
        for name in ("Sum", "Mean", "SqrtN"):
            g = [("grad", rand(d, (3, 2), -2, 2)), ("indices", np.array([3, 0, 3, 1], it)), ("segment_ids", i32(0, 0, 2, 2))]
            C_("SparseSegment%sGrad" % name, g + [("output_dim0", np.int32(5))])
            C_("SparseSegment%sGradV2" % name, g + [("dense_output_dim0", np.int32(5))])
C_("SparseSegmentSumGrad", [("grad", np.zeros((0, 2), np.float32)), ("indices", i32()), ("segment_ids", i32()), ("output_dim0", np.int32(2))])

AT = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 0, 1], [1, 0, 2]], np.int64)
BT = np.array([[0, 0, 0], [0, 0, 1], [0, 0, 2], [1, 0, 0], [1, 1, 0]], np.int64)
for d in F + I + ["uint8", "uint16", "uint32", "uint64", "bool", "complex64"]:
    a, b = np.array([1, 2, 1, 3, 0, 1]).astype(np_of(d)), np.array([1, 3, 2, 3, 1]).astype(np_of(d))
    for normalize in (True, False):
        C_("EditDistance", [("hypothesis_indices", AT), ("hypothesis_values", a), ("hypothesis_shape", i64(2, 2, 3)), ("truth_indices", BT), ("truth_values", b), ("truth_shape", i64(2, 3, 3))], {"normalize": normalize})
C_("EditDistance", [("hypothesis_indices", NONE), ("hypothesis_values", s()), ("hypothesis_shape", i64(2, 2)), ("truth_indices", B), ("truth_values", s(*"abcde")), ("truth_shape", S33)], {"normalize": True})
C_("EditDistance", [("hypothesis_indices", i64(0, 1, 2, 3, 4, 5).reshape(6, 1)), ("hypothesis_values", s(*"kitten")), ("hypothesis_shape", i64(6)), ("truth_indices", i64(*range(7)).reshape(7, 1)), ("truth_values", s(*"sitting")), ("truth_shape", i64(7))], {"normalize": False})

for d in ["int8", "int16", "int32", "int64", "uint8", "uint16", "string"]:
    def v(*x, shape=None):
        a = s(*[str(e) for e in x]) if d == "string" else np.array(x, np_of(d))
        return a.reshape(shape) if shape else a
    D1, D2 = v(1, 2, 2, 3, 9, 3, shape=(3, 2)), v(2, 3, 4, 3, 5, 3, 3, 3, 3, shape=(3, 3))
    S1, S2 = v(2, 1, 9, 9), v(1, 2, 4, 7, 7)
    for op in ("a-b", "b-a", "intersection", "union", "UNION"):
        C_("DenseToDenseSetOperation", [("set1", D1), ("set2", D2)], {"set_operation": op})
        C_("DenseToSparseSetOperation", [("set1", D1)] + sp("set2", B, S2, S33), {"set_operation": op})
        C_("SparseToSparseSetOperation", sp("set1", A, S1, i64(3, 3)) + sp("set2", B, S2, i64(3, 4)), {"set_operation": op, "validate_indices": op != "union"})
    C_("SetSize", [("set_indices", B), ("set_values", S2), ("set_shape", i64(4, 3))])
C_("DenseToDenseSetOperation", [("set1", i32(1, 2, 3, 4, 5, 6, 7, 8).reshape(2, 2, 2)), ("set2", i32(1, 1, 4, 4).reshape(2, 2, 1))], {"set_operation": "a-b"})
C_("DenseToDenseSetOperation", [("set1", np.zeros((2, 0), np.int32)), ("set2", i32(1, 4).reshape(2, 1))], {"set_operation": "b-a"})
C_("DenseToDenseSetOperation", [("set1", np.zeros((2, 0), np.int32)), ("set2", np.zeros((2, 0), np.int32))], {"set_operation": "union"})
C_("SetSize", [("set_indices", NONE), ("set_values", s()), ("set_shape", i64(4, 3))])
C_("SetSize", [("set_indices", AT), ("set_values", i64(1, 1, 2, 2, 3, 3)), ("set_shape", i64(2, 2, 3))])

VA, VB, SH = s("a", "b", "c", "d"), i64(7, -8, 300, 1 << 40, 0), S33
D = np.array([[1, 2], [3, 4], [5, 6]], np.int64)
DS = s("x", "y", "z", shape=(3, 1))
i64t = tf.int64
for hashed in (False, True):
    for n in (0, 100):
        out = i64t if hashed else tf.string
        k = {"hashed_output": hashed, "num_buckets": n, "hash_key": 956888297470, "out_type": out, "internal_type": i64t}
        C_("SparseCross", [("indices", [A, B]), ("values", [VA, VB]), ("shapes", [SH, SH]), ("dense_inputs", [D])], k)
        C_("SparseCross", [("indices", [A]), ("values", [VA]), ("shapes", [SH]), ("dense_inputs", [DS])], dict(k, internal_type=tf.string))
        C_("SparseCross", [("indices", [A, B]), ("values", [VA, VB]), ("shapes", [SH, SH]), ("dense_inputs", [])], k)
        for order, splits in (("RSD", i64t), ("DSR", tf.int32)):
            C_("RaggedCross", [("ragged_values", [VA]), ("ragged_row_splits", [np.array([0, 1, 1, 4], splits.as_numpy_dtype)]), ("sparse_indices", [B]), ("sparse_values", [VB]), ("sparse_shape", [SH]), ("dense_inputs", [D])],
               {"input_order": order, "hashed_output": hashed, "num_buckets": n, "hash_key": 3, "out_values_type": out, "out_row_splits_type": splits})
C_("SparseCrossV2", [("indices", [A, B]), ("values", [VA, VB]), ("shapes", [SH, SH]), ("dense_inputs", [D]), ("sep", one("_Y_"))])
C_("SparseCrossV2", [("indices", []), ("values", []), ("shapes", []), ("dense_inputs", [D, DS]), ("sep", one(""))])
for strong in (False, True):
    for n in (0, 1000):
        C_("SparseCrossHashed", [("indices", [A, B]), ("values", [VA, VB]), ("shapes", [SH, SH]), ("dense_inputs", []), ("num_buckets", np.int64(n)), ("strong_hash", np.bool_(strong)), ("salt", i64(137, -2))])

P = gen_programs.P
INT = tf.int64
p = P(INT, tf.string)
shape = np.array([3, 3], np.int64)
h = p.AddManySparseToTensorsMap(p.args[0], p.args[1], shape, shared_name="m")
p.ret(h, *p.TakeManySparseFromTensorsMap(h, dtype=tf.string, shared_name="m"))
gen_programs.program("sets", "AddManySparseToTensorsMap", p, [A, ["a", "b", "c", "d"]], [B, ["", "b", "c", "d", "e"]])
p = P(INT, tf.float32, INT)
a = p.AddSparseToTensorsMap(p.args[0], p.args[1], p.args[2], shared_name="m", container="c")
b = p.AddSparseToTensorsMap(np.array([[1, 0]], np.int64), np.array([5.0], np.float32), np.array([2, 2], np.int64), shared_name="m", container="c", control=[a])
p.ret(a, b, *p.TakeManySparseFromTensorsMap(p.Pack([b, a], axis=0), dtype=tf.float32, shared_name="m", container="c"))
gen_programs.program("sets", "AddSparseToTensorsMap", p, [A, [1, 2, 3, 4], [3, 3]], [A, [5, 6, 7, 8], [4, 5]])
for op in ("SerializeSparse", "SerializeManySparse"):
    p = P(INT, tf.float32, INT)
    v = getattr(p, op)(p.args[0], p.args[1], p.args[2], out_type=tf.variant)
    p.ret(*p.DeserializeSparse(v, dtype=tf.float32))
    gen_programs.program("sets", op + " as a variant", p, [A, [1, 2, 3, 4], [3, 3]])
gen_programs.write()
recorder.write()

"""Writes the fixtures of ops that move elements, reduce segments and scatter.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_moves.py
"""
import numpy as np
import tensorflow as tf

from recorder import *

ALL = F + I + U + C
ANY = ALL + ["bool"]
i32 = lambda *v: np.array(v, np.int32)
i64 = lambda *v: np.array(v, np.int64)


def move(op, inputs, attrs=None, **kw):
    case("moves", op, inputs, attrs, **kw)


# --- segments -----------------------------------------------------------------
for op in ["SegmentSum", "SegmentMean", "SegmentProd", "SegmentMin", "SegmentMax"]:
    for d in F + I + U + (C if op in ("SegmentSum", "SegmentMean", "SegmentProd") else []):
        move(op, [("data", rand(d, (5, 2), -3, 4)), ("segment_ids", i32(0, 0, 2, 2, 2))])
    for dims, ids in [((4,), i64(0, 1, 1, 3)), ((0, 2), i32()), ((2, 0), i32(0, 3)), ((3, 2, 2), i32(1, 1, 1)), ((1, 1), i64(2))]:
        move(op, [("data", rand("float32", dims)), ("segment_ids", ids)])
for op in ["UnsortedSegmentProd", "UnsortedSegmentMin", "UnsortedSegmentMax"]:
    for d in F + I + U + (C if op == "UnsortedSegmentProd" else []):
        move(op, [("data", rand(d, (5, 2), -3, 4)), ("segment_ids", i32(3, 0, 3, -1, 0)), ("num_segments", np.int32(5))])
    move(op, [("data", rand("float32", (2, 3, 2))), ("segment_ids", np.array([[0, 1, 0], [1, 1, 0]], np.int64)), ("num_segments", np.int64(2))])
    move(op, [("data", rand("float32", (2, 3))), ("segment_ids", np.array([[0, 1, 0], [1, 1, 3]], np.int16)), ("num_segments", np.int32(4))])
    move(op, [("data", rand("float32", ())), ("segment_ids", np.int32(1)), ("num_segments", np.int32(3))])
    move(op, [("data", rand("float32", (0, 2))), ("segment_ids", i32()), ("num_segments", np.int32(2))])
move("UnsortedSegmentSum", [("data", rand("float32", (2, 3))), ("segment_ids", np.array([[0, 1, 0], [1, 1, 3]], np.int16)), ("num_segments", np.int32(4))])

# --- scatters -----------------------------------------------------------------
for op in ["TensorScatterUpdate", "TensorScatterAdd", "TensorScatterSub", "TensorScatterMin", "TensorScatterMax", "ScatterNdNonAliasingAdd"]:
    first = "input" if op.startswith("ScatterNd") else "tensor"
    repeat = [[3], [0]] if op == "TensorScatterUpdate" else [[3], [0], [3]]
    for d in ALL + ["bool"]:
        move(op, [(first, rand(d, (4, 2))), ("indices", np.array(repeat, np.int32)), ("updates", rand(d, (len(repeat), 2)))])
    move(op, [(first, rand("float32", (3, 4))), ("indices", np.array([[[2, 3], [0, 0]]], np.int64)), ("updates", rand("float32", (1, 2)))])
    move(op, [(first, rand("float32", (5,))), ("indices", i64(2)), ("updates", rand("float32", ()))])
    move(op, [(first, rand("float32", (5,))), ("indices", np.zeros((0, 1), np.int32)), ("updates", rand("float32", (0,)))])
    move(op, [(first, rand("float32", (3, 2))), ("indices", np.array([[5], [1], [-1]], np.int32)), ("updates", rand("float32", (3, 2)))], {"bad_indices_policy": "IGNORE"})
move("TensorScatterUpdate", [("tensor", s("a", "b", "c")), ("indices", np.array([[2], [0]], np.int32)), ("updates", s("xx", ""))])
move("ScatterNd", [("indices", np.array([[5], [1]], np.int32)), ("updates", rand("float32", (2, 2))), ("shape", i32(3, 2))], {"bad_indices_policy": "IGNORE"})
move("GatherNd", [("params", rand("float32", (3, 2))), ("indices", np.array([[5], [1]], np.int32))], {"bad_indices_policy": "IGNORE"})


def update(shape, begin, end, strides, value, d="float32", **masks):
    a = {k: masks.get(k, 0) for k in ["begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"]}
    sl = [("begin", i32(*begin)), ("end", i32(*end)), ("strides", i32(*strides)), ("value", rand(d, value))]
    x = rand(d, shape)
    if value != (7,):
        move("TensorStridedSliceUpdate", [("input", x)] + sl, a)
    move("ResourceStridedSliceAssign", [("ref", x)] + sl, a, nvars=1)


for d in ANY:
    update((5, 6), (1, 0), (4, 6), (1, 2), (3, 3), d)
update((5, 6), (0, 5), (0, 0), (1, -1), (5, 6), begin_mask=1, end_mask=3)
update((3, 4, 5), (1, 2), (2, 0), (1, 1), (2, 5), shrink_axis_mask=1, end_mask=2)
update((3, 4, 5), (0, 0, 1), (0, 0, 2), (1, 1, 1), (1, 3, 4), new_axis_mask=1, ellipsis_mask=2, shrink_axis_mask=4)
update((3, 4), (2, 3), (1, 9), (1, 1), (0, 1))
update((3, 4), (2, 3), (1, 9), (1, 1), (7,))
update((4,), (-9,), (9,), (3,), (2,))
update((5, 6), (1, 0), (4, 6), (1, 2), (3,))
update((5, 6), (1, 0), (4, 6), (1, 2), (3, 1))
update((5, 6), (1, 0), (4, 6), (1, 2), ())
update((3, 4, 5), (1, 2), (2, 0), (1, 1), (5,), shrink_axis_mask=1, end_mask=2)
update((4,), (1,), (2,), (1,), (), shrink_axis_mask=1)
move("TensorStridedSliceUpdate", [("input", s("a", "b", "c")), ("begin", i64(1)), ("end", i64(3)), ("strides", i64(1)), ("value", s("xx", ""))])

# --- moves --------------------------------------------------------------------
for d in ANY:
    move("Roll", [("input", rand(d, (3, 4))), ("shift", i32(1, -1)), ("axis", i32(0, 1))])
    move("Concat", [("concat_dim", np.int32(1)), ("values", [rand(d, (2, 1)), rand(d, (2, 3))])])
    move("Reverse", [("tensor", rand(d, (2, 3))), ("dims", np.array([True, False]))])
    move("ConjugateTranspose", [("x", rand(d, (2, 3))), ("perm", i32(1, 0))])
    move("ParallelConcat", [("values", [rand(d, (1, 2)), rand(d, (1, 2))])], {"shape": [2, 2]})
    move("DeepCopy", [("x", rand(d, (2, 2)))])
    move("Empty", [("shape", i32(2, 3))], {"dtype": tf.as_dtype(d), "init": True})
    move("ToBool", [("input", rand(d, (), 0, 2))])
    move("InplaceUpdate", [("x", rand(d, (4, 2))), ("i", i32(1, -1, 6)), ("v", rand(d, (3, 2)))])
for d in ALL:
    move("InplaceAdd", [("x", rand(d, (4, 2))), ("i", i32(1, -1, 1)), ("v", rand(d, (3, 2)))])
    move("InplaceSub", [("x", rand(d, (4, 2))), ("i", i32(1, -1, 1)), ("v", rand(d, (3, 2)))])
move("InplaceUpdate", [("x", rand("float32", (4, 2, 2))), ("i", i32(3)), ("v", rand("float32", (1, 2, 2)))])
move("InplaceUpdate", [("x", rand("float32", (4, 2))), ("i", i32()), ("v", rand("float32", (0, 2)))])
for v in [s("a", "b", "c")]:
    move("Roll", [("input", v), ("shift", np.int64(-2)), ("axis", np.int64(-1))])
    move("Concat", [("concat_dim", np.int32(-1)), ("values", [v, v])])
    move("Reverse", [("tensor", v), ("dims", np.array([True]))])
    move("ParallelConcat", [("values", [v[:1], v[1:2]])], {"shape": [2]})
    move("DeepCopy", [("x", v)])
move("ToBool", [("input", one(""))])
move("ToBool", [("input", one("a"))])
move("ToBool", [("input", np.zeros((0, 2), np.float32))])
move("ToBool", [("input", np.zeros((1,), np.float32))])
move("ToBool", [("input", np.float32(-0.0))])
move("Empty", [("shape", i32())], {"dtype": tf.string, "init": False})
move("Fact", [])
for shape, shift, axis in [((5,), i64(7), i64(0)), ((2, 3, 4), i32(1, 2, -5), i32(1, 1, 2)), ((0, 3), i32(1), i32(0)), ((3, 2), i32(0), i32(0)), ((4, 4), i32(-9, 5), i32(-1, -2))]:
    move("Roll", [("input", rand("float32", shape)), ("shift", shift), ("axis", axis)])
move("Reverse", [("tensor", rand("float32", ())), ("dims", np.zeros((0,), bool))])
move("Reverse", [("tensor", rand("float32", (2, 3, 2))), ("dims", np.array([True, False, True]))])
move("ConjugateTranspose", [("x", rand("complex64", (2, 3, 2))), ("perm", i64(2, 0, 1))])
for d in F + ["int32", "int64", "complex64"]:
    x = rand(d, (4, 6))
    move("TileGrad", [("input", x), ("multiples", i32(2, 3))], elsewhere=True,
         raw=lambda input, multiples: tf.reduce_sum(tf.cast(tf.reshape(input, (2, 2, 3, 2)), input.dtype), (0, 2)))

# --- orders -------------------------------------------------------------------
for d in F + I + U:
    x = rand(d, (2, 5), -9, 9)
    move("TopK", [("input", x)], {"k": 3}, elsewhere=True, raw=lambda input, k: tf.math.top_k(input, k))
    move("NthElement", [("input", x), ("n", np.int32(1))])
    move("NthElement", [("input", x), ("n", np.int32(1))], {"reverse": True})
    move("HistogramFixedWidth", [("values", rand(d, (9,), -5, 9)), ("value_range", np.array([0, 6], np_of(d))), ("nbins", np.int32(4))])
for d in F:
    move("TopKV2", [("input", rand(d, (2, 5))), ("k", np.int32(3))])
move("TopKV2", [("input", rand("float32", (2, 5))), ("k", np.int32(3))], {"index_type": tf.int64})
move("TopKV2", [("input", rand("float32", (2, 5))), ("k", np.int32(3))], {"index_type": tf.int16})
move("NthElement", [("input", rand("float32", (2, 2, 3))), ("n", np.int32(2))])
move("HistogramFixedWidth", [("values", rand("float64", (2, 9), -5, 9)), ("value_range", np.array([-1, 6], np.float64)), ("nbins", np.int32(7))], {"dtype": tf.int64})
move("HistogramFixedWidth", [("values", rand("float32", (0,))), ("value_range", np.array([-1, 6], np.float32)), ("nbins", np.int32(3))])
big = np.array([[0.1, 0.9, 0.5, 0.5], [0.3, np.inf, 0.1, 0], [0.3, np.nan, 0.1, 0], [1, 2, 3, 4], [4, 3, 2, 1]], np.float32)
for t in (np.int32, np.int64):
    targets = np.array([2, 0, 0, 7, 1], t)
    for k in (0, 1, 2, 3, 9):
        move("InTopK", [("predictions", big), ("targets", targets)], {"k": k})
        move("InTopKV2", [("predictions", big), ("targets", targets), ("k", t(k))])
for t in (np.int32, np.int64):
    move("UnravelIndex", [("indices", np.array([0, 5, 11, 7], t)), ("dims", np.array([3, 4], t))])
    move("UnravelIndex", [("indices", t(23)), ("dims", np.array([2, 3, 4], t))])
    move("UnravelIndex", [("indices", np.zeros((0,), t)), ("dims", np.array([2, 3, 4], t))])
    move("DataFormatDimMap", [("x", np.array([0, 1, 2, 3, -1, -4], t))])
    move("DataFormatDimMap", [("x", np.array([[0, 4], [2, -5]], t))], {"src_format": "NDHWC", "dst_format": "NCDHW"})
    move("DataFormatVecPermute", [("x", np.array([7, 4, 9, 3], t))])
    move("DataFormatVecPermute", [("x", np.array([[7, 4], [9, 3], [4, 5], [5, 1]], t))], {"src_format": "NCHW", "dst_format": "NHWC"})
    move("DataFormatVecPermute", [("x", np.array([7, 4], t))])
    move("DataFormatVecPermute", [("x", np.array([[7, 4], [9, 3]], t))], {"src_format": "HWNC", "dst_format": "NCWH"})
    move("DataFormatVecPermute", [("x", np.array([7, 4, 9, 3, 1], t))], {"src_format": "NDHWC", "dst_format": "NCDHW"})
for d in F + I:
    for out in ["float32", "float64"] + ([d] if d in F else []):
        if d not in F2 or d == out:
            move("IsotonicRegression", [("input", rand(d, (3, 6)))], {"output_dtype": tf.as_dtype(out)})
move("IsotonicRegression", [("input", np.array([[1, 1, 2, 2, 2, 0, 0], [5, 4, 4, 3, 3, 3, 9]], np.int64))], {"output_dtype": tf.float64})
move("IsotonicRegression", [("input", np.zeros((2, 0), np.float32))])

for d in ALL:
    move("BiasAddV1", [("value", rand(d, (2, 3))), ("bias", rand(d, (3,)))])

# --- diagonals ----------------------------------------------------------------
for d in ANY:
    pad = rand(d, (), 1, 3)
    m, v = rand(d, (2, 3, 4)), rand(d, (2, 3, 3))
    k = i32(-1, 1)
    move("MatrixDiagV2", [("diagonal", v), ("k", k), ("num_rows", np.int32(3)), ("num_cols", np.int32(4)), ("padding_value", pad)])
    move("MatrixDiagPartV2", [("input", m), ("k", k), ("padding_value", pad)])
    move("MatrixSetDiagV2", [("input", m), ("diagonal", v), ("k", k)])
    move("MatrixSetDiag", [("input", m), ("diagonal", rand(d, (2, 3)))])
    move("BatchMatrixDiag", [("diagonal", rand(d, (2, 3)))], old=True)
    move("BatchMatrixDiagPart", [("input", m)], old=True)
    move("BatchMatrixSetDiag", [("input", m), ("diagonal", rand(d, (2, 3)))], old=True)
    move("BatchMatrixBandPart", [("input", m), ("num_lower", np.int64(1)), ("num_upper", np.int64(0))], old=True)
for align in ["LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"]:
    for shape, k in [((3, 4), (-1, 1)), ((2, 5, 2), (-3, -1)), ((2, 2, 5), (1, 4)), ((4, 3), (-3,)), ((1, 3, 3), (0, 0))]:
        m = rand("float32", shape)
        pad = np.float32(9)
        part = tf.raw_ops.MatrixDiagPartV3(input=m, k=i32(*k), padding_value=pad, align=align)
        move("MatrixDiagPartV3", [("input", m), ("k", i32(*k)), ("padding_value", pad)], {"align": align})
        move("MatrixSetDiagV3", [("input", m), ("diagonal", rand("float32", part.shape)), ("k", i32(*k))], {"align": align})
        for rows, cols in [(shape[-2], shape[-1])] + ([(-1, -1), (shape[-2], -1)] if len(k) == 1 else []):
            move("MatrixDiagV3", [("diagonal", rand("float32", part.shape)), ("k", i32(*k)), ("num_rows", np.int32(rows)), ("num_cols", np.int32(cols)), ("padding_value", pad)], {"align": align})
    move("MatrixDiagPartV3", [("input", rand("float64", (2, 3))), ("k", np.int32(1)), ("padding_value", np.float64(0))], {"align": align})

write()

"""Writes the fixtures of ops that move the elements of tensors of variants:
programs/arranged.json. Ops that TensorFlow's CPU has for no variants are left out.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_arranged.py
"""
import gen_programs
from gen_programs import *  # noqa: F403

V = np.arange(9, dtype=np.float32)
A = lambda *v: np.array(v, np.int32)
SPLITS = np.array([0, 2, 2, 5, 9], np.int64)  # four rows


def arranged(name, rank, f, whole=False):
    """A program that arranges the rows by f; rank is that of f's result."""
    p = P(F32)
    got = f(p, p.RaggedTensorToVariant([SPLITS], p.args[0], batched_input=True))
    if whole:
        p.ret(*(got if isinstance(got, list) else [got]))
    else:
        r = p.RaggedTensorFromVariant(got, input_ragged_rank=0, output_ragged_rank=rank, Tvalues=F32, Tsplits=I64)
        p.ret(*(r if isinstance(r, list) else [r]))
    program("arranged", name, p, [V])


square = lambda p, e: p.Reshape(e, A(2, 2))
arranged("Shape", 1, lambda p, e: [p.Shape(e), p.Shape(square(p, e), out_type=I64), p.Rank(e), p.Size(e), *p.ShapeN([e, square(p, e)])], whole=True)
arranged("Reshape", 2, square)
arranged("Reshape to a scalar", 0, lambda p, e: p.Reshape(p.Slice(e, A(2), A(1)), A()))
arranged("Squeeze", 1, lambda p, e: p.Squeeze(p.Reshape(e, A(4, 1))))
arranged("Transpose", 2, lambda p, e: p.Transpose(square(p, e), A(1, 0)))
arranged("BroadcastTo", 2, lambda p, e: p.BroadcastTo(e, A(2, 4)))
arranged("ConcatV2", 1, lambda p, e: p.ConcatV2([e, p.Slice(e, A(1), A(2))], np.int32(0)))
arranged("Pack", 2, lambda p, e: p.Pack([e, e], axis=1))
arranged("Pack of scalars", 1, lambda p, e: p.Pack([p.GatherV2(e, np.int32(3), np.int32(0)), p.GatherV2(e, np.int32(0), np.int32(0))]))
arranged("Unpack", 0, lambda p, e: p.Unpack(e, num=4)[2])
arranged("Slice", 1, lambda p, e: p.Slice(e, A(1), A(-1)))
arranged("StridedSlice", 1, lambda p, e: p.StridedSlice(e, A(3), A(0), A(-2)))
arranged("StridedSlice of one", 0, lambda p, e: p.StridedSlice(e, A(2), A(3), A(1), shrink_axis_mask=1))
arranged("Roll", 1, lambda p, e: p.Roll(e, A(1), A(0)))
arranged("Tile", 1, lambda p, e: p.Tile(e, A(2)))
arranged("GatherV2", 2, lambda p, e: p.GatherV2(e, np.array([[3, 0], [2, 2]], np.int32), np.int32(0)))
arranged("GatherNd", 1, lambda p, e: p.GatherNd(square(p, e), np.array([[1, 1], [0, 1]], np.int32)))
arranged("DynamicStitch", 1, lambda p, e: p.DynamicStitch([A(1, 0), A(3, 2)], [p.Slice(e, A(0), A(2)), p.Slice(e, A(2), A(2))]))
arranged("DynamicPartition", 1, lambda p, e: p.DynamicPartition(e, A(1, 0, 0, 1), num_partitions=2)[0])
gen_programs.write()

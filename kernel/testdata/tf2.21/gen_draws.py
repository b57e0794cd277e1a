"""Writes the programs of ops that keep state and were not in TensorFlow's first lists:
references to slices, random numbers of generators.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_draws.py
"""
from gen_programs import *


def slices():
    for d in [F32, I32, T.complex64, T.bool]:
        p = P(d)
        v = p.VariableV2(shape=[2, 3], dtype=d, container="", shared_name="sliced")
        a = p.Assign(v, np.zeros((2, 3), d.as_numpy_dtype), validate_shape=True, use_locking=True)
        masks = {"begin_mask": 1, "end_mask": 1, "ellipsis_mask": 0, "new_axis_mask": 0, "shrink_axis_mask": 0}
        b = p.StridedSliceAssign(a, np.array([0, 2], np.int32), np.array([0, 0], np.int32), np.array([1, -1], np.int32), p.args[0], **masks)
        p.ret(p.Identity(b), p.Identity(v, control=[b]))
        program("draws", "StridedSliceAssign of " + d.name, p, [[[1, 0], [1, 1]]], [[1, 0]], ([[1, 0, 1]], "shape"))


if __name__ == "__main__":
    slices()
    write()

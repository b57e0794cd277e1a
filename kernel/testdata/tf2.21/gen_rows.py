"""Writes the fixtures of lists whose elements are rows of variants, programs/rows.json.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_rows.py
"""
import gen_programs
from gen_programs import F32, I64, T, P, program

FAMILY = "rows"
VARIANT = T.variant
p = P(I64, F32, F32)
rows = [p.SerializeSparse(p.args[0], v, p.const([4], np.int64), out_type=VARIANT) for v in p.args[1:]]
l = p.TensorListReserve([3], 2, element_dtype=VARIANT)
for i, row in enumerate(rows):
    l = p.TensorListSetItem(l, i, row)
stack = p.TensorListStack(l, [3], element_dtype=VARIANT, num_elements=-1)
again = p.TensorListFromTensor(stack, [3])
second = p.TensorListGetItem(again, 1, [3], element_dtype=VARIANT)
p.ret(*p.DeserializeSparse(stack, dtype=F32), *p.DeserializeSparse(second, dtype=F32))
program(FAMILY, "lists of serialized sparse tensors", p, [[[0], [3]], [1, 2], [5, 7]])
gen_programs.write()

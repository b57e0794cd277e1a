"""Writes the fixtures of products of matrices of other element types than their
product, mixed.json.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_mixed.py
"""
import recorder
from recorder import case, rand

tf = recorder.tf
FAMILY = "mixed"
INT, BF = tf.int32, tf.bfloat16
for a, b, out in [("int8", "int8", INT), ("int8", "uint8", INT), ("uint8", "int8", INT), ("uint8", "uint8", INT), ("int8", "bfloat16", BF),
                  ("bfloat16", "int8", BF), ("bfloat16", "uint8", BF), ("uint8", "bfloat16", BF)]:
    lo = {"int8": -120, "uint8": 0, "bfloat16": -4}
    hi = {"int8": 120, "uint8": 250, "bfloat16": 4}
    case(FAMILY, "BatchMatMulV3", [("x", rand(a, (3, 5), lo[a], hi[a])), ("y", rand(b, (5, 4), lo[b], hi[b]))], {"Tout": out})
    case(FAMILY, "BatchMatMulV3", [("x", rand(a, (2, 5, 3), lo[a], hi[a])), ("y", rand(b, (4, 5), lo[b], hi[b]))], {"Tout": out, "adj_x": True, "adj_y": True})
recorder.write()

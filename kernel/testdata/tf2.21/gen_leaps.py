"""Writes the fixtures of windows that leave elements out between them, leaps.json,
and of composites and vocabularies, programs/leaps.json.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_leaps.py
"""
import os
import tempfile

import numpy as np

import gen_programs
import recorder
from gen_programs import F32, I64, STR, P, T, program
from recorder import case, rand

FAMILY = "leaps"
# TensorFlow's own kernels of three dimensions begin one element later than those of
# oneDNN, which is in use by default.
ONEDNN = dict(elsewhere=True)
A = np.array
for n, k, s in [(6, 1, 3), (7, 2, 4), (8, 2, 5), (9, 1, 3), (7, 1, 2)]:
    m = -(-n // s)
    x, y, g = rand("float32", (1, n, n, n, 2)), rand("float32", (1, n, n, 2)), rand("float32", (1, m, m, m, 2))
    three = dict(ksize=[1, k, k, k, 1], strides=[1, s, s, s, 1], padding="SAME")
    two = dict(ksize=[1, k, k, 1], strides=[1, s, s, 1], padding="SAME")
    case(FAMILY, "MaxPool3D", [("input", x)], three, **ONEDNN)
    case(FAMILY, "AvgPool3D", [("input", x)], three, **ONEDNN)
    case(FAMILY, "MaxPool", [("input", y)], two)
    case(FAMILY, "AvgPool", [("value", y)], two)
    out = recorder.tf.raw_ops.MaxPool3D(input=x, **three).numpy()
    case(FAMILY, "MaxPool3DGrad", [("orig_input", x), ("orig_output", out), ("grad", g)], three, **ONEDNN)
    case(FAMILY, "AvgPool3DGrad", [("orig_input_shape", A(x.shape, np.int32)), ("grad", g)], three, **ONEDNN)
recorder.write()

os.chdir(tempfile.mkdtemp())
p = P(F32, I64)
v = p.CompositeTensorVariantFromComponents([p.args[0], p.args[1]], metadata="")
p.ret(*p.CompositeTensorVariantToComponents(v, metadata="", Tcomponents=[F32, I64]))
program(FAMILY, "CompositeTensorVariant", p, [[1, 2, 3], [0, 3]], [[[1]], 5])
for offset, n, old in [(0, 3, -1), (1, 2, -1), (0, 4, 2), (2, 0, -1)]:
    p = P(STR, STR)
    put = [p.WriteFile(A(b"new"), p.args[0]), p.WriteFile(A(b"old"), p.args[1])]
    p.ret(*p.GenerateVocabRemapping(p.Identity(A(b"new"), control=put), p.Identity(A(b"old"), control=put), new_vocab_offset=offset, num_new_vocab=n, old_vocab_size=old))
    program(FAMILY, "GenerateVocabRemapping %d %d %d" % (offset, n, old), p, [b"a\nb\nc\nd\n", b"d\nx\na\nb\n"], [b"p\nq\nr\ns", b"r\np"])
gen_programs.write()

"""Writes the fixtures of ops of old estimators, found.json and programs/found.json:
first clusters, fingerprints, batches for replicas, matrices of
checkpoints.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_found.py
"""
import os
import tempfile

import numpy as np

import gen_programs
import recorder
from gen_programs import F32, I32, I64, STR, P, program
from recorder import case, one, s

FAMILY = "found"
A = np.array
rng = np.random.default_rng(20260103)
for n in [1, 2, 7, 40]:
    for seed in [0, 1, -5, 1 << 40]:
        case(FAMILY, "KMC2ChainInitialization", [("distances", rng.uniform(0, 1, n).astype(np.float32)), ("seed", np.int64(seed))])
for n, d, k, seed, again in [(10, 2, 1, 0, 0), (10, 2, 10, 1, 0), (25, 3, 4, 2, -1), (25, 3, 9, 1 << 35, 2), (7, 1, 5, -3, 5), (100, 4, 20, 7, -1), (1, 3, 1, 5, 1)]:
    case(FAMILY, "KmeansPlusPlusInitialization", [("points", rng.normal(size=(n, d)).astype(np.float32)), ("num_to_sample", np.int64(k)), ("seed", np.int64(seed)), ("num_retries_per_sample", np.int64(again))])
case(FAMILY, "SdcaFprint", [("input", s("", "a", "abc", "größe", "x" * 17, "y" * 200))])
case(FAMILY, "SdcaFprint", [("input", s())])
recorder.write()

os.chdir(tempfile.mkdtemp())
L = lambda v: A(v, np.int64)


def all_of(p, d, count, types, shapes):
    it = p.AnonymousIteratorV3(output_types=types, output_shapes=shapes)
    last = [p.MakeIterator(d, it)]
    out = []
    for _ in range(count):
        e = p.IteratorGetNext(it, control=last, output_types=types, output_shapes=shapes)
        e = e if isinstance(e, list) else [e]
        out += e
        last = [e[0]]
    return out


for op in ["RebatchDataset", "ExperimentalRebatchDataset"]:
    for size, n, count in [(4, 2, 6), (4, 3, 9), (3, 5, 20), (6, 1, 2)]:
        p = P()
        types, shapes = [I64, F32, STR], [[None], [None, 2], [None]]
        d = p.TensorSliceDataset([L(range(10)), np.arange(20, dtype=np.float32).reshape(10, 2), A([b"a%d" % i for i in range(10)])], output_shapes=[[], [2], []])
        d = p.BatchDatasetV2(d, L(size), A(False), output_types=types, output_shapes=shapes)
        p.ret(*all_of(p, getattr(p, op)(d, L(n), output_types=types, output_shapes=shapes), count, types, shapes))
        program(FAMILY, "%s of %d among %d" % (op, size, n), p, [])
for i, (rows, cols, initial, wrong) in enumerate([
        ([0, 1], [], [], None), ([3, 0, 2], [], [], None), ([3, -1, 2], [], [7, 8, 9], None), ([3, -1], [2, -1], [7, 8, 9], None), ([-1, -1], [0], [1, 2], None), ([0, -1, 1], [-1, -1], range(6), None),
        ([], [], [], None), ([-2], [2, 0, 1], [1, 2, 3], None), ([1, 1], [], [], "is mapped to both"), ([0], [1, 1], [], "is mapped to both"), ([4], [], [], "out of bounds"), ([0, 1], [], [1], "were used"),
        ([-1, 0], [], [1], "more missing values")]):
    p = P(I64, I64, F32)
    save = p.SaveV2(A(b"c%d" % i), A([b"w"]), A([b""]), [np.arange(12, dtype=np.float32).reshape(4, 3)])
    p.ret(p.LoadAndRemapMatrix(A(b"c%d" % i), A(b"w"), *p.args, num_rows=len(rows), num_cols=len(cols) or 3, control=[save]))
    program(FAMILY, "a matrix remapped %d" % i, p, ([rows, cols, initial], wrong) if wrong else [rows, cols, list(initial)])
gen_programs.write()

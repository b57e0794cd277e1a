"""Writes the fixtures of ragged tensors as variants, of maps of tensors and of
filled rows: programs/variants.json and raggedfill.json.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_variants.py
"""
import gen_programs
import recorder
from gen_programs import *  # noqa: F403
from recorder import F, I, U, C, case, np_of, one, rand, s

A64 = lambda *v: np.array(v, np.int64)
for d in F + I + U + C + ["bool", "string"]:
    v = s("a", "b", "c") if d == "string" else rand(d, (3,), 0, 5)
    for rows in (A64(1, 1, 3), A64(3, 0, 3)):
        case("raggedfill", "RaggedFillEmptyRows", [("value_rowids", rows), ("values", v), ("nrows", np.int64(5)), ("default_value", one("z") if d == "string" else np_of(d)(1))])
    case("raggedfill", "RaggedFillEmptyRowsGrad", [("reverse_index_map", A64(1, 2, 4)), ("grad_values", rand(d, (6,), 0, 5))]) if d not in ("bool", "string") else None
case("raggedfill", "RaggedFillEmptyRows", [("value_rowids", A64()), ("values", np.zeros((0,), np.float32)), ("nrows", np.int64(0)), ("default_value", np.float32(1))])
case("raggedfill", "RaggedFillEmptyRows", [("value_rowids", A64()), ("values", np.zeros((0,), np.float32)), ("nrows", np.int64(2)), ("default_value", np.float32(1))])

V = np.arange(6, dtype=np.float32)
SPLITS = [A64(0, 2, 3), A64(0, 2, 2, 6)]
for d, values in [(F32, V), (I32, V.astype(np.int32)), (STR, np.array([b"a", b"b", b"", b"d", b"e", b"f"]))]:
    for splits in (I64, I32):
        for name, rows, out, inner, batched, v in [("one level", SPLITS[1:], 1, 0, True, values), ("any level", SPLITS[1:], 1, -1, True, values), ("whole", SPLITS[1:], 1, 1, False, values),
                                                   ("two levels", SPLITS, 2, 1, True, values), ("two levels whole", SPLITS, 2, 2, False, values), ("a matrix", [], 1, 0, True, values.reshape(3, 2)),
                                                   ("a whole matrix", [], 0, 0, False, values.reshape(3, 2)), ("rows of rows", [A64(0, 1, 3)], 1, 0, True, values.reshape(3, 2)), ("nothing", [A64(0)], 1, 0, True, values[:0])]:
            p = P(d)
            t = splits.as_numpy_dtype
            e = p.RaggedTensorToVariant([x.astype(t) for x in rows], p.args[0], batched_input=batched)
            r = p.RaggedTensorFromVariant(e, input_ragged_rank=inner, output_ragged_rank=out, Tvalues=d, Tsplits=splits)
            p.ret(*(r if isinstance(r, list) else [r]))
            program("variants", "ragged %s of %s, %s" % (name, d.name, splits.name), p, [v])
p = P(F32)
e = p.RaggedTensorToVariant([SPLITS[1]], p.args[0], batched_input=True)
p.ret(p.RaggedTensorToVariantGradient(e, SPLITS[1], np.array([6], np.int32), Tvalues=F32))
program("variants", "RaggedTensorToVariantGradient", p, [V])
p = P(F32)
e = p.RaggedTensorToVariant([SPLITS[1]], p.args[0], batched_input=True)
l = p.TensorListFromTensor(e, np.array([], np.int32))
one_ = p.TensorListGetItem(l, np.array(2, np.int32), np.array([], np.int32), element_dtype=VAR)
r = p.RaggedTensorFromVariant(p.TensorListStack(l, np.array([], np.int32), element_dtype=VAR), input_ragged_rank=0, output_ragged_rank=1, Tvalues=F32, Tsplits=I64)
p.ret(*r, p.RaggedTensorFromVariant(one_, input_ragged_rank=0, output_ragged_rank=0, Tvalues=F32, Tsplits=I64))
program("variants", "ragged rows in a list", p, [V])

p = P(F32)
e = p.RaggedTensorToVariant([SPLITS[1]], p.args[0], batched_input=True)
l = p.TensorListFromTensor(e, np.array([], np.int32))
flat = lambda l: p.RaggedTensorFromVariant(p.TensorListStack(l, np.array([], np.int32), element_dtype=VAR), input_ragged_rank=0, output_ragged_rank=1, Tvalues=F32, Tsplits=I64)
p.ret(*flat(p.ZerosLike(l)), *flat(p.AddN([l, p.ZerosLike(l), l])))
program("variants", "zeros and sums of ragged rows in a list", p, [V])
p = P(F32)
rows = [p.RaggedTensorToVariant([x], p.args[0], batched_input=False) for x in SPLITS[1:] + [A64(0, 1, 2, 6)]]
r = p.RaggedTensorFromVariant(p.AddN(rows), input_ragged_rank=1, output_ragged_rank=1, Tvalues=F32, Tsplits=I64)
p.ret(*r)
program("variants", "a sum of ragged tensors of other rows", p, ([V], "row_splits"))

p = P(I32, F32)
m = p.EmptyTensorMap()
m = p.TensorMapInsert(m, p.args[0], p.args[1])
m2 = p.TensorMapInsert(m, np.array([7], np.int32), np.array(2.5, np.float32))
m3 = p.TensorMapInsert(m2, p.args[0], np.array(9.5, np.float32))
m4 = p.TensorMapErase(m3, np.array([7], np.int32), value_dtype=F32)
look = lambda m, k: p.TensorMapLookup(m, k, value_dtype=F32)
p.ret(look(m, p.args[0]), look(m3, p.args[0]), look(m3, np.array([7], np.int32)), p.TensorMapSize(m), p.TensorMapSize(m3), p.TensorMapSize(m4), p.TensorMapHasKey(m4, np.array([7], np.int32)), p.TensorMapHasKey(m4, p.args[0]),
      p.TensorMapStackKeys(m4, key_dtype=I32))
program("variants", "TensorMap", p, [[1], 3.5])
p = P(I32)
p.ret(p.TensorMapLookup(p.EmptyTensorMap(), p.args[0], value_dtype=F32))
program("variants", "TensorMapLookup of no key", p, ([1], "non-existent key"))
p = P(I32)
p.ret(p.TensorMapErase(p.EmptyTensorMap(), p.args[0], value_dtype=F32), )
p.results = [p.TensorMapSize(p.results[0])]
program("variants", "TensorMapErase of no key", p, ([1], "non-existent item"))
gen_programs.write()
recorder.write()

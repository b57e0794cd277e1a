"""Writes the fixtures of steps of optimizers over complex numbers, of summaries of
images and sounds, and of datasets of parsed examples: training.json and
programs/training.json.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_training.py
"""
import numpy as np
import tensorflow as tf

import gen_programs
import recorder
from gen_datasets_tools import collect
from gen_programs import F32, I64, STR, P, T, fn, program
from recorder import C, case, one, rand, s

A = np.array
FAMILY = "training"

for d in C:
    t = lambda v: A(v, d)
    V, R = lambda: rand(d, (3, 2)), lambda: rand(d, (2, 2))
    I_ = ("indices", A([2, 0], np.int32))
    hyper = [("lr", t(0.1)), ("rho", t(0.9)), ("momentum", t(0.5)), ("epsilon", t(1e-3))]
    rows = lambda op, inputs, n, attrs=None: case(FAMILY, "ResourceSparse" + op, inputs, attrs, nvars=n)
    dense = lambda op, inputs, n, attrs=None: case(FAMILY, "Resource" + op, inputs, attrs, nvars=n)
    dense("ApplyGradientDescent", [("var", V()), ("alpha", t(0.1 + 0.2j)), ("delta", V())], 1)
    for nesterov in (False, True):
        n = {"use_nesterov": nesterov}
        for op in ("ApplyMomentum", "ApplyKerasMomentum"):
            dense(op, [("var", V()), ("accum", V()), ("lr", t(0.1)), ("grad", V()), ("momentum", t(0.9))], 2, n)
            rows(op, [("var", V()), ("accum", V()), ("lr", t(0.1)), ("grad", R()), I_, ("momentum", t(0.9))], 2, n)
        dense("ApplyAdam", [("var", V()), ("m", V()), ("v", V()), ("beta1_power", t(0.9)), ("beta2_power", t(0.99)), ("lr", t(0.1)), ("beta1", t(0.9)), ("beta2", t(0.99)), ("epsilon", t(1e-3)), ("grad", V())], 3, n)
    for slots in (True, False):
        u = {"update_slots": slots}
        dense("ApplyAdagrad", [("var", V()), ("accum", V()), ("lr", t(0.1)), ("grad", V())], 2, u)
        dense("ApplyAdagradV2", [("var", V()), ("accum", V()), ("lr", t(0.1)), ("epsilon", t(1e-3)), ("grad", V())], 2, u)
        rows("ApplyAdagrad", [("var", V()), ("accum", V()), ("lr", t(0.1)), ("grad", R()), I_], 2, u)
        rows("ApplyAdagradV2", [("var", V()), ("accum", V()), ("lr", t(0.1)), ("epsilon", t(1e-3)), ("grad", R()), I_], 2, u)
    delta = [("var", V()), ("accum", V()), ("accum_update", V()), ("lr", t(0.1)), ("rho", t(0.9)), ("epsilon", t(1e-3))]
    dense("ApplyAdadelta", delta + [("grad", V())], 3)
    rows("ApplyAdadelta", delta + [("grad", R()), I_], 3)
    dense("ApplyRMSProp", [("var", V()), ("ms", V()), ("mom", V())] + hyper + [("grad", V())], 3)
    rows("ApplyRMSProp", [("var", V()), ("ms", V()), ("mom", V())] + hyper + [("grad", R()), I_], 3)
    dense("ApplyCenteredRMSProp", [("var", V()), ("mg", V()), ("ms", V()), ("mom", V())] + hyper + [("grad", V())], 4)
    rows("ApplyCenteredRMSProp", [("var", V()), ("mg", V()), ("ms", V()), ("mom", V())] + hyper + [("grad", R()), I_], 4)

# Codes of eight bits without signs.
grid = dict(quantization_min_val=0, quantization_max_val=255)
case(FAMILY, "UniformQuantize", [("input", rand("float32", (2, 5))), ("scales", A(0.05, np.float32)), ("zero_points", A(120, np.int32))], dict(grid, Tout=tf.quint8, quantization_axis=-1))
case(FAMILY, "UniformQuantize", [("input", rand("float32", (2, 3))), ("scales", A([0.05, 0.1, 1], np.float32)), ("zero_points", A([120, 0, 9], np.int32))], dict(grid, Tout=tf.quint8, quantization_axis=1))
codes = tf.bitcast(tf.constant(A([[0, 200, 255], [1, 2, 3]], np.uint8)), tf.quint8)
case(FAMILY, "UniformDequantize", [("input", codes), ("scales", A(0.05, np.float32)), ("zero_points", A(120, np.int32))], dict(grid, Tout=tf.float32, quantization_axis=-1))
case(FAMILY, "UniformDequantize", [("input", codes), ("scales", A([0.05, 0.1, 1], np.float32)), ("zero_points", A([120, 0, 9], np.int32))], dict(grid, Tout=tf.float32, quantization_axis=1))
for d in recorder.I + recorder.U:
    case(FAMILY, "DebugNanCount", [("input", rand(d, (2, 3)))], {"tensor_name": "x:0"})

# Summaries.
for d in ("uint8", "float32", "float64", "float16"):
    for channels in (1, 3, 4):
        for low in (0, -1):
            if d != "uint8" or low == 0:
                x = rand(d, (2, 4, 3, channels), low, 255 if d == "uint8" else 1.5)
                case(FAMILY, "ImageSummary", [("tag", one("t")), ("tensor", x)], old=True)
                if d.startswith("float"):
                    x[0, 1, 2, 0], x[1, 0, 0, channels - 1] = np.nan, np.inf
                    case(FAMILY, "ImageSummary", [("tag", one("t")), ("tensor", x)], {"max_images": 1}, old=True)
for x in (np.zeros((1, 2, 2, 1), np.float32), np.full((1, 2, 2, 3), -1e-9, np.float32), np.full((1, 2, 2, 3), np.nan, np.float32), np.zeros((0, 2, 2, 3), np.float32), rand("float32", (5, 2, 2, 1))):
    case(FAMILY, "ImageSummary", [("tag", one("more"))] + [("tensor", x)], {"max_images": 4}, old=True)
for x in (rand("float32", (2, 50), -1.2, 1.2), rand("float32", (4, 20, 2), -1, 1), rand("float32", (1, 5), -1, 1)):
    for most in (1, 3):
        case(FAMILY, "AudioSummary", [("tag", one("t")), ("tensor", x)], {"sample_rate": 8000.0, "max_outputs": most}, old=True)
        case(FAMILY, "AudioSummaryV2", [("tag", one("t")), ("tensor", x), ("sample_rate", A(44100.5, np.float32))], {"max_outputs": most})
recorder.write()

# Datasets of parsed examples.


def example(**features):
    e = tf.train.Example()
    for k, v in features.items():
        f = e.features.feature[k]
        if isinstance(v[0], bytes):
            f.bytes_list.value.extend(v)
        elif isinstance(v[0], float):
            f.float_list.value.extend(v)
        else:
            f.int64_list.value.extend(v)
    return e.SerializeToString()


EX = [[example(a=[1.5, 2.5], b=[b"x"], z=[7, 8, 9], r=[1, 2])], [example(a=[0.5, 1.0], z=[1]), example(b=[b"p", b"q"], r=[5])]]
L = lambda v: A(v, np.int64)
for op in ("ParseExampleDataset", "ParseExampleDatasetV2", "ExperimentalParseExampleDataset"):
    ragged = {} if op.startswith("Exp") else dict(ragged_keys=["r"], ragged_value_types=[I64], ragged_split_types=[I64])
    kinds = [F32, T.variant] + ([T.variant] if ragged else []) + [T.variant]
    how = dict(sloppy=False) if op != "ParseExampleDatasetV2" else dict(deterministic="true")
    out = dict(output_types=kinds, output_shapes=[[None, 2]] + [[3]] + ([[]] if ragged else []) + [[3]])
    p = P(STR)
    ds = getattr(p, op)(p.TensorDataset([p.args[0]], output_shapes=[[None]]), L(1), [A([9, 8], np.float32)], sparse_keys=["z", "b"], dense_keys=["a"], sparse_types=[I64, STR], dense_shapes=[[2]], **ragged, **how, **out)
    e = p.DatasetToSingleElement(ds, **out)
    res = [e[0]] + p.DeserializeSparse(e[1], dtype=STR) + p.DeserializeSparse(e[-1], dtype=I64)
    if ragged:
        res += p.RaggedTensorFromVariant(e[2], input_ragged_rank=1, output_ragged_rank=1, Tvalues=I64, Tsplits=I64)
    p.ret(*res)
    program(FAMILY, op, p, *[[x] for x in EX], ([[b"\n"]], "parse"))
gen_programs.write()

"""Writes the fixtures of the kernels: TensorFlow 2.21's outputs of raw ops.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_kernels.py

One JSON file a family, a case a line; recorder.py describes them. Families of
their own scripts: gen_conv.py, gen_text.py, gen_lookup.py, gen_parse.py, gen_places.py.
"""
import numpy as np
import tensorflow as tf

from recorder import *


# --- math: two inputs ---------------------------------------------------------
SHAPES = [((2, 3), (2, 3)), ((4,), ()), ((), (3,)), ((2, 1, 3), (4, 1)), ((3, 1), (1, 2)), ((0, 2), (2,))]


def binary(op, dtypes, lo=-4.0, hi=4.0, lo2=None, hi2=None, nonzero=False, names=("x", "y"), shapes=None):
    for k, d in enumerate(dtypes):
        for a, b in (shapes or SHAPES) if k < 2 else (shapes or SHAPES)[3:4]:
            x, y = rand(d, a, lo, hi), rand(d, b, lo if lo2 is None else lo2, hi if hi2 is None else hi2)
            if nonzero:
                y = np.where(y == 0, np.ones_like(y), y).astype(np_of(d))
            case("math", op, [(names[0], x), (names[1], y)])


ALL = F + I + U + C
binary("AddV2", ALL)
binary("Add", F + ["uint8", "int8", "int16", "int32", "int64"] + C)
binary("Sub", ALL)
binary("Mul", ALL)
binary("RealDiv", F + C, nonzero=True)
binary("Div", F + ["uint8", "int8", "int16", "int32", "int64", "uint16"] + C, nonzero=True)
binary("DivNoNan", F + C, lo=-2, hi=3)
binary("MulNoNan", F + C, lo=-2, hi=3)
binary("FloorDiv", F + I + U, nonzero=True, lo=-20, hi=20)
binary("FloorMod", F + I + ["uint8", "uint16", "uint32", "uint64"], nonzero=True, lo=-20, hi=20)
binary("TruncateDiv", I + U[:2], nonzero=True, lo=-20, hi=20)
binary("Mod", ["int32", "int64", "float32", "float64"], nonzero=True, lo=-20, hi=20)
binary("TruncateMod", ["int32", "int64", "float32", "float64"], nonzero=True, lo=-20, hi=20)
binary("Pow", F + C, lo=0.1, hi=3, lo2=-2, hi2=3)
binary("Pow", ["int8", "int16", "int32", "int64"], lo=-3, hi=4, lo2=0, hi2=4)
binary("Maximum", F + I + U)
binary("Minimum", F + I + U)
binary("SquaredDifference", F + ["int32", "int64"] + C)
binary("Atan2", F, names=("y", "x"))
binary("Xlogy", F, lo=0, hi=3, lo2=0.1, hi2=4)
binary("Xlog1py", F, lo=0, hi=3, lo2=0.1, hi2=4)
binary("Xdivy", F, nonzero=True)
for o in ["BitwiseAnd", "BitwiseOr", "BitwiseXor"]:
    binary(o, I + U, lo=-100, hi=100)
for o in ["LogicalAnd", "LogicalOr"]:
    binary(o, ["bool"])
for o in ["Equal", "NotEqual"]:
    binary(o, ["int32"] + F + I + U + C + ["bool"], lo=-2, hi=2)
    case("math", o, [("x", np.array([b"a", b"b", b""])), ("y", np.array([b"a", b"c", b""]))])
for o in ["Less", "LessEqual", "Greater", "GreaterEqual"]:
    binary(o, ["int32"] + F + I + U, lo=-2, hi=2)
SAME = [((3, 4), (3, 4)), ((0,), (0,))]
for o, n in [("TanhGrad", ("y", "dy")), ("SigmoidGrad", ("y", "dy"))]:
    binary(o, F, lo=-0.9, hi=0.9, names=n, shapes=SAME + [SAME[0]] * 2)
for o in ["SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad"]:
    binary(o, F, lo=0.5, hi=3, names=("y", "dy"), shapes=SAME + [SAME[0]] * 2)
for o in ["ReluGrad", "Relu6Grad"]:
    binary(o, F + I + U[:2], lo=-9, hi=9, names=("gradients", "features"), shapes=SAME + [SAME[0]] * 2)
for o in ["SoftplusGrad", "SoftsignGrad"]:
    binary(o, F, names=("gradients", "features"), shapes=SAME + [SAME[0]] * 2)
for o in ["EluGrad", "SeluGrad"]:
    binary(o, F, lo=-1, hi=2, names=("gradients", "outputs"), shapes=SAME + [SAME[0]] * 2)


# --- math: one input ----------------------------------------------------------
def unary(op, dtypes, lo=-4.0, hi=4.0, name="x", attrs=None, extra=None):
    for d in dtypes:
        x = rand(d, (3, 5), lo, hi)
        if extra is not None:
            x = np.concatenate([x.reshape(-1), np.array(extra).astype(np_of(d))])
        case("math", op, [(name, x)], attrs)
    case("math", op, [(name, rand(dtypes[0], (), lo, hi))], attrs)
    case("math", op, [(name, rand(dtypes[0], (0, 2), lo, hi))], attrs)


unary("Neg", F + I + C)
unary("Abs", F + I, extra=[0, -1])
unary("Sign", F + I + C, extra=[0])
unary("Square", F + I + ["uint8", "uint16", "uint32", "uint64"] + C)
unary("Sqrt", F + C, lo=0, hi=9)
unary("Rsqrt", F + C, lo=0.1, hi=9)
unary("Reciprocal", F + C, lo=0.2)
unary("Inv", F + C, lo=0.2)
unary("Exp", F + C)
unary("Expm1", F, lo=-1, hi=1)
unary("Log", F + C, lo=0.1, hi=9)
unary("Log1p", F, lo=-0.5, hi=1)
unary("Sin", F + C)
unary("Cos", F + C)
unary("Tan", F + C, lo=-1.3, hi=1.3)
unary("Asin", F + C, lo=-1, hi=1)
unary("Acos", F + C, lo=-1, hi=1)
unary("Atan", F + C)
unary("Sinh", F + C)
unary("Cosh", F + C)
unary("Tanh", F + C)
unary("Asinh", F + C)
unary("Acosh", F + C, lo=1.1, hi=9)
unary("Atanh", F + C, lo=-0.9, hi=0.9)
unary("Erf", F, lo=-2, hi=2)
unary("Erfc", F, lo=-2, hi=2)
unary("Lgamma", F, lo=0.5, hi=5)
unary("Digamma", F, lo=2, hi=7)
unary("Sigmoid", F + C)
unary("Softplus", F, name="features", lo=-6, hi=40)
unary("Softsign", F, name="features")
unary("Elu", F, name="features")
unary("Selu", F, name="features")
unary("Relu", F + I + U, name="features")
unary("Relu6", F + I + U, name="features", lo=-9, hi=12)
for o in ["Floor", "Ceil", "Rint"]:
    unary(o, F, extra=[0.5, 1.5, 2.5, -0.5, -1.5])
# TensorFlow 2.21's Round of integers returns zeros; tf.round never runs it.
unary("Round", F, extra=[0.5, 1.5, 2.5, -0.5, -1.5])
for o in ["IsNan", "IsInf", "IsFinite"]:
    unary(o, F, extra=[np.nan, np.inf, -np.inf])
unary("LogicalNot", ["bool"])
unary("Invert", I + U, lo=-100, hi=100)
unary("Conj", C, name="input")
for o in ["Real", "Imag", "Angle", "ComplexAbs"]:
    for d in C:
        out = tf.float32 if d == "complex64" else tf.float64
        case("math", o, [("x" if o == "ComplexAbs" else "input", rand(d, (2, 3)))], {"Tout": out})
for d, o in [("float32", tf.complex64), ("float64", tf.complex128)]:
    case("math", "Complex", [("real", rand(d, (2, 3))), ("imag", rand(d, (3,)))], {"Tout": o})
for d in F:
    case("math", "LeakyRelu", [("features", rand(d, (3, 4)))], {"alpha": 0.3})
    case("math", "LeakyReluGrad", [("gradients", rand(d, (3, 4))), ("features", rand(d, (3, 4)))], {"alpha": 0.3})
for d in F + ["int32", "int64", "uint8", "complex64", "complex128", "int8", "int16", "uint16", "uint32", "uint64"]:
    case("math", "AddN", [("inputs", [rand(d, (2, 3)) for _ in range(3)])])
case("math", "AddN", [("inputs", [rand("float32", (2,))])])
for d in F + ["int32", "int64", "uint8", "complex64"]:
    case("math", "BiasAdd", [("value", rand(d, (2, 3, 4))), ("bias", rand(d, (4,)))])
case("math", "BiasAdd", [("value", rand("float32", (2, 3, 2, 2))), ("bias", rand("float32", (3,)))], {"data_format": "NCHW"})
for d in F + I + U:
    case("math", "ClipByValue", [("t", rand(d, (3, 4), -9, 9)), ("clip_value_min", rand(d, (), 1, 2)), ("clip_value_max", rand(d, (), 3, 4))])
case("math", "ClipByValue", [("t", rand("float32", (3,))), ("clip_value_min", rand("float32", (3,), -2, 0)), ("clip_value_max", rand("float32", (3,), 0, 2))])
for d in F + ["int32", "int64", "uint8", "bool", "complex64", "complex128", "int8"]:
    case("math", "SelectV2", [("condition", rand("bool", (2, 1, 3))), ("t", rand(d, (4, 3))), ("e", rand(d, ()))])
    case("math", "Select", [("condition", rand("bool", (3,))), ("x", rand(d, (3, 4))), ("y", rand(d, (3, 4)))])
case("math", "SelectV2", [("condition", rand("bool", (3,))), ("t", np.array([b"a", b"bc", b""])), ("e", np.array(b"z"))])
case("math", "SelectV2", [("condition", rand("bool", ())), ("t", rand("float32", ())), ("e", rand("float32", ()))])
case("math", "Select", [("condition", rand("bool", ())), ("x", rand("float32", (2, 2))), ("y", rand("float32", (2, 2)))])
case("math", "Select", [("condition", rand("bool", (2, 2))), ("x", rand("float32", (2, 2))), ("y", rand("float32", (2, 2)))])
CASTS = F + I + U + C + ["bool"]
for a in CASTS:
    for b in CASTS:
        if a == b or (a in C and b not in C):
            continue
        lo, hi = (0, 100) if (b in U or a in U) else (-100, 100)
        case("math", "Cast", [("x", rand(a, (5,), lo, hi))], {"DstT": tf.as_dtype(b)})
case("math", "Bitcast", [("input", rand("float32", (3,)))], {"type": tf.int32})
case("math", "Bitcast", [("input", rand("int64", (3,)))], {"type": tf.uint32})
case("math", "Bitcast", [("input", rand("uint8", (3, 4), 0, 255))], {"type": tf.int32})

# --- matmul -------------------------------------------------------------------
for k, d in enumerate(["float32", "float64", "float16", "bfloat16", "int32", "int64", "complex64", "complex128", "uint8", "int8", "int16", "uint16", "uint32", "uint64"]):
    for ta in (False, True):
        for tb in (False, True):
            if k > 2 and ta != tb:
                continue
            a, b = rand(d, (4, 3) if ta else (3, 4)), rand(d, (5, 4) if tb else (4, 5))
            case("matmul", "MatMul", [("a", a), ("b", b)], {"transpose_a": ta, "transpose_b": tb})
case("matmul", "MatMul", [("a", rand("float32", (37, 65))), ("b", rand("float32", (65, 19)))])
case("matmul", "MatMul", [("a", rand("float32", (2, 0))), ("b", rand("float32", (0, 3)))])
case("matmul", "MatMul", [("a", rand("float32", (0, 2))), ("b", rand("float32", (2, 3)))])
for op in ["BatchMatMul", "BatchMatMulV2"]:
    for d in F + ["complex64", "int32"]:
        for ax, ay in [(False, False), (True, False), (False, True), (True, True)]:
            a = rand(d, (2, 4, 3) if ax else (2, 3, 4))
            b = rand(d, (2, 2, 4) if ay else (2, 4, 2))
            case("matmul", op, [("x", a), ("y", b)], {"adj_x": ax, "adj_y": ay})
case("matmul", "BatchMatMulV2", [("x", rand("float32", (3, 1, 2, 4))), ("y", rand("float32", (2, 4, 3)))])
case("matmul", "BatchMatMulV3", [("x", rand("float32", (2, 2, 4))), ("y", rand("float32", (4, 3)))], {"Tout": tf.float32})

# --- reductions ---------------------------------------------------------------
AXES = [[0], [1], [2], [0, 1], [1, 2], [0, 2], [0, 1, 2], [-1], []]
for op, dtypes in [("Sum", F + I + U + C), ("Mean", F + ["int32", "int64", "uint8"] + C), ("Prod", F + I + U + C),
                   ("Max", F + I + U), ("Min", F + I + U)]:
    for k, d in enumerate(dtypes):
        lo, hi = (0.5, 1.5) if op == "Prod" and (d in F or d in C) else (-4, 4)
        for axes in AXES if k == 0 else AXES[3:6]:
            for keep in (False, True) if k == 0 else (False,):
                case("reduce", op, [("input", rand(d, (2, 3, 4), lo, hi)), ("axis", np.array(axes, np.int32))], {"keep_dims": keep})
    case("reduce", op, [("input", rand("float32", (3, 0, 2))), ("axis", np.array([1], np.int64))], {"keep_dims": False})
    case("reduce", op, [("input", rand("float32", ())), ("axis", np.array([], np.int32))], {"keep_dims": False})
case("reduce", "Sum", [("input", rand("float32", (300, 20))), ("axis", np.array([0, 1], np.int32))], {"keep_dims": False})
for op in ["All", "Any"]:
    for axes in AXES[:6]:
        case("reduce", op, [("input", rand("bool", (2, 3, 2))), ("axis", np.array(axes, np.int32))], {"keep_dims": False})
for d in F2 + ["float16", "bfloat16"]:
    case("reduce", "EuclideanNorm", [("input", rand(d, (2, 3, 4))), ("axis", np.array([1], np.int32))], {"keep_dims": False})
    case("reduce", "L2Loss", [("t", rand(d, (3, 4)))])
for op in ["ArgMax", "ArgMin"]:
    for d in F + I + U + ["bool"]:
        case("reduce", op, [("input", rand(d, (2, 5, 3))), ("dimension", np.int32(1))], {"output_type": tf.int64})
    case("reduce", op, [("input", rand("float32", (4, 3))), ("dimension", np.int32(-1))], {"output_type": tf.int32})
for op in ["Cumsum", "Cumprod"]:
    for k, d in enumerate(F + ["int32", "int64", "complex64", "uint8", "int8", "int16", "uint16", "uint32", "uint64", "complex128"]):
        for ex in (False, True):
            for rev in (False, True):
                if k and ex != rev:
                    continue
                case("reduce", op, [("x", rand(d, (2, 4, 3), 0.5, 2)), ("axis", np.int32(1))], {"exclusive": ex, "reverse": rev})
for d in F + ["int32", "complex64"]:
    case("reduce", "BiasAddGrad", [("out_backprop", rand(d, (2, 3, 4)))])
case("reduce", "BiasAddGrad", [("out_backprop", rand("float32", (2, 3, 2, 2)))], {"data_format": "NCHW"})

# --- nn -----------------------------------------------------------------------
for d in F:
    case("nn", "Softmax", [("logits", rand(d, (3, 5)))])
    case("nn", "LogSoftmax", [("logits", rand(d, (3, 5)))])
    labels = np.array(tf.nn.softmax(rand("float32", (3, 5)))).astype(np_of(d))
    case("nn", "SoftmaxCrossEntropyWithLogits", [("features", rand(d, (3, 5))), ("labels", labels)])
    for it in ["int32", "int64"]:
        case("nn", "SparseSoftmaxCrossEntropyWithLogits", [("features", rand(d, (3, 5))), ("labels", rand(it, (3,), 0, 5))])
case("nn", "Softmax", [("logits", rand("float32", (2, 3, 4)))])
case("nn", "Softmax", [("logits", np.array([1000.0, -1000.0, 999.0], np.float32))])
case("nn", "LogSoftmax", [("logits", rand("float32", (2, 3, 4)))])

# --- array --------------------------------------------------------------------
i32 = lambda *v: np.array(v, np.int32)
i64 = lambda *v: np.array(v, np.int64)
ARR = ["float32", "float64", "float16", "bfloat16", "int8", "int64", "uint16", "complex64", "complex128", "bool"]
strs = lambda n: np.array([b"s%d" % i for i in range(n)])


for d in ARR:
    R = lambda *s: rand(d, s)
    case("array", "Identity", [("input", R(2, 3))])
    case("array", "StopGradient", [("input", R(2, 3))])
    case("array", "Snapshot", [("input", R(2, 3))])
    case("array", "Shape", [("input", R(2, 3))], {"out_type": tf.int32})
    case("array", "Reshape", [("tensor", R(2, 3, 2)), ("shape", i32(-1, 4))])
    case("array", "Transpose", [("x", R(2, 3, 4)), ("perm", i32(2, 0, 1))])
    case("array", "ConcatV2", [("values", [R(2, 3), R(2, 1)]), ("axis", np.int32(1))])
    case("array", "Pack", [("values", [R(2, 3), R(2, 3)])], {"axis": 1})
    case("array", "Unpack", [("value", R(2, 3))], {"num": 3, "axis": 1})
    case("array", "Slice", [("input", R(4, 5)), ("begin", i32(1, 2)), ("size", i32(2, -1))])
    case("array", "GatherV2", [("params", R(4, 3)), ("indices", i32(3, 0, 3)), ("axis", np.int32(0))])
    case("array", "Tile", [("input", R(2, 3)), ("multiples", i32(2, 3))])
    case("array", "Pad", [("input", R(2, 3)), ("paddings", np.array([[1, 0], [2, 1]], np.int32))])
    case("array", "ReverseV2", [("tensor", R(2, 3, 2)), ("axis", i32(0, -1))])
    case("array", "Fill", [("dims", i32(2, 3)), ("value", R())])
    case("array", "ZerosLike", [("x", R(2, 3))])
    case("array", "OnesLike", [("x", R(2, 3))])
    case("array", "BroadcastTo", [("input", R(3, 1)), ("shape", i32(2, 3, 4))])
    if d not in ("bool",):
        case("array", "PadV2", [("input", R(2, 3)), ("paddings", np.array([[1, 0], [2, 1]], np.int64)), ("constant_values", R())])
for op, name in [("PreventGradient", "input")]:
    case("array", op, [(name, rand("float32", (2, 3)))])
case("array", "IdentityN", [("input", [rand("float32", (2,)), rand("int32", (3,))])])
case("array", "EnsureShape", [("input", rand("float32", (2, 3)))], {"shape": tf.TensorShape([None, 3])})
case("array", "Shape", [("input", rand("float32", (2, 0, 3)))], {"out_type": tf.int64})
case("array", "ShapeN", [("input", [rand("float32", (2, 3)), rand("float32", ())])], {"out_type": tf.int32})
case("array", "Size", [("input", rand("float32", (2, 3)))], {"out_type": tf.int32})
case("array", "Size", [("input", strs(3))], {"out_type": tf.int64})
case("array", "Rank", [("input", rand("float32", (2, 3)))])
for shape, to in [((2, 3), (6,)), ((2, 3), (3, -1)), ((6,), (1, 2, 3)), ((), (1, 1)), ((0, 3), (3, 0)), ((0, 2), (-1,)), ((1,), ())]:
    case("array", "Reshape", [("tensor", rand("int32", shape)), ("shape", i64(*to))])
case("array", "Reshape", [("tensor", strs(4)), ("shape", i32(2, 2))])
for axis in (0, 1, 2, -1, -3):
    case("array", "ExpandDims", [("input", rand("float32", (2, 3))), ("axis", np.int32(axis))])
case("array", "Squeeze", [("input", rand("float32", (1, 2, 1, 3)))])
case("array", "Squeeze", [("input", rand("float32", (1, 2, 1, 3)))], {"axis": [0]})
case("array", "Squeeze", [("input", rand("float32", (1, 2, 1, 3)))], {"axis": [-2]})
for shape, perm in [((4, 5), (1, 0)), ((2, 3, 4), (0, 2, 1)), ((2, 3, 4), (1, 0, 2)), ((2, 3, 4, 5), (3, 1, 0, 2)), ((40, 50), (1, 0)), ((3, 20, 33), (0, 2, 1)), ((2, 3, 4), (0, 1, 2)), ((3,), (0,))]:
    case("array", "Transpose", [("x", rand("int16", shape)), ("perm", i32(*perm))])
case("array", "Transpose", [("x", strs(6).reshape(2, 3)), ("perm", i32(1, 0))])
case("array", "BroadcastTo", [("input", rand("float32", ())), ("shape", i64(2, 2))])
case("array", "BroadcastTo", [("input", rand("float32", (2, 3))), ("shape", i32(2, 3))])
case("array", "BroadcastArgs", [("s0", i32(2, 1, 3)), ("s1", i32(4, 1))])
case("array", "BroadcastArgs", [("s0", i64()), ("s1", i64(4, 1))])
for a, b in [((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 1, 3), (4, 1)), ((), (2,)), ((1, 3), (2, 1)), ((2, 3), (1, 1)), ((0, 1), (3,)), ((1,), (1, 1))]:
    case("array", "BroadcastGradientArgs", [("s0", i32(*a)), ("s1", i32(*b))])
case("array", "ConcatV2", [("values", [strs(2), strs(3)]), ("axis", np.int32(0))])
case("array", "ConcatV2", [("values", [rand("int32", (1, 2, 3)), rand("int32", (2, 2, 3)), rand("int32", (0, 2, 3))]), ("axis", np.int64(-3))])
case("array", "Pack", [("values", [rand("int32", ()), rand("int32", ())])], {"axis": 0})
case("array", "Pack", [("values", [strs(2), strs(2)])], {"axis": -1})
case("array", "Unpack", [("value", rand("int32", (2, 3, 4)))], {"num": 4, "axis": -1})
for n, axis in [(2, 0), (3, 1), (1, -1)]:
    case("array", "Split", [("axis", np.int32(axis)), ("value", rand("float32", (4, 6)))], {"num_split": n})
case("array", "SplitV", [("value", rand("float32", (2, 7))), ("size_splits", i32(1, 4, 2)), ("axis", np.int32(1))], {"num_split": 3})
case("array", "SplitV", [("value", rand("int64", (5, 2))), ("size_splits", i64(2, -1)), ("axis", np.int32(0))], {"num_split": 2})
case("array", "Slice", [("input", rand("float32", (3, 4, 5))), ("begin", i64(0, 1, 2)), ("size", i64(3, 0, 2))])
case("array", "Slice", [("input", strs(5)), ("begin", i32(1)), ("size", i32(3))])


def strided(shape, begin, end, strides, **masks):
    a = {k: masks.get(k, 0) for k in ["begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"]}
    x = rand("float32", shape)
    sl = [("begin", i32(*begin)), ("end", i32(*end)), ("strides", i32(*strides))]
    case("array", "StridedSlice", [("input", x)] + sl, a)
    out = tf.raw_ops.StridedSlice(input=x, **dict(sl), **a)
    case("array", "StridedSliceGrad", [("shape", i32(*shape))] + sl + [("dy", rand("float32", out.shape))], a)


strided((5, 6), (1, 0), (4, 6), (1, 2))
strided((5, 6), (0, 5), (0, 0), (1, -1), begin_mask=1, end_mask=3)
strided((5, 6), (-1, 1), (-6, -1), (-2, 3))
strided((3, 4, 5), (1, 2), (2, 0), (1, 1), shrink_axis_mask=1, end_mask=2)
strided((3, 4, 5), (0, 1), (0, 3), (1, 1), ellipsis_mask=1)
strided((3, 4, 5), (0, 0, 1), (0, 0, 2), (1, 1, 1), new_axis_mask=1, ellipsis_mask=2, shrink_axis_mask=4)
strided((3, 4), (-1,), (0,), (1,), shrink_axis_mask=1)
strided((3, 4), (2, 3), (1, 9), (1, 1))
strided((3, 4), (), (), ())
strided((4,), (7,), (9,), (1,))
strided((4,), (-9,), (9,), (3,))
case("array", "StridedSlice", [("input", strs(5)), ("begin", i64(4)), ("end", i64(0)), ("strides", i64(-2))], {"end_mask": 0})
for mode in ["REFLECT", "SYMMETRIC"]:
    for d in ["float32", "int32", "float16"]:
        p = np.array([[1, 2], [2, 0]], np.int32)
        case("array", "MirrorPad", [("input", rand(d, (3, 4))), ("paddings", p)], {"mode": mode})
    for d in F2:
        case("array", "MirrorPadGrad", [("input", rand(d, (6, 6))), ("paddings", p)], {"mode": mode},
             raw=lambda input, paddings, mode: __import__("tensorflow.python.ops.gen_array_ops", fromlist=["x"]).mirror_pad_grad(input, paddings, mode))
case("array", "GatherV2", [("params", rand("float32", (2, 4, 3))), ("indices", np.array([[0, 3], [1, 1]], np.int64)), ("axis", np.int32(1))])
case("array", "GatherV2", [("params", rand("float32", (2, 4, 3))), ("indices", np.array([[0, 2], [1, 1]], np.int32)), ("axis", np.int32(2))], {"batch_dims": 1})
case("array", "GatherV2", [("params", strs(4)), ("indices", np.int32(2)), ("axis", np.int32(0))])
case("array", "GatherNd", [("params", rand("float32", (3, 4, 2))), ("indices", np.array([[0, 3], [2, 1]], np.int32))])
case("array", "GatherNd", [("params", rand("int64", (3, 4))), ("indices", np.array([[[2, 3]], [[0, 0]]], np.int64))])
for d in F2 + ["int32", "float16", "complex64"]:
    case("array", "ScatterNd", [("indices", np.array([[1], [3], [1]], np.int32)), ("updates", rand(d, (3, 2))), ("shape", i32(4, 2))])
    case("array", "UnsortedSegmentSum", [("data", rand(d, (4, 2))), ("segment_ids", i32(2, 0, 2, -1)), ("num_segments", np.int32(3))])
case("array", "UnsortedSegmentSum", [("data", rand("float32", (2, 2, 3))), ("segment_ids", np.array([[0, 1], [1, 1]], np.int64)), ("num_segments", np.int32(2))])
for axis in (-1, 0, 1):
    for d in ["float32", "int32", "bool", "float64"]:
        on, off = (np.bool_(True), np.bool_(False)) if d == "bool" else (rand(d, (), 1, 5), rand(d, (), -5, 0))
        case("array", "OneHot", [("indices", np.array([[0, 2], [5, -1]], np.int32)), ("depth", np.int32(4)), ("on_value", on), ("off_value", off)], {"axis": axis})
for a, b, c in [(0, 5, 1), (5, 0, -2), (3, 3, 1), (-4, 9, 5)]:
    for d in ["int32", "int64", "float32", "float64"]:
        t = np_of(d)
        case("array", "Range", [("start", t(a)), ("limit", t(b)), ("delta", t(c))])
case("array", "Range", [("start", np.float32(0)), ("limit", np.float32(1)), ("delta", np.float32(0.1))])
for d in F2:
    for n in (1, 2, 7):
        case("array", "LinSpace", [("start", np_of(d)(-1.5)), ("stop", np_of(d)(4)), ("num", np.int32(n))])
case("array", "InvertPermutation", [("x", i32(2, 0, 3, 1))])
case("array", "InvertPermutation", [("x", i64(0, 1))])
for d in ["float32", "int32", "complex64", "bool"]:
    case("array", "MatrixDiag", [("diagonal", rand(d, (2, 3)))])
    case("array", "MatrixDiagPart", [("input", rand(d, (2, 3, 4)))])
    for lo, hi in [(0, 0), (1, 1), (-1, 0), (0, -1), (-1, -1)]:
        case("array", "MatrixBandPart", [("input", rand(d, (2, 4, 3))), ("num_lower", np.int64(lo)), ("num_upper", np.int64(hi))])
for d in ["bool", "int32", "float32", "float64", "uint8", "complex64"]:
    case("array", "Where", [("condition", rand(d, (3, 4), -1, 2))])
case("array", "Where", [("condition", np.array([0.0, -0.0, 1.0], np.float32))])
for d in ["float32", "float64", "int32", "int64", "uint8", "int8", "int16", "uint16"]:
    case("array", "TopKV2", [("input", rand(d, (3, 6))), ("k", np.int32(4))])
case("array", "Const", [], {}, raw=lambda: tf.constant([[1, 2], [3, 4]]))
cases["array"][-1]["attrs"] = [{"name": "value", "kind": "tensor", "value": pack(tf.constant([[1, 2], [3, 4]]))}]
case("array", "NoOp", [])

# --- random -------------------------------------------------------------------
u64 = lambda *v: np.array(v, np.uint64)
key, ctr, alg = u64(0x123456789abcdef), u64(0xfffffffffffffffd, 7), np.int32(1)
for op in ["StatelessRandomUniformV2", "StatelessRandomNormalV2", "StatelessTruncatedNormalV2"]:
    for d in F:
        case("random", op, [("shape", i32(3, 7)), ("key", key), ("counter", ctr), ("alg", alg)], {"dtype": tf.as_dtype(d)})
    case("random", op, [("shape", i64(0)), ("key", key), ("counter", ctr), ("alg", alg)], {"dtype": tf.float32})
for op in ["StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal"]:
    for d in F:
        case("random", op, [("shape", i32(9)), ("seed", i64(12345, -6))], {"dtype": tf.as_dtype(d)})
for d in ["int32", "int64", "uint32", "uint64"]:
    case("random", "StatelessRandomUniformFullIntV2", [("shape", i32(9)), ("key", key), ("counter", ctr), ("alg", alg)], {"dtype": tf.as_dtype(d)})
    t = np_of(d)
    case("random", "StatelessRandomUniformIntV2", [("shape", i32(9)), ("key", key), ("counter", ctr), ("alg", alg), ("minval", t(3)), ("maxval", t(50))])
t = np.int32
case("random", "StatelessRandomUniformIntV2", [("shape", i32(9)), ("key", key), ("counter", ctr), ("alg", alg), ("minval", t(-2**31)), ("maxval", t(2**31 - 1))])
case("random", "StatelessRandomGetKeyCounter", [("seed", i32(5, 6))])
case("random", "StatelessRandomGetKeyCounter", [("seed", i64(-5, 2**40))])
case("random", "StatelessRandomGetAlg", [])
case("random", "RngReadAndSkip", [("resource", i64(-1, 5, 77)), ("alg", alg), ("delta", np.uint64(3))], nvars=1)
case("random", "RngReadAndSkip", [("resource", i64(0, 0, 1)), ("alg", alg), ("delta", np.uint64(1000))], nvars=1)

# --- state --------------------------------------------------------------------
for d in ["float32", "int64", "bool"]:
    case("state", "ReadVariableOp", [("resource", rand(d, (2, 3)))], {"dtype": tf.as_dtype(d)}, nvars=1)
    case("state", "AssignVariableOp", [("resource", rand(d, (2, 3))), ("value", rand(d, (2, 3)))], nvars=1)
for d in F + ["int32", "int64", "complex64", "uint8", "int8", "int16"]:
    for op in ["AssignAddVariableOp", "AssignSubVariableOp"]:
        case("state", op, [("resource", rand(d, (2, 3))), ("value", rand(d, (2, 3)))], nvars=1)
case("state", "VarIsInitializedOp", [("resource", rand("float32", (2,)))], nvars=1)
case("state", "VariableShape", [("input", rand("float32", (2, 3)))], {"out_type": tf.int32}, nvars=1)
case("state", "VariableShape", [("input", rand("float32", (2, 3)))], {"out_type": tf.int64}, nvars=1)
case("state", "ResourceGather", [("resource", rand("float32", (4, 3))), ("indices", i64(2, 2, 0))], {"dtype": tf.float32}, nvars=1)
for d in F:
    t = np_of(d)
    V = lambda lo=-2, hi=2: rand(d, (3, 4), lo, hi)
    P = lambda: rand(d, (3, 4), 0.1, 2)
    case("state", "ResourceApplyGradientDescent", [("var", V()), ("alpha", t(0.1)), ("delta", V())], nvars=1)
    for nesterov in (False, True):
        n = {"use_nesterov": nesterov}
        case("state", "ResourceApplyMomentum", [("var", V()), ("accum", V()), ("lr", t(0.1)), ("grad", V()), ("momentum", t(0.9))], n, nvars=2)
        case("state", "ResourceApplyKerasMomentum", [("var", V()), ("accum", V()), ("lr", t(0.1)), ("grad", V()), ("momentum", t(0.9))], n, nvars=2)
        case("state", "ResourceApplyAdam", [("var", V()), ("m", V()), ("v", P()), ("beta1_power", t(0.81)), ("beta2_power", t(0.98)), ("lr", t(0.1)), ("beta1", t(0.9)), ("beta2", t(0.99)), ("epsilon", t(1e-3)), ("grad", V())], n, nvars=3)
    case("state", "ResourceApplyAdaMax", [("var", V()), ("m", V()), ("v", P()), ("beta1_power", t(0.81)), ("lr", t(0.1)), ("beta1", t(0.9)), ("beta2", t(0.99)), ("epsilon", t(1e-3)), ("grad", V())], nvars=3)
    case("state", "ResourceApplyAdamWithAmsgrad", [("var", V()), ("m", V()), ("v", P()), ("vhat", P()), ("beta1_power", t(0.81)), ("beta2_power", t(0.98)), ("lr", t(0.1)), ("beta1", t(0.9)), ("beta2", t(0.99)), ("epsilon", t(1e-3)), ("grad", V())], nvars=4)
    for slots in (True, False):
        case("state", "ResourceApplyAdagrad", [("var", V()), ("accum", P()), ("lr", t(0.1)), ("grad", V())], {"update_slots": slots}, nvars=2)
        case("state", "ResourceApplyAdagradV2", [("var", V()), ("accum", P()), ("lr", t(0.1)), ("epsilon", t(1e-3)), ("grad", V())], {"update_slots": slots}, nvars=2)
    case("state", "ResourceApplyAdadelta", [("var", V()), ("accum", P()), ("accum_update", P()), ("lr", t(0.5)), ("rho", t(0.9)), ("epsilon", t(1e-2)), ("grad", V())], nvars=3)
    case("state", "ResourceApplyRMSProp", [("var", V()), ("ms", P()), ("mom", V()), ("lr", t(0.1)), ("rho", t(0.9)), ("momentum", t(0.5)), ("epsilon", t(1e-2)), ("grad", V())], nvars=3)
    case("state", "ResourceApplyCenteredRMSProp", [("var", V()), ("mg", rand(d, (3, 4), -0.1, 0.1)), ("ms", rand(d, (3, 4), 1, 2)), ("mom", V()), ("lr", t(0.1)), ("rho", t(0.9)), ("momentum", t(0.5)), ("epsilon", t(1e-2)), ("grad", V())], nvars=4)
    for power in (-0.5, -0.7):
        case("state", "ResourceApplyFtrlV2", [("var", V()), ("accum", P()), ("linear", V()), ("grad", V()), ("lr", t(0.5)), ("l1", t(0.1)), ("l2", t(0.2)), ("l2_shrinkage", t(0.05)), ("lr_power", t(power))], nvars=3)

# --- io -----------------------------------------------------------------------
case("io", "ShardedFilename", [("basename", np.array(b"ckpt")), ("shard", np.int32(3)), ("num_shards", np.int32(12))])

# --- edges --------------------------------------------------------------------
# Calls that are right but rare. They come last, so that the random numbers of
# the cases above stay.
for shape, to in [((5, 0, 2), (0, -1)), ((0, 1, 3), (0, -1, 0)), ((0, 3), (-1,)), ((0, 3), (-1, 3)), ((0, 3), (-1, 0))]:
    case("edges", "Reshape", [("tensor", np.zeros(shape, np.float32)), ("shape", i32(*to))])
NOTHING = [("begin", np.zeros(0, np.int32)), ("end", np.zeros(0, np.int32)), ("strides", np.zeros(0, np.int32))]
for mask in (1, 2, 6):
    case("edges", "StridedSlice", [("input", rand("float32", (2, 3)))] + NOTHING, {"ellipsis_mask": mask, "new_axis_mask": 8})
    case("edges", "StridedSlice", [("input", rand("float32", (2, 3))), ("begin", i32(1)), ("end", i32(2)), ("strides", i32(1))], {"ellipsis_mask": mask, "begin_mask": 2})
for d in F:
    case("edges", "Relu6", [("features", np.array([np.nan, np.inf, -np.inf, -0.0, 7, 6], np_of(d)))])
    case("edges", "Relu", [("features", np.array([np.nan, np.inf, -np.inf, -0.0, 7, 6], np_of(d)))])
for d in F2:
    for k in (0, 1):
        case("edges", "TopKV2", [("input", np.array([1, np.nan, 3, 3, -np.inf, np.inf, 3], np_of(d))), ("k", np.int32(k))])

# Rows of variables of other types, and of each of a batch of parts.
case("state", "ResourceGather", [("resource", s("a", "", "b", "c", "d", "e", shape=(3, 2))), ("indices", i64(2, 0))], {"dtype": tf.string}, nvars=1)
case("state", "ResourceGather", [("resource", np.arange(24, dtype=np.float32).reshape(2, 4, 3)), ("indices", np.array([[3, 0], [1, 1]], np.int32))], {"dtype": tf.float32, "batch_dims": 1}, nvars=1)
case("state", "ResourceGather", [("resource", np.arange(12, dtype=np.int16).reshape(2, 3, 2)), ("indices", np.array([[[0], [1], [1]], [[1], [0], [0]]], np.int64))], {"dtype": tf.int16, "batch_dims": 2}, nvars=1)

write()

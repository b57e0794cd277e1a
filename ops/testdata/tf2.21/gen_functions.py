"""Writes functions.json: the results of TensorFlow 2.21 and tf_keras for the
functions of package ops, by name. functions_test.go makes the same calls.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_functions.py
"""
import base64
import json
import os

import numpy as np
import tensorflow as tf
import tf_keras

rng = np.random.default_rng(7)


def normal(*shape):
    return rng.normal(0, 2, shape).astype(np.float32)


IN = {
    "x": np.array([[-3.5, -1.0, -0.2, 0.0], [0.3, 0.9, 2.5, 6.0]], np.float32),
    "z": np.array([[0.0, 1.0, 0.5, 0.25], [1.0, 0.0, 0.75, 1.0]], np.float32),
    "unit": np.array([-0.99, -0.5, -0.1, 0.0, 0.2, 0.7, 0.95], np.float32),
    "positive": np.array([0.01, 0.3, 1.0, 1.7, 4.5, 30.0, 150.0], np.float32),
    "above1": np.array([1.0, 1.001, 1.5, 3.0, 80.0], np.float32),
    "special": np.array([1.0, np.nan, np.inf, -np.inf, 0.0, -2.5, 2.5, 3.5], np.float32),
    "ints": np.array([[-7, -2, 0, 3], [8, 5, -1, 12]], np.int32),
    "divisors": np.array([[3, -3, 5, 2], [-3, 4, 7, 5]], np.int32),
    "p": np.array([True, True, False, False]),
    "q": np.array([True, False, True, False]),
    "flags": np.array([[True, False, True], [False, False, False]]),
    "cube": normal(2, 3, 4),
    "square": normal(4, 4),
    "batch": normal(2, 3, 3),
    "vector": normal(4),
    "complex": (normal(3) + 1j * normal(3)).astype(np.complex64),
    "perm": np.array([2, 0, 3, 1], np.int32),
    "logits": normal(2, 2, 3),
    "labels": np.array([[2, 0], [1, 1]], np.int32),
    "v": normal(5), "g": normal(5), "s1": np.abs(normal(5)), "s2": np.abs(normal(5)), "s3": np.abs(normal(5)),
}
# Images and filters, whose products are exact.
eighths = np.random.default_rng(8)
for name, shape in [("image", (1, 6, 7, 2)), ("filter", (3, 2, 2, 4)), ("up", (1, 3, 4, 4)), ("depthwise", (2, 3, 2, 2)), ("volume", (1, 3, 4, 4, 1)),
                    ("volumefilter", (2, 2, 2, 1, 2))]:
    IN[name] = (eighths.integers(-8, 8, shape) / 8).astype(np.float32)
# Strings, and matrices in double precision.
more = np.random.default_rng(9)
wide = lambda *shape: more.normal(0, 1, shape)
IN.update({
    "words": np.array(["", "Grün", "日本 X", "Straße"], object).astype(object), "lines": np.array([" one two\n", "foo  boo", "x", ""], object),
    "numerals": np.array([["1.5", "-3e2"], [" 7 ", "nan"]], object), "table": np.array([["a", "b", "c"], ["d", "", "f"]], object),
    "broken": np.array([b"a\xffb\x01", b"\xe4\xb8", b"ok"], object),
    "solvable": wide(2, 3, 3) + 2 * np.eye(3), "right": wide(2, 3, 2), "tall": wide(5, 3), "tallright": wide(5, 2), "stack": wide(2, 3, 4),
    "diagonals": wide(2, 3, 4) + np.array([[0], [4], [0]]), "diagonalsright": wide(2, 4, 2), "bands": wide(2, 2, 4) + 3,
})
half = wide(2, 3, 3)
IN["definite"] = half @ half.transpose(0, 2, 1) + np.eye(3)
for name in ["words", "lines", "numerals", "table"]:
    IN[name] = np.vectorize(lambda t: t.encode(), otypes=[object])(IN[name])
I = type("In", (), {k: tf.constant(v) for k, v in IN.items()})
x, z = I.x, I.z
hot = tf.one_hot(I.labels, 3)
OUT = {}


def put(name, *values):
    assert name not in OUT, name
    OUT[name] = values


def step(name, op, nvars, **attrs):
    """An optimizer's step: the variables afterwards."""
    names = {"ApplyMomentum": ["accum"], "ApplyKerasMomentum": ["accum"], "ApplyAdam": ["m", "v"], "ApplyAdaMax": ["m", "v"],
             "ApplyAdamWithAmsgrad": ["m", "v", "vhat"], "ApplyAdagrad": ["accum"],
             "ApplyAdadelta": ["accum", "accum_update"], "ApplyRMSProp": ["ms", "mom"],
             "ApplyCenteredRMSProp": ["mg", "ms", "mom"], "ApplyFtrl": ["accum", "linear"],
             "ApplyGradientDescent": []}[name.split()[0]]
    start = [IN["v"], IN["s1"], IN["s2"], IN["s3"]][:nvars]
    if name.split()[0] == "ApplyCenteredRMSProp":  # the mean of squares is above the square of the mean
        start = [IN["v"], IN["g"] / 4, IN["s2"] + 10, IN["s3"]]
    variables = [tf.Variable(a) for a in start]
    handles = {n: v.handle for n, v in zip(["var"] + names, variables)}
    op(**handles, **{k: v if isinstance(v, (bool, tf.Tensor)) else tf.constant(v, tf.float32) for k, v in attrs.items()})
    put(name, *[v.read_value() for v in variables])


R = tf.raw_ops

# Element by element.
put("Add", x + z), put("Sub", x - z), put("Mul", x * z), put("Div", x / z)
put("DivNoNan", tf.math.divide_no_nan(x, z)), put("MulNoNan", tf.math.multiply_no_nan(I.special, I.special * 0))
put("FloorDiv", I.ints // I.divisors), put("Mod", I.ints % I.divisors), put("TruncateDiv", R.TruncateDiv(x=I.ints, y=I.divisors))
put("Pow", tf.pow(I.positive, 1.5)), put("Maximum", tf.maximum(x, z)), put("Minimum", tf.minimum(x, z))
put("SquaredDifference", tf.math.squared_difference(x, z)), put("Atan2", tf.atan2(x, z - 0.5))
put("Xlogy", tf.math.xlogy(z, tf.abs(x)))
put("Equal", x == z), put("NotEqual", x != z), put("Less", x < z), put("LessEqual", x <= z)
put("Greater", x > z), put("GreaterEqual", x >= z)
put("And", I.p & I.q), put("Or", I.p | I.q), put("Not", ~I.p)
put("BitwiseAnd", tf.bitwise.bitwise_and(I.ints, I.divisors)), put("BitwiseOr", tf.bitwise.bitwise_or(I.ints, I.divisors))
put("BitwiseXor", tf.bitwise.bitwise_xor(I.ints, I.divisors))
put("Neg", -x), put("Abs", tf.abs(x)), put("Abs complex", tf.abs(I.complex)), put("Sign", tf.sign(x)), put("Square", x * x)
put("Sqrt", tf.sqrt(I.positive)), put("Rsqrt", tf.math.rsqrt(I.positive)), put("Reciprocal", tf.math.reciprocal(I.positive))
put("Exp", tf.exp(x)), put("Expm1", tf.math.expm1(x)), put("Log", tf.math.log(I.positive)), put("Log1p", tf.math.log1p(I.positive))
put("Sin", tf.sin(x)), put("Cos", tf.cos(x)), put("Tan", tf.tan(x))
put("Asin", tf.asin(I.unit)), put("Acos", tf.acos(I.unit)), put("Atan", tf.atan(x))
put("Sinh", tf.sinh(x)), put("Cosh", tf.cosh(x)), put("Tanh", tf.tanh(x))
put("Asinh", tf.asinh(x)), put("Acosh", tf.acosh(I.above1)), put("Atanh", tf.atanh(I.unit))
put("Erf", tf.math.erf(x)), put("Erfc", tf.math.erfc(x)), put("Lgamma", tf.math.lgamma(I.positive))
put("Digamma", tf.math.digamma(I.positive))
put("Floor", tf.floor(I.special)), put("Ceil", tf.math.ceil(I.special)), put("Round", tf.round(I.special))
put("IsNaN", tf.math.is_nan(I.special)), put("IsInf", tf.math.is_inf(I.special)), put("IsFinite", tf.math.is_finite(I.special))
put("Conj", tf.math.conj(I.complex)), put("AddN", tf.add_n([x, z, x])), put("Clip", tf.clip_by_value(x, -1.0, 2.0))
put("Where", tf.where(z > 0.5, x, -1.0)), put("Cast", tf.cast(x, tf.int32)), put("Cast bool", tf.cast(x, tf.bool))
put("MatMul", x @ tf.transpose(z)), put("MatMul transposed", tf.matmul(x, z, transpose_b=True), tf.matmul(x, z, transpose_a=True))
put("MatMul batch", tf.matmul(I.batch, I.batch, transpose_a=True)), put("BiasAdd", tf.nn.bias_add(I.cube, I.vector))

# Layers and losses.
put("Relu", tf.nn.relu(x)), put("Relu6", tf.nn.relu6(x * 2)), put("LeakyRelu", tf.nn.leaky_relu(x, 0.3)), put("Elu", tf.nn.elu(x))
put("Selu", tf.nn.selu(x)), put("Gelu", tf.nn.gelu(x)), put("GeluTanh", tf.nn.gelu(x, approximate=True))
put("Sigmoid", tf.sigmoid(x)), put("HardSigmoid", tf_keras.activations.hard_sigmoid(x)), put("Softplus", tf.nn.softplus(x))
put("Softsign", tf.nn.softsign(x)), put("Swish", tf.nn.silu(x)), put("Mish", tf_keras.activations.mish(x))
put("Softmax", tf.nn.softmax(x)), put("LogSoftmax", tf.nn.log_softmax(x)), put("L2Normalize", tf.nn.l2_normalize(x, -1, 1e-12))
put("SoftmaxCrossEntropy", tf.nn.softmax_cross_entropy_with_logits(z / tf.reduce_sum(z, -1, keepdims=True), x))
put("SoftmaxCrossEntropy of rank 3", tf.nn.softmax_cross_entropy_with_logits(hot, I.logits))
put("SparseSoftmaxCrossEntropy", tf.nn.sparse_softmax_cross_entropy_with_logits([2, 0], x))
put("SparseSoftmaxCrossEntropy of rank 3", tf.nn.sparse_softmax_cross_entropy_with_logits(I.labels, I.logits))
put("SigmoidCrossEntropy", tf.nn.sigmoid_cross_entropy_with_logits(z, x))

# Reductions.
for name, f in {"Sum": tf.reduce_sum, "Mean": tf.reduce_mean, "Prod": tf.reduce_prod, "Max": tf.reduce_max, "Min": tf.reduce_min}.items():
    put(name, f(I.cube), f(I.cube, [0, 2]))
    put(name + "Keep", f(I.cube, [1], keepdims=True))
put("All", tf.reduce_all(I.flags), tf.reduce_all(I.flags, 1)), put("Any", tf.reduce_any(I.flags), tf.reduce_any(I.flags, 1))
put("ArgMax", tf.argmax(I.cube, 1)), put("ArgMin", tf.argmin(I.cube, -1))
put("CumSum", tf.cumsum(I.cube, 1), tf.cumsum(I.cube, -1, exclusive=True, reverse=True))
put("CumProd", tf.math.cumprod(I.cube, 1), tf.math.cumprod(I.cube, -1, exclusive=True, reverse=True))
put("LogSumExp", tf.reduce_logsumexp(x, -1), tf.reduce_logsumexp(x))
put("Moments", *tf.nn.moments(x, [0])), put("MomentsKeep", *tf.nn.moments(I.cube, [0, 2], keepdims=True))
put("L2Loss", tf.nn.l2_loss(x)), put("Norm", tf.norm(x, axis=0))

# Shapes and indices.
put("Shape", tf.shape(I.cube)), put("Size", tf.size(I.cube)), put("Rank", tf.rank(I.cube))
put("Reshape", tf.reshape(I.cube, [4, -1])), put("ReshapeTo", tf.reshape(I.cube, [6, 4]))
put("Transpose", tf.transpose(I.cube), tf.transpose(I.cube, [1, 0, 2]))
put("ExpandDims", tf.expand_dims(x, 1)), put("Squeeze", tf.squeeze(tf.reshape(x, [1, 8, 1])), tf.squeeze(tf.reshape(x, [1, 8, 1]), [2]))
put("Concat", tf.concat([x, z, x], 0), tf.concat([x, z], -1)), put("Split", *tf.split(I.cube, 2, -1))
put("SplitSizes", *tf.split(I.cube, [1, 0, 2], 1)), put("Stack", tf.stack([x, z]), tf.stack([x, z], -1))
put("Unstack", *tf.unstack(I.cube), *tf.unstack(I.cube, axis=1)), put("SliceOf", tf.slice(I.cube, [0, 1, 2], [2, -1, 1]))
put("StridedSlice", I.cube[:, 1:-1, 0])
put("At", I.cube[1], I.cube[:, -1]), put("From", I.cube[:, 1:], I.cube[:, :, -2:]), put("To", I.cube[:1], I.cube[:, :-1])
put("Span", I.cube[:, 0:2], I.cube[:, :, 3:0:-2]), put("Whole", I.cube[:, 1], I.cube[::-1])
put("NewAxis", I.cube[tf.newaxis], I.cube[:, tf.newaxis, 1]), put("Ellipsis", I.cube[..., 1], I.cube[1, ..., tf.newaxis])
put("Gather", tf.gather(I.cube, [1, 0, 1]), tf.gather(I.cube, [[3, 0]], axis=2)), put("GatherND", tf.gather_nd(I.cube, [[0, 1], [1, 2]]))
put("ScatterND", tf.scatter_nd([[4], [1], [4]], [1.0, 2.0, 3.0], [6]))
put("UnsortedSegmentSum", tf.math.unsorted_segment_sum(I.square, [2, 0, -1, 2], 4))
put("OneHot", tf.one_hot([1, 0, 5], 3), tf.one_hot(I.labels, 3, on_value=5, off_value=-1, axis=1, dtype=tf.int32),
    tf.one_hot(I.labels, 3, axis=0, dtype=tf.bool, on_value=True, off_value=False))
put("Tile", tf.tile(x, [2, 3])), put("BroadcastTo", tf.broadcast_to(I.vector, [2, 3, 4]))
put("Pad", tf.pad(x, [[1, 0], [2, 1]])), put("PadWith", tf.pad(x, [[0, 2], [1, 1]], constant_values=-7))
put("MirrorPad", tf.pad(x, [[1, 0], [2, 3]], "REFLECT"), tf.pad(x, [[2, 1], [0, 4]], "SYMMETRIC"))
put("Reverse", tf.reverse(I.cube, [0, 2])), put("Range", tf.range(3, 18, 4), tf.range(1.0, 0.0, -0.25))
put("LinSpace", tf.linspace(1.0, 3.0, 7)), put("Fill", tf.fill([2, 3], 2.5)), put("Zeros", tf.zeros([2, 2], tf.int64), tf.zeros([], tf.bool))
put("Ones", tf.ones([2, 3], tf.float64), tf.ones([2], tf.bool)), put("ZerosLike", tf.zeros_like(I.ints)), put("OnesLike", tf.ones_like(I.ints))
put("Eye", tf.eye(3)), put("Diag", tf.linalg.diag(x)), put("DiagPart", tf.linalg.diag_part(I.batch))
put("BandPart", tf.linalg.band_part(I.square, 1, 0), tf.linalg.band_part(I.square, -1, 2))
put("TopK", *tf.math.top_k(I.cube, 2)), put("Sort", tf.sort(I.cube)), put("Identity", tf.identity(x)), put("StopGradient", tf.stop_gradient(x))
put("EnsureShape", tf.ensure_shape(x, [2, None])), put("InvertPermutation", tf.math.invert_permutation(I.perm))
put("WhereIndices", tf.where(I.flags), tf.where(I.ints))
put("Const", tf.constant(3), tf.constant(2.5), tf.constant([[1, 2], [3, 4]]), tf.constant("text"))
put("ConstOf", tf.constant(3, tf.int64), tf.constant([1.5, 2.0], tf.float64))

# Images.
first = lambda v: tf.transpose(v, [0, 3, 1, 2])
put("Conv2D", tf.nn.conv2d(I.image, I.filter, [2, 1], "SAME"))
put("Conv2D explicit", tf.nn.conv2d(I.image, I.filter, 1, [[0, 0], [1, 0], [0, 2], [0, 0]]))
put("Conv2D first", first(tf.nn.conv2d(I.image, I.filter, [1, 2], "VALID")))
put("Conv2DTranspose", tf.nn.conv2d_transpose(I.up, I.filter, [1, 6, 7, 2], 2, "SAME"))
put("Convolution", *[tf.nn.convolution(I.image, I.filter, padding=p, dilations=d) for p, d in (("VALID", 1), ("SAME", 2), ("VALID", [1, 3]), ("SAME", [2, 3]))],
    *[tf.nn.convolution(I.image[0], I.filter[0], padding=p, dilations=d) for p, d in (("SAME", None), ("SAME", 2), ("VALID", 3))],
    *[tf.nn.convolution(I.volume, I.volumefilter, padding=p, dilations=d) for p, d in (("SAME", 2), ("VALID", [2, 1, 3]))])
put("ConvolutionTranspose", tf.nn.atrous_conv2d_transpose(I.up, I.filter, [1, 7, 6, 2], 2, "VALID"), tf.nn.atrous_conv2d_transpose(I.up, I.filter, [1, 3, 4, 2], 3, "SAME"),
    tf.nn.conv_transpose(I.up, I.filter, [1, 6, 7, 2], 2, "SAME"), tf.nn.conv_transpose(I.up[0], I.filter[0], [3, 8, 2], 2, "SAME"))
put("DepthwiseConv2D", tf.nn.depthwise_conv2d(I.image, I.depthwise, [1, 1, 1, 1], "VALID", dilations=[2, 1]))
put("Conv3D", tf.nn.conv3d(I.volume, I.volumefilter, [1, 1, 2, 1, 1], "VALID"))
put("Conv3DTranspose", tf.nn.conv3d_transpose(tf.nn.conv3d(I.volume, I.volumefilter, [1, 1, 1, 1, 1], "SAME"), I.volumefilter, I.volume.shape, 1, "SAME"))
put("MaxPool3D", tf.nn.max_pool3d(I.volume, 2, [1, 1, 2, 1, 1], "SAME")), put("AvgPool3D", tf.nn.avg_pool3d(I.volume, 2, 1, "SAME"))
put("MaxPool", tf.nn.max_pool2d(I.image, [2, 3], [2, 3], "SAME"))
put("AvgPool", tf.nn.avg_pool2d(I.image, 3, 1, "SAME"))
stats = [tf.constant(v) for v in ([1.0, 2.0], [0.5, -1.0], [0.1, 0.2], [1.5, 0.5])]
put("BatchNorm", *tf.compat.v1.nn.fused_batch_norm(I.image, *stats, epsilon=0.001, is_training=False))
put("BatchNorm training", *tf.compat.v1.nn.fused_batch_norm(I.image, *stats[:2], epsilon=0.01, is_training=True))
put("BatchNorm momentum", *tf.compat.v1.nn.fused_batch_norm(
    I.image, [1.0, 2.0], [0.5, -1.0], [0.1, 0.2], [1.5, 0.5], epsilon=0.01, is_training=True, exponential_avg_factor=0.25))
put("Resize", tf.image.resize(I.image, [4, 9]))
put("Resize nearest", tf.image.resize(I.image, [4, 9], "nearest"))
put("Resize bicubic", tf.image.resize(I.image, [9, 3], "bicubic"))
put("Resize legacy", tf.compat.v1.image.resize_bilinear(I.image, [4, 9]))
put("Resize lanczos", tf.image.resize(I.image, [4, 9], "lanczos3"))
put("ResizeTo", tf.image.resize(I.image, [9, 3], "gaussian"))
put("Resize corners", tf.compat.v1.image.resize_area(I.image, [4, 9], align_corners=True))
put("Einsum", tf.einsum("bhwc,hwco->bo", I.image[:, :3, :2], I.filter))

# Variables.
v = tf.Variable(I.v)
v.assign_add(I.g), v.assign_sub(I.s1)
put("Assign", tf.Variable(I.v).assign(I.g)), put("AssignAdd", tf.Variable(I.v).assign_add(I.g)), put("AssignSub", tf.Variable(I.v).assign_sub(I.g))
put("ReadVariable", v.read_value())
step("ApplyGradientDescent", R.ResourceApplyGradientDescent, 1, alpha=0.1, delta=I.g)
for name, on in (("", False), (" nesterov", True)):
    step("ApplyMomentum" + name, R.ResourceApplyMomentum, 2, lr=0.1, grad=I.g, momentum=0.9, use_nesterov=on)
    step("ApplyKerasMomentum" + name, R.ResourceApplyKerasMomentum, 2, lr=0.1, grad=I.g, momentum=0.9, use_nesterov=on)
    step("ApplyAdam" + name, R.ResourceApplyAdam, 3, beta1_power=0.81, beta2_power=0.998, lr=0.1, beta1=0.9, beta2=0.999,
         epsilon=1e-3, grad=I.g, use_nesterov=on)
step("ApplyAdamWithAmsgrad", R.ResourceApplyAdamWithAmsgrad, 4, beta1_power=0.81, beta2_power=0.998, lr=0.1, beta1=0.9, beta2=0.999,
     epsilon=1e-3, grad=I.g)
step("ApplyAdaMax", R.ResourceApplyAdaMax, 3, beta1_power=0.81, lr=0.1, beta1=0.9, beta2=0.999, epsilon=1e-3, grad=I.g)
step("ApplyAdagrad", R.ResourceApplyAdagradV2, 2, lr=0.1, epsilon=1e-3, grad=I.g)
step("ApplyAdadelta", R.ResourceApplyAdadelta, 3, lr=0.1, rho=0.95, epsilon=1e-3, grad=I.g)
step("ApplyRMSProp", R.ResourceApplyRMSProp, 3, lr=0.1, rho=0.9, momentum=0.5, epsilon=1e-3, grad=I.g)
step("ApplyCenteredRMSProp", R.ResourceApplyCenteredRMSProp, 4, lr=0.1, rho=0.9, momentum=0.5, epsilon=1e-3, grad=I.g)
step("ApplyFtrl", R.ResourceApplyFtrlV2, 3, grad=I.g, lr=0.1, l1=0.01, l2=0.02, l2_shrinkage=0.03, lr_power=-0.5)

# Random numbers: each from a generator with the seed 1234.
gen = lambda: tf.random.Generator.from_seed(1234)
put("RandomUniform", gen().uniform([2, 5])), put("RandomNormal", gen().normal([2, 5])), put("RandomTruncatedNormal", gen().truncated_normal([2, 5]))
put("RandomInt", gen().uniform([7], 0, 1000, tf.int32)), put("NewRandom", gen().state)

# Strings.
S = tf.strings
U = dict(unit="UTF8_CHAR")


def rows(name, *ragged):
    put(name, *[part for r in ragged for part in (r.values, tf.cast(r.row_splits, tf.int64))])


put("StringJoin", S.join([I.words, "=", I.words], "-")), put("StringLength", S.length(I.words), S.length(I.words, **U))
put("Substr", S.substr(tf.constant(IN["words"][1:]), -2, 5), S.substr(tf.constant(IN["words"][1:]), 1, 2, **U))
put("Lower", S.lower(I.words), S.lower(I.words, "utf-8")), put("Upper", S.upper(I.words), S.upper(I.words, "utf-8")), put("Strip", S.strip(I.lines))
put("RegexReplace", S.regex_replace(I.lines, r"(\w)o", r"<\1>"), S.regex_replace(I.lines, "o", "0", replace_global=False))
put("RegexFullMatch", S.regex_full_match(I.lines, ".*o.*")), put("ToNumber", S.to_number(I.numerals), S.to_number(["12", "-7"], tf.int64))
put("AsString", S.as_string(x), S.as_string(x, precision=2, width=8, fill="0"), S.as_string(x, precision=3, scientific=True), S.as_string(x, shortest=True),
    S.as_string(I.ints), S.as_string(I.p))
put("ToHashBucket", S.to_hash_bucket(I.words, 1000)), put("ToHashBucketFast", S.to_hash_bucket_fast(I.words, 1000))
put("ToHashBucketStrong", S.to_hash_bucket_strong(I.words, 1000, [1, 2]))
rows("StringSplit", S.split(I.lines), S.split(I.lines, "o", 1), S.split(["a,b,,c"], ","))
rows("BytesSplit", S.bytes_split(I.words)), rows("RaggedOfRows", tf.RaggedTensor.from_value_rowids([5.0, 6.0, 7.0], [0, 2, 2], 4))
put("ReduceJoin", S.reduce_join(I.table, separator="+"), S.reduce_join(I.table, 0), S.reduce_join(I.table, [1, 0], separator="/"))
put("UnsortedSegmentJoin", S.unsorted_segment_join(["a", "b", "c"], [1, 0, 1], 3, ":"))
parts = S.split(I.lines)
rows("NGrams", S.ngrams(parts, 2), S.ngrams(parts, [1, 3], ",", ("<", ">")), S.ngrams(parts, 4, pad_values=("<", ">"), padding_width=1, preserve_short_sequences=True))
put("StringFormat", S.format("x is {}, p {}", [x, I.p]), S.format("%", [tf.range(20)], placeholder="%", summarize=-1))
put("EncodeBase64", tf.io.encode_base64(I.words), tf.io.encode_base64(I.words, pad=True)), put("DecodeBase64", I.words)
rows("UnicodeDecode", S.unicode_decode(I.broken, "UTF-8"), S.unicode_decode(I.broken, "UTF-8", "ignore"),
     S.unicode_decode(I.broken, "UTF-8", replacement_char=ord("x"), replace_control_characters=True))
rows("UnicodeDecodeWithOffsets", *S.unicode_decode_with_offsets(I.words, "UTF-8"))
put("UnicodeEncode", S.unicode_encode(S.unicode_decode(I.words, "UTF-8"), "UTF-16-BE"))
put("UnicodeTranscode", S.unicode_transcode(I.words, "UTF-8", "UTF-32-BE"), S.unicode_transcode(I.broken, "UTF-8", "UTF-8"))
rows("UnicodeSplit", S.unicode_split(I.words, "UTF-8")), put("UnicodeScript", S.unicode_script([ord("a"), ord("я"), ord("字"), 0x10ffff, -1]))

# Complex numbers and arrays of tensors.
put("Real", tf.math.real(I.complex)), put("Imag", tf.math.imag(I.complex)), put("Angle", tf.math.angle(I.complex)), put("Complex", tf.complex(x, z))
put("NewTensorArray", [[3.0, 4.0], [0.0, 0.0], [1.0, 2.0]], tf.constant(3), tf.zeros([2]))
sq = I.square
put("TensorArrayOf", tf.gather(sq, [3, 1]), sq, tf.constant([1, 3], tf.int64), I.vector, sq[:2], tf.tensor_scatter_nd_update(sq, [[1]], [I.vector]))
OUT["NewTensorArray"] = (tf.constant([[3.0, 4.0], [0.0, 0.0], [1.0, 2.0]]),) + OUT["NewTensorArray"][1:]

# Linear algebra.
L = tf.linalg
d, A, b = I.definite, I.solvable, I.right
put("Cholesky", L.cholesky(d)), put("CholeskySolve", L.cholesky_solve(L.cholesky(d), b)), put("Inverse", L.inv(A), L.inv(A, adjoint=True))
put("Solve", L.solve(A, b), L.solve(A, b, adjoint=True)), put("TriangularSolve", L.triangular_solve(A, b), L.triangular_solve(A, b, lower=False, adjoint=True))
put("LeastSquares", L.lstsq(I.tall, I.tallright), L.lstsq(I.tall, I.tallright, 0.5), L.lstsq(I.tall, I.tallright, fast=False))
put("Det", L.det(A)), put("SLogDet", *L.slogdet(A)), put("LogDet", L.logdet(d))
q, r = L.qr(I.tall)
put("QR", q @ r, tf.abs(r), tf.shape(L.qr(I.tall, full_matrices=True)[0]), I.tall)
put("SVD", L.svd(I.tall, compute_uv=False), I.tall, tf.shape(L.svd(I.tall, full_matrices=True)[1])), put("SingularValues", L.svd(I.tall, compute_uv=False))
put("Eigh", L.eigh(d)[0], d), put("EighValues", L.eigvalsh(d))
put("Eig", tf.sort(tf.math.real(L.eig(d)[0])), tf.shape(L.eig(d)[1])), put("EigValues", tf.sort(tf.math.real(L.eigvals(d))))
put("LU", *L.lu(A)), put("Expm", *[L.expm(A * k) for k in (0.25, 0.01, 0.001, 1.0, 8.0)], tf.math.imag(L.expm(tf.complex(A, A))), L.expm(tf.cast(A * 0.1, tf.float32)), tf.math.imag(L.expm(tf.cast(A * 0.1, tf.complex64) * 1j)), L.expm(A / [[[0.0]], [[1.0]]]), L.expm(tf.zeros([2, 0, 0], tf.float64))), put("Logm", tf.math.real(L.logm(tf.cast(d, tf.complex128)))), put("Sqrtm", L.sqrtm(d))
put("Pinv", L.pinv(I.tall), L.pinv(I.tall, 0.5)), put("MatVec", L.matvec(sq, I.vector), L.matvec(sq, I.vector, transpose_a=True))
put("MatrixTranspose", L.matrix_transpose(I.cube)), put("Adjoint", L.adjoint(I.cube)), put("MatrixTrace", L.trace(I.batch))
put("SetDiag", L.set_diag(sq, I.vector), L.set_diag(sq, [1.0, 2.0, 3.0], k=-1)), put("OffDiag", L.diag(I.vector, k=1), L.diag(I.vector, k=-2))
put("OffDiagPart", L.diag_part(I.batch, k=1), L.diag_part(sq, k=-2))
put("TridiagonalSolve", L.tridiagonal_solve(I.diagonals, I.diagonalsright), L.tridiagonal_solve(I.diagonals, I.diagonalsright, partial_pivoting=False))
put("TridiagonalMatMul", L.tridiagonal_matmul(I.diagonals, I.diagonalsright))
put("BandedTriangularSolve", L.banded_triangular_solve(I.bands, I.diagonalsright), L.banded_triangular_solve(I.bands, I.diagonalsright, lower=False))
put("Cross", L.cross(I.batch, tf.reverse(I.batch, [2])))
put("NormOf", tf.norm(I.cube, 1, 1), tf.norm(I.cube, np.inf), tf.reduce_sum(tf.abs(I.cube) ** 3, [0, 2]) ** (1 / 3))
put("MatrixNorm", *[tf.norm(I.stack, o, [-2, -1]) for o in ("fro", 1, 2, np.inf)])


def pack(t):
    if isinstance(t, np.ndarray) and t.dtype == object:
        t = tf.constant(t)
    a = np.asarray(t.numpy(), dtype=object if t.dtype == tf.string else None) if hasattr(t, "numpy") else np.asarray(t)
    if a.dtype == object:
        return {"dtype": "string", "shape": list(a.shape), "data": [base64.b64encode(s).decode() for s in a.reshape(-1)]}
    return {"dtype": a.dtype.name, "shape": list(a.shape), "data": base64.b64encode(np.ascontiguousarray(a).tobytes()).decode()}


data = {"in": {k: pack(v) for k, v in IN.items()}, "out": {k: [pack(v) for v in vs] for k, vs in OUT.items()}}
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "functions.json"), "w") as f:
    json.dump(data, f, indent=1)
    f.write("\n")

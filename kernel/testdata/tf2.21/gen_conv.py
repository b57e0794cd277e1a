"""Writes conv.json: convolutions, pooling and the normalizations of images.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_conv.py

TensorFlow's CPU kernels take channels first for few types only: such calls are
run with the channels last, and transposed.
"""
import recorder
from recorder import *

recorder.rng = np.random.default_rng(20260202)
L = lambda v: np.array(v, np.int32)


def case(family, op, inputs, attrs=None, **kw):
    """Marks calls that TensorFlow's plain CPU kernels refuse, or outputs that they leave open."""
    attrs = attrs or {}
    channels_first = str(attrs.get("data_format", "")).startswith("NC")
    if op.startswith("FusedBatchNorm"):
        training = attrs["is_training"]
        kw["undefined"] = [3, 4] if "Grad" in op else ([] if training else [3, 4]) + ([5] if op.endswith("V3") else [])
        kw["elsewhere"] = "Grad" in op and channels_first and not training
    else:
        dilated = op.startswith(("Conv2DBackprop", "Conv3D", "Depthwise")) and any(d != 1 for d in attrs.get("dilations", []))
        at = dict(inputs)
        grouped = op == "Conv2DBackpropFilter" and at["input"].shape[-1] != at["filter_sizes"][2] or \
            op == "Conv2DBackpropInput" and len(at["input_sizes"]) == 4 and at["input_sizes"][3] != at["filter"].shape[2]
        kw["elsewhere"] = channels_first or dilated or grouped
    recorder.case(family, op, inputs, attrs, **kw)


def spatial(v):
    """A list with an entry a dimension, for the batch and channels 1."""
    return [1] + list(v) + [1]


def first(v):
    """Such a list for channels first."""
    return [v[0], v[-1]] + list(v[1:-1])


def to_first(x):
    n = len(x.shape)
    return tf.transpose(x, [0, n - 1] + list(range(1, n - 1)))


def to_last(x):
    n = len(x.shape)
    return tf.transpose(x, [0] + list(range(2, n)) + [1])


def conv(op, d, x, f, strides, padding, dilations=None, explicit=None, channels_first=False):
    """A convolution and its two gradients."""
    rank = len(x)
    attrs = {"strides": spatial(strides), "padding": padding}
    if dilations:
        attrs["dilations"] = spatial(dilations)
    if explicit:
        attrs["explicit_paddings"] = [0, 0] + explicit + [0, 0]
    image, filt = rand(d, x, -2, 2), rand(d, f, -2, 2)
    base = {"Conv2D": ("Conv2DBackpropInput", "Conv2DBackpropFilter"), "Conv3D": ("Conv3DBackpropInputV2", "Conv3DBackpropFilterV2"),
            "DepthwiseConv2dNative": ("DepthwiseConv2dNativeBackpropInput", "DepthwiseConv2dNativeBackpropFilter")}[op]
    try:
        y = getattr(tf.raw_ops, op)(input=image, filter=filt, **attrs)
    except tf.errors.OpError as e:
        print("skip", op, d, attrs, str(e)[-80:])
        return
    dy = rand(d, y.shape, -2, 2)
    if not channels_first:
        case("conv", op, [("input", image), ("filter", filt)], attrs)
        case("conv", base[0], [("input_sizes", L(x)), ("filter", filt), ("out_backprop", dy)], attrs)
        case("conv", base[1], [("input", image), ("filter_sizes", L(f)), ("out_backprop", dy)], attrs)
        return
    fattrs = {k: v if k == "padding" else first(v) for k, v in attrs.items() if k != "explicit_paddings"}
    if explicit:
        fattrs["explicit_paddings"] = [0, 0, 0, 0] + explicit
    fattrs["data_format"] = "NCHW" if rank == 4 else "NCDHW"
    strip = lambda kw: {k: v for k, v in kw.items() if k in attrs} | attrs
    fn = lambda name: getattr(tf.raw_ops, name)
    case("conv", op, [("input", to_first(image).numpy()), ("filter", filt)], fattrs,
         raw=lambda input, filter, **kw: to_first(fn(op)(input=to_last(input), filter=filter, **attrs)))
    case("conv", base[0], [("input_sizes", L(first(x))), ("filter", filt), ("out_backprop", to_first(dy).numpy())], fattrs,
         raw=lambda input_sizes, filter, out_backprop, **kw: to_first(fn(base[0])(input_sizes=L(x), filter=filter, out_backprop=to_last(out_backprop), **attrs)))
    case("conv", base[1], [("input", to_first(image).numpy()), ("filter_sizes", L(f)), ("out_backprop", to_first(dy).numpy())], fattrs,
         raw=lambda input, filter_sizes, out_backprop, **kw: fn(base[1])(input=to_last(input), filter_sizes=filter_sizes, out_backprop=to_last(out_backprop), **attrs))


for d in F + ["int32"]:
    conv("Conv2D", d, (2, 5, 6, 2), (3, 2, 2, 3), (1, 1), "SAME")
    conv("Conv2D", d, (1, 6, 7, 3), (3, 3, 3, 2), (2, 2), "VALID")
for d in ["float32", "float64"]:
    conv("Conv2D", d, (1, 6, 5, 2), (3, 3, 2, 4), (2, 1), "SAME")
    conv("Conv2D", d, (2, 4, 5, 3), (1, 1, 3, 4), (1, 1), "VALID")
    conv("Conv2D", d, (1, 5, 5, 3), (1, 1, 3, 2), (2, 2), "SAME")
    conv("Conv2D", d, (1, 5, 6, 2), (3, 2, 2, 2), (2, 3), "EXPLICIT", explicit=[2, 1, 0, 3])
    conv("Conv2D", d, (1, 5, 6, 2), (3, 2, 2, 3), (2, 2), "SAME", channels_first=True)
    conv("Conv2D", d, (2, 3, 4, 3), (1, 1, 3, 2), (1, 1), "VALID", channels_first=True)
    conv("Conv2D", d, (1, 4, 4, 2), (2, 3, 2, 2), (1, 2), "EXPLICIT", explicit=[0, 2, 1, 1], channels_first=True)
for a in [dict(dilations=(2, 2), strides=(1, 1), padding="SAME"), dict(dilations=(2, 3), strides=(1, 1), padding="VALID"),
          dict(dilations=(3, 2), strides=(1, 1), padding="SAME", channels_first=True)]:
    conv("Conv2D", "float32", (1, 7, 8, 2), (3, 2, 2, 3), **a)
for groups, x, f in [(2, (1, 4, 5, 4), (3, 2, 2, 6)), (3, (2, 3, 3, 3), (2, 2, 1, 6))]:
    conv("Conv2D", "float32", x, f, (1, 1), "SAME")
    conv("Conv2D", "float32", x, f, (2, 1), "VALID", channels_first=True)
conv("Conv2D", "float64", (0, 4, 5, 2), (3, 2, 2, 3), (1, 1), "SAME")
conv("Conv2D", "float32", (1, 2, 2, 2), (3, 3, 2, 2), (1, 1), "SAME")
conv("Conv2D", "float32", (1, 3, 19, 17), (3, 3, 17, 35), (1, 1), "SAME")
case("conv", "Conv2DBackpropInput", [("input_sizes", L((5, 6))), ("filter", rand("float32", (3, 2, 2, 3))), ("out_backprop", rand("float32", (1, 3, 3, 3)))],
     {"strides": [1, 2, 2, 1], "padding": "SAME"})
for d in F:
    conv("DepthwiseConv2dNative", d, (2, 5, 6, 3), (3, 2, 3, 1), (1, 1), "SAME")
    conv("DepthwiseConv2dNative", d, (1, 6, 6, 2), (3, 3, 2, 2), (2, 2), "VALID")
for d in ["float32", "float64"]:
    conv("DepthwiseConv2dNative", d, (1, 4, 5, 9), (3, 3, 9, 1), (2, 2), "SAME")
    conv("DepthwiseConv2dNative", d, (1, 5, 5, 2), (2, 3, 2, 3), (1, 1), "SAME", channels_first=True)
    conv("DepthwiseConv2dNative", d, (1, 4, 5, 2), (2, 3, 2, 1), (1, 1), "EXPLICIT", explicit=[1, 2, 2, 0])
# TensorFlow's gradients of a dilated depthwise convolution leave the dilations
# out; grad's numeric test holds ours.
case("conv", "DepthwiseConv2dNative", [("input", rand("float32", (1, 6, 7, 3))), ("filter", rand("float32", (3, 2, 3, 2)))],
     {"strides": [1, 1, 1, 1], "padding": "SAME", "dilations": [1, 2, 3, 1]})
for d in F:
    conv("Conv3D", d, (1, 3, 4, 4, 2), (2, 3, 2, 2, 2), (1, 1, 1), "SAME")
    conv("Conv3D", d, (1, 4, 4, 5, 2), (2, 2, 3, 2, 2), (2, 1, 2), "VALID")
conv("Conv3D", "float32", (1, 4, 3, 5, 1), (2, 2, 2, 1, 2), (1, 1, 1), "SAME", dilations=(2, 1, 2))
conv("Conv3D", "float32", (1, 3, 4, 4, 2), (2, 3, 2, 2, 2), (2, 2, 2), "SAME", channels_first=True)


def windows(op, d, x, ksize, strides, padding, explicit=None, channels_first=False, ties=False):
    """A pooling op, its gradient and that one's gradient."""
    rank = len(x)
    three = "3D" if rank == 5 else ""
    attrs = {"ksize": spatial(ksize), "strides": spatial(strides), "padding": padding}
    if explicit:
        attrs["explicit_paddings"] = [0, 0] + explicit + [0, 0]
    fattrs = {"ksize": first(attrs["ksize"]), "strides": first(attrs["strides"]), "padding": padding, "data_format": "NCHW" if rank == 4 else "NCDHW"}
    fn = lambda name: getattr(tf.raw_ops, name)
    image = rand(d, x, -3, 4) if not ties else rng.integers(0, 3, x).astype(np_of(d))
    arg = "value" if (op, rank) == ("AvgPool", 4) else "input"
    a = attrs if not channels_first else fattrs
    flip = (lambda v: to_first(v).numpy()) if channels_first else (lambda v: v)
    run = lambda name, **kw: to_first(fn(name)(**{k: to_last(v) if len(v.shape) == rank else v for k, v in kw.items() if k not in fattrs}, **attrs))
    raw = (lambda name: lambda **kw: run(name, **kw)) if channels_first else (lambda name: None)
    try:
        y = fn(op + three)(**{arg: tf.constant(image)}, **attrs).numpy()  # a bare array would become float32
    except tf.errors.OpError as e:
        print("skip", op, d, attrs, str(e)[-80:])
        return
    dy, ddx = rand(d, y.shape, -3, 4), rand(d, x, -3, 4)
    case("conv", op + three, [(arg, flip(image))], a, raw=raw(op + three))
    if op == "AvgPool":
        shape = L(first(x) if channels_first else x)
        grad = lambda **kw: to_first(fn(op + three + "Grad")(orig_input_shape=L(x), grad=to_last(kw["grad"]), **attrs))
        case("conv", op + three + "Grad", [("orig_input_shape", shape), ("grad", flip(dy))], a, raw=grad if channels_first else None)
        return
    case("conv", op + three + "Grad", [("orig_input", flip(image)), ("orig_output", flip(y)), ("grad", flip(dy))], a, raw=raw(op + three + "Grad"))
    if not explicit:
        case("conv", op + three + "GradGrad", [("orig_input", flip(image)), ("orig_output", flip(y)), ("grad", flip(ddx))], a, raw=raw(op + three + "GradGrad"))


rng = recorder.rng
for d in F + ["int8", "int16", "int32", "int64", "uint8", "uint16"]:
    for op in ["MaxPool", "AvgPool"]:
        windows(op, d, (2, 5, 6, 2), (2, 3), (2, 2), "SAME")
        windows(op, d, (1, 5, 5, 3), (3, 2), (1, 2), "VALID")
        windows(op, d, (1, 3, 4, 4, 2), (2, 2, 2), (1, 2, 2), "SAME")
    x = rand(d, (2, 4, 5, 3))
    a = {"ksize": [1, 2, 3, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}
    y, at = tf.raw_ops.MaxPoolWithArgmax(input=tf.constant(x), **a)
    for batch in (False, True):
        b = dict(a, include_batch_in_index=batch)
        case("conv", "MaxPoolWithArgmax", [("input", x)], dict(b, Targmax=tf.int32 if batch else tf.int64))
        y, at = tf.raw_ops.MaxPoolWithArgmax(input=tf.constant(x), **b)
        case("conv", "MaxPoolGradWithArgmax", [("input", x), ("grad", rand(d, y.shape)), ("argmax", at.numpy())], b)
for d in ["float32", "float64", "int32"]:
    windows("MaxPool", d, (1, 6, 6, 2), (3, 3), (1, 1), "SAME", ties=True)
    windows("MaxPool", d, (1, 4, 5, 2), (3, 2), (2, 1), "EXPLICIT", explicit=[1, 2, 0, 1])
    case("conv", "MaxPool", [("input", rand(d, (2, 3, 2, 6)))], {"ksize": [1, 1, 1, 3], "strides": [1, 1, 1, 3], "padding": "VALID"})
    k, st = L((1, 2, 2, 1)), L((1, 1, 2, 1))
    x = rand(d, (1, 4, 5, 2))
    case("conv", "MaxPoolV2", [("input", x), ("ksize", k), ("strides", st)], {"padding": "SAME"})
    y = tf.raw_ops.MaxPoolV2(input=tf.constant(x), ksize=k, strides=st, padding="SAME").numpy()
    case("conv", "MaxPoolGradV2", [("orig_input", x), ("orig_output", y), ("grad", rand(d, y.shape)), ("ksize", k), ("strides", st)], {"padding": "SAME"})
    case("conv", "MaxPoolGradGradV2", [("orig_input", x), ("orig_output", y), ("grad", rand(d, x.shape)), ("ksize", k), ("strides", st)], {"padding": "SAME"})
for op in ["MaxPool", "AvgPool"]:
    windows(op, "float32", (1, 4, 5, 3), (2, 3), (2, 1), "SAME", channels_first=True)
    windows(op, "float32", (1, 3, 4, 4, 2), (2, 2, 2), (2, 2, 1), "SAME", channels_first=True)
windows("MaxPool", "float32", (1, 3, 3, 3, 1), (2, 2, 2), (1, 1, 1), "VALID", ties=True)
windows("MaxPool", "float32", (2, 5, 5, 19), (3, 3), (2, 2), "SAME")
windows("AvgPool", "float32", (2, 5, 5, 19), (3, 3), (2, 2), "SAME")


def norm(version, d, x, training, data_format="NHWC", factor=1.0):
    """FusedBatchNorm and its gradient. Outputs for another device, and
    outputs that no kernel fills, are recorded as empty or by their meaning."""
    n = x[data_format.index("C")]
    v = lambda lo=-2, hi=2: rand("float32", (n,), lo, hi)
    image, scale, offset, mean, variance = rand(d, x), v(), v(), v(), v(0.1, 2)
    if training and factor == 1.0:
        mean = variance = np.zeros(0, np.float32)
    attrs = {"is_training": training, "data_format": data_format, "epsilon": 0.01}
    if factor != 1.0:
        attrs["exponential_avg_factor"] = factor
    outs = []

    def forward(**kw):
        r = list(getattr(tf.raw_ops, "FusedBatchNorm" + version)(**kw))
        if version == "V3":
            r[5] = tf.zeros([0])
        if not training:
            r[3], r[4] = tf.constant(mean), tf.constant(variance)
        outs[:] = r
        return r

    def backward(**kw):
        r = list(getattr(tf.raw_ops, "FusedBatchNormGrad" + version)(**kw))
        return r[:3] + [tf.zeros([0])] * 2

    case("conv", "FusedBatchNorm" + version, [("x", image), ("scale", scale), ("offset", offset), ("mean", mean), ("variance", variance)], attrs, raw=forward)
    attrs.pop("exponential_avg_factor", None)
    ins = [("y_backprop", rand(d, x)), ("x", image), ("scale", scale), ("reserve_space_1", outs[3].numpy()), ("reserve_space_2", outs[4].numpy())]
    if version == "V3":
        ins.append(("reserve_space_3", np.zeros(0, np.float32)))
    case("conv", "FusedBatchNormGrad" + version, ins, attrs, raw=backward)


for training in (True, False):
    norm("", "float32", (2, 2, 3, 3), training)
    for version in ("V2", "V3"):
        for d in ["float32", "float16", "bfloat16"]:
            norm(version, d, (2, 3, 2, 3), training)
        norm(version, "float32", (2, 3, 2, 2), training, "NCHW")
        norm(version, "float32", (1, 1, 1, 2), training)
    norm("V3", "float32", (2, 1, 3, 2, 2), training, "NDHWC")
    norm("V3", "float32", (2, 3, 1, 2, 2), training, "NCDHW")
    norm("V3", "float32", (3, 2, 3, 37), training)
norm("V3", "float32", (2, 2, 3, 2), True, factor=0.25)
norm("V2", "float16", (2, 2, 3, 2), True, factor=0.75)
for d in ["float32", "float16"]:
    for a in [{}, {"depth_radius": 1, "bias": 2.0, "alpha": 0.5, "beta": 0.75}, {"depth_radius": 2, "bias": 1.5, "alpha": 0.1, "beta": 1.0}]:
        x = rand(d, (1, 2, 3, 6))
        case("conv", "LRN", [("input", x)], a)
        y = tf.raw_ops.LRN(input=tf.constant(x), **a).numpy()
        case("conv", "LRNGrad", [("input_grads", rand(d, x.shape)), ("input_image", x), ("output_image", y)], a)


def einsum(d, equation, *shapes):
    case("conv", "Einsum", [("inputs", [np.asarray(rand(d, s, -2, 2)) for s in shapes])], {"equation": equation})


for d in F + ["int32", "int64", "complex64", "complex128"]:
    einsum(d, "ij,jk->ik", (2, 3), (3, 4))
    einsum(d, "bij,bkj->bik", (2, 2, 3), (2, 4, 3))
for d in ["float32", "complex128"]:
    einsum(d, "...ij,...jk->...ik", (5, 2, 3), (3, 4))
    einsum(d, "a...b,b...c->a...c", (2, 3, 1, 2), (2, 1, 2, 3))
    einsum(d, "bij->bji", (2, 3, 2))
    einsum(d, "ij->", (2, 3))
    einsum(d, "ii->i", (3, 3))
    einsum(d, "iji->j", (2, 3, 2))
    einsum(d, "...->...", (2, 3))
    einsum(d, "i,j->ij", (2,), (3,))
    einsum(d, "i,i->", (3,), (3,))
    einsum(d, "abc,cd->abd", (2, 2, 3), (3, 2))
    einsum(d, "bth,bsh->bts", (2, 2, 3), (2, 3, 3))
    einsum(d, "abcd,adbe->acbe", (1, 2, 2, 3), (1, 3, 2, 2))
    einsum(d, "aab,bc->ac", (2, 2, 3), (3, 2))
    einsum(d, "ij,ik->j", (2, 3), (2, 2))
    einsum(d, "ab,bc->cab", (2, 2), (2, 3))
    einsum(d, "i->ii", (2,))
    einsum(d, "...a,a->...", (2, 2, 3), (3,))
    einsum(d, ",ij->ji", (), (2, 3))
einsum("float32", "ij,jk->ik", (2, 0), (0, 3))
einsum("float32", "ij,jk->ik", (0, 2), (2, 3))

for d in F + ["int8", "int16", "int32", "int64", "uint8", "bool", "complex64"]:
    case("conv", "SpaceToDepth", [("input", rand(d, (2, 4, 6, 2)))], {"block_size": 2})
    case("conv", "DepthToSpace", [("input", rand(d, (2, 2, 3, 8)))], {"block_size": 2})
    case("conv", "SpaceToBatchND", [("input", rand(d, (2, 3, 4, 2))), ("block_shape", L((2, 3))), ("paddings", L(((1, 0), (0, 2))))])
    case("conv", "BatchToSpaceND", [("input", rand(d, (6, 2, 2, 2))), ("block_shape", L((2, 3))), ("crops", L(((1, 0), (0, 2))))])
    case("conv", "ReverseSequence", [("input", rand(d, (3, 4, 2))), ("seq_lengths", np.array((0, 3, 4), np.int64))], {"seq_dim": 1, "batch_dim": 0})
case("conv", "SpaceToDepth", [("input", to_first(rand("float32", (1, 6, 3, 2))).numpy())], {"block_size": 3, "data_format": "NCHW"},
     raw=lambda input, **kw: to_first(tf.raw_ops.SpaceToDepth(input=to_last(input), block_size=3)))
case("conv", "DepthToSpace", [("input", to_first(rand("float32", (2, 2, 3, 12))).numpy())], {"block_size": 2, "data_format": "NCHW"},
     raw=lambda input, **kw: to_first(tf.raw_ops.DepthToSpace(input=to_last(input), block_size=2)))
for b, p, x in [((2,), ((1, 2),), (2, 3, 2)), ((3, 2), ((0, 0), (4, 0)), (1, 3, 2)), ((2, 2, 1), ((1, 1), (0, 1), (0, 0)), (1, 2, 3, 2, 2)), ((1,), ((0, 0),), (2, 3))]:
    case("conv", "SpaceToBatchND", [("input", rand("float32", x)), ("block_shape", np.array(b, np.int64)), ("paddings", L(p))])
for b, p, x in [((2,), ((1, 2),), (4, 3, 2)), ((3, 2), ((0, 0), (3, 0)), (6, 1, 2)), ((2, 2, 1), ((1, 1), (0, 1), (0, 0)), (4, 2, 2, 2, 1)), ((1,), ((0, 1),), (2, 3))]:
    case("conv", "BatchToSpaceND", [("input", rand("float32", x)), ("block_shape", L(b)), ("crops", np.array(p, np.int64))])
case("conv", "SpaceToBatch", [("input", rand("float32", (2, 3, 4, 2))), ("paddings", L(((1, 0), (0, 2))))], {"block_size": 2})
case("conv", "BatchToSpace", [("input", rand("float32", (4, 2, 3, 2))), ("crops", L(((1, 0), (0, 2))))], {"block_size": 2})
case("conv", "ReverseSequence", [("input", rand("float32", (3, 2, 4))), ("seq_lengths", L((2, 1, 2, 0)))], {"seq_dim": 1, "batch_dim": 2})
case("conv", "ReverseSequence", [("input", rand("float32", (2, 3))), ("seq_lengths", L((2, 1, 2)))], {"seq_dim": 0, "batch_dim": 1})

write()

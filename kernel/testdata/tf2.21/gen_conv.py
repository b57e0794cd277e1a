"""Writes conv.json: convolutions, pooling and the normalizations of images.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_conv.py

TensorFlow's CPU kernels take channels first for few types only: such calls are
run with the channels last, and transposed.
"""
import recorder
from recorder import *

recorder.rng = np.random.default_rng(20260202)
L = lambda v: np.array(v, np.int32)


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

write()

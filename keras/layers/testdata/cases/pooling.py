"""Cases of pooling, padding, cropping and upsampling."""
import numpy as np
from tf_keras import layers as L

line, image, volume = (2, 6, 2), (2, 5, 6, 2), (2, 4, 5, 4, 2)
first = {"data_format": "channels_first"}
mask = np.array([[True, True, False, True, False, True], [False, True, False, False, True, True]])


def moved(shape):
    return (shape[0], shape[-1], *shape[1:-1])


CASES = []
for n, shape in [("1D", line), ("2D", image), ("3D", volume)]:
    for kind in ("Max", "Average"):
        def make(kind=kind, n=n, **kw):
            return lambda: getattr(L, f"{kind}Pooling{n}")(**kw)

        def whole(kind=kind, n=n, **kw):
            return lambda: getattr(L, f"Global{kind}Pooling{n}")(**kw)
        CASES += [
            dict(name=f"{kind}{n}", layer=make(), inputs=[shape]),
            dict(name=f"{kind}{n}_same", layer=make(pool_size=3, strides=2, padding="same"), inputs=[shape]),
            dict(name=f"{kind}{n}_strides", layer=make(pool_size=3, strides=1, name="p"), inputs=[shape]),
            dict(name=f"{kind}{n}_first", layer=make(pool_size=2, **first), inputs=[moved(shape)]),
            dict(name=f"{kind}{n}_float64", layer=make(dtype="float64"), inputs=[shape]),
            dict(name=f"{kind}{n}_mixed", layer=make(dtype="mixed_bfloat16"), inputs=[shape]),
            dict(name=f"Global{kind}{n}", layer=whole(), inputs=[shape]),
            dict(name=f"Global{kind}{n}_keepdims", layer=whole(keepdims=True), inputs=[shape]),
            dict(name=f"Global{kind}{n}_first", layer=whole(**first), inputs=[moved(shape)]),
            dict(name=f"Global{kind}{n}_first_keepdims", layer=whole(keepdims=True, dtype="float64", **first), inputs=[moved(shape)]),
        ]
    for kind, size in [("ZeroPadding", "padding"), ("Cropping", "cropping")]:
        def around(kind=kind, n=n, **kw):
            return lambda: getattr(L, kind + n)(**kw)
        uneven = {"1D": (2, 0), "2D": ((2, 0), (1, 2)), "3D": ((2, 0), (1, 2), (0, 1))}[n]
        CASES += [
            dict(name=f"{kind}{n}", layer=around(), inputs=[shape]),
            dict(name=f"{kind}{n}_one", layer=around(**{size: 1}), inputs=[shape]),
            dict(name=f"{kind}{n}_uneven", layer=around(**{size: uneven}), inputs=[shape]),
            dict(name=f"{kind}{n}_mixed", layer=around(dtype="mixed_float16"), inputs=[shape]),
        ]
        if n != "1D":
            CASES.append(dict(name=f"{kind}{n}_first", layer=around(**{size: uneven}, **first), inputs=[moved(shape)]))
CASES += [
    dict(name="Max2D_sizes", layer=lambda: L.MaxPooling2D((2, 3), strides=(1, 2)), inputs=[image]),
    dict(name="GlobalAverage1D_masked", layer=lambda: L.GlobalAveragePooling1D(), inputs=[line], mask=[mask]),
    dict(name="GlobalAverage1D_masked_keepdims", layer=lambda: L.GlobalAveragePooling1D(keepdims=True), inputs=[line], mask=[mask]),
    dict(name="GlobalAverage1D_masked_first", layer=lambda: L.GlobalAveragePooling1D(**first), inputs=[moved(line)], mask=[mask]),
    dict(name="GlobalMax1D_masked", layer=lambda: L.GlobalMaxPooling1D(), inputs=[line], mask=[mask]),
    dict(name="UpSampling1D", layer=lambda: L.UpSampling1D(), inputs=[line]),
    dict(name="UpSampling1D_three", layer=lambda: L.UpSampling1D(3, name="u"), inputs=[line], mask=[mask]),
    dict(name="UpSampling2D", layer=lambda: L.UpSampling2D(), inputs=[image]),
    dict(name="UpSampling2D_sizes_first", layer=lambda: L.UpSampling2D((1, 3), **first), inputs=[moved(image)]),
    dict(name="UpSampling2D_same", layer=lambda: L.UpSampling2D(1, interpolation="bilinear", dtype="float16"), inputs=[image]),
    dict(name="UpSampling2D_integers", layer=lambda: L.UpSampling2D(2), inputs=[np.arange(12, dtype="int32").reshape(1, 2, 3, 2)]),
    dict(name="UpSampling3D", layer=lambda: L.UpSampling3D(), inputs=[volume]),
    dict(name="UpSampling3D_sizes_first", layer=lambda: L.UpSampling3D((1, 2, 3), **first), inputs=[moved(volume)]),
]
for how in ["bilinear", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"]:
    CASES.append(dict(name=f"UpSampling2D_{how}", layer=lambda how=how: L.UpSampling2D((2, 3), interpolation=how), inputs=[(1, 3, 4, 2)], gradients=how != "area"))
# TensorFlow's CPU has no pools of images with the channels first, and no pools of float64 volumes.
CASES = [c for c in CASES if c["name"] not in ("Max2D_first", "Average2D_first", "Max3D_float64", "Average3D_float64")]
for case in CASES:
    case["training"] = [False]  # it changes nothing

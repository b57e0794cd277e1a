"""Cases of the layers for images."""
import numpy as np
from tf_keras import layers as L

r = np.random.RandomState(3)
x = (2, 6, 5, 3)
single = (6, 5, 3)
pixels = r.randint(0, 256, (2, 5, 4, 3)).astype("uint8")
bright = (r.uniform(0, 255, (3, 4, 5, 2))).astype("float32")

CASES = [
    *[dict(name=f"resizing_{m}", layer=lambda m=m: L.Resizing(4, 7, m), inputs=[x], gradients=m != "area")
      for m in ["bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"]],
    dict(name="resizing_single", layer=lambda: L.Resizing(3, 3), inputs=[single]),
    dict(name="resizing_ints", layer=lambda: L.Resizing(3, 3), inputs=[pixels]),
    dict(name="resizing_nearest_ints", layer=lambda: L.Resizing(3, 3, "nearest"), inputs=[pixels]),
    dict(name="resizing_crop_high", layer=lambda: L.Resizing(4, 2, crop_to_aspect_ratio=True), inputs=[x]),
    dict(name="resizing_crop_wide", layer=lambda: L.Resizing(2, 7, crop_to_aspect_ratio=True), inputs=[single]),
    dict(name="resizing_float64", layer=lambda: L.Resizing(4, 4, dtype="float64"), inputs=[x]),
    dict(name="resizing_mixed", layer=lambda: L.Resizing(4, 4, dtype="mixed_float16"), inputs=[x]),
    dict(name="centercrop", layer=lambda: L.CenterCrop(3, 2), inputs=[x]),
    dict(name="centercrop_single", layer=lambda: L.CenterCrop(2, 4), inputs=[single]),
    dict(name="centercrop_small", layer=lambda: L.CenterCrop(8, 3), inputs=[x]),
    dict(name="centercrop_ints", layer=lambda: L.CenterCrop(2, 2, dtype="uint8"), inputs=[pixels]),
    dict(name="randomcrop", layer=lambda: L.RandomCrop(3, 2, seed=5), inputs=[x]),
    dict(name="randomcrop_single", layer=lambda: L.RandomCrop(3, 3, seed=6), inputs=[single]),
    dict(name="randomcrop_small", layer=lambda: L.RandomCrop(7, 3, seed=6), inputs=[x]),
    *[dict(name=f"randomflip_{m}", layer=lambda m=m: L.RandomFlip(m, seed=4), inputs=[(5, 3, 4, 2)])
      for m in ["horizontal", "vertical", "horizontal_and_vertical"]],
    *[dict(name=f"randomflip_single{i}", layer=lambda i=i: L.RandomFlip(seed=i), inputs=[single]) for i in range(3)],
    dict(name="randomflip_ints", layer=lambda: L.RandomFlip(seed=1), inputs=[pixels]),
    dict(name="randomflip_mixed", layer=lambda: L.RandomFlip(seed=1, dtype="mixed_bfloat16"), inputs=[x]),
    dict(name="randomflip_seedless", layer=lambda: L.RandomFlip(), inputs=[x]),
    dict(name="randomrotation", layer=lambda: L.RandomRotation(0.3, seed=2), inputs=[x]),
    dict(name="randomrotation_single", layer=lambda: L.RandomRotation((-0.1, 0.4), seed=2), inputs=[single]),
    *[dict(name=f"randomrotation_{m}", layer=lambda m=m: L.RandomRotation([0.1, 0.2], m, seed=2, fill_value=0.5), inputs=[x])
      for m in ["constant", "nearest", "reflect", "wrap"]],
    dict(name="randomrotation_ints", layer=lambda: L.RandomRotation(0.2, interpolation="nearest", seed=2), inputs=[pixels]),
    dict(name="randomzoom", layer=lambda: L.RandomZoom(0.3, seed=3), inputs=[x]),
    dict(name="randomzoom_both", layer=lambda: L.RandomZoom((-0.3, -0.2), (0.1, 0.4), "constant", "nearest", seed=3, fill_value=0.25), inputs=[x]),
    dict(name="randomzoom_single", layer=lambda: L.RandomZoom(0.5, 0.5, "wrap", seed=-3), inputs=[single]),
    dict(name="randomtranslation", layer=lambda: L.RandomTranslation(0.3, 0.4, seed=3), inputs=[x]),
    dict(name="randomtranslation_bounds", layer=lambda: L.RandomTranslation((-0.3, -0.2), (0.1, 0.4), "constant", "nearest", seed=3, fill_value=0.25), inputs=[x]),
    dict(name="randomtranslation_single", layer=lambda: L.RandomTranslation(0.5, 0, "nearest", seed=9), inputs=[single]),
    dict(name="randomcontrast", layer=lambda: L.RandomContrast(0.4, seed=3), inputs=[bright], gradients=False),
    dict(name="randomcontrast_bounds", layer=lambda: L.RandomContrast((0.9, 0.1), seed=3), inputs=[single], gradients=False),
    dict(name="randomcontrast_float64", layer=lambda: L.RandomContrast(0.4, seed=3, dtype="float64"), inputs=[bright], gradients=False),
    dict(name="randombrightness", layer=lambda: L.RandomBrightness(0.4, seed=3), inputs=[bright]),
    dict(name="randombrightness_range", layer=lambda: L.RandomBrightness([0.3, -0.1], (1, -1), seed=3), inputs=[single]),
    dict(name="randombrightness_ints", layer=lambda: L.RandomBrightness(0.3, seed=3), inputs=[pixels]),
dict(name="randomheight_train", layer=lambda: L.RandomHeight(0.4, seed=3), inputs=[x], training=[True]),
dict(name="randomheight_infer", layer=lambda: L.RandomHeight(0.4, seed=3), inputs=[x], training=[False]),
    dict(name="randomheight_bounds_train", layer=lambda: L.RandomHeight((0.5, 0.8), "nearest", seed=3), inputs=[single], training=[True]),
    dict(name="randomheight_bounds_infer", layer=lambda: L.RandomHeight((0.5, 0.8), "nearest", seed=3), inputs=[single], training=[False]),
    dict(name="randomheight_ints_train", layer=lambda: L.RandomHeight(0.4, "bicubic", seed=3), inputs=[pixels], training=[True]),
    dict(name="randomheight_ints_infer", layer=lambda: L.RandomHeight(0.4, "bicubic", seed=3), inputs=[pixels], training=[False]),
    dict(name="randomwidth_train", layer=lambda: L.RandomWidth(0.4, seed=3), inputs=[x], training=[True]),
    dict(name="randomwidth_infer", layer=lambda: L.RandomWidth(0.4, seed=3), inputs=[x], training=[False]),
    dict(name="randomwidth_bounds_train", layer=lambda: L.RandomWidth((-0.5, 0.8), "lanczos3", seed=3), inputs=[single], training=[True]),
    dict(name="randomwidth_bounds_infer", layer=lambda: L.RandomWidth((-0.5, 0.8), "lanczos3", seed=3), inputs=[single], training=[False]),
]

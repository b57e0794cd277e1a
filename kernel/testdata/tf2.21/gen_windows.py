"""Writes windows.json: parts of images that are drawn, glimpsed at or cut out, and
pooling by fractions.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_windows.py
"""
import recorder
from recorder import *

recorder.rng = np.random.default_rng(20261203)
S = lambda v: np.array(v, np.float32)
B = S([[[0.1, 0.2, 0.8, 0.9], [0.5, 0.5, 0.6, 0.9]]])

for d in ["uint8", "int8", "int16", "int32", "int64"]:
    size = np.array([100, 120, 3], np_of(d))
    case("windows", "SampleDistortedBoundingBox", [("image_size", size), ("bounding_boxes", B)], {"seed": 3, "seed2": 4})
    case("windows", "StatelessSampleDistortedBoundingBox", [("image_size", size), ("bounding_boxes", B), ("min_object_covered", S(0.1)), ("seed", np.array([5, 7], np.int64))])
for k in range(8):
    size = np.array([recorder.rng.integers(1, 700), recorder.rng.integers(1, 700), 3], np.int32)
    lo = recorder.rng.uniform(0, 0.6, 2)
    b = S(np.concatenate([lo, lo + recorder.rng.uniform(0, 0.4, 2)])).reshape(1, 1, 4)
    for a in [{}, {"aspect_ratio_range": [0.1, 9.0]}, {"area_range": [0.3, 0.31]}, {"area_range": [0.9, 1.0], "max_attempts": 3, "aspect_ratio_range": [0.99, 1.01]},
              {"use_image_if_no_bounding_boxes": True}]:
        bb = b[:, :0] if "use_image_if_no_bounding_boxes" in a else b
        for covered in (0.0, 0.5, 1.0):
            case("windows", "SampleDistortedBoundingBoxV2", [("image_size", size), ("bounding_boxes", bb), ("min_object_covered", S(covered))], {**a, "seed": k + 1, "seed2": int(17 + 8 * covered)})  # a kernel goes on where it was
        case("windows", "SampleDistortedBoundingBox", [("image_size", size), ("bounding_boxes", bb)], {**a, "seed": k, "seed2": 1, "min_object_covered": 0.75})
        case("windows", "StatelessSampleDistortedBoundingBox", [("image_size", size), ("bounding_boxes", bb), ("min_object_covered", S(0.3)), ("seed", np.array([k, -k], np.int32))], a)

x = rand("float32", (2, 6, 7, 2))
for op in ("ExtractGlimpse", "ExtractGlimpseV2"):
    for centered in (True, False):
        for normalized in (True, False):
            for size in [(3, 4), (6, 7), (9, 8), (0, 2)]:
                for off in [(0, 0), (0.5, 0.25), (-0.5, -0.7), (2, 3), (-3, -2.5), (1, 1), (5, 6)]:
                    case("windows", op, [("input", x), ("size", np.array(size, np.int32)), ("offsets", S([off, (-off[0], off[1] / 2)]))],
                         {"centered": centered, "normalized": normalized, "noise": "zero", "uniform_noise": False})
    for noise, uniform in [("uniform", True), ("uniform", False), ("", False), ("gaussian", False)]:
        case("windows", op, [("input", x), ("size", np.array([2, 2], np.int32)), ("offsets", S([[0, 0], [0.1, 0.2]]))], {"noise": noise, "uniform_noise": uniform})

for d in ["float32", "float64", "int32", "int64"]:
    for n, shape in enumerate([(2, 7, 9, 3), (1, 20, 13, 2), (1, 12, 12, 1)]):
        for ratio in [(1.0, 1.44, 1.73, 1.0), (1.0, 2.0, 3.0, 1.0), (1.0, 2.6, 1.0, 1.0)]:
            for pseudo in (True, False):
                for over in (True, False):
                    if d != "float32" and (n or pseudo != over):
                        continue
                    x = rand(d, shape, -50, 50)
                    a = {"pooling_ratio": list(ratio), "pseudo_random": pseudo, "overlapping": over, "deterministic": True, "seed": 7 + n, "seed2": 9}
                    for op in ("Avg", "Max"):
                        case("windows", f"Fractional{op}Pool", [("value", x)], a)
                        y, rows, cols = getattr(tf.raw_ops, f"Fractional{op}Pool")(value=x, **a)
                        tail = [("out_backprop", rand(d, y.shape, -50, 50)), ("row_pooling_sequence", rows.numpy()), ("col_pooling_sequence", cols.numpy())]
                        first = [("orig_input_tensor_shape", np.array(shape, np.int64))] if op == "Avg" else [("orig_input", x), ("orig_output", y.numpy())]
                        case("windows", f"Fractional{op}PoolGrad", first + tail, {"overlapping": over})


def img(h, w, c):
    y, x = np.mgrid[0:h, 0:w]
    a = np.stack([(np.sin(y / 3.0 + k) + np.cos(x / (4.0 + k))) * 60 + 128 + recorder.rng.normal(0, 20, (h, w)) for k in range(c)], -1)
    return np.clip(a, 0, 255).astype(np.uint8)


for h, w in [(40, 50), (17, 23)]:
    for c in (1, 3):
        for down in (True, False):
            for prog in (True, False):
                j = ("contents", one(tf.io.encode_jpeg(img(h, w, c), progressive=prog, chroma_downsampling=down).numpy()))
                for win in [(0, 0, h, w), (3, 5, 7, 9), (16, 16, 1, 2), (h - 4, w - 5, 4, 5), (0, 1, 2, 3), (8, 0, 9, w)]:
                    for a in [{}, {"channels": 3}, {"channels": 1, "dct_method": "INTEGER_ACCURATE"}, {"fancy_upscaling": False}, {"ratio": 2}]:
                        case("windows", "DecodeAndCropJpeg", [j, ("crop_window", np.array(win, np.int32))], a)
write()

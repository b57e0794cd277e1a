"""Writes image.json: resizing, cropping, colours and boxes of images.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_image.py
"""
import recorder
from recorder import *

recorder.rng = np.random.default_rng(20260303)
rng = recorder.rng
L = lambda v: np.array(v, np.int32)
V = lambda *v: np.array(v, np.float32)
S = lambda v: np.array(v, np.float32)
MODES = [{}, {"align_corners": True}, {"half_pixel_centers": True}]
NUMBERS = F + ["int8", "uint8", "int16", "uint16", "int32", "int64"]

for d in NUMBERS:
    for m in MODES:
        x = rand(d, (1, 3, 4, 2), -9, 9)
        for op in ["ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic", "ResizeArea"]:
            if op == "ResizeArea" and "half_pixel_centers" in m:
                continue
            case("image", op, [("images", x), ("size", L((5, 3)))], m)
for size in [(1, 1), (7, 2), (2, 9), (3, 4), (1, 6)]:
    for m in MODES:
        x = rand("float32", (2, 4, 5, 3))
        for op in ["ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic", "ResizeArea"]:
            if op == "ResizeArea" and "half_pixel_centers" in m:
                continue
            case("image", op, [("images", x), ("size", L(size))], m)
        dy = rand("float32", (2,) + size + (3,))
        for op in ["ResizeBilinearGrad", "ResizeBicubicGrad"]:
            case("image", op, [("grads", dy), ("original_image", x)], m)
        case("image", "ResizeNearestNeighborGrad", [("grads", dy), ("size", L((4, 5)))], m)
case("image", "ResizeBilinear", [("images", rand("float32", (1, 1, 1, 2))), ("size", L((3, 2)))], {"half_pixel_centers": True})
case("image", "ResizeBicubic", [("images", rand("float32", (1, 1, 2, 2))), ("size", L((3, 5)))], {"half_pixel_centers": True})
for d in F:
    for m in MODES[:2]:
        case("image", "ResizeBilinearGrad", [("grads", rand("float32", (1, 4, 3, 2))), ("original_image", rand(d, (1, 3, 5, 2)))], m)
        case("image", "ResizeBicubicGrad", [("grads", rand("float32", (1, 4, 3, 2))), ("original_image", rand(d, (1, 3, 5, 2)))], m)
for d in F + ["int8", "uint8", "int32"]:
    case("image", "ResizeNearestNeighborGrad", [("grads", rand(d, (1, 4, 5, 2))), ("size", L((3, 3)))])
boxes = V(0.1, 0.2, 0.8, 0.9, 0.9, 0.8, 0.1, 0.1, -0.5, 0, 0.5, 1.25, 0.25, 0.25, 0.25, 0.75).reshape(4, 4)
for d in NUMBERS:
    x = rand(d, (2, 4, 5, 2), -9, 9)
    for a in [{}, {"method": "nearest", "extrapolation_value": 1.5}]:
        case("image", "CropAndResize", [("image", x), ("boxes", boxes), ("box_ind", L((0, 1, 1, 0))), ("crop_size", L((3, 4)))], a)
case("image", "CropAndResize", [("image", rand("float32", (1, 4, 5, 2))), ("boxes", boxes), ("box_ind", L((0, 0, 0, 0))), ("crop_size", L((1, 1)))])
for d in F:
    x = rand(d, (2, 2, 3, 3), 0, 1)
    x[0, 0, 0] = 0.5
    x[0, 0, 1] = 0
    case("image", "RGBToHSV", [("images", x)])
    case("image", "HSVToRGB", [("images", x)])
    for by in (0.3, -0.7, 0.0, 1.0):
        case("image", "AdjustHue", [("images", x), ("delta", S(by))])
    for by in (0.4, 3.0, 0.0):
        case("image", "AdjustSaturation", [("images", x), ("scale", S(by))])
    for by in (0.5, 2.0):
        case("image", "AdjustContrastv2", [("images", x), ("contrast_factor", S(by))])
case("image", "AdjustContrastv2", [("images", rand("float32", (3, 4, 2), 0, 1)), ("contrast_factor", S(1.5))])


def detections(n):
    b = rng.uniform(0, 1, (n, 4)).astype(np.float32)
    b[:, 2:] = b[:, :2] + rng.uniform(0.2, 0.6, (n, 2)).astype(np.float32)
    if n > 2:
        b[1] = b[0][[2, 3, 0, 1]]  # the corners the other way round
        b[2] = b[0] + 0.01
    s = rng.uniform(0, 1, n).astype(np.float32)
    if n > 4:
        s[4] = s[3]
    return b, s


for n in (12, 30, 0):
    for most in (0, 3, 40):
        for iou in (0.1, 0.5, 1.0):
            b, s = detections(n)
            ins = [("boxes", b), ("scores", s), ("max_output_size", np.int32(most))]
            case("image", "NonMaxSuppression", ins, {"iou_threshold": iou})
            case("image", "NonMaxSuppressionV2", ins + [("iou_threshold", S(iou))])
            ins += [("iou_threshold", S(iou)), ("score_threshold", S(0.3))]
            case("image", "NonMaxSuppressionV3", ins)
            for pad in (False, True):
                case("image", "NonMaxSuppressionV4", ins, {"pad_to_max_output_size": pad})
                for sigma in (0.0, 0.5):
                    case("image", "NonMaxSuppressionV5", ins + [("soft_nms_sigma", S(sigma))], {"pad_to_max_output_size": pad})
b, s = detections(10)
h = lambda v: np.asarray(v, np.float16)
ins = [("boxes", h(b)), ("scores", h(s)), ("max_output_size", np.int32(5)), ("iou_threshold", h(0.5))]
case("image", "NonMaxSuppressionV2", ins)
case("image", "NonMaxSuppressionV3", ins + [("score_threshold", h(0.25))])
case("image", "NonMaxSuppressionV4", ins + [("score_threshold", h(0.25))], {"pad_to_max_output_size": True})
for kinds in (1, 3):
    for a in [{}, {"pad_per_class": True}, {"clip_boxes": False}]:
        b = np.stack([np.stack([detections(8)[0] for _ in range(kinds)], 1) for _ in range(2)]) * 1.3 - 0.1
        s = rng.uniform(0, 1, (2, 8, 3)).astype(np.float32)
        case("image", "CombinedNonMaxSuppression", [("boxes", b.astype(np.float32)), ("scores", s), ("max_output_size_per_class", np.int32(2)), ("max_total_size", np.int32(9)),
             ("iou_threshold", S(0.4)), ("score_threshold", S(0.2))], a)

write()

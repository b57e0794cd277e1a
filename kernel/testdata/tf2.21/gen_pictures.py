"""Writes pictures.json: windows, boxes and transforms of images that gen_image.py
doesn't record.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_pictures.py
"""
import recorder
from recorder import *

recorder.rng = np.random.default_rng(20261010)
L = lambda v: np.array(v, np.int32)
S = lambda v: np.array(v, np.float32)

for d in F + I + U:
    for pad in ("SAME", "VALID"):
        for st, rt in [(1, 1), (2, 1), (1, 2)]:
            if d != "float32" and st + rt > 2 and pad == "SAME":
                continue
            a = {"strides": [1, st, st, 1], "rates": [1, rt, rt, 1], "padding": pad}
            x, f = rand(d, (2, 5, 6, 2)), rand(d, (2, 3, 2))
            y = tf.raw_ops.Dilation2D(input=x, filter=f, **a)
            case("pictures", "Dilation2D", [("input", x), ("filter", f)], a)
            dy = ("out_backprop", rand(d, y.shape))
            case("pictures", "Dilation2DBackpropInput", [("input", x), ("filter", f), dy], a)
            case("pictures", "Dilation2DBackpropFilter", [("input", x), ("filter", f), dy], a)
for d in F + I + U + C + ["bool"]:
    for k, st, rt, pad in [((2, 3), 1, 1, "VALID"), ((2, 2), 2, 2, "SAME"), ((3, 2), 3, 1, "SAME")]:
        case("pictures", "ExtractImagePatches", [("images", rand(d, (2, 5, 6, 2)))],
             {"ksizes": [1, *k, 1], "strides": [1, st, st, 1], "rates": [1, rt, rt, 1], "padding": pad})
    if d not in C + ["bool"]:
        for k, st, pad in [((2, 2, 1), 1, "VALID"), ((2, 1, 3), 2, "SAME")]:
            case("pictures", "ExtractVolumePatches", [("input", rand(d, (1, 3, 4, 5, 2)))], {"ksizes": [1, *k, 1], "strides": [1, st, st, st, 1], "padding": pad})
boxes = S([0.1, 0.2, 0.8, 0.9, 0.9, 0.8, 0.1, 0.1, -0.5, 0, 0.5, 1.25, 0.25, 0.25, 0.25, 0.75]).reshape(4, 4)
for size in [(3, 4), (1, 1), (2, 1)]:
    g = rand("float32", (4, *size, 2))
    for d in ["float32", "float64", "float16"]:
        for m in ("bilinear", "nearest"):
            case("pictures", "CropAndResizeGradImage", [("grads", g), ("boxes", boxes), ("box_ind", L([0, 1, 1, 0])), ("image_size", L([2, 5, 6, 2]))], {"method": m, "T": tf.as_dtype(d)})
    for d in ["float32", "float64", "float16", "uint8", "uint16", "int8", "int16", "int32", "int64"]:
        case("pictures", "CropAndResizeGradBoxes", [("grads", g), ("image", rand(d, (2, 5, 6, 2))), ("boxes", boxes), ("box_ind", L([0, 1, 1, 0]))])
draw = np.concatenate([boxes, S([[0, 0, 1, 1], [0.3, 0.3, 0.3, 0.3], [2, 2, 3, 3]])])[None].repeat(2, 0)
for d in ["float32", "float16"]:
    for ch in (1, 3, 4):
        x = rand(d, (2, 8, 9, ch), 0, 1)
        case("pictures", "DrawBoundingBoxes", [("images", x), ("boxes", draw)])
        for colours in [rand("float32", (2, 4), 0, 1), np.zeros((0, 0), np.float32)]:
            case("pictures", "DrawBoundingBoxesV2", [("images", x), ("boxes", draw), ("colors", colours)])
for n in (12, 30, 1):
    for most in (0, 3, 40):
        for limit in (0.1, 0.5):
            o = rand("float32", (n, n), 0, 1)
            case("pictures", "NonMaxSuppressionWithOverlaps", [("overlaps", o), ("scores", rand("float32", (n,), 0, 1)), ("max_output_size", np.int32(most)),
                                                               ("overlap_threshold", S(limit)), ("score_threshold", S(0.3))])
turn = S([[1, 0, 0, 0, 1, 0, 0, 0], [0.9, -0.3, 2.1, 0.35, 1.1, -1.7, 0.01, -0.02]])
for d in ["uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64"]:
    for m in ("NEAREST", "BILINEAR"):
        for fill in ("CONSTANT", "REFLECT", "WRAP", "NEAREST"):
            x = rand(d, (2, 5, 6, 2), 0, 50)
            for t in (turn, turn[1:] * S([1.2, 1, 3, 1, 0.8, -4, 1, 1])) if d == "float32" else (turn,):
                ins = [("images", x), ("transforms", t), ("output_shape", L([4, 7]))]
                case("pictures", "ImageProjectiveTransformV2", ins, {"interpolation": m, "fill_mode": fill})
                case("pictures", "ImageProjectiveTransformV3", ins + [("fill_value", S(7.5))], {"interpolation": m, "fill_mode": fill})
for d in ["float32", "int8", "uint8", "int16", "uint16", "int32", "int64", "bfloat16", "float16", "float64"]:
    for kind in ("lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic", "mitchellcubic"):
        for anti in (True, False):
            if d != "float32" and (kind != "triangle" or not anti):
                continue
            for size, sc, tr in [((3, 4), (0.6, 0.7), (0.0, 0.0)), ((9, 7), (1.7, 1.3), (-0.5, 0.25))]:
                ins = [("scale", S(sc)), ("translation", S(tr))]
                case("pictures", "ScaleAndTranslate", [("images", rand(d, (2, 5, 6, 2))), ("size", L(size))] + ins, {"kernel_type": kind, "antialias": anti})
                if d == "float32":
                    case("pictures", "ScaleAndTranslateGrad", [("grads", rand(d, (2, *size, 2))), ("original_image", rand(d, (2, 5, 6, 2)))] + ins, {"kernel_type": kind, "antialias": anti})
for n, m, k in [(5, 4, 2), (3, 4, 9), (4, 3, 1), (2, 3, 0), (0, 3, 2)]:
    case("pictures", "NearestNeighbors", [("points", rand("float32", (n, 3))), ("centers", rand("float32", (m, 3))), ("k", np.int64(k))])


def img(h, w, c):
    y, x = np.mgrid[0:h, 0:w]
    a = np.stack([(np.sin(y / 3.0 + k) + np.cos(x / (4.0 + k))) * 60 + 128 + recorder.rng.normal(0, 20, (h, w)) for k in range(c)], -1)
    return np.clip(a, 0, 255).astype(np.uint8)


def file(x):
    return ("contents", one(x.numpy() if hasattr(x, "numpy") else x))


for h, w in [(17, 23), (1, 1), (33, 5), (2, 3)]:
    for c in (1, 3):
        for down in (True, False):
            for prog in (False, True):
                j = file(tf.io.encode_jpeg(img(h, w, c), quality=90, progressive=prog, chroma_downsampling=down, optimize_size=prog))
                for ch in (0, 1, 3):
                    for ratio in (1, 2, 4, 8):
                        for m, fancy in [("", True), ("INTEGER_ACCURATE", True), ("", False)] if ratio < 4 and ch != 1 else [("", True)]:
                            case("pictures", "DecodeJpeg", [j], {"channels": ch, "ratio": ratio, "fancy_upscaling": fancy, "dct_method": m})
                case("pictures", "DecodePng", [j], {"channels": 3})
                case("pictures", "DecodeImage", [j], {"dtype": tf.float32})
                case("pictures", "DecodeImage", [j], {"dtype": tf.uint16, "expand_animations": False})
                case("pictures", "ExtractJpegShape", [j], {"output_type": tf.int64 if prog else tf.int32})
for h, w in [(7, 5), (1, 1)]:
    for c in (1, 2, 3, 4):
        for x in (img(h, w, c), recorder.rng.integers(0, 65536, (h, w, c)).astype(np.uint16)):
            p = file(tf.io.encode_png(x))
            for ch in (0, 1, 3, 4) if c < 3 else (0, 3, 4):
                for d in (tf.uint8, tf.uint16):
                    case("pictures", "DecodePng", [p], {"channels": ch, "dtype": d})
                case("pictures", "DecodeImage", [p], {"channels": ch, "dtype": tf.float32})
            case("pictures", "DecodeGif", [p])
            case("pictures", "DecodeJpeg", [p], {"channels": 3})


def bmp(h, w, n, down):
    x = img(h, w, n)
    rows = [r.tobytes() + bytes(-len(r.tobytes()) % 4) for r in (x if down else x[::-1])]
    head = b"BM" + (54 + sum(map(len, rows))).to_bytes(4, "little") + bytes(4) + (54).to_bytes(4, "little") + (40).to_bytes(4, "little")
    head += w.to_bytes(4, "little") + (-h if down else h).to_bytes(4, "little", signed=True) + (1).to_bytes(2, "little") + (8 * n).to_bytes(2, "little") + bytes(24)
    return file(head + b"".join(rows))


for n in (1, 3, 4):
    for down in (False, True):
        b = bmp(5, 6, n, down)
        case("pictures", "DecodeBmp", [b])
        case("pictures", "DecodeBmp", [b], {"channels": n})
        case("pictures", "DecodeImage", [b])


def lzw(pixels):
    """Codes of 9 bits that are reset before they grow, of pixels of 8 bits."""
    bits = "".join(format(v, "09b")[::-1] for k, p in enumerate(pixels) for v in ([256, p] if k % 200 == 0 else [p]))
    bits += format(257, "09b")[::-1]
    bits += "0" * (-len(bits) % 8)
    data = bytes(int(bits[i:i + 8][::-1], 2) for i in range(0, len(bits), 8))
    return b"\x08" + b"".join(bytes([len(data[i:i + 255])]) + data[i:i + 255] for i in range(0, len(data), 255)) + b"\0"


def gif(frames, w, h):
    u = lambda v: v.to_bytes(2, "little")
    out = b"GIF89a" + u(w) + u(h) + b"\xf7\0\0" + bytes(recorder.rng.integers(0, 256, 768).astype(np.uint8))
    for x, y, fw, fh, clear in frames:
        if clear is not None:
            out += b"\x21\xf9\x04\x01\0\0" + bytes([clear]) + b"\0"
        pixels = recorder.rng.integers(0, 4, fw * fh) if clear is not None else recorder.rng.integers(0, 256, fw * fh)
        out += b"," + u(x) + u(y) + u(fw) + u(fh) + b"\0" + lzw([int(v) for v in pixels])
    return file(out + b";")


for g in [gif([(0, 0, 5, 4, None)], 5, 4), gif([(0, 0, 5, 4, None), (1, 1, 3, 2, 2), (0, 0, 5, 4, 1)], 5, 4), gif([(1, 1, 2, 2, None), (0, 0, 5, 4, 3)], 5, 4)]:
    case("pictures", "DecodeGif", [g])
    case("pictures", "DecodePng", [g])
    for e in (True, False):
        case("pictures", "DecodeImage", [g], {"expand_animations": e})
        case("pictures", "DecodeImage", [g], {"expand_animations": e, "dtype": tf.float32})
write()

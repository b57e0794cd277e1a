"""Writes encode.json: images to files.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_encode.py
"""
import recorder
from recorder import *

recorder.rng = np.random.default_rng(20261201)


def img(h, w, c, noise=20, top=255):
    y, x = np.mgrid[0:h, 0:w]
    a = np.stack([(np.sin(y / 3.0 + k) + np.cos(x / (4.0 + k))) * 60 + 128 + recorder.rng.normal(0, noise, (h, w)) for k in range(c)], -1)
    return (np.clip(a, 0, 255) * (top / 255)).astype(np.uint8 if top == 255 else np.uint16)


for h, w in [(17, 23), (1, 1), (33, 5), (2, 3), (16, 16), (8, 40)]:
    for c in (1, 3):
        for a in [{}, {"quality": 0}, {"quality": 30}, {"quality": 100}, {"optimize_size": True}, {"progressive": True}, {"chroma_downsampling": False},
                  {"progressive": True, "chroma_downsampling": False, "quality": 75}, {"progressive": True, "optimize_size": True, "quality": 100},
                  {"density_unit": "cm", "x_density": 72, "y_density": 65535, "xmp_metadata": "<x>meta</x>"}, {"format": "rgb" if c == 3 else "grayscale", "optimize_size": True, "quality": 10}]:
            case("encode", "EncodeJpeg", [("image", img(h, w, c))], a)
        for q in (0, 50, 95, 100):
            case("encode", "EncodeJpegVariableQuality", [("images", img(h, w, c)), ("quality", np.int32(q))])
for c in (1, 3):
    flat = np.full((40, 300, c), 200, np.uint8)
    flat[3, 7] = 0
    for a in [{}, {"progressive": True}, {"optimize_size": True}]:
        case("encode", "EncodeJpeg", [("image", flat)], a)
        case("encode", "EncodeJpeg", [("image", img(60, 70, c, 90))], {**a, "quality": 98})
for h, w in [(17, 23), (1, 1), (1, 9), (9, 1), (40, 37)]:
    for c in (1, 2, 3, 4):
        for top in (255, 65535):
            for level in (-1, 0, 1, 3, 4, 6, 9) if (h, w, c, top) == (40, 37, 3, 255) else (-1, 2) if h < 40 or c == 2 else (5,):
                case("encode", "EncodePng", [("image", img(h, w, c, 6, top))], {"compression": level})
case("encode", "EncodePng", [("image", np.stack([img(6, 5, 3), img(6, 5, 3)])[None])])
case("encode", "EncodePng", [("image", img(100, 130, 3))])
for level in (-1, 0, 1, 5, 9):  # more than a window of it, with matches far and near
    tile = np.tile(img(60, 30, 1, 30), (4, 10, 1))
    tile[100:, 220:, 0] += np.arange(140, dtype=np.uint8)[:, None]
    case("encode", "EncodePng", [("image", tile)], {"compression": level})
write()

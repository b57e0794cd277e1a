"""Writes webp.json: WebP images, which Pillow encodes (pip install pillow).

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_webp.py
"""
import io

import recorder
from PIL import Image
from recorder import *

recorder.rng = np.random.default_rng(20261202)


def img(h, w, c, noise=20):
    y, x = np.mgrid[0:h, 0:w]
    a = np.stack([(np.sin(y / 3.0 + k) + np.cos(x / (4.0 + k))) * 60 + 128 + recorder.rng.normal(0, noise, (h, w)) for k in range(c)], -1)
    return Image.fromarray(np.clip(a, 0, 255).astype(np.uint8), "RGBA" if c == 4 else "RGB")


def webp(x, more=(), **options):
    b = io.BytesIO()
    x.save(b, "WEBP", **({"save_all": True, "append_images": more} if more else {}), **options)
    return ("contents", one(b.getvalue()))


files = []
for h, w in [(17, 23), (1, 1), (2, 3), (16, 16), (1, 8), (33, 40)]:
    for c in (3, 4):
        files += [webp(img(h, w, c), quality=q) for q in (10, 90)] + [webp(img(h, w, c), lossless=True)]
files.append(webp(img(30, 30, 4), lossless=True, exact=True))
for f in files:
    for ch in (0, 3, 4):
        case("webp", "DecodeWebP", [f], {"channels": ch})
moving = [webp(img(20, 22, 4), more=[img(20, 22, 4) for _ in range(3)], lossless=l, quality=70) for l in (True, False)]
dots = [Image.new("RGBA", (24, 20)) for _ in range(5)]
for k, d in enumerate(dots):
    d.paste(img(6, 7, 4), (3 * k, 2 * k))
moving += [webp(dots[0], more=dots[1:], lossless=l, minimize_size=True) for l in (True, False)]


def u24(v):
    return v.to_bytes(3, "little")


def animation(h, w, frames):
    """Frames of our own: place, image, whether it is blended and removed."""
    def chunk(name, body):
        return name + len(body).to_bytes(4, "little") + body + bytes(len(body) % 2)
    out = chunk(b"VP8X", bytes([0x12, 0, 0, 0]) + u24(w - 1) + u24(h - 1)) + chunk(b"ANIM", bytes([9, 8, 7, 200, 0, 0]))
    for x, y, m, blend, remove, options in frames:
        b = webp(m, **options)[1].reshape(-1)[0]
        body = b[12:]
        if body[:4] == b"VP8X":
            body = body[18:]
        out += chunk(b"ANMF", u24(x // 2) + u24(y // 2) + u24(m.width - 1) + u24(m.height - 1) + u24(50) + bytes([(0 if blend else 2) | remove]) + body)
    return ("contents", one(b"RIFF" + (4 + len(out)).to_bytes(4, "little") + b"WEBP" + out))


L, Q = {"lossless": True, "exact": True}, {"quality": 60}
for blend in (True, False):
    for remove in (0, 1):
        for o in (L, Q):
            moving.append(animation(16, 18, [(0, 0, img(16, 18, 4), blend, remove, o), (2, 4, img(7, 9, 4), True, remove, o), (4, 2, img(9, 5, 4), blend, 0, o),
                                             (0, 0, img(16, 18, 3), blend, 1, o), (6, 6, img(5, 5, 4), True, 0, o)]))
for f in moving:
    for ch in (0, 4):
        case("webp", "DecodeWebP", [f], {"channels": ch})
write()

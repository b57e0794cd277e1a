"""Writes the fixtures of PNG images of less than 8 bits a sample, shallow.json.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_shallow.py
"""
import struct
import zlib

import numpy as np

import recorder
from recorder import case

tf = recorder.tf
FAMILY = "shallow"
RNG = np.random.RandomState(3)


def png(width, height, kind, depth, palette=None, opacity=None):
    def chunk(tag, data):
        return struct.pack(">I", len(data)) + tag + data + struct.pack(">I", zlib.crc32(tag + data))

    row = (width * depth + 7) // 8
    rows = b"".join(b"\0" + RNG.randint(0, 256, row).astype(np.uint8).tobytes() for _ in range(height))
    parts = [b"\x89PNG\r\n\x1a\n", chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, 0))]
    if palette is not None:
        parts.append(chunk(b"PLTE", palette))
    if opacity is not None:
        parts.append(chunk(b"tRNS", opacity))
    return np.array(b"".join(parts) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


for depth in [1, 2, 4]:
    colours = RNG.randint(0, 256, 3 << depth).astype(np.uint8).tobytes()
    for file in [png(11, 2, 0, depth), png(5, 2, 3, depth, colours), png(5, 2, 3, depth, colours, b"\x10\x80"), png(6, 2, 0, depth, None, b"\0\1")]:
        for channels in [0, 1, 4]:
            case(FAMILY, "DecodePng", [("contents", file)], {"channels": channels, "dtype": tf.uint8})
        case(FAMILY, "DecodePng", [("contents", file)], {"channels": 4, "dtype": tf.uint16})
        case(FAMILY, "DecodeImage", [("contents", file)], {"channels": 4, "dtype": tf.float32, "expand_animations": False})
recorder.write()

"""Writes this directory's fixtures with numpy 2.4.6 and ml_dtypes 0.6.0 (those of TensorFlow 2.21).

narrow.json  sha256 of float32 -> narrow type -> float32 over 2**19 bit patterns
cast.json    casts between types as tf.cast does them, in-range values
print.npz    arrays whose print stands in print.json
array_*.npy  one array in every encoding that the format has
"""
import hashlib, io, json
import numpy as np, ml_dtypes
from numpy.lib import format as npf

hi = np.arange(1 << 16, dtype=np.uint32) << 16
low = np.array([0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF, 0x1000, 0x0FFF], np.uint32)
bits = (hi[:, None] | low[None, :]).reshape(-1)
with np.errstate(all="ignore"):
    f = bits.view(np.float32)
    f = f[~np.isnan(f)]
    narrow = {}
    names = ["bfloat16", "float16", "float8_e5m2", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e4m3b11fnuz",
             "float8_e5m2fnuz", "float4_e2m1fn"]
    for n in names:
        d = np.dtype(getattr(ml_dtypes, n, n))
        v = f.astype(d)
        width = np.uint16 if d.itemsize == 2 else np.uint8
        back = np.arange(1 << (16 if d.itemsize == 2 else 8 if n[5] == "8" else 4)).astype(width).view(d).astype(np.float32)
        back = np.where(np.isnan(back), np.float32(12345), back)
        narrow[n] = {"encode": hashlib.sha256(v.view(width).astype("<u%d" % d.itemsize).tobytes()).hexdigest(),
                     "decode": hashlib.sha256(back.astype("<f4").tobytes()).hexdigest(),
                     "nan": int(np.array(np.nan, np.float32).astype(d).view(width))}
json.dump(narrow, open("narrow.json", "w"), indent=1)

r = np.random.default_rng(7)
arrays = {
    "ramp": np.arange(12, dtype=np.float32).reshape(3, 4) / 3,
    "ints": np.array([[1, -20], [300, 4]], np.int32),
    "bools": np.array([True, False, True]),
    "large": np.arange(3000, dtype=np.int64).reshape(50, 60),
    "cube": np.arange(2 * 3 * 4, dtype=np.float64).reshape(2, 3, 4),
    "big_cube": np.arange(20 * 21 * 22, dtype=np.float32).reshape(20, 21, 22) / 7,
    "tiny": np.array([1e-10, 1, 3.5e8], np.float32),
    "wide": np.array([1e10, 1.5, -2], np.float64),
    "special": np.array([np.nan, 1.25, -np.inf, np.inf], np.float32),
    "all_special": np.array([np.nan, -np.inf], np.float32),
    "long_row": r.normal(size=40).astype(np.float32),
    "row64": r.normal(size=9),
    "half": np.array([0.1, 2.5, -65504], np.float16),
    "half2": np.array([0.1, 2.5, 3.1415], np.float16),
    "scalar32": np.array(0.1, np.float32),
    "scalar_big": np.array(1e20, np.float64),
    "scalar_small": np.array(1e-5, np.float32),
    "scalar_one": np.array(1.0),
    "scalar_int": np.array(-7, np.int64),
    "scalar_bool": np.array(True),
    "empty": np.zeros((0,), np.float32),
    "empty2": np.zeros((2, 0, 3), np.float32),
    "complex": np.array([1 + 2j, -0.5 - 3.25j], np.complex64),
    "complex0": np.array(1 - 2j, np.complex64),
    "strings": np.array([b"ab", b"it's", b"\xff\x00q", b""], object).astype("S"),
    "zeros": np.zeros((2, 2), np.float32),
    "negzero": np.array([-0.0, 0.5], np.float32),
    "u64": np.array([2**64 - 1, 0], np.uint64),
    "summary_row": np.arange(2000, dtype=np.float32),
    "tall": np.arange(1100, dtype=np.int8).reshape(550, 2),
    "range": np.array([0.001, 0.5, 1.0], np.float32),
    "range2": np.array([0.0009, 0.5, 1.0], np.float32),
    "decimals": np.array([0.12345678912, 1.0, 22.5], np.float64),
    "max": np.array([3.4028235e38, 1e-45, 1], np.float32),
}
np.savez("print.npz", **arrays)
json.dump({k: str(v) for k, v in arrays.items()}, open("print.json", "w"), indent=1)

a = np.arange(6, dtype=np.float32).reshape(2, 3)
np.save("array_le.npy", a)
np.save("array_be.npy", a.astype(">f4"))
np.save("array_fortran.npy", np.asfortranarray(np.arange(24, dtype=np.int16).reshape(2, 3, 4)))
for v in [(2, 0), (3, 0)]:
    with open("array_v%d.npy" % v[0], "wb") as fp:
        npf.write_array(fp, a, version=v)
np.save("array_unicode.npy", np.array([["añ", "日本"], ["", "😀x"]]))
np.save("array_unicode_be.npy", np.array([["añ", "日本"], ["", "😀x"]]).astype(">U2"))
np.save("array_bytes.npy", np.array([b"abc", b"", b"\xff\x00z"]))
np.save("array_bool.npy", np.array([True, False]))
np.save("array_complex_be.npy", np.array([1 + 2j, 3 - 4j], ">c16"))
np.save("array_scalar.npy", np.array(2.5))
np.save("array_empty.npy", np.zeros((3, 0), np.int64))
np.save("refused_struct.npy", np.zeros(2, [("a", "f4"), ("b", "i4")]))
np.save("refused_object.npy", np.array([{}], object), allow_pickle=True)
np.save("refused_date.npy", np.array(["2020-01-01"], "M8[D]"))
np.save("refused_bfloat16.npy", np.zeros(2, ml_dtypes.bfloat16))
if np.dtype(np.longdouble).itemsize == 16:
    np.save("refused_longdouble.npy", np.zeros(2, np.longdouble))
np.savez_compressed("compressed.npz", a=a, **{"dir/b": np.arange(5)})

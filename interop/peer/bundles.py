"""Checkpoints without an object graph, written by TensorFlow's SaveV2 from a spec.

A spec is {"case", "files": [{"prefix", "tensors": [{"key", "slice", "dtype", "shape", "data"}]}], "merge": bool}:
key as hex, slice as SaveV2 takes it ("" for a whole tensor), the rest as in graphs.py. With merge, the files are merged into
"merged" by MergeV2Checkpoints.
"""
import random

import numpy as np
import tensorflow as tf

import graphs
from objects import value

NARROW = {"int4": 0x0F, "uint4": 0x0F, "int2": 3, "uint2": 3, "float4_e2m1fn": 0x0F}
PLAIN = ["float32", "float64", "int32", "uint8", "int16", "int8", "complex64", "int64", "bool", "bfloat16", "uint16",
         "complex128", "half", "uint32", "uint64", "float8_e5m2", "float8_e4m3fn", "float8_e4m3fnuz",
         "float8_e4m3b11fnuz", "float8_e5m2fnuz"]
QUANTIZED = {"qint8": "int8", "quint8": "uint8", "qint32": "int32", "qint16": "int16", "quint16": "uint16"}


def tensor_of(t):
    if t["dtype"] in QUANTIZED:
        return tf.bitcast(value(dict(t, dtype=QUANTIZED[t["dtype"]])), tf.dtypes.as_dtype(t["dtype"]))
    return value(t)


def width(dtype):
    if dtype in NARROW:
        return 1
    return tf.dtypes.as_dtype(QUANTIZED.get(dtype, dtype)).size


def random_tensor(rng, dtype, shape):
    n = int(np.prod(shape, dtype=int))
    raw = bytes(rng.randrange(256) for _ in range(n * width(dtype)))
    if dtype == "bool":
        raw = bytes(b & 1 for b in raw)
    if dtype in NARROW:
        raw = bytes(b & NARROW[dtype] for b in raw)
    return {"dtype": dtype, "shape": shape, "data": raw.hex()}


def entry(key, t, spec=""):
    return {"key": (key if isinstance(key, bytes) else key.encode()).hex(), "slice": spec, **t}


def strings(values, shape):
    return {"dtype": "string", "shape": shape, "data": [v.hex() for v in values]}


def f32(values):
    return {"dtype": "float32", "shape": [len(values)], "data": graphs.encode("float32", values)}


def every_dtype():
    rng = random.Random(1)
    tensors = [entry("%s/%d" % (d, i), random_tensor(rng, d, shape))
               for d in PLAIN + list(QUANTIZED) + list(NARROW)
               for i, shape in enumerate([[], [3], [2, 0, 1], [5, 7]])]
    anything = [b"", b"a", b"\0\xff\0", bytes(range(256)) * 2, "\u00e9\u4e16".encode(), b"trailing\0"]
    tensors += [entry("string/0", strings([b"scalar"], [])), entry("string/1", strings(anything, [6])),
                entry("string/2", strings([], [2, 0])), entry("string/3", strings([b""] * 200, [4, 50]))]
    rng.shuffle(tensors)
    return tensors


def hard_keys(seed):
    """Keys that end in 0xff, are each other's beginnings and share long ones, in an index of several blocks."""
    rng = random.Random(seed)
    alphabet = [0xFF, 0xFF, 0xFE, ord("a"), 1, 0x80]
    keys = {b"\xff", b"\xff\xff", b"\xff" * 9, b"a", b"a\xff", b"a\xff\xff", b"a\xfe\xff", b"step"}
    long = b"".join(bytes([rng.choice(alphabet)]) for _ in range(900))
    while len(keys) < 900:
        head = long[:rng.randrange(len(long))] if rng.random() < 0.7 else b""
        tail = bytes(rng.choice(alphabet) for _ in range(rng.randint(1, 1200)))
        keys.add(head + tail + b"\xff" * rng.randrange(4))
    keys = sorted(keys)
    rng.shuffle(keys)
    return [entry(k, f32([i])) for i, k in enumerate(keys)]


def slices():
    rng = random.Random(2)
    out = []
    def put(key, dtype, full, specs):
        for spec in specs:
            shape = [full[d] if x == "-" else int(x.split(",")[1]) for d, x in enumerate(spec.split(":"))]
            out.append(entry(key, random_tensor(rng, dtype, shape), " ".join(map(str, full)) + " " + spec))
    put("rows", "float32", [10, 5], ["0,4:-", "4,3:-", "7,3:-"])
    put("cols", "float64", [3, 7], ["-:0,2", "-:2,5"])
    put("grid", "int64", [4, 6], ["0,2:0,3", "0,2:3,3", "2,2:0,3", "2,2:3,3"])
    put("one", "int32", [130], ["0,1", "1,128", "129,1"])
    put("deep", "bfloat16", [2, 3, 4], ["-:0,1:-", "-:1,2:0,2", "-:1,2:2,2"])
    put("gap", "uint8", [6], ["0,2", "4,2"])
    put("name/with/\u00e9", "complex64", [3000, 1], ["0,1000:-", "1000,2000:0,1"])
    out.insert(3, entry("whole", f32([1, 2, 3])))
    out.append(entry("words", strings([b"a", b"bc"], [2]), "3 0,2"))
    out.append(entry("words", strings([b"\xff" * 9], [1]), "3 2,1"))
    return out


def many():
    return [entry("layer_%d/v" % i, f32([i, i / 2])) for i in range(10000)]


def specs():
    one = lambda case, tensors: {"case": case, "files": [{"prefix": "ckpt", "tensors": tensors}], "merge": False}
    yield one("every dtype", every_dtype())
    yield one("10,000 variables", many())
    for seed in range(4):
        yield one("hard keys %d" % seed, hard_keys(seed))
    yield one("slices", slices())
    part = lambda i, n: {"prefix": "part%d" % i, "tensors": [entry("p%d/%d" % (i, j), f32([i, j])) for j in range(n)]}
    for n in (1, 2, 5):
        yield {"case": "merge of %d" % n, "merge": True, "files": [part(i, 3 * i + 1) for i in range(n)]}
    halves = slices()
    yield {"case": "merge of slices", "merge": True,
           "files": [{"prefix": "even", "tensors": halves[0::2]}, {"prefix": "odd", "tensors": halves[1::2]}]}


def write(spec, folder):
    prefixes = []
    for f in spec["files"]:
        prefixes.append("%s/%s" % (folder, f["prefix"]))
        tf.raw_ops.SaveV2(prefix=prefixes[-1], tensor_names=[bytes.fromhex(t["key"]) for t in f["tensors"]],
                          shape_and_slices=[t["slice"] for t in f["tensors"]],
                          tensors=[tensor_of(t) for t in f["tensors"]])
    if spec["merge"]:
        tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=prefixes, destination_prefix=folder + "/merged",
                                      delete_old_dirs=False)


def mismatches(spec, folder):
    """The values that RestoreV2 returns for a spec's tensors and that differ from the spec."""
    wrong = []
    for f in spec["files"]:
        prefix = folder + ("/merged" if spec["merge"] else "/" + f["prefix"])
        dtypes = [tf.dtypes.as_dtype(t["dtype"]) for t in f["tensors"]]
        got = tf.raw_ops.RestoreV2(prefix=prefix, tensor_names=[bytes.fromhex(t["key"]) for t in f["tensors"]],
                                   shape_and_slices=[t["slice"] for t in f["tensors"]], dtypes=dtypes)
        for t, g in zip(f["tensors"], got):
            want = tensor_of(t)
            if t["dtype"] in QUANTIZED:
                g, want = (tf.bitcast(x, QUANTIZED[t["dtype"]]) for x in (g, want))
            same = g.shape == want.shape and (g.numpy().tobytes() == want.numpy().tobytes() if t["dtype"] != "string"
                                              else np.array_equal(g.numpy(), want.numpy()))
            if not same:
                wrong.append("%s %s: %r, want %r" % (bytes.fromhex(t["key"])[:60], t["slice"], g, want))
    return wrong

"""Writes this directory's fixtures with TensorFlow 2.21:

    python gen_bundle.py [DIRECTORY]

Needs tensorflow-cpu==2.21.0. The values follow from the formulas in pattern()
and in each case; bundle's tests compute the same ones. Every case is a directory
with one checkpoint; oracle.txt holds what TensorFlow's own protos say about
its index.
"""
import os
import shutil
import struct
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import tensor_pb2
from tensorflow.core.protobuf import tensor_bundle_pb2

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = sys.argv[1] if len(sys.argv) > 1 else HERE


def case(name):
    folder = os.path.join(OUT, name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return os.path.join(folder, "ckpt")


def pattern(nbytes):
    """Byte i is 7i + i/256, modulo 256."""
    i = np.arange(nbytes, dtype=np.uint64)
    return ((i * 7 + (i >> 8)) & 0xFF).astype(np.uint8)


def of_dtype(dtype, shape):
    n = int(np.prod(shape, dtype=np.int64))
    if dtype == tf.string:
        v = np.array([("%d" % i).encode() + b"\x00\xff" + b" " * (i % 5) for i in range(n)], dtype=object)
        return tf.constant(v.reshape(shape), dtype=tf.string)
    raw = pattern(n * dtype.size)
    if dtype == tf.bool:
        raw = raw & 1
    if dtype.name in ("int4", "uint4", "float4_e2m1fn"):
        raw = raw & 0x0F
    if dtype.name in ("int2", "uint2"):
        raw = raw & 0x03
    if dtype.is_quantized:
        # NumPy has no quantized arrays; the proto carries the bytes.
        p = tensor_pb2.TensorProto(dtype=dtype.as_datatype_enum, tensor_content=raw.tobytes())
        for d in shape:
            p.tensor_shape.dim.add(size=d)
        return tf.raw_ops.ParseTensor(serialized=p.SerializeToString(), out_type=dtype)
    v = np.frombuffer(raw.tobytes(), dtype=dtype.as_numpy_dtype).reshape(shape)
    return tf.constant(v, dtype=dtype)


def save(prefix, names, tensors, specs=None):
    tf.raw_ops.SaveV2(prefix=prefix, tensor_names=names, shape_and_slices=specs or [""] * len(names), tensors=tensors)


NAMES = [
    "float32", "float64", "int32", "uint8", "int16", "int8", "string", "complex64", "int64", "bool",
    "qint8", "quint8", "qint32", "bfloat16", "qint16", "quint16", "uint16", "complex128", "float16", "uint32", "uint64",
    "float8_e5m2", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e4m3b11fnuz", "float8_e5m2fnuz",
    "int4", "uint4", "int2", "uint2", "float4_e2m1fn",
]


def every_dtype():
    names, tensors, left_out = [], [], []
    for n in NAMES:
        d = tf.as_dtype(n)
        for shape in ([], [0], [3], [2, 0, 1], [5, 7]):
            try:
                t = of_dtype(d, shape)
            except Exception as e:  # an element type that this TensorFlow can't make
                left_out.append("%s%s: %s" % (n, shape, str(e).splitlines()[0]))
                continue
            names.append("%s%s" % (n, str(shape).replace(" ", "").replace(",", " ")))
            tensors.append(t)
    save(case("every_dtype"), names, tensors)
    for l in left_out:
        print("every_dtype leaves out", l)


def slices():
    full = pattern(10 * 5 * 4).view(np.float32).reshape(10, 5)
    ints = np.arange(4 * 6 * 8, dtype=np.int64).reshape(4, 6, 8)
    save(
        case("slices"),
        ["part", "part", "whole", "grid", "grid", "grid", "grid", "far", "far", "degenerate"],
        [full[:7], full[7:], full, ints[:3, :2], ints[3:, :2], ints[:3, 2:], ints[3:, 2:],
         np.full((1, 300), 1, np.int32), np.full((1, 300), 2, np.int32), full],
        ["10 5 0,7:-", "10 5 7,3:0,5", "", "4 6 8 0,3:0,2:-", "4 6 8 3,1:0,2:-", "4 6 8 0,3:2,4:-", "4 6 8 3,1:2,4:0,8",
         "70000 300 0,1:-", "70000 300 69999,1:-", "10 5 0,10:0,5"],
    )


def keys():
    names = []
    stem = "a/very/long/prefix/that/all/names/share/"
    for i in range(40):
        names.append(stem + "x" * i)
        names.append(stem + "y%02d" % i)
    raw = [b"\xff", b"\xff\xff", b"\xff\xff\x00", b"a\xff", b"a\xff\xff", b"b\x00", b"b", b"\x00plain", b"z" * 2000]
    names = sorted({n.encode() for n in names}) + raw
    save(case("keys"), names, [np.int32(i) for i in range(len(names))])


def many():
    n = 6000
    names = ["layer_%05d/%s/.ATTRIBUTES/VARIABLE_VALUE" % (i // 2, "kernel" if i % 2 else "bias") for i in range(n)]
    save(case("many"), names, [np.uint8(i & 0xFF) for i in range(n)])


def ends_block():
    # The last key of the table ends a block, and names large enough that an
    # entry is larger than a block.
    names = [("k%07d" % i) + "p" * 9000 for i in range(20)] + ["q" * 300000, "s"]
    save(case("long_names"), names, [np.int16(i) for i in range(len(names))])


def strings():
    values = [b"", b"a", b"\x00", b"\xff" * 300, bytes(range(256)), "\u2713 text".encode(), b"x" * 20000]
    save(
        case("strings"),
        ["scalar", "empty_scalar", "vector", "matrix", "none", "among", "floats"],
        [tf.constant(b"one"), tf.constant(b""), tf.constant(values), tf.constant([values[:3], values[3:6]]),
         tf.zeros([0], tf.string), tf.constant([b"after"]), np.arange(3, dtype=np.float32)],
    )


def variants():
    inner = tf.raw_ops.TensorListFromTensor(tensor=np.arange(6, dtype=np.float32).reshape(3, 2), element_shape=[2])
    words = tf.raw_ops.TensorListFromTensor(tensor=[b"a", b"", b"long" * 50], element_shape=np.zeros([0], np.int32))
    save(case("variants"), ["list", "words", "both"], [inner, words, tf.stack([inner, words])])


def shards():
    root = case("shards")
    save(root + "-a", ["b", "v", "words"], [np.float32(1), np.arange(6, dtype=np.float32).reshape(3, 2), tf.constant([b"s", b""])],
         ["", "6 2 0,3:-", ""])
    save(root + "-b", ["a", "v"], [np.float64(2), np.arange(6, 12, dtype=np.float32).reshape(3, 2)], ["", "6 2 3,3:-"])
    save(root + "-c", ["c"], [np.int8(3)])
    keep = os.path.join(os.path.dirname(root), "sources")
    os.makedirs(keep)
    for f in os.listdir(os.path.dirname(root)):
        if f != "sources":
            shutil.copy(os.path.join(os.path.dirname(root), f), keep)
    tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=[root + "-a", root + "-b", root + "-c"], destination_prefix=root)


def empty_shards():
    """Data files of no bytes in the middle and at the end: their tensors have no elements."""
    root = case("empty_shards")
    parts = [
        (["a"], [np.float32(1)]),
        (["z"], [np.zeros([0, 3], np.float32)]),
        (["c"], [np.int8(3)]),
        (["s"], [tf.constant([], tf.string)]),
        (["x", "y"], [np.zeros([2, 0], np.int64), np.zeros([0], np.float64)]),
    ]
    for i, (names, values) in enumerate(parts):
        save("%s-%d" % (root, i), names, values)
    tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=["%s-%d" % (root, i) for i in range(len(parts))], destination_prefix=root)


def merge_one():
    root = case("merge_one")
    save(root + "-part", ["x", "y"], [np.float32(1), np.float32(2)])
    tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=[root + "-part"], destination_prefix=root)


def objects():
    """An object-based checkpoint, for the graph's message."""
    net = tf.Module()
    net.kernel = tf.Variable(np.arange(6, dtype=np.float32).reshape(2, 3), name="kernel")
    net.parts = [tf.Variable([1.0]), tf.Variable([2.0])]
    tf.train.Checkpoint(net=net, step=tf.Variable(3, dtype=tf.int64)).save(case("objects"))


def v1():
    def v1save(prefix, names, tensors, specs):
        tf.raw_ops.SaveSlices(filename=prefix, tensor_names=names, shapes_and_slices=specs, data=tensors)

    names, tensors, left_out = [], [], []
    for n in NAMES:
        d = tf.as_dtype(n)
        for shape in ([], [3], [5, 7]):
            try:
                t = of_dtype(d, shape)
                v1save("/tmp/cairn_v1_probe", ["probe"], [t], [""])
            except Exception as e:
                left_out.append("%s%s: %s" % (n, shape, str(e).splitlines()[0].split("}} ")[-1]))
                continue
            names.append("%s%s" % (n, str(shape).replace(" ", "").replace(",", " ")))
            tensors.append(t)
    if os.path.exists("/tmp/cairn_v1_probe"):
        os.remove("/tmp/cairn_v1_probe")
    v1save(case("v1"), names, tensors, [""] * len(names))
    for l in left_out:
        print("v1 leaves out", l)

    full = np.arange(50, dtype=np.float32).reshape(10, 5)
    v1save(case("v1_slices"), ["part", "part", "whole"], [full[:7], full[7:], full], ["10 5 0,7:-", "10 5 7,3:0,5", ""])

    root = case("v1_sharded")
    v1save(root + "-00000-of-00002", ["zeros", "part"], [np.zeros([4, 5], np.float32), full[:7]], ["", "10 5 0,7:-"])
    v1save(root + "-00001-of-00002", ["ones", "part"], [np.ones([20], np.int32), full[7:]], ["", "10 5 7,3:-"])


def oracle():
    """Dumps every index with TensorFlow's own reader of tables and protos."""
    for folder in sorted(os.listdir(OUT)):
        index = os.path.join(OUT, folder, "ckpt.index")
        if folder == "objects":
            index = os.path.join(OUT, folder, "ckpt-1.index")
        if not os.path.exists(index) or folder in ("many", "long_names"):
            continue
        lines = []
        for key, value in table(open(index, "rb").read()):
            if key == b"":
                h = tensor_bundle_pb2.BundleHeaderProto.FromString(value)
                lines.append("header shards=%d endianness=%d producer=%d" % (h.num_shards, h.endianness, h.version.producer))
                continue
            e = tensor_bundle_pb2.BundleEntryProto.FromString(value)
            lines.append("%s dtype=%d shape=%s shard=%d offset=%d size=%d crc=%08x slices=%s" % (
                key.hex(), e.dtype, [d.size for d in e.shape.dim], e.shard_id, e.offset, e.size, e.crc32c,
                [[(x.start, x.length if x.HasField("length") else -1) for x in s.extent] for s in e.slices]))
        with open(os.path.join(OUT, folder, "oracle.txt"), "w") as f:
            f.write("\n".join(lines) + "\n")


def varint(b, i):
    v = s = 0
    while True:
        c = b[i]
        i += 1
        v |= (c & 0x7F) << s
        s += 7
        if c < 0x80:
            return v, i


def block(b, off, size):
    data = b[off:off + size]
    n = struct.unpack("<I", data[-4:])[0]
    end, i, key = len(data) - 4 - 4 * n, 0, b""
    while i < end:
        shared, i = varint(data, i)
        unshared, i = varint(data, i)
        length, i = varint(data, i)
        key = key[:shared] + data[i:i + unshared]
        i += unshared
        yield key, data[i:i + length]
        i += length


def table(b):
    foot = b[-48:]
    _, i = varint(foot, 0)
    _, i = varint(foot, i)
    off, i = varint(foot, i)
    size, i = varint(foot, i)
    for _, handle in block(b, off, size):
        o, j = varint(handle, 0)
        s, _ = varint(handle, j)
        yield from block(b, o, s)


for f in (every_dtype, slices, keys, many, ends_block, strings, variants, shards, empty_shards, merge_one, objects, v1):
    f()
oracle()

"""Writes tensors.json: the results of make_tensor_proto for values of every type.

    pip install tensorflow-cpu==2.21.0
    python gen_tensors.py

An entry has the type, the shape, the encoded TensorProto in base64, whether
make_tensor_proto made it ("made"; files contain the others as well), and the
elements: their little-endian bytes in base64, for strings a list of such.
"""

import base64
import json
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import tensor_pb2
from tensorflow.python.framework import dtypes

HERE = os.path.dirname(os.path.abspath(__file__))
b64 = lambda b: base64.b64encode(b).decode()
entries = []


def keep(proto, made):
    t = tf.dtypes.as_dtype(proto.dtype)
    shape = [d.size for d in proto.tensor_shape.dim]
    a = tf.make_ndarray(proto)
    if t == tf.string:
        data = [b64(bytes(s)) for s in a.ravel()]
    elif a.dtype.itemsize == 1 and t.name in ("int4", "uint4", "int2", "uint2"):
        bits = 4 if t.name.endswith("4") else 2
        data = b64((a.astype(np.int8).view(np.uint8) & ((1 << bits) - 1)).tobytes())
    else:
        data = b64(np.ascontiguousarray(a).tobytes())
    entries.append({"dtype": t.name, "shape": shape, "made": made,
                    "proto": b64(proto.SerializeToString(deterministic=True)), "data": data})


for n in range(1, 34):
    t = dtypes.as_dtype(n)
    if t in (tf.resource, tf.variant):
        continue
    for shape in ((), (1,), (2, 3), (0,)):
        size = int(np.prod(shape, dtype=np.int64))
        values = (np.arange(size) % 2 if t.name in ("bool", "int2", "uint2") else np.arange(size)).reshape(shape)
        if t == tf.string:
            a = np.array([b"s%d\x00\xff" % i for i in range(size)], dtype=object).reshape(shape)
            proto = tf.make_tensor_proto(a, dtype=t, shape=shape)
        elif t.is_quantized:
            a = np.array([(int(v),) for v in values.ravel()], dtype=t.as_numpy_dtype).reshape(shape)
            proto = tf.make_tensor_proto(a, dtype=t, shape=shape)
        else:
            a = (values - (1 if t.name in ("int4", "int2", "int8", "int16", "int32", "int64", "float32") else 0)).astype(t.as_numpy_dtype)
            try:
                proto = tf.make_tensor_proto(a, dtype=t, shape=shape)
            except TypeError:  # it has no list for some 8-bit floats
                continue
        keep(proto, True)


def stored(**fields):
    shape = fields.pop("shape")
    p = tensor_pb2.TensorProto(**fields)
    for d in shape:
        p.tensor_shape.dim.add().size = d
    keep(p, False)


stored(dtype=1, shape=[2, 3], float_val=[1.5])            # one value for all
stored(dtype=1, shape=[5], float_val=[1.5, 2.5])          # the last for the rest
stored(dtype=3, shape=[4])                                # none at all
stored(dtype=19, shape=[3], half_val=[0x3C00, 0x4000])
stored(dtype=10, shape=[3], bool_val=[True])
stored(dtype=8, shape=[2], scomplex_val=[1, 2])
stored(dtype=7, shape=[3], string_val=[b"a", b"b"])
stored(dtype=9, shape=[1], int64_val=[-(1 << 63)])
with open(os.path.join(HERE, "tensors.json"), "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(e) for e in entries) + "\n]\n")

"""Writes this directory's fixtures with safetensors 0.8.0 (the reference implementation)."""
import numpy as np
from safetensors import TensorSpec, serialize
from safetensors.numpy import save

open("numpy.safetensors", "wb").write(save(
    {"b": np.arange(3, dtype=np.float32), "a": np.zeros((2, 2), np.int8), "c": np.array(True),
     "e": np.zeros((0, 3), np.float64), "h": np.array([1], np.float16), "weird \"name\"\\ é <&>": np.array([7], np.uint64)},
    metadata={"k": "ü\n\"\x01/\u2028<>"}))
names = ["bool", "uint8", "int8", "float8_e5m2", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2fnuz", "int16", "uint16", "float16", "bfloat16",
         "int32", "uint32", "float32", "complex64", "float64", "int64", "uint64"]
size = {"bool": 1, "uint8": 1, "int8": 1, "bfloat16": 2, "complex64": 8}
specs = {}
for i, n in enumerate(names):
    s = size.get(n) or (1 if n.startswith("float8") else int("".join(c for c in n if c.isdigit())) // 8)
    data = bytes(range(1, 2 * s + 1)) if n != "bool" else b"\0\1"
    specs["t%02d" % i] = (n, s, data)
import ctypes
keep, table = [], {}
for k, (n, s, data) in specs.items():
    buf = ctypes.create_string_buffer(data, len(data))
    keep.append(buf)
    try:
        table[k] = TensorSpec(dtype=n, shape=[2], data_ptr=ctypes.addressof(buf), data_len=len(data))
    except Exception as e:
        print(n, e)
open("dtypes.safetensors", "wb").write(serialize(table))

"""The common functions of the scripts that record the kernels' fixtures.

An input or output is {dtype, shape, data}, the data being base64 of the
little-endian elements, or a list of base64 strings. A case with "vars" takes
variables as its first inputs; "after" holds their values afterwards.
"""
import base64
import json
import os

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import op_def_registry

HERE = os.path.dirname(os.path.abspath(__file__))
rng = np.random.default_rng(20260101)
cases = {}

F = ["float32", "float64", "float16", "bfloat16"]
F2 = ["float32", "float64"]
I = ["int8", "int16", "int32", "int64"]
U = ["uint8", "uint16", "uint32", "uint64"]
C = ["complex64", "complex128"]


def np_of(d):
    return tf.as_dtype(d).as_numpy_dtype


def rand(d, shape, lo=-4.0, hi=4.0):
    """Values in [lo, hi): floats off the grid, integers whole."""
    t = tf.as_dtype(d)
    if t == tf.bool:
        return rng.integers(0, 2, shape).astype(bool)
    if t.is_complex:
        return (rng.uniform(lo, hi, shape) + 1j * rng.uniform(lo, hi, shape)).astype(np_of(d))
    if t.is_integer:
        if t.is_unsigned:
            lo = max(lo, 0)
        return rng.integers(int(lo), max(int(hi), int(lo) + 1), shape).astype(np_of(d))
    return rng.uniform(lo, hi, shape).astype(np_of(d))


def s(*v, shape=None):
    """Strings."""
    a = np.empty(len(v), object)
    a[:] = [x if isinstance(x, bytes) else x.encode() for x in v]
    return a.reshape(shape if shape is not None else (len(v),))


def one(v):
    return s(v, shape=())


def pack(x):
    t = tf.convert_to_tensor(x)
    v = t.numpy()
    if t.dtype == tf.string:
        data = [base64.b64encode(s).decode() for s in np.asarray(v, dtype=object).reshape(-1)]
    else:
        data = base64.b64encode(np.ascontiguousarray(v).tobytes()).decode()
    return {"dtype": t.dtype.name, "shape": list(t.shape), "data": data}


# Attributes that tf.raw_ops calls otherwise than the op definition.
PYTHON_NAMES = {("Squeeze", "axis"): "squeeze_dims"}


def dims(s):
    s = tf.TensorShape(s)
    return None if s.rank is None else [-1 if d is None else d for d in s]


def attr(op, name, v):
    """An attribute in the kind that the op's definition has it in."""
    name = PYTHON_NAMES.get((op, name), name)
    kind = {a.name: a.type for a in op_def_registry.get(op).attr}[name]
    if isinstance(v, bytes):  # a string that need not be text
        return {"name": name, "kind": "bytes", "value": base64.b64encode(v).decode()}
    one = {"type": lambda x: tf.as_dtype(x).name, "shape": dims, "tensor": pack}.get(kind.removeprefix("list(").removesuffix(")"), lambda x: x)
    if kind.startswith("list("):
        return {"name": name, "kind": kind[5:-1] + "s", "value": [one(x) for x in v]}
    return {"name": name, "kind": kind, "value": one(v)}


def flatten(x):
    if x is None or isinstance(x, tf.Operation):
        return []
    if isinstance(x, (list, tuple)):
        return [y for e in x for y in flatten(e)]
    return [x]


def lengths(op, inputs, attrs):
    """The attributes of an op of several lists of inputs with their lengths and types."""
    d = op_def_registry.get(op)
    lists = [(a, v) for a, (_, v) in zip(d.input_arg, inputs) if a.number_attr or a.type_list_attr]
    out = {}
    for a, v in lists if len(lists) > 1 else []:
        if a.number_attr and a.number_attr not in attrs:
            out[a.number_attr] = len(v)
        if a.type_list_attr and a.type_list_attr not in attrs:
            out[a.type_list_attr] = [tf.convert_to_tensor(x).dtype for x in v]
    return [attr(op, k, v) for k, v in out.items()]


def legacy(op):
    """A function that runs an op which TensorFlow has for graphs of old producers only."""
    def run(**kwargs):
        old = tf.compat.v1.GraphDef()
        old.versions.producer = 1
        kwargs = tf.nest.map_structure(lambda v: v.numpy() if isinstance(v, tf.Tensor) else v, kwargs)
        with tf.Graph().as_default():
            tf.import_graph_def(old)
            out = flatten(getattr(tf.raw_ops, op)(**kwargs))
            with tf.compat.v1.Session() as session:
                got = session.run(out)
        return [tf.constant(v, t.dtype) for v, t in zip(got, out)]
    return run


def case(family, op, inputs, attrs=None, nvars=0, raw=None, elsewhere=False, undefined=None, old=False):
    """inputs: list of (argument name, value or list of values).

    old: the op is one for graphs of old producers.

    elsewhere: no plain CPU kernel takes the call, raw runs an equal one.
    undefined: outputs that the kernel leaves as they are.
    """
    attrs = attrs or {}
    kwargs, flat, variables = {}, [], []
    for i, (name, v) in enumerate(inputs):
        if i < nvars:
            var = tf.Variable(v)
            variables.append(var)
            kwargs[name] = var.handle
            flat.append(v)
        elif isinstance(v, list) and all(isinstance(x, (np.ndarray, tf.Tensor)) for x in v):
            kwargs[name] = [tf.constant(x) for x in v]
            flat.extend(v)
        else:
            kwargs[name] = tf.constant(v)
            flat.append(v)
    call = dict(kwargs)
    for k, v in attrs.items():
        call[k] = v
    fn = raw or (legacy(op) if old else getattr(tf.raw_ops, op))
    try:
        out = flatten(fn(**call))
    except (tf.errors.NotFoundError, tf.errors.InvalidArgumentError, tf.errors.UnimplementedError, TypeError) as e:
        # No CPU kernel for this type: nothing to compare with.
        print("skip", op, [str(getattr(x, "dtype", "")) for x in flat], str(e)[:90].replace("\n", " "))
        return
    c = {"op": op, "attrs": [attr(op, k, v) for k, v in attrs.items()] + lengths(op, inputs, attrs), "in": [pack(x) for x in flat],
         "out": [pack(x) for x in out]}
    if nvars:
        c["vars"] = nvars
        c["after"] = [pack(v.read_value()) for v in variables]
    if elsewhere:
        c["elsewhere"] = True
    if undefined:
        c["undefined"] = undefined
    cases.setdefault(family, []).append(c)


def write():
    """Writes one JSON file a family, a case a line."""
    for family, list_ in cases.items():
        with open(os.path.join(HERE, family + ".json"), "w") as f:
            f.write("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in list_) + "\n]\n")
        print(family, len(list_))

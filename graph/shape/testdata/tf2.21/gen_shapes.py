"""Writes shapes.json.gz: the shapes that TensorFlow 2.21 infers for the calls
of kernel/testdata/tf2.21, with more or less of the inputs known.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_shapes.py [FAMILY ...]

With families, the names of files of calls, it writes shapes_FAMILY.json.gz for
each of them, with the ops of that file; without, shapes.json.gz with the ops of
all other files.

Each entry is {"op", "i", "out"}: case i of the op, in the order of the sorted
files, and a map from TensorFlow's results to the lists of modes in which it
infers them, with one letter per input:

    C  the value is known (a constant)
    K  the shape is known
    F  the first size is hidden, L the last one, D all of them
    R  the rank is hidden
    P  a vector of which all elements but the first are known

A result is the outputs' shapes, joined by ";": "?" for an unknown rank,
else sizes joined by ",", "?" for an unknown one, "s" for a scalar. An output
that is a vector of integers has "=" and, in the same form, the shape that it
describes as far as TensorFlow knows. "!" is an error.
"""
import base64
import glob
import gzip
import itertools
import json
import os
import sys

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import op_def_library, op_def_registry

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = os.path.join(HERE, "../../../../kernel/testdata/tf2.21")
INTS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


# Families with so many calls that one for each list of shapes has to do.
BRIEF = {"sets", "windows", "quantized", "types", "composite"}


def value(x):
    d = tf.as_dtype(x["dtype"])
    if d == tf.string:
        return np.array([base64.b64decode(s) for s in x["data"]], dtype=object).reshape(x["shape"])
    return np.frombuffer(base64.b64decode(x["data"]), d.as_numpy_dtype).reshape(x["shape"])


def shape(v):
    return tf.TensorShape(None if v is None else [None if d < 0 else d for d in v])


def attr(a):
    k, v = a["kind"], a["value"]
    if k == "bytes":
        return base64.b64decode(v)
    if k == "type":
        return tf.as_dtype(v)
    if k == "types":
        return [tf.as_dtype(d) for d in v]
    if k == "shape":
        return shape(v)
    if k == "shapes":
        return [shape(s) for s in v]
    if k == "tensor":
        return tf.make_tensor_proto(value(v), dtype=v["dtype"], shape=v["shape"])
    return v


def told(x):
    """Whether shapes may depend on the value of an input."""
    n = int(np.prod(x["shape"], dtype=np.int64))
    if x["dtype"] in INTS:
        return len(x["shape"]) <= 2 and n <= 64
    return not x["shape"] and x["dtype"] not in ("string", "bool")


def modes(x, isvar):
    m = "K"
    if len(x["shape"]) > 1:
        m += "FL"
    if x["shape"]:
        m += "D"
    m += "R"
    if not isvar and told(x):
        m = "C" + m
        if len(x["shape"]) == 1 and x["shape"][0] > 0 and x["dtype"] in ("int32", "int64"):
            m += "P"
    return m


def hidden(shape, mode):
    s = list(shape)
    if mode == "R":
        return None
    if mode == "F":
        s[0] = None
    elif mode == "L":
        s[-1] = None
    elif mode == "D":
        s = [None] * len(s)
    return s


def feed(x, mode, isvar):
    d = tf.as_dtype(x["dtype"])
    if mode == "C":
        return tf.constant(value(x), d)
    if mode == "P":
        v = value(x)
        return tf.stack([tf.raw_ops.Placeholder(dtype=d, shape=[])] + [tf.constant(e, d) for e in v[1:]])
    s = hidden(x["shape"], mode)
    if isvar:
        return tf.raw_ops.VarHandleOp(dtype=d, shape=tf.TensorShape(s))
    return tf.raw_ops.Placeholder(dtype=d, shape=tf.TensorShape(s))


def text(s):
    if s.rank is None:
        return "?"
    return ",".join("?" if d is None else str(d) for d in s.as_list()) or "s"


def defaults(d):
    """The defaults of an op's attributes that don't follow from its inputs."""
    inferred = {n for a in d.input_arg for n in (a.type_attr, a.number_attr, a.type_list_attr)}
    out = {}
    for a in d.attr:
        if a.HasField("default_value") and a.name not in inferred:
            v = a.default_value
            kind = v.WhichOneof("value")
            if kind == "list":
                out[a.name] = list(v.list.i) or list(v.list.s) or list(v.list.type)
            else:
                out[a.name] = tf.as_dtype(v.type) if kind == "type" else getattr(v, kind)
    return out


def infer(c, combo):
    d = op_def_registry.get(c["op"])
    with tf.Graph().as_default():
        if d.deprecation.version:  # the op is for graphs of old producers
            old = tf.compat.v1.GraphDef()
            old.versions.producer = 1
            tf.import_graph_def(old)
        flat = [feed(x, m, i < c.get("vars", 0)) for i, (x, m) in enumerate(zip(c["in"], combo))]
        kwargs, rest = {}, len(flat) - len(d.input_arg) + 1
        told_of = {a["name"]: a["value"] for a in c["attrs"]}  # where an op has several lists of inputs
        inferred = set()
        for a in d.input_arg:
            if a.number_attr or a.type_list_attr:
                name = a.number_attr or a.type_list_attr
                inferred.add(name)
                k = rest
                if name in told_of:
                    k = told_of[name] if a.number_attr else len(told_of[name])
                kwargs[a.name], flat = flat[:k], flat[k:]
            else:
                kwargs[a.name], flat = flat[0], flat[1:]
        for a in c["attrs"]:
            name = a["name"]
            if name in inferred:
                continue
            if c["op"] == "Squeeze" and name == "axis":
                name = "squeeze_dims"
            kwargs[name] = attr(a)
        if c["op"] == "Const":
            kwargs["dtype"] = tf.as_dtype(kwargs["value"].dtype)
        try:
            r = op_def_library._apply_op_helper(c["op"], **{**defaults(d), **kwargs})[2].outputs
        except ValueError:
            return "!"
        outs = []
        for o in r:
            t = text(o.shape)
            if o.dtype in (tf.int32, tf.int64) and o.shape.rank == 1:
                try:
                    t += "=" + text(tf.raw_ops.Fill(dims=o, value=tf.constant(0.0)).shape)
                except ValueError:
                    pass
            outs.append(t)
        return ";".join(outs)


def combos(c):
    each = [modes(x, i < c.get("vars", 0)) for i, x in enumerate(c["in"])]
    if np.prod([len(m) for m in each], dtype=float) <= 130:
        return list(itertools.product(*each))
    base = [m[0] for m in each]
    out = {tuple(base)}
    # All inputs that shapes depend on in one mode, all others in another one.
    for a in "KFLDR":
        for b in "CKPDR":
            out.add(tuple((b if b in m else "K") if m[0] == "C" else (a if a in m else "K") for m in each))
    for i, m in enumerate(each):  # and one at a time
        for x in m:
            out.add(tuple(base[:i] + [x] + base[i + 1:]))
    return sorted(out)


cases, families, entries, seen, n = {}, {}, [], set(), 0
for path in sorted(glob.glob(os.path.join(KERNELS, "*.json"))):
    for c in json.load(open(path)):
        cases.setdefault(c["op"], []).append(c)
        families.setdefault(c["op"], os.path.basename(path)[:-len(".json")])


def record(op):
    """Infers the calls of an op in the kernels' fixtures."""
    global n
    if op_def_registry.get(op) is None:
        import tensorflow_text  # noqa: F401, which adds the op
    for i, c in enumerate(cases[op]):
        types = op in ("Bitcast",)
        key = json.dumps([op, [a for a in c["attrs"] if types or a["kind"] != "type"],
                          [[x["shape"], x["dtype"] if types else "", x["data"] if told(x) and x["dtype"] in INTS else "",
                            x["dtype"] if told(x) else ""] for x in c["in"]]])
        if op not in ("Range", "LinSpace") and all(not x["shape"] or x["dtype"] not in ("int32", "int64") for x in c["in"][1:]):
            # The element type alone makes no new case.
            key = json.dumps([op, [a for a in c["attrs"] if types or a["kind"] != "type"],
                              [[x["shape"], x["dtype"] if types else ""] for x in c["in"]],
                              [x["data"] for x in c["in"] if x["dtype"] in ("int32", "int64") and not x["shape"]]])
        if families[op] in BRIEF:
            key = json.dumps([op, [a for a in c["attrs"] if a["kind"] not in ("type", "string")], [x["shape"] for x in c["in"]]])
        if key in seen:
            continue
        seen.add(key)
        out = {}
        for combo in combos(c):
            out.setdefault(infer(c, combo), []).append("".join(combo))
            n += 1
        entries.append({"op": op, "i": i, "out": {k: " ".join(v) for k, v in out.items()}})


def write(name):
    body = "[\n" + ",\n".join(json.dumps(e, separators=(",", ":")) for e in entries) + "\n]\n"
    with open(os.path.join(HERE, name + ".json.gz"), "wb") as f:
        f.write(gzip.compress(body.encode(), 9, mtime=0))
    print(name, len(entries), "cases", n, "inferences", len(body), "bytes")


if sys.argv[1:]:
    for family in sys.argv[1:]:
        entries, n = [], 0
        for op in sorted(cases):
            if families[op] == family:
                record(op)
        write("shapes_" + family)
    sys.exit()

apart = {os.path.basename(f)[len("shapes_"):-len(".json.gz")] for f in glob.glob(os.path.join(HERE, "shapes_*.json.gz"))}
for op in sorted(cases):
    if families[op] not in apart:
        record(op)


write("shapes")

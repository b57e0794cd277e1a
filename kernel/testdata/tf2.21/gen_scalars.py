"""Writes scalars/scalars.json: for calls of ops with an input of one element, whether TensorFlow takes that
input under another shape of one element. A call is the smallest one of its op in the other fixtures.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_scalars.py

The calls run in another process, since TensorFlow ends the process at some of them.
"""
import base64
import glob
import json
import os

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import op_def_registry

HERE = os.path.dirname(os.path.abspath(__file__))
SHAPES = [[], [1], [1, 1]]


def unpack(x):
    t = tf.as_dtype(x["dtype"])
    if t == tf.string:
        v = np.empty(len(x["data"]), object)
        v[:] = [base64.b64decode(s) for s in x["data"]]
        return v.reshape(x["shape"]), t
    return np.frombuffer(base64.b64decode(x["data"]), t.as_numpy_dtype).reshape(x["shape"]), t


def value(a):
    k, v = a["kind"], a["value"]
    one = {"type": tf.as_dtype, "bytes": base64.b64decode, "shape": tf.TensorShape}.get(k.removesuffix("s") if k != "bytes" else k)
    if k in ("type", "bytes", "shape"):
        return one(v)
    if k in ("types", "shapes"):
        return [one(x) for x in v]
    if k in ("int", "float", "bool", "string", "ints", "floats", "bools", "strings"):
        return v
    raise ValueError(k)


def arguments(op, flat, attrs):
    """The inputs by name; lists have the rest or as many as an attribute says."""
    d = op_def_registry.get(op)
    out, at, lists = {}, 0, [a for a in d.input_arg if a.number_attr or a.type_list_attr]
    for a in d.input_arg:
        if a in lists:
            n = attrs.get(a.number_attr) if a.number_attr else None
            if a.type_list_attr and a.type_list_attr in attrs:
                n = len(attrs[a.type_list_attr])
            if n is None:
                n = len(flat) - at - sum(1 for x in d.input_arg if x not in lists)
                if len(lists) > 1:
                    raise ValueError("lists")
            out[a.name], at = flat[at:at + n], at + n
        else:
            out[a.name], at = flat[at], at + 1
    if at != len(flat):
        raise ValueError("inputs")
    return out


def run(f, which=None, shape=None):
    op, attrs = f["op"], {a["name"]: value(a) for a in f["attrs"]}
    flat = []
    for i, x in enumerate(f["in"]):
        v, t = unpack(x)
        flat.append(tf.constant(v.reshape(shape) if i == which else v, t))
    d = op_def_registry.get(op)
    implied = {a.number_attr for a in d.input_arg} | {a.type_list_attr for a in d.input_arg} | {a.type_attr for a in d.input_arg}
    call = arguments(op, flat, attrs) | {k: v for k, v in attrs.items() if k not in implied}
    out = getattr(tf.raw_ops, op)(**call)
    out = [] if out is None or isinstance(out, tf.Operation) else list(out) if isinstance(out, (list, tuple)) else [out]
    return [list(t.shape) for t in tf.nest.flatten(out)]


def answers(f):
    """The calls of a fixture with one input of another shape, each with a function that answers it."""
    yield None, None
    for i, x in enumerate(f["in"]):
        if np.prod(x["shape"]) == 1:
            yield from ((i, shape) for shape in SHAPES if shape != x["shape"])


def in_child(calls):
    """The answers to calls: the shapes of the outputs, "refused", "no call", or None if TensorFlow ended the process."""
    done = []
    while len(done) < len(calls):
        r, w = os.pipe()
        child = os.fork()
        if child == 0:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            for call in calls[len(done):]:
                try:
                    got = run(*call)
                except tf.errors.OpError:
                    got = "refused"
                except (TypeError, ValueError, NotImplementedError):
                    got = "no call"
                os.write(w, json.dumps(got).encode() + b"\n")
            os._exit(0)
        os.close(w)
        with os.fdopen(r) as lines:
            done += [json.loads(line) for line in lines]
        os.waitpid(child, 0)
        if len(done) < len(calls):
            done.append(None)
    return done


def main():
    smallest = {}
    with open(os.path.join(HERE, "../../../docs/ops.md")) as f:
        known = {line.split("|")[1].strip() for line in f if line.startswith("| ")}
    for file in sorted(glob.glob(os.path.join(HERE, "*.json")) + glob.glob(os.path.join(HERE, "far", "*.json"))):
        for f in json.load(open(file)):
            if f["op"] not in known or f.get("vars") or f.get("elsewhere") or f.get("undefined") or not any(np.prod(x["shape"]) == 1 for x in f["in"]):
                continue
            # The more inputs have one element, the more of them are tried.
            size = (-sum(np.prod(x["shape"]) == 1 for x in f["in"]), len(json.dumps(f)))
            if size[1] < 20000 and (f["op"] not in smallest or size < smallest[f["op"]][0]):
                smallest[f["op"]] = size, {k: f[k] for k in ("op", "attrs", "in")}
    fixtures = [f for op, (_, f) in sorted(smallest.items())]
    calls = [(f, i, shape) for f in fixtures for i, shape in answers(f)]
    found, works = {}, set()
    for (f, i, shape), got in zip(calls, in_child(calls)):
        if i is None:
            if isinstance(got, list):
                works.add(f["op"])
        elif f["op"] in works and got is not None and got != "no call":
            found.setdefault(f["op"], []).append({"input": i, "shape": shape, "out": None if got == "refused" else got})
    os.makedirs(os.path.join(HERE, "scalars"), exist_ok=True)
    out = [json.dumps(f | {"answers": found[f["op"]]}, separators=(",", ":")) for f in fixtures if f["op"] in found]
    with open(os.path.join(HERE, "scalars", "scalars.json"), "w") as w:
        w.write("[\n" + ",\n".join(out) + "\n]\n")
    print(len(out), "ops")


main()

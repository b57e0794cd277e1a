"""A seeded generator of object graphs, as plain data that both sides build.

A spec is a dict:

  style   "kwargs": the root is Checkpoint(**kwargs); "object": Checkpoint(root=node 0);
          "both": Checkpoint(root=node 0, **kwargs)
  kwargs  [[edge, node], ...], in the order in which they are given
  nodes   a list of
            {"kind": "module" | "list" | "map" | "opt", "edges": [[edge, node], ...]}
            {"kind": "var", "name", "dtype", "shape", "data"}     data: see encode
          an "opt" has besides "slots": [names] and "held": [{"slot", "of", "name", "dtype", "shape", "data"}]

Edges are attached in the order of nodes, then of their lists. Nothing here
imports TensorFlow.
"""
import random
import struct

FORMATS = {"float32": "f", "float64": "d", "int32": "i", "int64": "q", "uint8": "B", "int16": "h", "bool": "?"}
NAMES = ["a", "b", "w", "l1", "kernel", "bias", "layer_one", "Z", "x9", "_p", "net", "deep"]
KEYS = ["a/b", ".", "..", ".S", "x.S", "/", "//", ".ATTRIBUTES", "d/.ATTRIBUTES/f", "a b", "\u00e9\u4e16", "0", "-1",
        "q\"uote", "new\nline", "back\\slash", ".OPTIMIZER_SLOT", "k", "key", "Key"]


def encode(dtype, values):
    """Values as a spec has them: hex of the little-endian bytes; for strings a list of hex texts."""
    if dtype == "string":
        return [v.hex() for v in values]
    return struct.pack("<%d%s" % (len(values), FORMATS[dtype]), *values).hex()


def tensor(rng, dtype=None, shape=None):
    dtype = dtype or rng.choice(["float32"] * 5 + ["float64", "int32", "int64", "uint8", "int16", "bool", "string"])
    if shape is None:
        shape = [rng.randint(1, 4) for _ in range(rng.randint(0, 3))]
        if shape and rng.random() < 0.1:
            shape[rng.randrange(len(shape))] = 0
    n = 1
    for d in shape:
        n *= d
    if dtype == "string":
        values = [bytes(rng.randrange(256) for _ in range(rng.choice([0, 1, 3, 130]))) for _ in range(n)]
    elif dtype in ("float32", "float64"):
        values = [rng.randint(-999, 999) / 8 for _ in range(n)]
    elif dtype == "bool":
        values = [rng.random() < 0.5 for _ in range(n)]
    else:
        values = [rng.randint(0, 100) for _ in range(n)]
    return {"dtype": dtype, "shape": shape, "data": encode(dtype, values)}


def generate(seed):
    rng = random.Random(seed)
    style = rng.choice(["kwargs", "kwargs", "object", "both"])
    nodes = []
    if style != "kwargs":
        nodes.append({"kind": "module", "edges": []})
    for _ in range(rng.randint(1, 14)):
        kind = rng.choice(["module", "module", "list", "map", "var", "var", "var", "opt"])
        if kind == "var":
            name = rng.choice(["Variable", "net/dense/kernel", "w:0", "scope/\u00e9", "v_%d" % len(nodes)])
            nodes.append({"kind": "var", "name": name, **tensor(rng)})
        else:
            nodes.append({"kind": kind, "edges": []})
    if not any(n["kind"] == "var" for n in nodes):
        nodes.append({"kind": "var", "name": "only", **tensor(rng)})
    first = 0 if style == "kwargs" else 1
    inner = [i for i, n in enumerate(nodes) if n["kind"] != "var"]

    kwargs = []
    def attach(parent, child):
        containers = ("list", "map")
        if parent is not None and child <= parent and nodes[parent]["kind"] in containers and nodes[child]["kind"] in containers:
            return  # TensorFlow compares containers by value, and never ends on a cycle of nothing else
        if parent is None:
            used = [e for e, _ in kwargs] + ([e for e, _ in nodes[0]["edges"]] if style == "both" else [])
            free = [n for n in NAMES + KEYS if n not in used]
            if free:
                kwargs.append([rng.choice(free), child])
            return
        edges = nodes[parent]["edges"]
        if nodes[parent]["kind"] == "list":
            edges.append([str(len(edges)), child])
            return
        pool = KEYS + NAMES if nodes[parent]["kind"] == "map" else NAMES + (KEYS if rng.random() < 0.3 else [])
        used = [e for e, _ in edges] + ([e for e, _ in kwargs] if parent == 0 and style == "both" else [])
        free = [n for n in pool if n not in used]
        if free:
            edges.append([rng.choice(free), child])

    # A tree that reaches most nodes, then more edges: shared nodes and cycles.
    roots = {"kwargs": [None], "object": [0], "both": [0, None]}[style]
    for i in range(first, len(nodes)):
        if rng.random() < 0.06:
            continue  # unreachable, unless an edge below finds it
        attach(rng.choice(roots + [j for j in inner if j < i]), i)
    for _ in range(rng.randint(0, 6)):
        if inner:
            attach(rng.choice(inner + roots), rng.randrange(first, len(nodes)))
    for i in inner:  # edges up, to itself too
        if rng.random() < 0.25:
            attach(i, rng.choice(inner))
    if not kwargs and style != "object":
        attach(None, rng.randrange(first, len(nodes)))

    for node in nodes:
        if node["kind"] != "opt":
            continue
        node["slots"] = rng.sample(["m", "v", "momentum", "rms", "a/b", ".x"], rng.randint(1, 3))
        node["held"] = []
        for i, v in enumerate(nodes):
            for slot in node["slots"]:
                if v["kind"] == "var" and v["dtype"] == "float32" and rng.random() < 0.6:
                    node["held"].append({"slot": slot, "of": i, "name": "opt/" + v["name"] + "/" + slot,
                                         **tensor(rng, "float32", v["shape"])})
        rng.shuffle(node["held"])
    return {"seed": seed, "style": style, "kwargs": kwargs, "nodes": nodes}

"""Writes the fixtures of ops that handle more than tensors: small graphs with
functions, lists, variables and random state, and TensorFlow 2.21's results in
one session that runs them a few times.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_programs.py

A program has args (dtypes), steps and results. A step is an op with attributes
and inputs, each [step, output]; step -1 means the arguments. "control" are
the steps that run before. "functions" are the programs that attributes of kind
"func" and "funcs" name. "runs" are calls in one session: in, out, or "error"
with a part of TensorFlow's message.
"""
import base64
import json
import os

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import rewriter_config_pb2
from tensorflow.python.framework import op_def_registry

HERE = os.path.dirname(os.path.abspath(__file__))
T = tf.dtypes
families = {}


def pack(v):
    v = np.asarray(v)
    if v.dtype.kind in "OSU":
        flat = [x if isinstance(x, bytes) else x.encode() for x in v.reshape(-1).tolist()]
        return {"dtype": "string", "shape": list(v.shape), "data": [base64.b64encode(x).decode() for x in flat]}
    return {"dtype": tf.as_dtype(v.dtype).name, "shape": list(v.shape), "data": base64.b64encode(np.ascontiguousarray(v).tobytes()).decode()}


class Ref(tuple):
    pass


class Raw:
    """An attribute that names a function."""

    def __init__(self, prog):
        self.prog = prog


class P:
    count = 0

    def __init__(self, *args, name=None):
        P.count += 1
        self.name = name or "f%d" % P.count
        self.dtypes = list(args)
        self.args = [Ref((-1, i)) for i in range(len(args))]
        self.steps, self.results, self.functions = [], [], []

    def const(self, v, dtype=None):
        if isinstance(v, str) or isinstance(v, bytes):
            v = np.array(v)
        elif dtype is not None:
            v = np.array(v, dtype=tf.as_dtype(dtype).as_numpy_dtype)
        elif not isinstance(v, np.ndarray):
            v = np.array(v)
            if v.size == 0:
                v = v.astype(np.int32)
            elif v.dtype == np.float64:
                v = v.astype(np.float32)
            elif v.dtype == np.int64:
                v = v.astype(np.int32)
        self.steps.append({"op": "Const", "value": v, "in": [], "attrs": {}, "control": []})
        return Ref((len(self.steps) - 1, 0))

    def __getattr__(self, op):
        if op.startswith("_") or not op[0].isupper():
            raise AttributeError(op)

        def call(*inputs, control=(), **attrs):
            flat = []
            for a, v in zip(op_def_registry.get(op).input_arg, inputs):
                if isinstance(v, list) and (a.number_attr or a.type_list_attr):
                    flat.append([x if isinstance(x, Ref) else self.const(x) for x in v])
                else:
                    flat.append(v if isinstance(v, Ref) else self.const(v))
            self.steps.append({"op": op, "in": flat, "attrs": attrs, "control": [c[0] for c in control]})
            i = len(self.steps) - 1
            d = op_def_registry.get(op)
            n = 0
            for o in d.output_arg:
                if o.number_attr:
                    n += attrs.get(o.number_attr, len(inputs[0]) if inputs and isinstance(inputs[0], list) else 1)
                elif o.type_list_attr:
                    v = attrs.get(o.type_list_attr)
                    n += len(v) if v is not None else len(inputs[[a.type_list_attr for a in d.input_arg].index(o.type_list_attr)])
                else:
                    n += 1
            out = [Ref((i, k)) for k in range(n)]
            return out[0] if n == 1 else (out if n else Ref((i, 0)))

        return call

    def ret(self, *results):
        self.results = list(results)
        return self

    # TensorFlow's side: the steps in the current graph.
    def emit(self, args):
        outs = []

        def get(r):
            return args[r[1]] if r[0] < 0 else outs[r[0]][r[1]]

        for s in self.steps:
            deps = [outs[c][-1] for c in s["control"]]
            with tf.control_dependencies([d.op if isinstance(d, tf.Tensor) else d for d in deps]):
                if s["op"] == "Const":
                    outs.append([tf.constant(s["value"])])
                    continue
                d = op_def_registry.get(s["op"])
                kw = {}
                for a, v in zip(d.input_arg, s["in"]):
                    kw[a.name] = [get(x) for x in v] if isinstance(v, list) else get(v)
                    if (a.number_attr or a.type_list_attr) and not isinstance(kw[a.name], list):
                        kw[a.name] = [kw[a.name]]
                    if a.number_attr:
                        s.setdefault("lists", {})[a.number_attr] = len(kw[a.name])
                    elif a.type_list_attr:
                        s.setdefault("lists", {})[a.type_list_attr] = [x.dtype for x in kw[a.name]]
                for k, v in s["attrs"].items():
                    if isinstance(v, P):
                        v = v.concrete()
                    elif isinstance(v, list) and v and isinstance(v[0], P):
                        v = [x.concrete() for x in v]
                    kw[k] = v
                if s["op"] == "VarHandleOp":
                    kw.setdefault("container", "")
                out = getattr(tf.raw_ops, s["op"])(**kw)
                if isinstance(out, tf.Operation) or out is None:
                    outs.append([out])
                elif isinstance(out, tf.Tensor):
                    outs.append([out])
                elif isinstance(out, (list,)) or hasattr(out, "_fields"):
                    flat = []
                    for o in out:
                        flat.extend(o if isinstance(o, (list, tuple)) else [o])
                    outs.append(flat or [tf.compat.v1.get_default_graph().get_operations()[-1]])
                else:
                    raise TypeError(type(out))
        return [get(r) for r in self.results]

    def concrete(self):
        @tf.function(input_signature=[tf.TensorSpec(None, d) for d in self.dtypes], autograph=False)
        def f(*args):
            return self.emit(list(args))

        f.__name__ = self.name
        return f.get_concrete_function()

    # The file's side.
    def json(self, into):
        steps = []
        for s in self.steps:
            flat = []
            for v in s["in"]:
                flat.extend(v if isinstance(v, list) else [v])
            attrs = []
            if s["op"] == "Const":
                attrs = [{"name": "value", "kind": "tensor", "value": pack(s["value"])},
                         {"name": "dtype", "kind": "type", "value": pack(s["value"])["dtype"]}]
            # The lengths of several lists of inputs don't follow from the inputs.
            lists = s.get("lists", {}) if sum(isinstance(v, list) for v in s["in"]) > 1 else {}
            for k, v in {**lists, **s["attrs"]}.items():
                attrs.append(attr(s["op"], k, v))
                for f in [v] if isinstance(v, P) else v if isinstance(v, list) else []:
                    if isinstance(f, P) and f.name not in into:
                        into[f.name] = None
                        into[f.name] = f.json(into)
            j = {"op": s["op"], "attrs": attrs, "in": [list(r) for r in flat]}
            if s["control"]:
                j["control"] = s["control"]
            steps.append(j)
        return {"name": self.name, "args": [tf.as_dtype(d).name for d in self.dtypes], "steps": steps, "results": [list(r) for r in self.results]}


def attr(op, k, v):
    d = {a.name: a for a in op_def_registry.get(op).attr}[k]
    kind = d.type
    j = {"name": k}
    if kind == "func":
        return dict(j, kind="func", value=v.name)
    if kind == "list(func)":
        return dict(j, kind="funcs", value=[f.name for f in v])
    if kind == "type":
        return dict(j, kind="type", value=tf.as_dtype(v).name)
    if kind == "list(type)":
        return dict(j, kind="types", value=[tf.as_dtype(x).name for x in v])
    if kind == "shape":
        return dict(j, kind="shape", value=None if v is None else list(-1 if x is None else x for x in v))
    if kind == "list(shape)":
        return dict(j, kind="shapes", value=[None if s is None else [-1 if x is None else x for x in s] for s in v])
    if kind.startswith("list("):
        return dict(j, kind=kind[5:-1] + "s", value=v)
    return dict(j, kind=kind, value=v)


def program(family, name, p, *runs, producer=None):
    """runs: lists of argument values, or (values, part of an error).

    producer: the version of TensorFlow's graphs that the graph pretends to be of.
    """
    p.name = name
    g = tf.Graph()
    if producer is not None:
        versions = tf.compat.v1.GraphDef()
        versions.versions.producer = producer
        with g.as_default():
            tf.import_graph_def(versions)
    cfg = tf.compat.v1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    cfg.graph_options.rewrite_options.disable_meta_optimizer = True
    cfg.graph_options.optimizer_options.opt_level = -1
    out = []
    with g.as_default():
        feeds = [tf.compat.v1.placeholder(d) for d in p.dtypes]
        fetches = p.emit(feeds)
        with tf.compat.v1.Session(graph=g, config=cfg) as sess:
            for r in runs or [[]]:
                want = None
                if isinstance(r, tuple):
                    r, want = r
                vals = [np.array(v, dtype=tf.as_dtype(d).as_numpy_dtype) if d != tf.string else np.array(v, dtype=object) for v, d in zip(r, p.dtypes)]
                j = {"in": [pack(v) for v in vals]}
                try:
                    got = sess.run([f if isinstance(f, tf.Operation) else tf.identity(f) for f in fetches], dict(zip(feeds, vals)))
                    if want is not None:
                        print("NO ERROR", name, vals, want, got)
                    j["out"] = [pack(v) for v in got if v is not None]
                except tf.errors.OpError as e:
                    if want is None or want not in e.message:
                        print("ERROR", name, vals, want, "!=", [l for l in e.message.split("\n") if l[:1] not in ("", " ") and not l.startswith(("Graph exec", "Detected", "Node:"))][:3])
                        break
                    j["error"] = want
                out.append(j)
    record(family, name, p, out)


def old(family, name, p, *runs, producer=10):
    """program for ops that TensorFlow runs in graphs of old producers only."""
    p.name = name
    g = tf.compat.v1.GraphDef()
    g.versions.producer = producer
    for i, d in enumerate(p.dtypes):
        n = g.node.add(name="a%d" % i, op="Placeholder")
        n.attr["dtype"].type = tf.as_dtype(d).as_datatype_enum

    def port(r):
        return "a%d" % r[1] if r[0] < 0 else "s%d:%d" % r

    for i, s in enumerate(p.steps):
        n = g.node.add(name="s%d" % i, op=s["op"], input=[port(r) for r in s["in"]] + ["^s%d" % c for c in s["control"]])
        if s["op"] == "Const":
            n.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(s["value"]))
            n.attr["dtype"].type = n.attr["value"].tensor.dtype
        kinds = {a.name: a.type for a in op_def_registry.get(s["op"]).attr}
        for k, v in s["attrs"].items():
            a = n.attr[k]
            if kinds[k] == "type":
                a.type = tf.as_dtype(v).as_datatype_enum
            elif kinds[k] == "shape":
                a.shape.CopyFrom(tf.TensorShape(v).as_proto())
            elif kinds[k] == "bool":
                a.b = v
            elif kinds[k] == "int":
                a.i = v
            else:
                a.s = v.encode()
    out = []
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(g, name="")
        with tf.compat.v1.Session(graph=graph) as sess:
            for r in runs:
                want = None
                if isinstance(r, tuple):
                    r, want = r
                vals = [np.array(v, dtype=tf.as_dtype(d).as_numpy_dtype) for v, d in zip(r, p.dtypes)]
                j = {"in": [pack(v) for v in vals]}
                try:
                    got = sess.run(["%s:0" % port(x) if x[0] < 0 else port(x) for x in p.results], {"a%d:0" % i: v for i, v in enumerate(vals)})
                    if want is not None:
                        print("NO ERROR", name, vals, want, got)
                    j["out"] = [pack(v) for v in got]
                except tf.errors.OpError as e:
                    if want is None or want not in e.message:
                        print("ERROR", name, vals, want, "!=", e.message)
                        break
                    j["error"] = want
                out.append(j)
    record(family, name, p, out)


def record(family, name, p, out):
    functions = {}
    main = p.json(functions)
    families.setdefault(family, []).append({"name": name, "functions": list(functions.values()), "main": main, "runs": out})


def write():
    for family, list_ in families.items():
        with open(os.path.join(HERE, "programs", family + ".json"), "w") as f:
            f.write("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in list_) + "\n]\n")
        print(family, len(list_))

F32, I32, I64, BOOL, STR, VAR, RES = tf.float32, tf.int32, tf.int64, tf.bool, tf.string, tf.variant, tf.resource
S = tf.TensorShape


# --- control --------------------------------------------------------------------
def fn(dtypes, build):
    p = P(*dtypes)
    r = build(p, *p.args)
    return p.ret(*(r if isinstance(r, list) else [r]))


def control():
    for op in ["If", "StatelessIf"]:
        for d, vals in [(BOOL, [True, False]), (I32, [0, 5, -1]), (F32, [0.0, 0.5]), (STR, [b"", b"x"]), (T.uint8, [0, 1]), (T.float64, [0.0, 1.0]), (T.int64, [0, 1 << 40])]:
            p = P(d, F32)
            yes = fn([F32], lambda p, x: [p.Mul(x, 2.0), p.Add(x, 1.0)])
            no = fn([F32], lambda p, x: [p.Neg(x), p.Sub(x, 1.0)])
            out = getattr(p, op)(p.args[0], [p.args[1]], Tout=[F32, F32], then_branch=yes, else_branch=no, output_shapes=[None, None])
            p.ret(*out)
            program("control", "%s on %s" % (op, d.name), p, *[[v, 3.0] for v in vals])
    p = P(I32, F32)
    p.ret(p.If(p.args[0], [p.args[1]], Tout=[F32], then_branch=fn([F32], lambda p, x: p.Mul(x, 2.0)), else_branch=fn([F32], lambda p, x: p.Neg(x)), output_shapes=[None]))
    program("control", "If on vectors", p, [[], 3.0], [[0], 3.0], [[0, 0], 3.0])
    for op in ["Case", "StatelessCase"]:
        p = P(I32, F32)
        bs = [fn([F32], lambda p, x, k=k: p.Mul(x, float(k))) for k in (2, 3, 5)]
        p.ret(getattr(p, op)(p.args[0], [p.args[1]], Tout=[F32], branches=bs, output_shapes=[None]))
        program("control", op, p, *[[i, 7.0] for i in (0, 1, 2, 3, -1)])
    for op in ["While", "StatelessWhile"]:
        p = P(I32, F32)
        cond = fn([I32, F32], lambda p, i, x: p.Less(i, 10))
        body = fn([I32, F32], lambda p, i, x: [p.AddV2(i, 1), p.Mul(x, 1.5)])
        out = getattr(p, op)([p.args[0], p.args[1]], cond=cond, body=body, output_shapes=[[], []], parallel_iterations=10)
        p.ret(*out)
        program("control", op, p, [0, 1.0], [9, 2.0], [10, 2.0], [20, 2.0])
    p = P(I32)  # a condition that is a number
    out = p.While([p.args[0], 1.0], cond=fn([I32, F32], lambda p, i, x: p.Identity(i)), body=fn([I32, F32], lambda p, i, x: [p.Sub(i, 1), p.Mul(x, 2.0)]), output_shapes=[[], []], parallel_iterations=10)
    p.ret(*out)
    program("control", "While on a number", p, [0], [3])
    p = P(I32, F32)  # a loop in a loop, variables that swap, one that grows
    inner_c = fn([I32, F32], lambda p, j, x: p.Less(j, 3))
    inner_b = fn([I32, F32], lambda p, j, x: [p.AddV2(j, 1), p.AddV2(x, 1.0)])
    cond = fn([I32, F32, F32, F32], lambda p, i, a, b, g: p.Less(i, 4))

    def outer(p, i, a, b, g):
        x = p.While([0, a], cond=inner_c, body=inner_b, output_shapes=[[], []], parallel_iterations=10)
        return [p.AddV2(i, 1), b, x[1], p.ConcatV2([g, p.Reshape(a, [1])], 0)]

    body = fn([I32, F32, F32, F32], outer)
    out = p.While([p.args[0], p.args[1], 10.0, [0.0]], cond=cond, body=body, output_shapes=[[], [], [], [None]], parallel_iterations=10)
    p.ret(*out)
    program("control", "nested While", p, [0, 1.0], [4, 2.0])
    for op in ["PartitionedCall", "StatefulPartitionedCall"]:
        p = P(F32, F32)
        inner = fn([F32], lambda p, x: p.Mul(x, x))
        f = fn([F32, F32], lambda p, x, y: [p.PartitionedCall([p.AddV2(x, y)], Tout=[F32], f=inner), x, x])
        p.ret(*getattr(p, op)([p.args[0], p.args[1]], Tout=[F32, F32, F32], f=f))
        program("control", op, p, [2.0, 3.0], [[1.0, 2.0], 1.0])
    p = P(F32)
    p.ret(p.PlaceholderWithDefault(p.args[0], shape=[None]), *p.IdentityN([p.args[0], [1, 2]]))
    program("control", "PlaceholderWithDefault", p, [[1.0]])
    p = P(F32)
    x = p.PreventGradient(p.args[0], message="none")
    a = p.NoOp(control=[x])
    p.ret(p.Identity(x, control=[a]), p.DeviceIndex(device_names=["TPU", "CPU"]), p.DeviceIndex(device_names=["GPU"]), p.DeviceIndex(device_names=["CPU"]))
    program("control", "NoOp and DeviceIndex", p, [2.0])
    p = P(BOOL, F32, STR)
    a = p.Assert(p.args[0], [p.args[1], p.args[2]], summarize=3)
    p.ret(p.Identity(p.args[1], control=[a]))
    program("control", "Assert", p, [True, 1.0, b"a"], ([False, [1.5, 2.0, 3.0, 4.0], [b"a", b"b"]], "assertion failed: [1.5 2 3...] [a b]"),
            ([False, [[1.0, 2.0], [3.0, 4.0]], b"x"], "assertion failed: [[1 2][3...]...] [x]"),
            ([False, [[[1.0], [2.0]], [[3.0], [4.0]]], b"x"], "assertion failed: [[[1][2]][[3]]...] [x]"), ([False, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], b"x"], "assertion failed: [[1 2 3]...] [x]"))
    p = P(F32)
    y = p.Print(p.args[0], [p.args[0]], message="x is ", summarize=2, first_n=-1)
    z = p.PrintV2(b"hello", output_stream="stderr", end="\n")
    p.ret(p.Identity(y, control=[z]))
    program("control", "Print", p, [1.0])
    for op, two in [("CheckNumerics", "Inf and NaN"), ("CheckNumericsV2", "-Inf, +Inf, and NaN")]:
        for d in [F32, T.float64, T.half, T.bfloat16]:
            p = P(d)
            p.ret(getattr(p, op)(p.args[0], message="here"))
            inf = float("inf")
            program("control", op + " " + d.name, p, [[1.0, 2.0]], ([[1.0, float("nan")]], "here : Tensor had NaN values"),
                    ([[inf, -inf, float("nan")]], "here : Tensor had " + two + " values"))
    p = P(BOOL)
    yes = fn([F32], lambda p, x: [x, p.FakeParam(dtype=F32, shape=[2])])
    no = fn([F32], lambda p, x: [p.Neg(x), p.Fill([2], 1.0)])
    out = p.If(p.args[0], [3.0], Tout=[F32, F32], then_branch=yes, else_branch=no, output_shapes=[None, None])
    p.ret(out[0])
    program("control", "FakeParam", p, [True], [False])
    p = P()
    p.ret(p.AddV2(p.Placeholder(dtype=F32, shape=[]), 1.0))
    program("control", "Placeholder", p, ([], "You must feed a value"))


# --- lists ----------------------------------------------------------------------
def lists():
    for d in [F32, I32, STR, BOOL, T.float64, T.half, T.complex64]:
        p = P(d)
        l = p.TensorListFromTensor(p.args[0], [2])
        l2 = p.TensorListSetItem(l, 1, p.TensorListGetItem(l, 0, [2], element_dtype=d))
        l3 = p.TensorListPushBack(l2, p.TensorListGetItem(l, 2, [-1], element_dtype=d))
        l4, last = p.TensorListPopBack(l3, [2], element_dtype=d)
        p.ret(p.TensorListStack(l, [2], element_dtype=d, num_elements=-1), p.TensorListStack(l2, -1, element_dtype=d, num_elements=3), p.TensorListStack(l3, [-1], element_dtype=d, num_elements=4),
              p.TensorListStack(l4, [2], element_dtype=d, num_elements=-1), last, p.TensorListLength(l3), p.TensorListLength(l))
        v = {STR: [[b"a", b"b"], [b"c", b""], [b"e", b"ff"]], BOOL: [[True, False], [False, False], [True, True]]}.get(d, [[1, 2], [3, 4], [5, 6]])
        program("list", "lists of " + d.name, p, [v])
        p = P()
        l = p.TensorListReserve([-1, 2], 3, element_dtype=d)
        l = p.TensorListSetItem(l, 1, np.array([v[0]], tf.as_dtype(d).as_numpy_dtype if d != STR else object))
        p.ret(p.TensorListStack(l, [1, 2], element_dtype=d, num_elements=-1), p.TensorListGetItem(l, 0, [1, 2], element_dtype=d), p.TensorListElementShape(l, shape_type=I32), p.TensorListElementShape(l, shape_type=I64))
        program("list", "reserved lists of " + d.name, p)
    p = P(F32, I32)
    l = p.TensorListFromTensor(p.args[0], [2])
    p.ret(p.TensorListGather(l, p.args[1], [2], element_dtype=F32))
    program("list", "Gather", p, [[[1, 2], [3, 4], [5, 6]], [2, 0, 0]], [[[1, 2], [3, 4], [5, 6]], []], ([[[1, 2]], [1]], "list"))
    p = P(F32, I32)
    l = p.TensorListScatter(p.args[0], p.args[1], [2])
    l2 = p.TensorListScatterV2(p.args[0], p.args[1], [2], 6)
    l3 = p.TensorListScatterIntoExistingList(l2, p.args[0], [5, 0])
    l4 = p.TensorListScatterV2(p.args[0], p.args[1], [2], -1)
    p.ret(*[p.TensorListStack(x, [2], element_dtype=F32, num_elements=-1) for x in (l, l2, l3, l4)])
    program("list", "Scatter", p, [[[1, 2], [3, 4]], [4, 1]])
    p = P(F32, I64)
    l = p.TensorListSplit(p.args[0], [-1, 2], p.args[1])
    c = p.TensorListConcatV2(l, [-1, 2], np.array([1, 1], np.int64), element_dtype=F32)
    c1 = p.TensorListConcat(l, element_dtype=F32, element_shape=[None, 2])
    p.ret(*c, *c1, p.TensorListGetItem(l, 1, [-1, 2], element_dtype=F32))
    program("list", "Split and Concat", p, [[[1, 2], [3, 4], [5, 6]], [2, 1]], [[[1, 2], [3, 4], [5, 6]], [0, 3]], ([[[1, 2], [3, 4], [5, 6]], [2, 2]], "slice"))
    p = P()
    l = p.TensorListReserve([-1, 2], 3, element_dtype=F32)
    l = p.TensorListSetItem(l, 1, [[1.0, 2.0]])
    c = p.TensorListConcatV2(l, [-1, 2], np.array([2, 1, 0], np.int64), element_dtype=F32)
    p.ret(*c)
    program("list", "Concat of unset elements", p)
    p = P(F32, F32)
    a, b = p.TensorListFromTensor(p.args[0], []), p.TensorListFromTensor(p.args[1], [])
    l = p.TensorListConcatLists(a, b, element_dtype=F32)
    p.ret(p.TensorListStack(l, [], element_dtype=F32, num_elements=-1), p.TensorListStack(a, [], element_dtype=F32, num_elements=-1))
    program("list", "ConcatLists", p, [[1, 2], [3]])
    p = P(I32)
    l = p.TensorListResize(p.TensorListFromTensor([1.0, 2.0, 3.0], np.zeros(0, np.int32)), p.args[0])
    p.ret(p.TensorListStack(l, np.zeros(0, np.int32), element_dtype=F32, num_elements=-1), p.TensorListLength(l))
    program("list", "Resize", p, [5], [2], [0], ([-1], "size"))
    p = P()
    l = p.EmptyTensorList(-1, 2, element_dtype=F32)
    l1 = p.TensorListPushBack(l, [1.0])
    l2 = p.TensorListPushBack(l1, [[2.0, 3.0]])
    _, x = p.TensorListPopBack(l2, -1, element_dtype=F32)
    p.ret(x, p.TensorListLength(l), p.TensorListLength(l1), p.TensorListLength(l2), p.TensorListElementShape(l, shape_type=I32))
    program("list", "EmptyTensorList", p)
    p = P()
    l = p.EmptyTensorList(-1, 1, element_dtype=F32)
    p.ret(p.TensorListLength(p.TensorListPushBack(p.TensorListPushBack(l, 1.0), 2.0)))
    program("list", "full list", p, ([], "full"))
    p = P()
    p.ret(p.TensorListPopBack(p.EmptyTensorList([], -1, element_dtype=F32), [], element_dtype=F32)[1])
    program("list", "pop of an empty list", p, ([], "empty"))
    p = P(I32)
    l = p.TensorListFromTensor([1.0, 2.0], np.zeros(0, np.int32))
    p.ret(p.TensorListGetItem(l, p.args[0], np.zeros(0, np.int32), element_dtype=F32))
    program("list", "index", p, [1], ([2], "element"))
    p = P(I32)
    l = p.TensorListFromTensor([1.0, 2.0], np.zeros(0, np.int32))
    l = p.TensorListSetItem(l, p.args[0], 5.0, resize_if_index_out_of_bounds=True)
    p.ret(p.TensorListStack(l, np.zeros(0, np.int32), element_dtype=F32, num_elements=-1))
    program("list", "SetItem that resizes", p, [1], [4])
    p = P(F32)  # sums and zeros of lists
    a = p.TensorListFromTensor(p.args[0], np.zeros(0, np.int32))
    b = p.TensorListSetItem(p.TensorListReserve(np.zeros(0, np.int32), 3, element_dtype=F32), 2, 10.0)
    z = p.ZerosLike(a)
    s = p.AddN([a, b, a])
    p.ret(*[p.TensorListStack(x, np.zeros(0, np.int32), element_dtype=F32, num_elements=-1) for x in (s, z, a, b)])
    program("list", "AddN and ZerosLike", p, [[1, 2, 3]])
    p = P(I32)  # a loop that fills a list
    cond = fn([I32, I32, VAR], lambda p, i, n, l: p.Less(i, n))
    body = fn([I32, I32, VAR], lambda p, i, n, l: [p.AddV2(i, 1), n, p.TensorListSetItem(l, i, p.Mul(i, i))])
    l = p.TensorListReserve(np.zeros(0, np.int32), p.args[0], element_dtype=I32)
    keep = p.TensorListSetItem(l, 0, 77)
    out = p.While([0, p.args[0], keep], cond=cond, body=body, output_shapes=[[], [], []], parallel_iterations=10)
    p.ret(p.TensorListStack(out[2], np.zeros(0, np.int32), element_dtype=I32, num_elements=-1), p.TensorListStack(keep, np.zeros(0, np.int32), element_dtype=I32, num_elements=-1))
    program("list", "a loop over a list", p, [5], [1])
    p = P(I32)  # one that pushes, and one that pops what was pushed
    cond = fn([I32, VAR], lambda p, i, l: p.Less(i, 4))
    body = fn([I32, VAR], lambda p, i, l: [p.AddV2(i, 1), p.TensorListPushBack(l, p.Cast(i, DstT=F32))])
    out = p.While([p.args[0], p.EmptyTensorList(np.zeros(0, np.int32), -1, element_dtype=F32)], cond=cond, body=body, output_shapes=[[], []], parallel_iterations=10)
    cond = fn([VAR, F32], lambda p, l, x: p.Greater(p.TensorListLength(l), 0))

    def pop(p, l, x):
        l, v = p.TensorListPopBack(l, np.zeros(0, np.int32), element_dtype=F32)
        return [l, p.AddV2(p.Mul(x, 10.0), v)]

    out2 = p.While([out[1], 0.0], cond=cond, body=fn([VAR, F32], pop), output_shapes=[[], []], parallel_iterations=10)
    p.ret(out2[1], p.TensorListLength(out[1]))
    program("list", "accumulators", p, [0], [4], [2])
    p = P(I32)  # a list of lists
    inner = p.TensorListFromTensor([1.0, 2.0], np.zeros(0, np.int32))
    l = p.TensorListPushBack(p.EmptyTensorList(np.zeros(0, np.int32), -1, element_dtype=VAR), inner)
    got = p.TensorListGetItem(l, 0, np.zeros(0, np.int32), element_dtype=VAR)
    changed = p.TensorListSetItem(got, 0, 9.0)
    p.ret(p.TensorListStack(changed, np.zeros(0, np.int32), element_dtype=F32, num_elements=-1), p.TensorListStack(p.TensorListGetItem(l, 0, np.zeros(0, np.int32), element_dtype=VAR), np.zeros(0, np.int32), element_dtype=F32, num_elements=-1))
    program("list", "lists of lists", p, [0])
    p = P(F32)  # a batch of lists
    a = p.EmptyTensorList(np.zeros(0, np.int32), -1, element_dtype=F32)
    batch = p.TensorListStack(p.TensorListPushBack(p.TensorListPushBack(p.EmptyTensorList(np.zeros(0, np.int32), -1, element_dtype=VAR), a), a), np.zeros(0, np.int32), element_dtype=VAR, num_elements=-1)
    pushed = p.TensorListPushBackBatch(p.TensorListPushBackBatch(batch, p.args[0]), [7.0, 8.0])
    back = p.TensorListFromTensor(pushed, np.zeros(0, np.int32))
    one = p.TensorListGetItem(back, 1, np.zeros(0, np.int32), element_dtype=VAR)
    p.ret(p.TensorListStack(one, np.zeros(0, np.int32), element_dtype=F32, num_elements=-1))
    program("list", "PushBackBatch", p, [[1, 2]])
    p = P(F32)
    some = p.OptionalFromValue([p.args[0], [1, 2]])
    none = p.OptionalNone()
    p.ret(p.OptionalHasValue(some), p.OptionalHasValue(none), *p.OptionalGetValue(some, output_types=[F32, I32], output_shapes=[None, [2]]))
    program("list", "Optional", p, [3.0])
    p = P()
    p.ret(p.OptionalGetValue(p.OptionalNone(), output_types=[F32], output_shapes=[[]]))
    program("list", "OptionalNone", p, ([], "optional"))


def arrays():
    for d in [F32, I32, STR]:
        p = P(d)
        h, f = p.TensorArrayV3(3, dtype=d, element_shape=None, dynamic_size=False, clear_after_read=False, identical_element_shapes=True, tensor_array_name="")
        f = p.TensorArrayScatterV3(h, [2, 0, 1], p.args[0], f)
        r = p.TensorArrayReadV3(h, 0, f, dtype=d)
        g = p.TensorArrayGatherV3(h, [0, 2], f, dtype=d, element_shape=None, control=[r])
        s = p.TensorArraySizeV3(h, f)
        c = p.TensorArrayCloseV3(h, control=[r, g, s])
        p.ret(p.Identity(r, control=[c]), g, s)
        v = [[b"a", b"b"], [b"c", b""], [b"e", b"ff"]] if d == STR else [[1, 2], [3, 4], [5, 6]]
        program("array", "TensorArray of " + d.name, p, [v], [v])
    p = P(F32)
    h, f = p.TensorArrayV3(0, dtype=F32, element_shape=None, dynamic_size=True, clear_after_read=True, identical_element_shapes=False, tensor_array_name="")
    f = p.TensorArrayWriteV3(h, 0, p.args[0], f)
    f = p.TensorArrayWriteV3(h, 1, [[5.0, 6.0]], f)
    v, l = p.TensorArrayConcatV3(h, f, dtype=F32, element_shape_except0=[2])
    p.ret(v, l, p.TensorArraySizeV3(h, f))
    program("array", "dynamic TensorArray", p, [[[1, 2], [3, 4]]], [[[1, 2]]])
    p = P(F32, I64)
    h, f = p.TensorArrayV3(2, dtype=F32, element_shape=None, dynamic_size=False, clear_after_read=False, identical_element_shapes=False, tensor_array_name="")
    f = p.TensorArraySplitV3(h, p.args[0], p.args[1], f)
    p.ret(p.TensorArrayReadV3(h, 1, f, dtype=F32))
    program("array", "TensorArraySplit", p, [[1, 2, 3], [1, 2]], [[1, 2, 3], [3, 0]], ([[1, 2, 3], [1, 1]], "sum"))
    p = P(I32)
    h, f = p.TensorArrayV3(2, dtype=F32, element_shape=[2], dynamic_size=False, clear_after_read=True, identical_element_shapes=True, tensor_array_name="")
    p.ret(p.TensorArrayReadV3(h, p.args[0], f, dtype=F32))
    program("array", "unwritten elements", p, [0], ([2], "index"))
    p = P(F32)
    h, f = p.TensorArrayV3(1, dtype=F32, element_shape=None, dynamic_size=False, clear_after_read=True, identical_element_shapes=True, tensor_array_name="")
    f = p.TensorArrayWriteV3(h, 0, p.args[0], f)
    f = p.TensorArrayWriteV3(h, 0, p.args[0], f)
    p.ret(p.TensorArrayReadV3(h, 0, f, dtype=F32))
    program("array", "written twice", p, ([1.0], "already"))
    p = P(F32)
    h, f = p.TensorArrayV3(1, dtype=F32, element_shape=None, dynamic_size=False, clear_after_read=True, identical_element_shapes=True, tensor_array_name="")
    f = p.TensorArrayWriteV3(h, 0, p.args[0], f)
    a = p.TensorArrayReadV3(h, 0, f, dtype=F32)
    p.ret(a, p.TensorArrayReadV3(h, 0, f, dtype=F32, control=[a]))
    program("array", "read twice", p, ([1.0], "clear_after_read"))
    p = P(F32)  # gradients sum what is written twice
    h, f = p.TensorArrayV3(2, dtype=F32, element_shape=None, dynamic_size=False, clear_after_read=False, identical_element_shapes=True, tensor_array_name="")
    f = p.TensorArrayWriteV3(h, 0, p.args[0], f)
    f = p.TensorArrayWriteV3(h, 1, p.args[0], f)
    g, gf = p.TensorArrayGradV3(h, f, source="grad")
    gf = p.TensorArrayWriteV3(g, 0, [1.0, 2.0], gf)
    gf = p.TensorArrayWriteV3(g, 0, [3.0, 4.0], gf)
    gf = p.TensorArrayWriteV3(g, 1, [5.0, 6.0], gf)
    g2, gf2 = p.TensorArrayGradV3(h, gf, source="grad")
    g3, gf3 = p.TensorArrayGradWithShape(h, gf, [3], source="other")
    gf3 = p.TensorArrayWriteV3(g3, 0, [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], gf3)
    p.ret(p.TensorArrayReadV3(g2, 0, gf2, dtype=F32), p.TensorArrayReadV3(g2, 1, gf2, dtype=F32), p.TensorArrayReadV3(g3, 0, gf3, dtype=F32))
    program("array", "TensorArrayGrad", p, [[1, 2]])
    p = P(F32)
    h = p.StackV2(-1, elem_type=F32, stack_name="s")
    a = p.StackPushV2(h, p.args[0], swap_memory=False)
    b = p.StackPushV2(h, [9.0], swap_memory=False, control=[a])
    x = p.StackPopV2(h, elem_type=F32, control=[b])
    y = p.StackPopV2(h, elem_type=F32, control=[x])
    c = p.StackCloseV2(h, control=[y])
    p.ret(p.Identity(x, control=[c]), y)
    program("array", "Stack", p, [[1, 2]], [3.0])
    p = P(F32)
    h = p.StackV2(1, elem_type=F32, stack_name="t")
    a = p.StackPushV2(h, p.args[0], swap_memory=False)
    p.ret(p.StackPushV2(h, p.args[0], swap_memory=False, control=[a]))
    program("array", "full Stack", p, ([1.0], "overflowed"))
    p = P()
    p.ret(p.StackPopV2(p.StackV2(1, elem_type=F32, stack_name="u"), elem_type=F32))
    program("array", "empty Stack", p, ([], "empty"))


def state():
    for op in ["VariableV2", "Variable"]:
        p = P(F32)
        v = getattr(p, op)(shape=[2], dtype=F32, container="", shared_name="v")
        before = p.IsVariableInitialized(v)
        a = p.Assign(v, p.args[0], validate_shape=True, use_locking=True, control=[before])
        read = p.AddV2(a, 0.0)  # an Identity of a reference shows later changes
        b = p.AssignAdd(a, [10.0, 20.0], use_locking=False, control=[read])
        c = p.AssignSub(b, [1.0, 1.0], use_locking=False)
        out = p.Identity(c)
        p.ret(before, read, out, p.IsVariableInitialized(v, control=[out]))
        program("state", op, p, [[1.0, 2.0]], [[3.0, 4.0]])
    p = P(BOOL, F32)
    v = p.VariableV2(shape=[2], dtype=F32, container="", shared_name="late")
    p.ret(p.Identity(v))
    program("state", "no value", p, ([True, 1.0], "uninitialized"))
    p = P(F32)
    v = p.VariableV2(shape=None, dtype=F32, container="", shared_name="loose")
    p.ret(p.Identity(p.Assign(v, p.args[0], validate_shape=False, use_locking=True)))
    program("state", "any shape", p, [[1.0, 2.0]], [[[3.0]]], [4.0])
    p = P()
    v = p.VariableV2(shape=[], dtype=I32, container="", shared_name="n")
    init = p.IsVariableInitialized(v)
    yes = fn([BOOL], lambda p, x: x)
    a = p.Assign(v, 3, validate_shape=True, use_locking=True)
    c = p.CountUpTo(a, limit=5)
    d = p.CountUpTo(v, limit=5, control=[c])
    p.ret(c, d)
    program("state", "CountUpTo", p, [], [])
    p = P()
    v = p.VarHandleOp(dtype=I64, shape=[], container="", shared_name="m", debug_name="", allowed_devices=[])
    a = p.AssignVariableOp(v, np.array(3, np.int64), validate_shape=False)
    c = p.ResourceCountUpTo(v, limit=4, T=I64, control=[a])
    d = p.ReadVariableOp(v, dtype=I64, control=[c])
    p.ret(c, d)
    program("state", "ResourceCountUpTo", p, [])
    p = P(F32)
    v = p.VarHandleOp(dtype=F32, shape=[2], container="", shared_name="w", debug_name="", allowed_devices=[])
    w = p.VarHandleOp(dtype=F32, shape=[2], container="", shared_name="w", debug_name="", allowed_devices=[])
    i = p.VarIsInitializedOp(v)
    a = p.AssignVariableOp(v, p.args[0], validate_shape=False, control=[i])
    r = p.ReadVariableOp(w, dtype=F32, control=[a])
    b = p.AssignAddVariableOp(w, [1.0, 1.0], control=[r])
    r2 = p.ReadVariableOp(v, dtype=F32, control=[b])
    k = p.DestroyResourceOp(v, ignore_lookup_error=True, control=[r2])
    p.ret(i, r, r2, p.VarIsInitializedOp(w, control=[k]))
    program("state", "VarHandleOp", p, [[1.0, 2.0]], [[3.0, 4.0]])
    p = P(I32)
    v = p.VarHandleOp(dtype=F32, shape=[2, 3], container="", shared_name="g", debug_name="", allowed_devices=[])
    a = p.AssignVariableOp(v, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], validate_shape=False)
    p.ret(p.ResourceGatherNd(v, p.args[0], dtype=F32, control=[a]))
    program("state", "ResourceGatherNd", p, [[[1], [0]]], [[[1, 2], [0, 0]]], [[0, 1]], ([[[2]]], "ind"))
    nums = [F32, T.float64, T.half, T.bfloat16, T.int8, T.int16, I32, I64, T.uint8, T.uint16, T.uint32, T.uint64, T.complex64, T.complex128]
    for name in ["Update", "Add", "Sub", "Mul", "Div", "Min", "Max"]:
        for kind in ["ResourceScatter", "Scatter", "ResourceScatterNd", "ScatterNd"]:
            if "Nd" in kind and name in ("Mul", "Div"):
                continue
            for d in nums + ([BOOL, STR] if name == "Update" else []):
                for single in [False, True]:
                    if single and ("Nd" in kind or d not in (F32, I32)):
                        continue
                    if name in ("Min", "Max") and d.is_complex:
                        continue
                    scatter(kind, name, d, single)
    optimizers()


def scatter(kind, name, d, single):
    nt = object if d == STR else d.as_numpy_dtype
    val = np.array([[b"a", b"b"], [b"c", b"d"], [b"e", b"f"]], nt) if d == STR else np.array([[True, False], [False, False], [True, True]]) if d == BOOL else np.array([[12, 6], [30, 4], [5, 60]]).astype(nt)
    up = np.array([[b"u", b"v"], [b"w", b"x"]], nt) if d == STR else np.array([[False, True], [True, True]]) if d == BOOL else np.array([[2, 7], [5, 3]]).astype(nt)
    if single:
        up = up[0, 0]
    p = P(I32)
    at = p.args[0]
    if kind.startswith("Resource"):
        v = p.VarHandleOp(dtype=d, shape=[3, 2], container="", shared_name="s", debug_name="", allowed_devices=[])
        a = p.AssignVariableOp(v, val, validate_shape=False)
        s = getattr(p, kind + name)(v, at, up, control=[a])
        p.ret(p.ReadVariableOp(v, dtype=d, control=[s]))
    else:
        v = p.VariableV2(shape=[3, 2], dtype=d, container="", shared_name="s")
        a = p.Assign(v, val, validate_shape=True, use_locking=True)
        p.ret(p.Identity(getattr(p, kind + name)(a, at, up, use_locking=True)))
    try:
        ix = [[2], [0]] if "Nd" in kind else [2, 0]
        bad = [[3], [0]] if "Nd" in kind else [3, 0]
        runs = [[ix]]
        if name in ("Add", "Sub", "Mul"):
            runs.append([[[1], [1]] if "Nd" in kind else [1, 1]])
        if d == F32:
            runs.append(([bad], "ind"))
        program("state", "%s%s of %s%s" % (kind, name, d.name, " with a scalar" if single else ""), p, *runs)
    except (tf.errors.OpError, TypeError, ValueError) as e:
        print("skip", kind, name, d.name, str(e)[:80].replace("\n", " "))


def optimizers():
    g = [0.5, -1.0]
    for name, slots, hyper, after in [("GradientDescent", 0, [0.1], []), ("Momentum", 1, [0.1], [0.9]), ("Adagrad", 1, [0.1], []), ("AdagradV2", 1, [0.1, 1e-6], []),
                                      ("Adadelta", 2, [0.1, 0.95, 1e-6], []), ("Adam", 2, [0.9, 0.99, 0.1, 0.9, 0.99, 1e-6], []), ("AdaMax", 2, [0.9, 0.1, 0.9, 0.99, 1e-6], []),
                                      ("RMSProp", 2, [0.1, 0.9, 0.5, 1e-6], []), ("CenteredRMSProp", 3, [0.1, 0.9, 0.5, 1e-6], []), ("FtrlV2", 2, None, None)]:
        p = P(F32)
        vs = []
        for i in range(slots + 1):
            v = p.VariableV2(shape=[2], dtype=F32, container="", shared_name="o%d" % i)
            vs.append(p.Assign(v, np.array([0.5, 0.25], np.float32) * (i + 1), validate_shape=True, use_locking=True))
        if name == "FtrlV2":
            a = p.ApplyFtrlV2(*vs, p.args[0], 0.1, 0.01, 0.02, 0.03, -0.5)
        else:
            a = getattr(p, "Apply" + name)(*vs, *[np.float32(h) for h in hyper], p.args[0], *[np.float32(h) for h in after])
        p.ret(*[p.Identity(v, control=[a]) for v in [a] + vs[1:]])
        program("state", "Apply" + name, p, [g], [[1.0, 2.0]])


def random():
    for op, types in [("RandomUniform", [F32, T.float64, T.half, T.bfloat16]), ("RandomStandardNormal", [F32, T.float64, T.half, T.bfloat16]), ("TruncatedNormal", [F32, T.float64, T.half, T.bfloat16])]:
        for d in types:
            p = P(I32)
            a = getattr(p, op)(p.args[0], dtype=d, seed=7, seed2=9)
            b = getattr(p, op)(p.args[0], dtype=d, seed=7, seed2=9)
            c = getattr(p, op)(p.args[0], dtype=d, seed=1 << 40, seed2=-3)
            p.ret(a, b, c)
            program("random", "%s of %s" % (op, d.name), p, [[5]], [[2, 3]], [[0]], [[7]])
    for d in [I32, I64]:
        p = P(I32)
        nt = d.as_numpy_dtype
        p.ret(p.RandomUniformInt(p.args[0], np.array(-5, nt), np.array(1000, nt), seed=3, seed2=4), p.RandomUniformInt(p.args[0], np.array(0, nt), np.array(7, nt), seed=3, seed2=4))
        program("random", "RandomUniformInt of " + d.name, p, [[6]], [[3]])
    for d in [I32, I64]:
        p = P(F32, I32)
        p.ret(p.Multinomial(p.args[0], p.args[1], seed=5, seed2=6, output_dtype=d))
        program("random", "Multinomial of " + d.name, p, [[[0.1, 2.0, -1.0, 0.5]], 9], [[[0.1, float("-inf"), -1.0, 0.5], [3.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0]], 5], [[[1.0, 1.0]], 4])
    for d in [F32, I32, STR]:
        p = P(d)
        p.ret(p.RandomShuffle(p.args[0], seed=5, seed2=6))
        v = [b"a", b"b", b"c", b"d", b"e"] if d == STR else [1, 2, 3, 4, 5]
        program("random", "RandomShuffle of " + d.name, p, [v], [v[:2]], [v[:1]], [v], [[[x, x] for x in v]])
    p = P(I32)  # in a loop, each round goes on
    cond = fn([I32, F32], lambda p, i, x: p.Less(i, 3))
    body = fn([I32, F32], lambda p, i, x: [p.AddV2(i, 1), p.ConcatV2([x, p.RandomUniform([2], dtype=F32, seed=1, seed2=2)], 0)])
    out = p.While([p.args[0], np.zeros(0, np.float32)], cond=cond, body=body, output_shapes=[[], [None]], parallel_iterations=1)
    p.ret(out[1])
    # A second run starts anew there: TensorFlow drops the state of a body that was not inlined.
    program("random", "RandomUniform in a loop", p, [0])


def old_arrays():
    for v, producer in [("", 10), ("V2", 20)]:
        def op(p, name, *a, **kw):
            return getattr(p, "TensorArray" + name + v)(*a, **kw)

        p = P(F32)
        h = op(p, "", 3, dtype=F32, dynamic_size=False, clear_after_read=False, tensor_array_name="x", element_shape=None)
        f = op(p, "Scatter", h, [2, 0, 1], p.args[0], 0.5, T=F32)
        r = op(p, "Read", h, 0, f, dtype=F32)
        g = op(p, "Gather", h, [0, 2], f, dtype=F32, element_shape=None, control=[r])
        s = op(p, "Size", h, f)
        c, l = op(p, "Concat", h, f, dtype=F32, element_shape_except0=None, control=[g])
        gh = op(p, "Grad", h, f, source="g", control=[c])
        gf = p.TensorArrayWriteV2(gh, 1, [7.0, 8.0], f, T=F32) if v else p.TensorArrayWrite(gh, 1, [7.0, 8.0], f, T=F32)
        gf = op(p, "Write", gh, 1, [1.0, 1.0], gf, T=F32)
        gr = op(p, "Read", gh, 1, gf, dtype=F32)
        e = op(p, "Close", h, control=[r, g, s, c, gr])
        p.ret(p.Identity(r, T=F32, control=[e]), g, s, c, l, gr, f)
        old("array", "TensorArray%s" % (v or "V1"), p, [[[1, 2], [3, 4], [5, 6]]], producer=producer)
        p = P(F32, I64)
        h = op(p, "", 0, dtype=F32, dynamic_size=True, clear_after_read=True, tensor_array_name="y", element_shape=None)
        f = op(p, "Split", h, p.args[0], p.args[1], 0.0, T=F32)
        f = op(p, "Write", h, 3, [9.0], f, T=F32)
        a = op(p, "Read", h, 1, f, dtype=F32)
        p.ret(a, op(p, "Size", h, f))
        old("array", "TensorArraySplit%s" % (v or "V1"), p, [[1, 2, 3], [1, 1, 1]], ([[1, 2, 3], [1, 1]], "sum"), producer=producer)
    p = P(F32)
    h = p.TensorArray(2, dtype=F32, dynamic_size=False, clear_after_read=True, tensor_array_name="z", element_shape=None)
    f = p.TensorArrayUnpack(h, p.args[0], 0.0, T=F32)
    p.ret(p.TensorArrayPack(h, f, dtype=F32, element_shape=None))
    old("array", "TensorArrayPack", p, [[[1, 2], [3, 4]]], [[5, 6]], ([[1, 2, 3]], "array size"))
    p = P(F32)
    h = p.Stack(elem_type=F32, stack_name="s")
    a = p.StackPush(h, p.args[0], T=F32, swap_memory=False)
    b = p.StackPush(h, [9.0], T=F32, swap_memory=False, control=[a])
    x = p.StackPop(h, elem_type=F32, control=[b])
    y = p.StackPop(h, elem_type=F32, control=[x])
    c = p.StackClose(h, control=[y])
    p.ret(p.Identity(x, T=F32, control=[c]), y)
    old("array", "StackV1", p, [[1, 2]], [3.0])
    p = P()
    h = p.Stack(elem_type=F32, stack_name="s")
    p.ret(p.StackPop(h, elem_type=F32))
    old("array", "an empty StackV1", p, ([], "empty"))


def temporaries():
    for d in [F32, I32]:
        p = P(d)
        v = p.TemporaryVariable(shape=[2], dtype=d, var_name="t")
        a = p.Assign(v, p.args[0], T=d, validate_shape=True, use_locking=True)
        b = p.AssignAdd(a, p.args[0], T=d, use_locking=False)
        p.ret(p.DestroyTemporaryVariable(b, T=d, var_name="t"))
        old("state", "TemporaryVariable of " + d.name, p, [[1, 2]], [[3, 4]], producer=27)
    p = P()
    v = p.TemporaryVariable(shape=[2], dtype=F32, var_name="t")
    w = p.TemporaryVariable(shape=[2], dtype=F32, var_name="t", control=[v])
    a = p.Assign(w, [1.0, 2.0], T=F32, validate_shape=True, use_locking=True)
    p.ret(p.DestroyTemporaryVariable(a, T=F32, var_name="t"))
    old("state", "a TemporaryVariable twice", p, ([], "TmpVar"), producer=27)


if __name__ == "__main__":
    control()
    lists()
    arrays()
    old_arrays()
    state()
    temporaries()
    random()
    write()

"""Writes the fixtures of the ops that passes make, in fused/: graphs as TensorFlow and its
Keras trace them, none of whose ops is fused, and TensorFlow 2.21's results.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= TF_ENABLE_ONEDNN_OPTS=0 python gen_fused.py

The files are programs as gen_programs.py describes them, with four fields more. "fused" is
the number of runs of each of the passes' ops in a call. The first arguments of the main program are
the variables "vars", which begin with these values; "after" has their values after a
run. "control" lists a body's steps that have to happen.
"""
import json
import os
import zlib

import numpy as np
import tensorflow as tf
import tf_keras as keras
from tensorflow.python.framework import function_def_to_graph, op_def_registry

from recorder import HERE, pack

keras.utils.set_random_seed(20260102)
rng = np.random.default_rng(20260102)
tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
families = {}
F32, F64 = tf.float32, tf.float64


def value(op, a, v, library):
    """An attribute of a node, with the functions that it names."""
    kind = a.type
    if kind == "func":
        library.need(v.func.name)
        return dict(kind="func", value=v.func.name)
    shape = lambda s: None if s.unknown_rank else [d.size for d in s.dim]
    get = {"type": lambda v: tf.as_dtype(v.type).name, "int": lambda v: v.i, "float": lambda v: v.f, "bool": lambda v: v.b, "string": lambda v: v.s.decode(),
           "shape": lambda v: shape(v.shape), "tensor": lambda v: pack(tf.make_ndarray(v.tensor))}
    if kind in get:
        return dict(kind=kind, value=get[kind](v))
    lists = {"type": lambda l: [tf.as_dtype(x).name for x in l.type], "int": lambda l: list(l.i), "float": lambda l: list(l.f), "bool": lambda l: list(l.b),
             "string": lambda l: [x.decode() for x in l.s], "shape": lambda l: [shape(x) for x in l.shape]}
    one = kind[len("list("):-1]
    return dict(kind=one + "s", value=lists[one](v.list))


class Library:
    """The functions that a graph calls, as bodies."""

    def __init__(self, graph):
        self.defs = {f.signature.name: f for f in graph.as_graph_def().library.function}
        self.bodies = {}

    def need(self, name):
        if name in self.bodies:
            return
        self.bodies[name] = None
        g = function_def_to_graph.function_def_to_graph(self.defs[name])
        self.bodies[name] = body(name, g, g.inputs, g.outputs, g.control_outputs, self)


def body(name, graph, inputs, outputs, control, library):
    place = {t.name: [-1, i] for i, t in enumerate(inputs)}
    steps, at = [], {}
    feeds = {t.op for t in inputs}
    for op in graph.get_operations():
        if op in feeds:
            continue
        d = op_def_registry.get(op.type)
        attrs = [dict(name=a.name, **value(op, a, op.node_def.attr[a.name], library)) for a in d.attr if a.name in op.node_def.attr and a.name != "config_proto"]
        s = {"op": op.type, "attrs": attrs, "in": [place[t.name] for t in op.inputs]}
        before = [at[c] for c in op.control_inputs if c in at]
        if before:
            s["control"] = before
        at[op] = len(steps)
        for i, t in enumerate(op.outputs):
            place[t.name] = [len(steps), i]
        steps.append(s)
    b = {"name": name, "args": [t.dtype.name for t in inputs], "steps": steps, "results": [place[t.name] for t in outputs]}
    if control:
        b["control"] = sorted({at[c] for c in control if c in at})
    return b


def program(family, name, fused, fn, dtypes, *runs):
    """fn(*tensors) is traced for arguments of any sizes but the last ones; runs are lists
    of arguments."""
    specs = []
    for i, d in enumerate(dtypes):
        shapes = [np.shape(r[i]) for r in runs]
        specs.append(tf.TensorSpec([n if all(s[k] == n for s in shapes) else None for k, n in enumerate(shapes[0])], d))
    f = tf.function(fn, autograph=False).get_concrete_function(*specs)
    g = f.graph
    held = {id(v.handle): v for v in g.variables}
    taken = [held[id(x)] for x in f.captured_inputs]
    library = Library(g)
    inputs = list(g.internal_captures) + [t for t in g.inputs if not any(t is c for c in g.internal_captures)]
    main = body("main", g, inputs, g.outputs, g.control_outputs, library)
    p = {"name": name, "functions": [library.bodies[k] for k in library.bodies], "main": main, "fused": fused, "vars": [pack(v.read_value()) for v in taken], "runs": []}
    for r in runs:
        args = [tf.constant(x, d) for x, d in zip(r, dtypes)]
        out = f(*args)
        run = {"in": [pack(x) for x in args], "out": [pack(x) for x in tf.nest.flatten(out) if x is not None]}
        if any(s["op"].startswith("Assign") for b in p["functions"] + [main] for s in b["steps"]):
            run["after"] = [pack(v.read_value()) for v in taken]
        p["runs"].append(run)
    families.setdefault(family, []).append(p)


def write():
    os.makedirs(os.path.join(HERE, "fused"), exist_ok=True)
    for family, list_ in families.items():
        with open(os.path.join(HERE, "fused", family + ".json"), "w") as f:
            f.write("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in list_) + "\n]\n")
        print(family, len(list_))


def x(*shape, lo=-2.0, hi=2.0):
    return rng.uniform(lo, hi, shape).astype(np.float32)


def const(*shape, lo=-1.0, hi=1.0, dtype=np.float32):
    v = rng.uniform(lo, hi, shape).astype(dtype)
    return lambda: tf.constant(v)


# --- attention ------------------------------------------------------------------
def attention():
    one = {"_Attention": 1}
    add = lambda name, fn, *runs, fused=one: program("attention", name, fused, fn, [F32] * len(runs[0]), *runs)

    def bert(scale=None, divide=None, masked=False, keys=(0, 2, 1, 3)):
        def fn(q, k, v, *mask):
            q, v = tf.transpose(q, [0, 2, 1, 3]), tf.transpose(v, [0, 2, 1, 3])
            k = tf.transpose(k, keys)
            s = tf.matmul(q, k, transpose_b=keys[3] == 3)
            if scale is not None:
                s = s * scale
            if divide is not None:
                s = s / divide
            if masked:
                s = s + (1.0 - mask[0]) * -10000.0
            return tf.transpose(tf.matmul(tf.nn.softmax(s), v), [0, 2, 1, 3])
        return fn

    heads = lambda b, t, s, h, d, e: [x(b, t, h, d), x(b, s, h, d), x(b, s, h, e)]
    sizes = [(2, 9, 9, 3, 4, 4), (1, 1, 1, 1, 1, 1), (1, 17, 5, 2, 3, 7), (3, 2, 33, 1, 8, 1), (1, 260, 70, 1, 5, 2)]
    many = [heads(*s) for s in sizes]
    add("transposed heads", bert(), *many)
    add("keys transposed otherwise", bert(keys=(0, 2, 3, 1)), *many[:4])
    add("heads with a scale", bert(scale=np.float32(0.37)), *many)
    add("heads divided", bert(divide=np.float32(1.9)), *many)
    padding = lambda b, s, n: (np.arange(s)[None, None, None] < s - np.arange(b)[:, None, None, None] - n).astype(np.float32)
    add("heads with a padding mask", bert(divide=np.float32(1.9), masked=True), *[a + [padding(a[1].shape[0], a[1].shape[1], 1)] for a in many[:1] + many[2:4]])
    add("heads that see what is before them", bert(scale=np.float32(0.5), masked=True), *[a + [np.tril(np.ones((1, 1, n, n), np.float32))] for n in (1, 6, 37) for a in [heads(2, n, n, 2, 3, 3)]])
    add("a mask for each head", bert(masked=True), *[heads(2, 5, 7, 3, 2, 2) + [rng.integers(0, 2, (2, 3, 5, 7)).astype(np.float32)]])
    # Nothing is left for some queries; numbers that are none.
    infinite = np.zeros((1, 2, 4, 6), np.float32)
    infinite[0, 0, 1], infinite[0, 1, 2, 3:], infinite[0, 0, 3, 0] = -np.inf, -np.inf, np.nan

    def added(q, k, v, mask):
        s = tf.matmul(tf.transpose(q, [0, 2, 1, 3]), tf.transpose(k, [0, 2, 1, 3]), transpose_b=True)
        return tf.transpose(tf.matmul(tf.nn.softmax(mask + s), tf.transpose(v, [0, 2, 1, 3])), [0, 2, 1, 3])

    odd = heads(1, 4, 6, 2, 3, 3)
    far = [a.copy() for a in odd]
    far[0][0, 0, 0, 0], far[1][0, 2, 1, 1], far[2][0, 3, 0, 2] = np.inf, np.nan, -np.inf
    far[0][0, 1] *= 1e4
    add("masks without an end", added, odd + [infinite], far + [np.zeros_like(infinite)])
    # One head.
    for adj in [False, True]:
        add("one head%s" % (", keys transposed" if adj else ""), lambda q, k, v: tf.matmul(tf.nn.softmax(tf.matmul(q, k, transpose_b=not adj)), v),
            *[[x(b, t, d), x(b, d, s) if adj else x(b, s, d), x(b, s, e)] for b, t, s, d, e in [(2, 3, 5, 4, 6), (1, 1, 1, 1, 1), (5, 31, 17, 3, 9)]])
    add("queries transposed", lambda q, k, v: tf.matmul(tf.nn.softmax(tf.matmul(q, k, transpose_a=True, transpose_b=True)), v), [x(2, 4, 7), x(2, 5, 4), x(2, 5, 3)])
    # Keras' layers.
    layer = keras.layers.Attention(use_scale=False)
    add("keras Attention", lambda q, v: layer([q, v]), [x(2, 5, 4), x(2, 7, 4)], [x(1, 33, 4), x(1, 3, 4)])
    layer2 = keras.layers.Attention(use_scale=True, score_mode="dot")
    layer2([x(2, 5, 4), x(2, 7, 4)])
    layer2.set_weights([np.float32(0.7)])
    add("keras Attention with a scale", lambda q, v: layer2([q, v]), [x(2, 5, 4), x(2, 7, 4)])
    for h, d, e, mask in [(2, 3, None, 0), (3, 4, 2, 1), (1, 5, 5, 2)]:
        mha = keras.layers.MultiHeadAttention(h, d, value_dim=e)
        mha(x(1, 2, 6), x(1, 3, 6))
        mha.set_weights([rng.uniform(-1, 1, w.shape).astype(np.float32) for w in mha.get_weights()])
        if mask == 0:
            add("keras MultiHeadAttention", lambda q, v: mha(q, v), *[[x(b, t, 6), x(b, s, 6)] for b, t, s in [(2, 5, 5), (1, 1, 3), (3, 40, 2)]])
        else:
            def masked(q, v, m):
                return mha(q, v, attention_mask=m > 0.5, use_causal_mask=mask == 2)
            add("keras MultiHeadAttention with a mask" + (" and no look ahead" if mask == 2 else ""), masked, *[[x(b, t, 6), x(b, s, 6), rng.integers(0, 2, (b, t, s)).astype(np.float32)] for b, t, s in [(2, 5, 5), (3, 4, 6)]])


# --- gelu and layer normalization -----------------------------------------------
ODD = np.float32([0, -0.0, 1, -1, 5, -5, 12, -12, 1e-30, -1e-30, 1e-3, 1e30, -1e30, np.inf, -np.inf, np.nan, 0.5, -0.75, 3.3, -3.3, 9.9])


def gelus():
    forms = [
        ("tf.nn.gelu", lambda v: tf.nn.gelu(v, approximate=False)),
        ("tf.nn.gelu by tanh", lambda v: tf.nn.gelu(v, approximate=True)),
        ("a cdf", lambda v: v * (0.5 * (1.0 + tf.math.erf(v / tf.sqrt(2.0))))),
        ("erfc", lambda v: 0.5 * v * tf.math.erfc(-v * np.float32(np.sqrt(0.5)))),
        ("pow", lambda v: v * 0.5 * (1.0 + tf.tanh(np.float32(np.sqrt(2 / np.pi)) * (v + 0.044715 * tf.pow(v, 3))))),
        ("products", lambda v: 0.5 * v * (1.0 + tf.tanh(0.7978845608 * (v + 0.044715 * v * v * v)))),
    ]
    for name, fn in forms:
        program("gelu", name, {"_Gelu": 1}, lambda v: fn(v), [F32], [x(3, 7, lo=-4, hi=4)], [x(1, 1)], [np.linspace(-7, 7, 1025).astype(np.float32).reshape(1, -1)], [ODD.reshape(3, 7)])


def norms():
    add = lambda name, fn, *runs, fused=None: program("layernorm", name, fused or {"_LayerNorm": 1}, fn, [F32] * len(runs[0]), *runs)
    for width in [1, 3, 8, 17, 130]:
        for center, scale in [(True, True), (False, True), (True, False), (False, False)]:
            if width != 17 and not (center and scale):
                continue
            layer = keras.layers.LayerNormalization(epsilon=1e-3 if width != 8 else 1e-12, center=center, scale=scale)
            layer(x(1, 1, width))
            layer.set_weights([rng.uniform(0.5, 2, w.shape).astype(np.float32) for w in layer.get_weights()])
            add("keras of %d%s%s" % (width, "" if center else ", no offset", "" if scale else ", no scale"), lambda v: layer(v), [x(2, 5, width)], [x(1, 1, width)], [x(3, 33, width) + 100])
    g, b = const(9, lo=0.5, hi=2), const(9)

    def moments(v):
        m, s = tf.nn.moments(v, [-1], keepdims=True)
        return tf.nn.batch_normalization(v, m, s, b(), g(), 1e-6)

    def written(v):
        m = tf.reduce_mean(v, -1, keepdims=True)
        s = tf.reduce_mean(tf.square(v - m), -1, keepdims=True)
        return g() * ((v - m) / tf.sqrt(s + 1e-5)) + b()

    def plain(v):
        m = tf.reduce_mean(v, -1, keepdims=True)
        s = tf.reduce_mean(tf.math.squared_difference(v, m), -1, keepdims=True)
        return (v - m) * tf.math.rsqrt(s + 1e-5)

    odd = x(6, 9)
    odd[0, 3], odd[1, 2], odd[2, 4], odd[3] = np.nan, np.inf, -np.inf, 2.5
    odd[4] *= 1e15
    odd[5] += 4096
    for name, fn in [("moments", moments), ("written out", written), ("without factors", plain)]:
        add(name, fn, [x(5, 9)], [x(2, 9)], [x(70, 9)], [odd])
        add(name + ", four dimensions", fn, [x(2, 3, 2, 9)], [x(1, 2, 1, 9)])


# --- rows -----------------------------------------------------------------------
def rows():
    def dense(m, n, activation=None):
        w, b = const(m, n, lo=-0.4, hi=0.4), const(n)
        return lambda v: (activation or (lambda y: y))(tf.nn.bias_add(tf.matmul(v, w()), b()))

    def norm(n):
        g, b = const(n, lo=0.5, hi=2), const(n)

        def fn(v):
            m, s = tf.nn.moments(v, [-1], keepdims=True)
            return tf.nn.batch_normalization(v, m, s, b(), g(), 1e-6)
        return fn

    one, two, three, ln, ln2 = dense(20, 33, tf.nn.gelu), dense(33, 20), dense(20, 17, tf.nn.relu), norm(20), norm(20)
    sizes = [[x(n, 20)] for n in (32, 33, 70, 257)]
    program("rows", "a transformer's second half", {"_Rows": 1}, lambda v: ln2(ln(v) + two(one(ln(v)))), [F32], *sizes)
    program("rows", "two heads", {"_Rows": 1}, lambda v: [three(ln(v)), two(one(ln(v)))], [F32], *sizes)
    program("rows", "activations", {"_Rows": 1}, lambda v: dense(24, 16, tf.nn.sigmoid)(dense(16, 24, tf.nn.tanh)(dense(21, 16, tf.nn.elu)(dense(20, 21, lambda y: tf.nn.leaky_relu(y, 0.3))(v)))), [F32], *sizes)
    program("rows", "what others see", {"_Rows": 1}, lambda v: [tf.exp(three(v)), tf.reduce_max(three(v), 0), dense(17, 18, tf.nn.swish)(three(v))], [F32], *sizes)
    a, c = keras.layers.Dense(24, "relu"), keras.layers.Dense(16)
    k = keras.layers.LayerNormalization()
    c(k(a(x(2, 40, 20))))
    program("rows", "keras' layers", {"_Rows": 1}, lambda v: c(k(a(v))), [F32], *[[x(b, 40, 20)] for b in (1, 2, 5)])


# --- recurrences ----------------------------------------------------------------
def recurrences():
    def add(family, name, layer, *shapes, state=0, raised=1):
        layer.build((None, None, shapes[0][-1])) if not layer.built else None
        layer.set_weights([rng.uniform(-0.8, 0.8, w.shape).astype(np.float32) for w in layer.get_weights()])
        op = {"lstm": "_LSTM", "gru": "_GRU"}[family]
        cell = getattr(layer, "cell", layer)
        units = layer.units if hasattr(layer, "units") else layer.cell.units
        if state:
            program(family, name, {op: raised}, lambda v, *s: layer(v, initial_state=list(s)), [F32] * (1 + state), *[[x(*s)] + [x(s[0], units) for _ in range(state)] for s in shapes])
        else:
            program(family, name, {op: raised}, lambda v: layer(v), [F32], *[[x(*s)] for s in shapes])

    sizes = [(2, 7, 3), (1, 1, 3), (1, 40, 3), (9, 5, 3), (33, 3, 3)]
    for family, kind, n in [("lstm", keras.layers.LSTM, 2), ("gru", keras.layers.GRU, 1)]:
        for units in [1, 5, 16, 33]:
            add(family, "%d units" % units, kind(units), *sizes)
        add(family, "all states", kind(6, return_sequences=True), *sizes)
        add(family, "all states and the last", kind(6, return_sequences=True, return_state=True), *sizes)
        add(family, "backwards", kind(6, return_sequences=True, go_backwards=True), *sizes)
        add(family, "unrolled by time", kind(6, return_sequences=True, time_major=True), (7, 2, 3), (1, 1, 3), (5, 9, 3))
        add(family, "from a state", kind(6, return_sequences=True, return_state=True), *sizes, state=n)
        add(family, "without biases", kind(6, use_bias=False), *sizes, raised=0)
    # Two layers, both ways.
    for family, kind, op in [("lstm", keras.layers.LSTM, "_LSTM"), ("gru", keras.layers.GRU, "_GRU")]:
        both = keras.layers.Bidirectional(kind(4, return_sequences=True))
        last = kind(3)
        last(both(x(2, 4, 3)))
        program(family, "two layers, both ways", {op: 3}, lambda v: last(both(v)), [F32], *[[x(*s)] for s in sizes])
    saturated = keras.layers.LSTM(4, return_sequences=True)
    saturated.build((None, None, 3))
    program("lstm", "large numbers", {"_LSTM": 1}, lambda v: saturated(v), [F32], [x(2, 5, 3) * 100], [np.float32([[[1, np.inf, 2], [1, 1, 1]], [[0, 0, 0], [np.nan, 0, 0]], [[-1e30, 1, 1], [1, 1, 1]]])])


# --- updates --------------------------------------------------------------------
def updates():
    shapes = [(5,), (3, 7), (33,), (1,)]
    kinds = [("SGD", 0, lambda: keras.optimizers.SGD(0.1, jit_compile=False)), ("momentum", 0, lambda: keras.optimizers.SGD(0.1, momentum=0.9, jit_compile=False)),
             ("Nesterov", 1, lambda: keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True, jit_compile=False)), ("Adam", 1, lambda: keras.optimizers.Adam(0.01, jit_compile=False)),
             ("Adam, amsgrad", 1, lambda: keras.optimizers.Adam(0.01, amsgrad=True, jit_compile=False)), ("AdamW", 1, lambda: keras.optimizers.AdamW(0.01, jit_compile=False)),
             ("RMSprop", 1, lambda: keras.optimizers.RMSprop(0.01, momentum=0.5, centered=True, jit_compile=False)), ("Adagrad", 1, lambda: keras.optimizers.Adagrad(0.1, jit_compile=False)),
             ("Adamax", 1, lambda: keras.optimizers.Adamax(0.01, jit_compile=False)), ("Adadelta", 1, lambda: keras.optimizers.Adadelta(0.5, jit_compile=False)), ("Nadam", 1, lambda: keras.optimizers.Nadam(0.01, jit_compile=False)),
             ("Lion", 1, lambda: keras.optimizers.Lion(0.01, jit_compile=False)), ("Ftrl", 1, lambda: keras.optimizers.Ftrl(0.01, jit_compile=False))]
    for d in [F32, F64]:
        for name, fuses, make in kinds:
            variables = [tf.Variable(rng.uniform(-1, 1, s), dtype=d) for s in shapes]
            opt = make()
            opt.build(variables)

            def step(*grads):
                opt.apply_gradients(zip(grads, variables))

            runs = [[rng.uniform(-1, 1, s) for s in shapes] for _ in range(3)]
            program("updates", "%s of %s" % (name, d.name), {"_UpdateVariables": -fuses}, step, [d] * len(shapes), *runs)
        v, e = tf.Variable(rng.uniform(-1, 1, (2050,)), dtype=d), tf.Variable(np.zeros(2050), dtype=d)

        def averaged(g):
            v.assign_sub(0.25 * g)
            e.assign_sub((e - v) * 0.1)
            return v - e

        program("updates", "a moving average of %s" % d.name, {"_UpdateVariables": -1}, averaged, [d], *[[rng.uniform(-1, 1, 2050)] for _ in range(2)])


# --- elementwise ops ------------------------------------------------------------
def chains():
    def long(a, b, c):
        y = tf.sigmoid(a * b + c) - tf.square(a)
        y = tf.maximum(y, tf.tanh(b)) / (1.5 + tf.abs(c))
        return tf.exp(-y) + tf.minimum(a, 0.25)

    def other(a, b, c):
        y = tf.sqrt(tf.abs(a)) + tf.math.rsqrt(tf.abs(b) + 0.1) * tf.math.squared_difference(a, c)
        return tf.nn.relu(tf.math.log1p(tf.abs(y)) - tf.math.expm1(-tf.abs(b))) + tf.math.softplus(c) * tf.math.reciprocal(2 + tf.abs(a))

    def third(a, b, c):
        return tf.nn.elu(tf.math.floor(a * 3) - tf.math.ceil(b * 2)) + tf.math.sign(c) * tf.nn.relu6(a * 9) + tf.nn.leaky_relu(b * c, 0.1) - tf.math.erf(a)

    for d in [F32, F64]:
        t = d.as_numpy_dtype
        r = lambda *s: rng.uniform(-2, 2, s).astype(t)
        odd = np.array([0, -0.0, 1, np.nan, np.inf, -np.inf, 1e-30, -1e30, 0.5, -2, 3], t)
        for name, fn in [("gates", long), ("roots", other), ("steps", third)]:
            runs = [[r(n, m), r(n, m), r(n, m)] for n, m in [(1, 1), (3, 5), (2, 33), (65, 67)]] + [[odd[:, None] + np.zeros((1, 11), t), odd[None] + np.zeros((11, 1), t), r(11, 11)]]
            program("chains", "%s of %s" % (name, d.name), {"_Elementwise": -1}, fn, [d] * 3, *runs)
            program("chains", "%s of %s, stretched" % (name, d.name), {"_Elementwise": -1}, lambda a, b, c: fn(a, b, c), [d] * 3, [r(4, 3, 5), r(5), r(3, 1)], [r(1, 3, 5), r(1), r(3, 1)], [r(0, 3, 5), r(5), r(3, 1)])


# --- ops after products and convolutions -------------------------------------
ACTS = [("nothing", lambda y: y), ("Relu", tf.nn.relu), ("Relu6", tf.nn.relu6), ("Elu", tf.nn.elu), ("LeakyRelu", lambda y: tf.nn.leaky_relu(y, 0.3)), ("Sigmoid", tf.sigmoid), ("Tanh", tf.tanh), ("swish", lambda y: y * tf.sigmoid(y))]


def epilogues():
    for name, act in ACTS + [("gelu", tf.nn.gelu), ("gelu by tanh", lambda y: tf.nn.gelu(y, approximate=True))]:
        w, b = const(6, 19), const(19)
        program("matmul", "bias, " + name, {"_FusedMatMul": 1}, lambda v: act(tf.nn.bias_add(tf.matmul(v, w()), b())), [F32], [x(5, 6)], [x(1, 6)], [x(67, 6)])
    w, b = const(19, 6), const(19)
    program("matmul", "transposed weights and a summand", {"_FusedMatMul": 1}, lambda v, y: tf.nn.relu(tf.matmul(v, w(), transpose_b=True) + b() + y), [F32, F32], [x(5, 6), x(5, 19)], [x(1, 6), x(1, 19)])
    program("matmul", "no weights", {"_FusedMatMul": 1}, lambda v, u, y: tf.tanh(tf.nn.bias_add(tf.matmul(v, u, transpose_a=True), y)), [F32] * 3, [x(6, 5), x(6, 9), x(9)], [x(1, 1), x(1, 1), x(1)], [x(70, 33), x(70, 40), x(40)])
    program("matmul", "nothing to sum", {"_FusedMatMul": 1}, lambda v, u, y: tf.nn.relu(tf.matmul(v, u) + y), [F32] * 3, [x(3, 0), x(0, 4), x(4)], [x(0, 2), x(2, 4), x(4)])
    d = keras.layers.Dense(7, "relu")
    d(x(2, 3, 6))
    program("matmul", "keras Dense of three dimensions", {"_FusedMatMul": 1}, lambda v: d(v), [F32], [x(2, 3, 6)], [x(1, 1, 6)], [x(4, 5, 6)])

    for i, (name, act) in enumerate(ACTS):
        w, b = const(3, 2, 4, 9), const(9)
        pad = ["SAME", "VALID"][i % 2]
        program("conv", "bias, " + name, {"_FusedConv2D": 1}, lambda v: act(tf.nn.bias_add(tf.nn.conv2d(v, w(), [1, 1 + i % 3, 1 + i % 2, 1], pad), b())), [F32], [x(2, 7, 6, 4)], [x(1, 3, 2, 4)], [x(1, 33, 19, 4)])
    for name, shape, kw in [("dilated", (3, 3, 4, 5), dict(strides=1, padding="SAME", dilations=2)), ("explicit padding", (3, 3, 4, 5), dict(strides=2, padding=[[0, 0], [1, 2], [0, 3], [0, 0]])),
                            ("groups", (3, 3, 2, 6), dict(strides=1, padding="SAME")), ("one by one", (1, 1, 4, 17), dict(strides=1, padding="VALID")), ("one by one, strides", (1, 1, 4, 17), dict(strides=2, padding="SAME")),
                            ("wide", (5, 1, 4, 3), dict(strides=1, padding="SAME"))]:
        w, b = const(*shape), const(shape[3])
        program("conv", name, {"_FusedConv2D": 1}, lambda v: tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(v, w(), **kw), b())), [F32], [x(2, 7, 6, 4)], [x(1, 5, 5, 4)], [x(1, 33, 19, 4)])
    w, b = const(3, 3, 4, 4), const(4)
    program("conv", "a summand", {"_FusedConv2D": 1}, lambda v: tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(v, w(), 1, "SAME"), b()) + v), [F32], [x(2, 7, 6, 4)], [x(1, 1, 1, 4)])
    for scale in [True, False]:
        conv, norm = keras.layers.Conv2D(5, 3, padding="same", use_bias=scale), keras.layers.BatchNormalization(scale=scale)
        norm(conv(x(2, 7, 6, 4)))
        norm.set_weights([rng.uniform(0.5, 2, v.shape).astype(np.float32) for v in norm.get_weights()])
        program("conv", "keras' layers and a batch norm" + ("" if scale else ", no scale"), {"_FusedConv2D": 1}, lambda v: tf.nn.relu6(norm(conv(v), training=False)), [F32], [x(2, 7, 6, 4)], [x(1, 2, 9, 4)])
    for i, (name, act) in enumerate(ACTS):
        m = 1 + i % 3
        w, b = const(3, 3, 5, m), const(5 * m)
        s = 1 + i % 2
        program("depthwise", "bias, " + name, {"_FusedDepthwiseConv2dNative": 1}, lambda v: act(tf.nn.bias_add(tf.nn.depthwise_conv2d(v, w(), [1, s, s, 1], ["SAME", "VALID"][i % 2]), b())), [F32], [x(2, 7, 6, 5)], [x(1, 3, 3, 5)], [x(1, 19, 33, 5)])


if __name__ == "__main__":
    attention()
    gelus()
    norms()
    rows()
    recurrences()
    updates()
    chains()
    epilogues()
    write()

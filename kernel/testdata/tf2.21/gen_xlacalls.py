"""Writes the fixtures of XLA's ops that call functions: programs/xlacalls.json.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_xlacalls.py

XLA compiles an op's function with the shapes of scalars. Each graph runs as a compiled
function.
"""
import re

import gen_programs
from gen_programs import *  # noqa: F403

from tensorflow.compiler.tf2xla.ops import gen_xla_ops as xla

for op in ["XlaReduce", "XlaVariadicReduce", "XlaVariadicReduceV2", "XlaReduceWindow", "XlaSelectAndScatter", "XlaScatter", "XlaVariadicSort", "XlaWhile"]:
    setattr(tf.raw_ops, op, getattr(xla, re.sub("(?<!^)([A-Z])", r"_\1", op).lower()))
plain = gen_programs.attr
gen_programs.attr = lambda op, k, v: {"name": k, "kind": "bytes", "value": base64.b64encode(v).decode()} if isinstance(v, bytes) else plain(op, k, v)
F64 = tf.float64
rng = np.random.RandomState(3)
X = rng.randint(-20, 20, [3, 4]) / 4
add = lambda d: scalar([d, d], lambda p, a, b: p.AddV2(a, b))
largest = lambda d: scalar([d, d], lambda p, a, b: p.Maximum(a, b))
far = lambda d: scalar([d, d], lambda p, a, b: p.Mul(p.AddV2(a, b), p.const(2, d)))


def message(**lists):
    """The bytes of a message whose fields are integers or lists of them, by number."""
    out = b""
    for name, v in lists.items():
        for x in v if isinstance(v, list) else [v]:
            out += bytes([int(name[1:]) << 3, x])
    return out


class Scalar(P):
    def concrete(self):
        f = tf.function(lambda *args: self.emit(list(args)), input_signature=[tf.TensorSpec([], d) for d in self.dtypes], autograph=False)
        f.__name__ = self.name
        return f.get_concrete_function()


def scalar(dtypes, build):
    p = Scalar(*dtypes)
    r = build(p, *p.args)
    return p.ret(*(r if isinstance(r, list) else [r]))


def compiled(name, p, *runs, jit=True):
    p.name = name
    f = tf.function(lambda *args: p.emit(list(args)), jit_compile=jit, autograph=False)
    out = []
    for r in runs:
        vals = [np.array(v, dtype=tf.as_dtype(d).as_numpy_dtype) for v, d in zip(r, p.dtypes)]
        got = f(*[tf.constant(v) for v in vals])
        out.append({"in": [pack(v) for v in vals], "out": [pack(v) for v in got]})
    record("xlacalls", name, p, out)


for d in [F32, F64, I32]:
    for what, f, start in [("sums", add(d), 0), ("maxima", largest(d), -9), ("nested", far(d), 1)]:
        for over in [[0], [1], [0, 1], []]:
            if what == "nested" and len(over) == 2:
                continue  # XLA chooses the order
            p = P(d)
            p.ret(p.XlaReduce(p.args[0], p.const(start, d), reducer=f, dimensions_to_reduce=over))
            compiled("XlaReduce %s of %s over %s" % (what, d.name, over), p, [X])
p = P(F32, I32)
arg = scalar([F32, I32, F32, I32], lambda p, a, i, b, k: [p.SelectV2(p.GreaterEqual(a, b), a, b), p.SelectV2(p.GreaterEqual(a, b), i, k)])
p.ret(*p.XlaVariadicReduceV2([p.args[0], p.args[1]], [p.const(-100.0, F32), p.const(0, I32)], dimensions_to_reduce=[1], reducer=arg))
Y = rng.permutation(12).reshape(3, 4)
compiled("XlaVariadicReduceV2", p, [Y, np.arange(12).reshape(3, 4)])
p = P(F32, F32)
two = scalar([F32] * 4, lambda p, a, b, x, y: [p.AddV2(a, x), p.Maximum(b, y)])
p.ret(*p.XlaVariadicReduce([p.args[0], p.args[1]], [p.const(0.0), p.const(-9.0)], dimensions_to_reduce=[0], reducer=two))
compiled("XlaVariadicReduce", p, [X, X])

W = rng.randint(-9, 9, [5, 6])
for name, size, stride, base, dilation, padding in [
        ("plain", [2, 2], [1, 1], [1, 1], [1, 1], [[0, 0], [0, 0]]), ("strides", [2, 3], [2, 3], [1, 1], [1, 1], [[1, 0], [2, 1]]),
        ("dilations", [2, 2], [1, 2], [2, 1], [1, 3], [[0, 1], [1, 1]])]:
    for d in [F32, I32]:
        for what, f, start in [("sums", add(d), 0), ("maxima", largest(d), -100)]:
            p = P(d)
            p.ret(p.XlaReduceWindow(p.args[0], p.const(start, d), np.int32(size), np.int32(stride), np.int32(base), np.int32(dilation), np.int32(padding), computation=f))
            compiled("XlaReduceWindow %s %s of %s" % (name, what, d.name), p, [W])
more = scalar([F32, F32], lambda p, a, b: p.GreaterEqual(a, b))
for name, size, stride, padding, source in [("apart", [2, 3], [2, 3], [[0, 0], [0, 0]], [2, 2]), ("overlapping", [3, 2], [1, 2], [[1, 0], [0, 1]], [4, 3])]:
    p = P(F32, F32)
    p.ret(p.XlaSelectAndScatter(p.args[0], np.int32(size), np.int32(stride), np.int32(padding), p.args[1], p.const(0.5), select=more, scatter=add(F32)))
    compiled("XlaSelectAndScatter " + name, p, [rng.permutation(30).reshape(5, 6), 1 + np.arange(np.prod(source)).reshape(source)])

for name, at, updates, numbers in [
        ("rows", [[1], [7], [1]], [3, 4], dict(f1=1, f2=0, f3=0, f4=1)), ("elements", [[0, 1], [2, 3], [-1, 0], [0, 1]], [4], dict(f2=[0, 1], f3=[0, 1], f4=1)),
        ("blocks", [[0, 1], [1, 2]], [2, 2, 2], dict(f1=[1, 2], f3=[0, 1], f4=1)), ("numbers", [2, 0], [2, 4], dict(f1=1, f2=0, f3=0, f4=1))]:
    for d in [F32, I32]:
        p = P(d, d)
        p.ret(p.XlaScatter(p.args[0], np.int32(at), p.args[1], update_computation=add(d), dimension_numbers=message(**numbers), indices_are_sorted=False))
        compiled("XlaScatter %s of %s" % (name, d.name), p, [X * 4, 1 + np.arange(np.prod(updates)).reshape(updates)])

for axis in [0, 1, -1]:
    p = P(F32, I32)
    falling = scalar([F32, F32, I32, I32], lambda p, a, b, i, k: p.Greater(a, b))
    p.ret(*p.XlaVariadicSort([p.args[0], p.args[1]], np.int32(axis), comparator=falling, is_stable=True))
    compiled("XlaVariadicSort along %d" % axis, p, [np.round(X), np.arange(12).reshape(3, 4)])



class Shaped(P):
    def __init__(self, *specs):
        super().__init__(*[d for _, d in specs])
        self.specs = specs

    def concrete(self):
        f = tf.function(lambda *args: self.emit(list(args)), input_signature=[tf.TensorSpec(s, d) for s, d in self.specs], autograph=False)
        f.__name__ = self.name
        return f.get_concrete_function()


def shaped(specs, build):
    p = Shaped(*specs)
    r = build(p, *p.args)
    return p.ret(*(r if isinstance(r, list) else [r]))


for d in [F32, F64, I32]:
    specs = [([], I32), ([3], d)]
    cond = shaped(specs, lambda p, i, v: p.Less(i, p.const(5, I32)))
    body = shaped(specs, lambda p, i, v: [p.AddV2(i, p.const(1, I32)), p.Mul(v, p.const(2, d))])
    p = P(I32, d)
    p.ret(*p.XlaWhile([p.args[0], p.args[1]], cond=cond, body=body))
    compiled("XlaWhile of %s" % d.name, p, [0, [1, 2, 3]], [9, [1, 2, 3]], [4, [0, -1, 5]])
# The condition looks at a tensor, the body swaps two.
specs = [([2, 2], F32), ([2, 2], F32)]
cond = shaped(specs, lambda p, a, b: p.Less(p.Reshape(p.Slice(a, p.const([0, 0], I32), p.const([1, 1], I32)), np.int32([])), p.const(100.0)))
body = shaped(specs, lambda p, a, b: [p.AddV2(b, p.const(1.5)), p.AddV2(a, b)])
p = P(F32, F32)
p.ret(*p.XlaWhile([p.args[0], p.args[1]], cond=cond, body=body))
compiled("XlaWhile of matrices", p, [np.eye(2), np.ones([2, 2])], [np.full([2, 2], 50), np.ones([2, 2])])

families_only = {"xlacalls": gen_programs.families["xlacalls"]}
gen_programs.families.clear()
gen_programs.families.update(families_only)
gen_programs.write()

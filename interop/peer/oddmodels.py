"""Writes SavedModels of many odd forms with TensorFlow: python oddmodels.py DIRECTORY [NAME…]

DIRECTORY/odd/NAME gets the model that the function NAME below builds. Without names, all are written.
"""
import collections
import os
import shutil
import sys
import types

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

tf.get_logger().setLevel("ERROR")

S = tf.TensorSpec
MODELS = {}


def model(f):
    """Registers a builder. It returns a root, or a root and further arguments of save()."""
    MODELS[f.__name__] = f
    return f


class M(tf.Module):
    pass


@model
def sparse_out():
    m = M()
    m.w = tf.Variable([[1.0, 0, 2], [0, 3, 0]])

    @tf.function(input_signature=[S([2, 3], tf.float32, "x")])
    def serve(x):
        return {"s": tf.sparse.from_dense(x * m.w), "d": x + m.w}
    m.serve = serve
    return m, dict(signatures=m.serve)


@model
def sparse_in():
    m = M()
    m.w = tf.Variable(tf.reshape(tf.range(6.0), [3, 2]))

    @tf.function(input_signature=[tf.SparseTensorSpec([None, 3], tf.float32)])
    def f(s):
        return tf.sparse.sparse_dense_matmul(s, m.w)

    @tf.function(input_signature=[tf.SparseTensorSpec([None, 3], tf.float32)])
    def g(s):
        return tf.sparse.reorder(s), tf.sparse.reduce_sum(s)
    m.f, m.g = f, g
    return m, dict(signatures={"f": m.f, "g": m.g})


@model
def ragged_out():
    m = M()

    @tf.function(input_signature=[S([None], tf.string, "text")])
    def words(text):
        return {"words": tf.strings.split(text), "chars": tf.strings.unicode_split(tf.strings.split(text), "UTF-8")}
    m.words = words
    return m, dict(signatures=m.words)


@model
def ragged_in():
    m = M()
    m.b = tf.Variable(2.0)

    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.float32)])
    def f(r):
        return r * m.b

    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None, 2], tf.float32, ragged_rank=1), S([], tf.float32)])
    def g(r, k):
        return {"sum": tf.reduce_sum(r * k, axis=1), "r": r + k, "lens": r.row_lengths()}
    m.f, m.g = f, g
    return m, dict(signatures={"f": m.f, "g": m.g})


@model
def composites_nested():
    m = M()

    @tf.function
    def f(pair, scale=2.0):
        a, b = pair["a"], pair["b"]
        return [a * scale, (tf.sparse.to_dense(b), b), {"z": a.to_tensor(), "n": None}]
    f.get_concrete_function({"a": tf.RaggedTensorSpec([None, None], tf.float32), "b": tf.SparseTensorSpec([2, 2], tf.int64)})
    f.get_concrete_function({"a": tf.RaggedTensorSpec([None, None], tf.float32), "b": tf.SparseTensorSpec([2, 2], tf.int64)}, scale=3.0)
    m.f = f
    return m


@model
def indexed_slices():
    m = M()
    m.table = tf.Variable(tf.reshape(tf.range(12.0), [6, 2]))

    @tf.function(input_signature=[S([None], tf.int32, "i")])
    def grad(i):
        with tf.GradientTape() as t:
            y = tf.reduce_sum(tf.gather(m.table, i) ** 2)
        return t.gradient(y, m.table)

    @tf.function(input_signature=[tf.IndexedSlicesSpec([6, 2], tf.float32)])
    def dense(s):
        return tf.math.unsorted_segment_sum(s.values, s.indices, 6)
    m.grad, m.dense = grad, dense
    return m, dict(signatures={"grad": m.grad})


@model
def signature_of_sparse_variants():
    m = M()

    @tf.function(input_signature=[S([None, None], tf.int64, "x")])
    def serve(x):
        s = tf.sparse.from_dense(x)
        return s, tf.RaggedTensor.from_tensor(x), x

    @tf.function(input_signature=[S([None, None], tf.int64, "x")])
    def only(x):
        return tf.sparse.from_dense(x)
    m.serve = serve
    m.only = only
    return m, dict(signatures={"serving_default": m.serve, "only": m.only})


@model
def nested_modules():
    class D(tf.Module):
        def __init__(self, n, k, name=None):
            super().__init__(name=name)
            self.w = tf.Variable(tf.reshape(tf.range(float(n * k)), [n, k]) / 10, name="w")
            self.b = tf.Variable(tf.zeros([k]), name="b", trainable=False)

        @tf.function(input_signature=[S([None, None], tf.float32)])
        def __call__(self, x):
            return tf.nn.relu(tf.matmul(x, self.w) + self.b)

    class Net(tf.Module):
        def __init__(self):
            super().__init__("net")
            self.layers = [D(3, 4), D(4, 5), (D(5, 2, "last"), {"extra": tf.Variable(1.0)})]
            self.by_name = {"first": self.layers[0], "n/m": self.layers[1]}

        @tf.function
        def __call__(self, x, training=False):
            for layer in [self.layers[0], self.layers[1], self.layers[2][0]]:
                x = layer(x)
            if training:
                x = x * self.layers[2][1]["extra"]
            return x
    net = Net()
    net(tf.zeros([1, 3]))
    net(tf.zeros([1, 3]), training=True)
    net.__call__.get_concrete_function(S([None, 3], tf.float32), training=True)
    return net


@model
def lookup_tables():
    m = M()
    vocab = os.path.join(WORK, "vocab.txt")
    open(vocab, "w").write("a\nb\nthe cat\n")
    kv = lambda: tf.lookup.KeyValueTensorInitializer(tf.constant(["a", "b"]), tf.constant([1, 2], tf.int64))
    m.static = tf.lookup.StaticHashTable(kv(), -1)
    m.file = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(vocab, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER), 9)
    m.vocab = tf.lookup.StaticVocabularyTable(tf.lookup.TextFileInitializer(vocab, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER), 3)
    m.mutable = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -5)
    m.mutable.insert(["7", "a"], [70, 11])
    m.dense = tf.lookup.experimental.DenseHashTable(tf.int64, tf.float32, 0.5, -1, -2)
    m.dense.insert(tf.constant([1, 2], tf.int64), [0.1, 0.2])
    m.vec = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, [0.0, 1.0])
    m.vec.insert(tf.constant([0, 2], tf.int64), [[5.0, 6.0], [7.0, 8.0]])
    m.same_file = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(vocab, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE), "?")

    @tf.function(input_signature=[S([None], tf.string, "w"), S([None], tf.int64, "n")])
    def find(w, n):
        return {"s": m.static.lookup(w), "f": m.file.lookup(w), "v": m.vocab.lookup(w), "m": m.mutable.lookup(w), "d": m.dense.lookup(n),
                "vec": m.vec.lookup(n), "i": m.same_file.lookup(n), "size": m.mutable.size()}

    @tf.function(input_signature=[S([None], tf.string, "w"), S([None], tf.int64, "v")])
    def put(w, v):
        m.mutable.insert(w, v)
        return m.mutable.size()
    m.find, m.put = find, put
    return m, dict(signatures={"find": m.find, "put": m.put})


@model
def custom_gradients():
    m = M()
    m.w = tf.Variable([1.0, 2.0, 3.0])

    @tf.custom_gradient
    def clip(x):
        y = tf.exp(x)

        def grad(dy):
            return tf.clip_by_value(dy * y, -0.5, 0.5)
        return y, grad

    @tf.custom_gradient
    def two(x, y):
        def grad(da, db):
            return da * 2.0, db * 3.0
        return (x + y, x * y), grad

    @tf.function(input_signature=[S([3], tf.float32, "x")])
    def f(x):
        a, b = two(clip(x * m.w), m.w * 1.0)
        return tf.reduce_sum(a) + tf.reduce_sum(b)
    m.f = f
    return m, dict(options=tf.saved_model.SaveOptions(experimental_custom_gradients=True))


@model
def control_v2():
    m = M()
    m.n = tf.Variable(0)

    @tf.function(input_signature=[S([None], tf.float32, "x"), S([], tf.int32, "k")])
    def f(x, k):
        i = tf.constant(0)
        acc = tf.TensorArray(tf.float32, 0, dynamic_size=True, clear_after_read=False, element_shape=[None])
        while i < k:
            if i % 2 == 0:
                x = x + 1.0
            else:
                x = tf.cond(tf.reduce_sum(x) > 3.0, lambda: x * 0.5, lambda: x - 1.0)
            acc = acc.write(i, x)
            i += 1
            m.n.assign_add(1)
        s = tf.switch_case(k % 3, [lambda: x, lambda: x * 2.0, lambda: x * 3.0])
        c = tf.case([(k > 5, lambda: 1.0), (k > 2, lambda: 2.0)], default=lambda: 3.0)
        return {"x": x, "all": acc.stack(), "n": m.n.read_value(), "s": s, "c": c, "m": tf.map_fn(lambda v: v * v, x), "scan": tf.scan(lambda a, v: a + v, x)}
    m.f = f
    return m, dict(signatures=m.f)


@model
def defaults_and_statics():
    m = M()
    m.b = tf.Variable(1.0)

    @tf.function
    def f(x, y=2.0, *, mode="add", times=1, names=("a", "b"), opts=None):
        for _ in range(times):
            x = x + y if mode == "add" else x * y
        return {names[0]: x * m.b, names[1]: x if opts is None else x * opts["k"]}
    f.get_concrete_function(S([None], tf.float32))
    f.get_concrete_function(S([None], tf.float32), 3.0, mode="mul", times=2)
    f.get_concrete_function(S([None], tf.float32), S([], tf.float32), names=("q", "r"))
    f.get_concrete_function(S([None], tf.float32), 1.5, opts={"k": 4.0})
    f.get_concrete_function(S([None], tf.float32), 1.5, mode="mul", opts={"k": S([], tf.float32)})
    m.f = f
    return m


Point = collections.namedtuple("Point", ["x", "y"])


@model
def structures():
    m = M()

    @tf.function
    def f(p, d, l, flag, t=(1, 2.5, "s", None, True)):
        return Point(p.y, p.x), {"b": d["b"], "a": d["a"]}, [l[1], l[0]], (p.x + l[0] if flag else p.x), t[1] * p.x, None
    f.get_concrete_function(Point(S([], tf.float32), S([2], tf.float32)), {"b": S([], tf.int64), "a": S([None], tf.string)}, [S([], tf.float32), S([1], tf.float32)], True)
    f.get_concrete_function(Point(S([], tf.float32), S([2], tf.float32)), {"b": S([], tf.int64), "a": S([None], tf.string)}, [S([], tf.float32), S([1], tf.float32)], False)
    m.f = f
    return m


@model
def aliases():
    m = M()
    m.v = tf.Variable(3.0)

    @tf.function
    def f(x):
        return x * m.v
    f.get_concrete_function(S([], tf.float32))
    f.get_concrete_function(S([None], tf.float32))
    m.f = f
    m.g = m.f
    m.c = f.get_concrete_function(S([2], tf.float32))
    return m, dict(options=tf.saved_model.SaveOptions(function_aliases={"my_alias": m.f}))


@model
def assets():
    m = M()
    for i, (d, n) in enumerate([("d1", "v.txt"), ("d2", "v.txt"), ("d3", "other.bin")]):
        os.makedirs(os.path.join(WORK, d), exist_ok=True)
        open(os.path.join(WORK, d, n), "w").write("content %d\n" % i)
    m.a = tf.saved_model.Asset(os.path.join(WORK, "d1", "v.txt"))
    m.b = tf.saved_model.Asset(os.path.join(WORK, "d2", "v.txt"))
    m.c = [tf.saved_model.Asset(os.path.join(WORK, "d3", "other.bin"))]

    @tf.function(input_signature=[])
    def read():
        return {"a": tf.io.read_file(m.a.asset_path), "b": tf.io.read_file(m.b.asset_path)}
    m.read = read
    return m, dict(signatures=m.read)


@model
def no_input_no_output():
    m = M()
    m.v = tf.Variable(0, dtype=tf.int64)

    @tf.function(input_signature=[])
    def tick():
        m.v.assign_add(1)

    @tf.function(input_signature=[])
    def get():
        return m.v.read_value()
    m.tick, m.get = tick, get
    return m, dict(signatures={"get": m.get})


@model
def dtypes():
    m = M()
    ds = [tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.int8, tf.uint8, tf.int16, tf.uint16, tf.int32, tf.uint32, tf.int64, tf.uint64, tf.complex64, tf.complex128, tf.bool]
    m.vars = {d.name: tf.Variable(tf.cast([0, 1, 1], d)) for d in ds}
    m.s = tf.Variable(["x", "y\0z", ""])
    m.q = tf.constant([1, 2], tf.int16)

    @tf.function(input_signature=[])
    def read():
        out = {k: v.read_value() for k, v in m.vars.items()}
        out["string"] = m.s.read_value()
        out["c"] = m.q
        return out
    m.read = read
    return m, dict(signatures=m.read)


@model
def big_constants():
    m = M()
    c = tf.constant(np.arange(5000, dtype=np.float32))
    d = tf.constant(np.arange(700).reshape(7, 100))
    m.kept = c

    @tf.function(input_signature=[S([], tf.int32, "i")])
    def f(i):
        return c[i] + 1.0, d[i % 7]

    @tf.function(input_signature=[S([], tf.int32, "i")])
    def g(i):
        return c[i] * 2.0
    m.f, m.g = f, g
    return m, dict(signatures={"f": f, "g": g})


@model
def unknown_shapes():
    m = M()
    m.v = tf.Variable(tf.zeros([2, 3]), shape=tf.TensorShape([None, 3]))
    m.u = tf.Variable([1.0], shape=tf.TensorShape(None))

    @tf.function(input_signature=[S(None, tf.float32, "x")])
    def f(x):
        m.v.assign(tf.ones([5, 3]))
        return tf.reduce_sum(x) + m.v, m.u + tf.reshape(x, [-1])[0], x
    m.f = f
    return m, dict(signatures=m.f)


@model
def cycles():
    m, n = M(), M()
    m.n, n.m = n, m
    m.self = m
    n.v = tf.Variable(2.0)
    m.l = [n, [n], {"k": m}]

    @tf.function(input_signature=[S([], tf.float32)])
    def f(x):
        return x * n.v
    n.f = f
    return m


@model
def random_ops():
    m = M()
    m.g = tf.random.Generator.from_seed(7)

    @tf.function(input_signature=[])
    def draw():
        return m.g.normal([4]), tf.random.stateless_uniform([3], [1, 2])
    m.draw = draw
    return m, dict(signatures=m.draw)


@model
def training_step():
    m = M()
    m.w = tf.Variable(tf.zeros([3, 1]))
    m.opt_m = tf.Variable(tf.zeros([3, 1]), trainable=False)
    m.step = tf.Variable(0, dtype=tf.int64, trainable=False)

    @tf.function(input_signature=[S([None, 3], tf.float32, "x"), S([None, 1], tf.float32, "y")])
    def train(x, y):
        with tf.GradientTape() as t:
            loss = tf.reduce_mean((tf.matmul(x, m.w) - y) ** 2)
        g = t.gradient(loss, m.w)
        m.opt_m.assign(0.9 * m.opt_m + g)
        m.w.assign_sub(0.1 * m.opt_m)
        m.step.assign_add(1)
        return {"loss": loss, "step": m.step.read_value()}
    m.train = train
    return m, dict(signatures={"train": m.train})


@model
def datasets_inside():
    m = M()
    m.ds = ds = tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0])
    m.k = tf.Variable(2.0)

    @tf.function(input_signature=[])
    def total():
        return ds.map(lambda x: x * 2.0).batch(2).reduce(0.0, lambda a, b: a + tf.reduce_sum(b)) * m.k
    m.total = total
    return m, dict(signatures=m.total)


@model
def list_in_out_names():
    m = M()

    @tf.function(input_signature=[[S([], tf.float32), S([2], tf.float32)], {"k/x": S([], tf.int32), "weird name": S([], tf.float32)}])
    def f(l, d):
        return l[0] + l[1], tf.cast(d["k/x"], tf.float32) * d["weird name"]
    m.f = f

    @tf.function(input_signature=[S([], tf.float32, "a-b"), S([], tf.float32, "c/b"), S([], tf.float32, "9x")])
    def g(x, y, z):
        return {"o-1": x + y, "o/2": z}
    m.g = g
    return m, dict(signatures={"g": m.g, "f": m.f})


@model
def nested_functions():
    m = M()
    m.v = tf.Variable([1.0, 2.0])

    @tf.function
    def inner(x):
        return tf.sin(x) * m.v

    @tf.function
    def middle(x, n):
        y = inner(x)
        for _ in tf.range(n):
            y = inner(y)
        return y

    @tf.function(input_signature=[S([2], tf.float32, "x"), S([], tf.int32, "n")])
    def outer(x, n):
        return middle(x, n) + middle(x * 2.0, n)
    m.outer, m.inner = outer, inner
    return m, dict(signatures=m.outer)


@model
def gradients_inside():
    m = M()
    m.v = tf.Variable([0.5, 0.25])

    @tf.function(input_signature=[S([2], tf.float32, "x")])
    def f(x):
        with tf.GradientTape(persistent=True) as t2:
            with tf.GradientTape() as t:
                t.watch(x)
                t2.watch(x)
                y = tf.reduce_sum(tf.tanh(x * m.v) ** 3)
            g = t.gradient(y, x)
        return {"g": g, "h": t2.jacobian(g, x), "gv": t2.gradient(g, m.v)}
    m.f = f
    return m, dict(signatures=m.f)


@model
def xla_and_attrs():
    m = M()

    @tf.function(jit_compile=True, input_signature=[S([4], tf.float32, "x")])
    def f(x):
        return tf.reduce_sum(x * x)

    @tf.function(reduce_retracing=True, autograph=False)
    def g(x):
        return x + 1
    g.get_concrete_function(S([], tf.int32))
    m.f, m.g = f, g

    @tf.function(experimental_implements="my.op", input_signature=[S([2], tf.float32)])
    def h(x):
        return x * 2.0
    m.h = h
    return m


@model
def untraced():
    m = M()
    m.f = tf.function(lambda x: x)
    m.v = tf.Variable(1)
    return m


@model
def empty():
    return M()


@model
def tracked_views():
    m = tf.train.Checkpoint(a=tf.Variable(1.0), b=[tf.Variable(2.0)])
    m.root = m.a
    return m


@model
def optional_args_none():
    m = M()

    @tf.function
    def f(x=None, y=None):
        if x is None:
            return tf.constant(0.0) if y is None else y
        return x if y is None else x + y
    f.get_concrete_function()
    f.get_concrete_function(S([], tf.float32))
    f.get_concrete_function(S([], tf.float32), S([], tf.float32))
    f.get_concrete_function(y=S([], tf.float32))
    m.f = f
    return m


@model
def varargs():
    m = M()

    @tf.function
    def f(*args, **kwargs):
        return tf.add_n(list(args)) * kwargs.get("k", 1.0)
    f.get_concrete_function(S([], tf.float32), S([], tf.float32))
    f.get_concrete_function(S([], tf.float32), k=S([], tf.float32))
    f.get_concrete_function(S([2], tf.float32), k=3.0, j=2)
    m.f = f
    return m


@model
def bare_concretes():
    m = M()
    m.v = tf.Variable(4.0)
    f = tf.function(lambda x, y: (x - y) * m.v)
    m.c = f.get_concrete_function(S([None], tf.float32, "x"), S([], tf.float32, "y"))
    m.d = [f.get_concrete_function(S([], tf.float32), y=1.0)]
    m.e = {"k": f.get_concrete_function(y=S([], tf.float32, "q"), x=S([], tf.float32, "p"))}
    return m, dict(signatures={"serving_default": m.c})


@model
def composite_captures():
    m = M()
    r = tf.ragged.constant([[1.0], [2.0, 3.0]])
    s = tf.sparse.from_dense([[0, 1], [2, 0]])

    @tf.function(input_signature=[S([], tf.int32, "i")])
    def f(i):
        return r[i], tf.sparse.to_dense(s)[i]
    m.f = f
    return m, dict(signatures=m.f)


@model
def tensor_arrays_and_optionals():
    m = M()

    @tf.function(input_signature=[S([], tf.int32, "n")])
    def f(n):
        ta = tf.TensorArray(tf.int32, size=n)
        for i in tf.range(n):
            ta = ta.write(i, i * i)
        o = tf.experimental.Optional.from_value(n)
        return ta.stack(), o.get_value()

    @tf.function
    def lists(ta):
        return ta.stack()
    m.f = f
    return m, dict(signatures=m.f)


@model
def extra_tags_and_debug():
    m = M()

    @tf.function(input_signature=[S([None], tf.float32, "x")])
    def f(x):
        tf.debugging.assert_greater(tf.size(x), 0)
        tf.print("x", x)
        return tf.debugging.check_numerics(x, "bad")
    m.f = f
    return m, dict(signatures=m.f, options=tf.saved_model.SaveOptions(save_debug_info=True, experimental_debug_stripper=False))


@model
def default_inputs():
    m = M()

    @tf.function(input_signature=[S([], tf.float32, "x"), S([2], tf.float32, "k")])
    def f(x, k=tf.constant([1.0, 2.0])):
        return x * k
    m.f = f
    return m, dict(signatures=m.f)


@model
def initialized_scope():
    class N(tf.Module):
        def __init__(self):
            self.v = None

        @tf.function(input_signature=[S([2], tf.float32, "x")])
        def __call__(self, x):
            if self.v is None:
                self.v = tf.Variable(tf.ones([2]) * 3, name="late/v")
            return x * self.v
    n = N()
    n(tf.zeros([2]))
    return n, dict(signatures=n.__call__)


@model
def resources_and_state():
    m = M()
    m.count = tf.Variable(0, trainable=False, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM)
    m.lst = [tf.Variable(i) for i in range(12)]
    m.tup = (tf.Variable(1.5), [tf.Variable("s")])

    @tf.function(input_signature=[S([], tf.int32)])
    def f(i):
        m.count.assign_add(i)
        for v in m.lst:
            v.assign_add(i)
        return tf.add_n([v.read_value() for v in m.lst]), m.count.read_value()
    m.f = f
    return m, dict(signatures=m.f)


@model
def dataset_args():
    m = M()

    @tf.function(input_signature=[tf.data.DatasetSpec(S([], tf.int64))])
    def f(ds):
        return ds.reduce(tf.constant(0, tf.int64), lambda a, b: a + b)

    @tf.function(input_signature=[S([], tf.int64)])
    def make(n):
        return tf.data.Dataset.range(n).batch(2)
    m.f, m.make = f, make
    return m


@model
def variables_as_args():
    m = M()
    m.v = tf.Variable(1.0)

    @tf.function
    def f(v, x):
        return v * x
    f.get_concrete_function(m.v, S([], tf.float32))
    m.f = f
    return m


@model
def extension():
    class Masked(tf.experimental.BatchableExtensionType):
        __name__ = "odd.Masked"
        values: tf.Tensor
        mask: tf.Tensor

    m = M()

    @tf.function
    def f(x):
        return tf.where(x.mask, x.values, 0.0)
    f.get_concrete_function(Masked.Spec(S([2], tf.float32), S([2], tf.bool)))

    @tf.function(input_signature=[S([2], tf.float32)])
    def g(x):
        return Masked(x, x > 0)
    m.f, m.g = f, g
    return m


@model
def ragged_rank0_and_deep():
    m = M()

    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None, None], tf.int32, row_splits_dtype=tf.int32)])
    def deep(r):
        return r.merge_dims(0, 1), tf.reduce_max(r, axis=2), r.bounding_shape()

    @tf.function(input_signature=[tf.RaggedTensorSpec([2, None], tf.string, ragged_rank=1)])
    def join(r):
        return tf.strings.reduce_join(r, axis=1)
    m.deep, m.join = deep, join
    return m, dict(signatures={"deep": m.deep, "join": m.join})


@model
def while_v1_in_v2():
    m = M()
    m.v = tf.Variable(1.0)

    def body(x):
        with tf.Graph().as_default():
            pass
        return tf.compat.v1.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * m.v + 1.0), [tf.constant(0), x])[1]
    m.f = tf.function(body, input_signature=[S([], tf.float32, "x")])
    m.w = tf.compat.v1.wrap_function(lambda x: tf.compat.v1.cond(x > 0, lambda: x * 2.0, lambda: x - 1.0), [S([], tf.float32)])
    return m


@model
def partial_functions():
    import functools
    m = M()

    def f(x, y, z=3.0, k=1):
        return x * y + z * k
    m.p = tf.function(functools.partial(f, y=2.0))
    m.p.get_concrete_function(S([], tf.float32))
    m.p.get_concrete_function(S([], tf.float32), z=S([], tf.float32))
    return m


@model
def text_pipeline():
    m = M()
    m.table = tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(tf.constant(["the", "cat", "a"]), tf.constant([0, 1, 2], tf.int64)), 2)
    m.emb = tf.Variable(tf.reshape(tf.range(10.0), [5, 2]))

    @tf.function(input_signature=[S([None], tf.string, "text")])
    def f(text):
        ids = tf.ragged.map_flat_values(m.table.lookup, tf.strings.split(tf.strings.lower(text)))
        e = tf.ragged.map_flat_values(lambda i: tf.gather(m.emb, i), ids)
        return {"ids": ids, "mean": tf.reduce_mean(e, axis=1), "sparse": ids.to_sparse(), "dense": ids.to_tensor(-1)}
    m.f = f
    return m, dict(signatures=m.f)


@model
def many_variables():
    m = M()
    m.vs = [tf.Variable(tf.fill([3], float(i)), name="v%d" % (i % 5)) for i in range(150)]

    @tf.function(input_signature=[S([3], tf.float32, "x")])
    def f(x):
        return tf.add_n([v * x for v in m.vs])
    m.f = f
    return m, dict(signatures=m.f)


@model
def sharded():
    m = M()
    m.vs = [tf.Variable(tf.random.stateless_normal([50], [1, i])) for i in range(6)]
    m.f = tf.function(lambda: tf.add_n([v.read_value() for v in m.vs]), input_signature=[])
    return m, dict(signatures=m.f, options=tf.saved_model.SaveOptions(experimental_sharding_callback=tf.train.experimental.MaxShardSizePolicy(max_shard_size=300)))


@model
def keras3_exported():
    import keras
    keras.utils.set_random_seed(1)
    k = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, "gelu"), keras.layers.BatchNormalization(), keras.layers.Dropout(0.2), keras.layers.Dense(2, "softmax")])
    return k


@model
def tf_keras_whole():
    import tf_keras
    tf_keras.utils.set_random_seed(1)
    a = tf_keras.Input((4,), name="a")
    b = tf_keras.Input((None, 3), name="b", ragged=True)
    h = tf_keras.layers.Concatenate()([tf_keras.layers.Dense(3, "relu")(a), tf_keras.layers.LSTM(2)(b)])
    k = tf_keras.Model([a, b], {"y": tf_keras.layers.Dense(1)(h), "h": h})
    k.compile("adam", "mse")
    return k


def tf1(build):
    """Returns a builder of a TensorFlow 1 model."""
    def write(path):
        v1 = tf.compat.v1
        with tf.Graph().as_default(), v1.Session() as session:
            inputs, outputs, init = build()
            session.run([v1.global_variables_initializer(), v1.tables_initializer()])
            b = v1.saved_model.Builder(path)
            sig = v1.saved_model.build_signature_def({k: v1.saved_model.build_tensor_info(t) for k, t in inputs.items()}, {k: v1.saved_model.build_tensor_info(t) for k, t in outputs.items()}, "tensorflow/serving/predict")
            b.add_meta_graph_and_variables(session, ["serve"], {"serving_default": sig}, assets_collection=v1.get_collection(v1.GraphKeys.ASSET_FILEPATHS), main_op=v1.tables_initializer() if init else None)
            b.save()
    return write


@model
def tf1_variables():
    v1 = tf.compat.v1

    def build():
        x = v1.placeholder(tf.float32, [None, 2], "x")
        w = v1.get_variable("w", initializer=[[1.0], [2.0]], use_resource=False)
        r = v1.get_variable("r", initializer=3.0, use_resource=True)
        return {"x": x}, {"y": tf.matmul(x, w) * r}, False
    return tf1(build)


@model
def tf1_tables_assets():
    v1 = tf.compat.v1

    def build():
        p = os.path.join(WORK, "tf1_vocab.txt")
        open(p, "w").write("a\nb\n7\n")
        v1.add_to_collection(v1.GraphKeys.ASSET_FILEPATHS, tf.constant(p))
        x = v1.placeholder(tf.string, [None], "x")
        t = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(p, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER), -1)
        w = v1.get_variable("w", initializer=[1.0, 2.0, 3.0, 4.0])
        return {"x": x}, {"id": t.lookup(x), "v": tf.gather(w, t.lookup(x) + 1)}, True
    return tf1(build)


@model
def tf1_control_v1():
    v1 = tf.compat.v1

    def build():
        v1.disable_control_flow_v2()
        x = v1.placeholder(tf.float32, [], "x")
        w = v1.get_variable("w", initializer=2.0)
        i, y = v1.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, v1.cond(y > 10.0, lambda: y - w, lambda: y * w)), [tf.constant(0), x])
        v1.enable_control_flow_v2()
        return {"x": x}, {"y": y, "i": i}, False
    return tf1(build)


@model
def tf1_sparse_signature():
    v1 = tf.compat.v1

    def build():
        s = v1.sparse_placeholder(tf.float32, [None, 3], "s")
        w = v1.get_variable("w", initializer=[[1.0], [2.0], [3.0]])
        return {"s": s}, {"y": tf.sparse.sparse_dense_matmul(s, w), "t": tf.sparse.transpose(s)}, False
    return tf1(build)


@model
def tf1_partitioned():
    v1 = tf.compat.v1

    def build():
        x = v1.placeholder(tf.int32, [None], "x")
        w = v1.get_variable("w", [7, 2], initializer=v1.random_normal_initializer(seed=1), partitioner=v1.fixed_size_partitioner(3))
        return {"x": x}, {"y": v1.nn.embedding_lookup(w, x, partition_strategy="div")}, False
    return tf1(build)


def main():
    global WORK
    out, names = sys.argv[1], sys.argv[2:] or list(MODELS)
    WORK = os.path.join(out, "oddfiles")
    os.makedirs(WORK, exist_ok=True)
    failed = 0
    for name in names:
        path = os.path.join(out, "odd", name)
        shutil.rmtree(path, ignore_errors=True)
        try:
            r = MODELS[name]()
            if isinstance(r, types.FunctionType):
                r(path)  # a model of TensorFlow 1 writes itself
            elif hasattr(r, "export") and "tf_keras" not in type(r).__module__:
                r.export(path, verbose=False)  # Keras 3
            else:
                root, args = r if isinstance(r, tuple) else (r, {})
                tf.saved_model.save(root, path, **args)
        except Exception as e:  # noqa: BLE001
            failed += 1
            print("FAIL writing the odd model %s: %s: %s" % (name, type(e).__name__, str(e)[:300]), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""Writes the SavedModels that the tests of package savedmodel load, with TensorFlow's answers.

    python make_models.py [NAME...]

Each directory holds a SavedModel and answers.json: calls of signatures and functions, with their results.
"""

import collections
import json
import os
import shutil
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import tensor_array_ops

v1 = tf.compat.v1
here = os.path.dirname(os.path.abspath(__file__))
RNG = np.random.RandomState(7)


def plain(x):
    """A tensor as JSON."""
    x = np.asarray(x)
    if x.dtype.kind in "OSU":
        values = [v if isinstance(v, str) else v.decode("latin-1") for v in x.reshape(-1).tolist()]
        return {"dtype": "string", "shape": list(x.shape), "strings": values}
    return {"dtype": tf.as_dtype(x.dtype).name, "shape": list(x.shape), "values": [float(v) for v in x.reshape(-1)]}


def value(x):
    """A structured value as JSON."""
    if x is None:
        return {"none": True}
    if isinstance(x, tf.RaggedTensor):
        return {"composite": [plain(t) for t in [x.flat_values, *x.nested_row_splits]]}
    if isinstance(x, tf.IndexedSlices):
        return {"composite": [plain(t) for t in [x.values, x.indices, x.dense_shape] if t is not None]}
    if isinstance(x, tf.SparseTensor):
        return {"composite": [plain(t) for t in [x.indices, x.values, x.dense_shape]]}
    if isinstance(x, tf.experimental.ExtensionType):
        return {"composite": [plain(t) for t in tf.nest.flatten(x, expand_composites=True)]}
    if isinstance(x, tf.DType):
        return {"dtype": x.name}
    if isinstance(x, bool):
        return {"bool": x}
    if isinstance(x, int):
        return {"int": x}
    if isinstance(x, float):
        return {"float": x}
    if isinstance(x, str):
        return {"str": x}
    if isinstance(x, dict):
        return {"dict": {k: value(v) for k, v in x.items()}}
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return {"dict": {k: value(getattr(x, k)) for k in x._fields}}
    if isinstance(x, tuple):
        return {"tuple": [value(v) for v in x]}
    if isinstance(x, list):
        return {"list": [value(v) for v in x]}
    return {"tensor": plain(x)}


class Answers:
    """The results of a loaded model for calls in order."""

    def __init__(self, name, tags=None):
        self.dir = os.path.join(here, "models", name)
        self.model = tf.saved_model.load(self.dir, tags=tags)
        self.tags = tags or []
        self.calls = []

    def signature(self, name, **inputs):
        call = {"tags": self.tags, "signature": name, "in": {k: plain(v) for k, v in inputs.items()}}
        try:
            out = self.model.signatures[name](**{k: tf.constant(v) for k, v in inputs.items()})
            call["out"] = {k: plain(v) for k, v in out.items() if v is not None}  # None stands for an operation
        except tf.errors.OpError as e:  # that it fails is the answer
            call["error"] = type(e).__name__
        self.calls.append(call)

    def function(self, path, *args, **kwargs):
        f = self.model
        for p in path.split("/"):
            f = f[int(p)] if p.isdigit() else getattr(f, p)
        call = {"tags": self.tags, "function": path, "args": [value(a) for a in args], "kwargs": {k: value(v) for k, v in kwargs.items()}}
        try:
            call["result"] = value(f(*args, **kwargs))
        except Exception as e:  # noqa: BLE001: that it fails is the answer
            call["error"] = type(e).__name__
        self.calls.append(call)

    def write(self):
        with open(os.path.join(self.dir, "answers.json"), "w") as f:
            json.dump(self.calls, f, separators=(",", ":"))


def session_answers(name, tags, calls):
    """The answers of a model that only a session of TensorFlow 1 runs: calls are feeds by input name."""
    d = os.path.join(here, "models", name)
    out = []
    with v1.Session(graph=tf.Graph()) as s:
        meta = v1.saved_model.load(s, tags, d)
        for sig, feeds in calls:
            info = meta.signature_def[sig]
            feed = {}
            for k, x in feeds.items():
                feed[info.inputs[k.split("/")[0]].name if "/" not in k else part(info.inputs, k)] = x
            fetch = {k: i.name for k, i in info.outputs.items()}
            got = s.run(fetch, feed)
            out.append({"tags": list(tags), "signature": sig, "in": {k: plain(x) for k, x in feeds.items()}, "out": {k: plain(x) for k, x in got.items()}})
    path = os.path.join(d, "answers.json")
    before = json.load(open(path)) if os.path.exists(path) else []
    with open(path, "w") as f:
        json.dump(before + out, f, separators=(",", ":"))


def part(inputs, name):
    whole, which = name.split("/")
    coo = inputs[whole].coo_sparse
    return {"indices": coo.indices_tensor_name, "values": coo.values_tensor_name, "dense_shape": coo.dense_shape_tensor_name}[which]


def fresh(name):
    d = os.path.join(here, "models", name)
    shutil.rmtree(d, ignore_errors=True)
    return d


def x(*shape):
    return RNG.randn(*shape).astype(np.float32)


# TensorFlow 2


def module():
    class Inner(tf.Module):
        def __init__(self, w):
            super().__init__()
            self.w = w

        @tf.function(input_signature=[tf.TensorSpec([None, 3], name="features")])
        def __call__(self, features):
            return features * self.w

    class M(tf.Module):
        def __init__(self):
            super().__init__()
            # Two variables of one name, one of them shared by two objects.
            self.a = tf.Variable([1.0, 2.0, 3.0], name="v")
            self.b = tf.Variable([10.0, 20.0, 30.0], name="v", trainable=False)
            self.layers = [Inner(self.a), Inner(self.b)]
            self.named = {"first": self.layers[0]}
            self.any = tf.Variable([1.0], shape=[None])
            self.big = tf.constant(np.arange(600, dtype=np.float32).reshape(200, 3))
            self.count = tf.Variable(0, dtype=tf.int64)

        @tf.function
        def options(self, x, training=False, scale=2.0, mode="add", bias=None):
            y = x * scale
            if training:
                y = y + 100.0
            if mode == "add":
                y = y + self.a
            if bias is not None:
                y = y + bias
            return y

        @tf.function
        def nested(self, pair, config, *, extra):
            return {"sum": pair[0] + pair[1]["inner"], "list": [config["k"] * 2.0, (extra, config["k"])]}

        @tf.function(input_signature=[tf.TensorSpec([None, 3], name="x")])
        def serve(self, x):
            return {"y": self.layers[1](x) + self.a, "total": tf.reduce_sum(self.big)}

        @tf.function(input_signature=[tf.TensorSpec([], tf.int64, name="by")])
        def bump(self, by):
            return self.count.assign_add(by)

        @tf.function(input_signature=[])
        def total(self):
            return tf.reduce_sum(self.big), self.count.read_value()

        @tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.float32)])
        def ragged(self, r):
            return r.with_flat_values(r.flat_values * 2.0), tf.shape(r.row_splits)[0]

        @tf.function(input_signature=[tf.SparseTensorSpec([None, None], tf.float32)])
        def sparse(self, s):
            return tf.reduce_sum(s.values), s.dense_shape

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32), tf.TensorSpec([], tf.int32)])
        def branch(self, x, n):
            i = tf.constant(0)
            while i < n:
                if tf.reduce_sum(x) > 10.0:
                    x = x - 1.0
                else:
                    x = x * 2.0
                i += 1
            return x

    m = M()
    one = tf.constant([1.0, 1.0, 1.0])
    m.options(one)
    m.options(one, training=True)
    m.options(one, scale=3.0)
    m.options(one, mode="none")
    m.options(one, bias=one)
    m.options.get_concrete_function(tf.TensorSpec([None, 3]))
    m.nested((one, {"inner": one}), {"k": one}, extra=one)
    m.bare = m.options.get_concrete_function(tf.TensorSpec([3]), training=True)
    d = fresh("module")
    tf.saved_model.save(m, d, signatures={"serving_default": m.serve, "bump": m.bump, "branch": m.branch})

    a = Answers("module")
    a.signature("serving_default", x=x(2, 3))
    a.signature("bump", by=np.int64(3))
    a.signature("bump", by=np.int64(4))
    v = tf.constant([0.5, -1.0, 2.0])
    a.function("options", v)
    a.function("options", v, True)
    a.function("options", v, training=True)
    a.function("options", v, scale=3.0)
    a.function("options", v, False, 2.0, "none")
    a.function("options", v, bias=v)
    a.function("options", tf.constant(x(4, 3)))
    a.function("options", v, scale=4.0)
    a.function("options", v, wrong=1.0)
    a.function("nested", (v, {"inner": v * 2.0}), {"k": v * 3.0}, extra=v * 4.0)
    a.function("nested", [v, {"inner": v * 2.0}], {"k": v * 3.0}, extra=v * 4.0)
    a.function("nested", (v, {"inner": v * 2.0}), {"other": v * 3.0}, extra=v * 4.0)
    a.function("layers/0", tf.constant(x(2, 3)))
    a.function("layers/1/__call__", tf.constant(x(2, 3)))
    a.function("total")
    a.function("ragged", tf.ragged.constant([[1.0, 2.0], [], [3.0]]))
    a.function("sparse", tf.sparse.from_dense([[0.0, 1.0], [2.0, 0.0]]))
    a.function("branch", tf.constant([1.0, 2.0]), tf.constant(7))
    a.write()


def text():
    """The text form."""
    class M(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None], name="x")])
        def f(self, x):
            return {"y": x * 2.0 + self.v}

    m = M()
    m.v = tf.Variable(1.5)
    d = fresh("text")
    tf.saved_model.save(m, d, signatures=m.f)
    a = Answers("text")
    a.signature("serving_default", x=x(3))
    a.write()
    from google.protobuf import text_format
    from tensorflow.core.protobuf import saved_model_pb2
    p = saved_model_pb2.SavedModel()
    with open(os.path.join(d, "saved_model.pb"), "rb") as f:
        p.ParseFromString(f.read())
    with open(os.path.join(d, "saved_model.pbtxt"), "w") as f:
        f.write(text_format.MessageToString(p))
    os.remove(os.path.join(d, "saved_model.pb"))


def keras_mlp():
    import tf_keras as keras
    keras.utils.set_random_seed(3)
    m = keras.Sequential([
        keras.layers.Dense(5, activation="relu", input_shape=(4,), name="hidden", kernel_regularizer="l2"),
        keras.layers.Dropout(0.5), keras.layers.Dense(2, activation="softmax", name="probabilities")])
    m.compile("adam", "mse")
    m.fit(x(8, 4), x(8, 2), verbose=0)
    d = fresh("keras_mlp")
    m.save(d, save_format="tf")
    a = Answers("keras_mlp")
    a.signature("serving_default", hidden_input=x(3, 4))
    t = tf.constant(x(2, 4))
    a.write()
    # Not every version's plain loader has keras_api's functions as attributes: look them up in the object.
    f = a.model.keras_api.__call__ if hasattr(a.model, "keras_api") else a.model
    a.calls.append({"tags": [], "function": "keras_api/__call__", "args": [value(t)], "kwargs": {"training": value(False)}, "result": value(f(t, training=False))})
    g = a.model.keras_api.call_and_return_conditional_losses if hasattr(a.model, "keras_api") else a.model.call_and_return_conditional_losses
    where = "keras_api/call_and_return_conditional_losses"
    a.calls.append({"tags": [], "function": where, "args": [value(t)], "kwargs": {"training": value(False)}, "result": value(g(t, training=False))})
    a.write()


def hub():
    """A module as TensorFlow Hub's have it."""
    class M(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(x(4, 2), name="w")
            self.steps = tf.Variable(0.0, trainable=False)
            self.variables_ = None

        @tf.function(input_signature=[tf.TensorSpec([None, 4]), tf.TensorSpec([], tf.bool)])
        def call(self, inputs, training):
            if training:
                self.steps.assign_add(1.0)
            return tf.matmul(inputs, self.w) + self.steps

        @tf.function(input_signature=[])
        def penalty(self):
            return tf.reduce_sum(self.w * self.w)

    m = M()
    root = tf.train.Checkpoint()
    root.__call__ = m.call
    root.variables = [m.w, m.steps]
    root.trainable_variables = [m.w]
    root.regularization_losses = [m.penalty]
    d = fresh("hub")
    tf.saved_model.save(root, d)
    a = Answers("hub")
    t = tf.constant(x(2, 4))
    a.function("__call__", t, tf.constant(False))
    a.function("__call__", t, tf.constant(True))
    a.function("__call__", t, tf.constant(False))
    a.function("regularization_losses/0")
    a.write()


Point = collections.namedtuple("Point", ["y", "x"])  # not in the order of the alphabet


class Masked(tf.experimental.ExtensionType):
    __name__ = "cairn.Masked"
    values: tf.Tensor
    mask: tf.Tensor


def structured():
    """Composites inside of lists, dicts and named tuples; values of Python that choose the trace."""
    class M(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(2.0)

        @tf.function(input_signature=[tf.RaggedTensorSpec([None, None, None], tf.string, ragged_rank=2)])
        def words(self, r):
            return {"joined": tf.strings.reduce_join(r, axis=-1, separator=" "), "lengths": r.row_lengths(axis=1)}

        @tf.function
        def mixed(self, batch, weights=None, *, mode="sum", training=False):
            total = tf.reduce_sum(batch["ids"].values) + tf.reduce_sum(batch["steps"][0]) * self.w + tf.reduce_sum(batch["steps"][1])
            if weights is not None:
                total = total * weights.y + weights.x
            if training:
                total = total + 1000.0
            if mode == "mean":
                total = total / 2.0
            return Point(total, batch["ids"]), {"steps": batch["steps"][0] * 2.0, "rest": [batch["steps"][1]]}

        @tf.function
        def typed(self, x, dtype=tf.float32, times=1):
            return tf.cast(x, dtype) * tf.cast(times, dtype)

        @tf.function(input_signature=[Masked.Spec(tf.TensorSpec([None], tf.float32), tf.TensorSpec([None], tf.bool))])
        def masked(self, m):
            return tf.reduce_sum(tf.where(m.mask, m.values, 0.0)), m

        @tf.function(input_signature=[tf.IndexedSlicesSpec([4, 2], tf.float32, tf.int64)])
        def slices(self, s):
            return tf.math.unsorted_segment_sum(s.values, s.indices, 4), s

    def ids(dtype=tf.float32):
        return tf.SparseTensorSpec([None, 5], dtype)

    m = M()
    batch = {"ids": ids(), "steps": [tf.RaggedTensorSpec([None, None], tf.float32), tf.TensorSpec([None])]}
    weights = Point(tf.TensorSpec([]), tf.TensorSpec([]))
    for mode in ["sum", "mean"]:
        for training in [False, True]:
            m.mixed.get_concrete_function(batch, mode=mode, training=training)
            m.mixed.get_concrete_function(batch, weights, mode=mode, training=training)
    for d in [tf.float32, tf.int64]:
        for times in [1, 2]:
            m.typed.get_concrete_function(tf.TensorSpec([None], tf.int32), d, times)
    tf.saved_model.save(m, fresh("structured"))

    a = Answers("structured")
    a.function("words", tf.ragged.constant([[["a", "b"], []], [], [["c"]]], ragged_rank=2))
    sparse = tf.SparseTensor([[0, 1], [1, 4]], [1.5, 2.5], [2, 5])
    ragged = tf.ragged.constant([[1.0], [], [2.0, 3.0]])
    batch = {"ids": sparse, "steps": [ragged, tf.constant([10.0, 20.0])]}
    weights = Point(tf.constant(3.0), tf.constant(0.5))
    a.function("mixed", batch)
    a.function("mixed", batch, weights, training=True)
    a.function("mixed", batch, mode="mean")
    a.function("mixed", batch, mode="median")
    a.function("mixed", {"ids": sparse, "steps": (ragged, tf.constant([10.0, 20.0]))})
    a.function("mixed", {"ids": tf.SparseTensor([[0, 1]], [1.5], [2, 6]), "steps": batch["steps"]})
    a.function("mixed", {"ids": ragged, "steps": batch["steps"]})
    x = tf.constant([1, 2, 3])
    a.function("typed", x)
    a.function("typed", x, tf.int64)
    a.function("typed", x, times=2)
    a.function("typed", x, times=2.0)
    a.function("typed", x, times=True)
    a.function("typed", x, tf.int32)
    a.function("masked", Masked(tf.constant([1.0, 2.0, 4.0]), tf.constant([True, False, True])))
    a.function("slices", tf.IndexedSlices(tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([3, 3], tf.int64)))
    a.write()


def table():
    class M(tf.Module):
        def __init__(self, vocab):
            super().__init__()
            self.ids = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(
                vocab, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER), -1)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="words")])
        def look(self, words):
            return {"ids": self.ids.lookup(words), "size": self.ids.size()}

    vocab = "vocab.txt"  # the table's shared name has it
    with open(vocab, "w") as f:
        f.write("the\nquick\nfox\n")
    m = M(vocab)
    d = fresh("table")
    tf.saved_model.save(m, d, signatures=m.look)
    os.remove(vocab)
    a = Answers("table")
    a.signature("serving_default", words=np.array([b"fox", b"dog", b"the"]))
    a.write()


def tables():
    """Tables whose contents only the restore op can restore, and one with buckets."""
    class M(tf.Module):
        def __init__(self):
            super().__init__()
            self.t = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
            self.d = tf.lookup.experimental.DenseHashTable(tf.int64, tf.float32, -1.0, empty_key=-1, deleted_key=-2)
            self.s = tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([0, 1], tf.int64)), 3)
            self.v = tf.Variable(2.0)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="w"), tf.TensorSpec([None], tf.int64, name="k")])
        def look(self, w, k):
            return {"t": self.t.lookup(w), "d": self.d.lookup(k) * self.v, "s": self.s.lookup(w)}

    m = M()
    m.t.insert(["x", "y"], tf.constant([5, 6], tf.int64))
    m.d.insert(tf.constant([1, 2], tf.int64), [1.5, 2.5])
    tf.saved_model.save(m, fresh("tables"), signatures=m.look)
    a = Answers("tables")
    a.signature("serving_default", w=np.array([b"x", b"q", b"a"]), k=np.int64([1, 2, 9]))
    a.write()


def unranked():
    """Variables whose values may have any shape, and any number of rows."""
    class M(tf.Module):
        def __init__(self):
            super().__init__()
            self.any = tf.Variable([1.0], shape=tf.TensorShape(None))
            self.rows = tf.Variable([[1.0, 2.0]], shape=[None, 2])

        @tf.function(input_signature=[tf.TensorSpec([None, 2])])
        def grow(self, x):
            self.any.assign(tf.concat([tf.reshape(self.any, [-1]), tf.reshape(x, [-1])], 0))
            self.rows.assign(tf.concat([self.rows, x], 0))
            return {"any": self.any.read_value(), "rows": self.rows.read_value()}

        @tf.function(input_signature=[])
        def fold(self):
            self.any.assign(tf.stack([self.any, self.any * 2.0], 1))
            return {"any": self.any.read_value()}

    m = M()
    tf.saved_model.save(m, fresh("unranked"), signatures={"grow": m.grow, "fold": m.fold})
    a = Answers("unranked")
    a.signature("grow", x=x(3, 2))
    a.signature("fold")
    a.signature("grow", x=x(1, 2))
    a.write()


def reshaped():
    """An assignment that doesn't check the shape: the variable then has another than its own."""
    class M(tf.Module):
        def __init__(self):
            self.v = tf.Variable([1.0, 2.0])

        @tf.function(input_signature=[tf.TensorSpec(None)])
        def anything(self, x):
            tf.raw_ops.AssignVariableOp(resource=self.v.handle, value=x)
            return self.v.read_value()

        @tf.function(input_signature=[])
        def more(self):
            return self.v + 1.0, tf.shape(self.v.read_value())

    tf.saved_model.save(M(), fresh("reshaped"))
    a = Answers("reshaped")
    for k in [[3.0, 4.0], [1.0, 1.0, 5.0], 7.0]:
        a.function("anything", tf.constant(k))
        a.function("more")
    a.write()


def no_signatures():
    class M(tf.Module):
        def __init__(self):
            super().__init__()
            self.v = tf.Variable([1.0, 2.0])

        @tf.function
        def f(self, x, k=None):
            return [x + self.v, {"z": x * 2.0}]

    m = M()
    m.f(tf.constant([1.0, 2.0]))
    m.f(tf.constant([1.0, 2.0]), tf.constant(2.0))
    tf.saved_model.save(m, fresh("no_signatures"))
    a = Answers("no_signatures")
    for k in [{}, {"k": tf.constant(1.0)}, {"k": tf.constant([1.0])}]:
        a.function("f", tf.constant([3.0, 4.0]), **k)
    a.write()


# TensorFlow 1


def builder(name):
    return v1.saved_model.Builder(fresh(name))


def sig(inputs, outputs):
    return v1.saved_model.build_signature_def(
        {k: v1.saved_model.build_tensor_info(t) for k, t in inputs.items()},
        {k: v1.saved_model.build_tensor_info(t) for k, t in outputs.items()}, "tensorflow/serving/predict")


def tf1_refs():
    b = builder("tf1_refs")
    with tf.Graph().as_default(), v1.Session() as s:
        p = v1.placeholder(tf.float32, [None, 4], name="p")
        fed = tf.identity(p, name="fed")
        d = v1.placeholder_with_default(np.float32(2.0), [], name="scale")
        with v1.variable_scope("net", use_resource=False):
            w = v1.get_variable("w", [4, 3], initializer=v1.random_uniform_initializer(seed=1))
            parts = v1.get_variable("parts", [6, 3], initializer=v1.random_uniform_initializer(seed=2), partitioner=v1.fixed_size_partitioner(3))
            bias = v1.get_variable("bias", [3], initializer=v1.ones_initializer(), trainable=False)
            steps = v1.get_variable("steps", [], dtype=tf.int64, initializer=v1.zeros_initializer(), trainable=False)
        y = tf.matmul(fed, w) * d + bias
        z = tf.reduce_sum(tf.convert_to_tensor(parts), axis=0)
        count = v1.assign_add(steps, 1)
        s.run(v1.global_variables_initializer())
        b.add_meta_graph_and_variables(s, ["serve"], {
            "serving_default": sig({"x": fed, "scale": d}, {"y": y, "z": z}),
            "same": sig({"x": fed, "again": fed}, {"y": y}),
            "weights": sig({}, {"bias": bias, "whole": tf.convert_to_tensor(parts)}),
            "count": sig({}, {"n": count}),
        })
    b.save()
    session_answers("tf1_refs", ["serve"], [
        ("serving_default", {"x": x(2, 4), "scale": np.float32(3)}), ("weights", {}), ("count", {}), ("count", {}),
        ("same", {"x": x(1, 4)}), ("serving_default", {"x": np.arange(8, dtype=np.float32).reshape(2, 4)})])


def tf1_control():
    b = builder("tf1_control")
    with tf.Graph().as_default(), v1.Session() as s:
        v1.disable_control_flow_v2()
        p = v1.placeholder(tf.float32, [None], name="p")
        n = v1.placeholder(tf.int32, [], name="n")
        w = v1.get_variable("w", [], initializer=v1.constant_initializer(1.5), use_resource=False)
        r = v1.get_variable("r", [], initializer=v1.constant_initializer(0.0), use_resource=True)
        cond = v1.cond(tf.reduce_sum(p) > 0.0, lambda: p * w, lambda: p - 10.0)
        pair = v1.cond(n > 3, lambda: (p, n), lambda: (p * 2.0, n * 2))
        inner = v1.cond(n > 3, lambda: v1.cond(n > 5, lambda: p + 5.0, lambda: p + 3.0), lambda: p)
        _, loop = v1.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * w), [0, p])
        _, both = v1.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, v1.cond(tf.reduce_sum(a) > 20.0, lambda: a / 2.0, lambda: a * 3.0)), [0, p])

        def nest(i, a):
            _, a = v1.while_loop(lambda j, b: j < i, lambda j, b: (j + 1, b + w), [0, a])
            return i + 1, a

        _, nested = v1.while_loop(lambda i, a: i < n, nest, [0, p])
        arr = tf.TensorArray(tf.float32, size=n, element_shape=[None])
        _, arr = v1.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a.write(i, p * tf.cast(i, tf.float32))), [0, arr])
        stacked = arr.stack()

        def add():
            with tf.control_dependencies([v1.assign_add(r, 1.0)]):
                return tf.identity(p) + 0.0

        effect = v1.cond(n > 3, add, lambda: p)
        with tf.control_dependencies([effect]):
            counted = r.read_value()
        s.run(v1.global_variables_initializer())
        ins = {"p": p, "n": n}
        b.add_meta_graph_and_variables(s, ["serve"], {
            "cond": sig(ins, {"y": cond}), "pair": sig(ins, {"a": pair[0], "b": pair[1]}), "inner": sig(ins, {"y": inner}),
            "loop": sig(ins, {"y": loop}), "both": sig(ins, {"y": both}), "nested": sig(ins, {"y": nested}),
            "array": sig(ins, {"y": stacked}), "effect": sig(ins, {"y": effect, "n": counted}),
            "all": sig(ins, {"c": cond, "l": loop, "b": both, "n": nested, "s": stacked}),
        })
    b.save()
    calls = []
    for n in [0, 2, 4, 6]:
        feeds = {"p": x(3), "n": np.int32(n)}
        for name in ["cond", "pair", "inner", "loop", "both", "nested", "array", "effect", "all"]:
            if name in ("array", "all") and n == 0:
                continue  # of an array without elements the shape isn't known
            calls.append((name, feeds))
    session_answers("tf1_control", ["serve"], calls)


def tf1_gradients():
    """Gradients of loops and conditionals within each other, made by tf.gradients of control flow of TensorFlow 1."""
    b = builder("tf1_gradients")
    with tf.Graph().as_default(), v1.Session() as s:
        v1.disable_control_flow_v2()
        p = v1.placeholder(tf.float32, [None], name="p")
        n = v1.placeholder(tf.int32, [], name="n")
        w = v1.get_variable("w", [], initializer=v1.constant_initializer(0.75), use_resource=False)

        def loop(limit, step, a):
            return v1.while_loop(lambda i, a: i < limit, lambda i, a: (i + 1, step(i, a)), [0, a])[1]

        def branch(i, a):
            return v1.cond(tf.equal(i % 2, 0), lambda: a * w + p, lambda: tf.sin(a) * w)

        def branches(i, a):
            return v1.cond(i > 0, lambda: v1.cond(tf.equal(i % 2, 0), lambda: a * w, lambda: tf.sin(a) + w), lambda: a)

        inner = lambda i, a: loop(i, lambda j, b: tf.tanh(b * w) + p, a)
        results = {
            "loop": loop(n, lambda i, a: tf.tanh(a * w + p), p),
            "conds": loop(n, branches, p),
            "both": loop(n, lambda i, a: v1.cond(tf.equal(i % 2, 0), lambda: inner(i, a), lambda: tf.sin(a) * w), p),
            "inside": v1.cond(n > 2, lambda: loop(n, branch, p), lambda: p * w),
            "arrays": v1.scan(lambda a, v: tf.tanh(a * w + v), p * w),
        }
        s.run(v1.global_variables_initializer())
        signatures = {}
        for name, y in results.items():
            dp, dw = tf.gradients(y, [p, w])
            signatures[name] = sig({"p": p, "n": n}, {"y": y, "dp": dp, "dw": dw})
        b.add_meta_graph_and_variables(s, ["serve"], signatures, strip_default_attrs=True)
    b.save()
    calls = []
    for n in [1, 2, 5]:
        for name in results:
            calls.append((name, {"p": x(3), "n": np.int32(n)}))
    session_answers("tf1_gradients", ["serve"], calls)


def tf1_init():
    """Tables made by an init op that reads an asset, as estimators have them."""
    vocab = "words.txt"  # in the committed file it is a path of somebody's machine, for cairn scan to find
    with open(vocab, "w") as f:
        f.write("alpha\nbeta\n")
    b = builder("tf1_init")
    with tf.Graph().as_default(), v1.Session() as s:
        words = v1.placeholder(tf.string, [None], name="words")
        asset = tf.constant(vocab)
        v1.add_to_collection(v1.GraphKeys.ASSET_FILEPATHS, asset)
        t = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(
            asset, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER), -1)
        local = v1.get_variable("local", [], initializer=v1.constant_initializer(7.0), collections=[v1.GraphKeys.LOCAL_VARIABLES], use_resource=True)
        w = v1.get_variable("w", [], initializer=v1.constant_initializer(2.0), use_resource=True)
        ids = t.lookup(words)
        s.run([v1.global_variables_initializer(), v1.local_variables_initializer(), v1.tables_initializer()])
        b.add_meta_graph_and_variables(
            s, ["serve"], {"serving_default": sig({"words": words}, {"ids": ids, "w": w * local})},
            assets_collection=v1.get_collection(v1.GraphKeys.ASSET_FILEPATHS),
            main_op=tf.group(v1.local_variables_initializer(), v1.tables_initializer()))
    b.save()
    os.remove(vocab)
    session_answers("tf1_init", ["serve"], [("serving_default", {"words": np.array([b"beta", b"gamma", b"alpha"])})])


def tf1_local():
    """A main op that assigns the variables that the checkpoint lacks."""
    b = builder("tf1_local")
    with tf.Graph().as_default(), v1.Session() as s:
        a = v1.placeholder(tf.float32, [None], name="a")
        local = v1.get_variable("local", [], initializer=v1.constant_initializer(7.0), collections=[v1.GraphKeys.LOCAL_VARIABLES], use_resource=True)
        w = v1.get_variable("w", [], initializer=v1.constant_initializer(2.0), use_resource=True)
        s.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        b.add_meta_graph_and_variables(s, ["serve"], {"serving_default": sig({"a": a}, {"y": a * w + local})}, main_op=tf.group(v1.local_variables_initializer()))
    b.save()
    session_answers("tf1_local", ["serve"], [("serving_default", {"a": x(3)})])


def tf1_no_init(name="tf1_no_init", main_op=None):
    """Tables and local variables in a graph that names no op to run at loading, and signatures that return operations."""
    from tensorflow.core.protobuf import saved_model_pb2
    from tensorflow.python.saved_model import utils_impl
    b = builder(name)
    with tf.Graph().as_default(), v1.Session() as s:
        words = v1.placeholder(tf.string, [None], name="words")
        t = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(tf.constant(["alpha", "beta"]), tf.constant([1, 2], tf.int64)), -1)
        local = [v1.get_variable("local_%d" % i, [], initializer=v1.constant_initializer(7.0 + i), collections=[v1.GraphKeys.LOCAL_VARIABLES], use_resource=i == 0)
                 for i in range(2)]
        w = v1.get_variable("w", [], initializer=v1.constant_initializer(2.0), use_resource=True)
        add = v1.assign_add(local[0], 1.0).op
        sums = w * local[0] + local[1]
        init = main_op and utils_impl.build_tensor_info_from_op(main_op())
        s.run([v1.global_variables_initializer(), v1.local_variables_initializer(), v1.tables_initializer()])
        b.add_meta_graph_and_variables(
            s, ["serve"], {"serving_default": sig({"words": words}, {"ids": t.lookup(words)}), "sums": sig({}, {"y": sums})})
        added = utils_impl.build_tensor_info_from_op(add)
    b.save()
    file = os.path.join(here, "models", name, "saved_model.pb")
    with open(file, "rb") as f:
        m = saved_model_pb2.SavedModel.FromString(f.read())
    defs = m.meta_graphs[0].signature_def  # the builder refuses operations in signatures
    defs["train"].outputs["train_op"].CopyFrom(added)
    if init:
        defs["__saved_model_init_op"].outputs["__saved_model_init_op"].CopyFrom(init)
    defs["both"].CopyFrom(defs["serving_default"])
    defs["both"].outputs["train_op"].CopyFrom(added)
    with open(file, "wb") as f:
        f.write(m.SerializeToString(deterministic=True))
    a = Answers(name)
    a.signature("serving_default", words=np.array([b"beta", b"gamma", b"alpha"]))
    a.signature("sums")
    a.signature("train")
    a.signature("both", words=np.array([b"alpha"]))
    a.signature("sums")
    if main_op:
        a.signature("__saved_model_init_op")
        a.signature("serving_default", words=np.array([b"beta"]))
        a.signature("sums")
    a.write()


def tf1_only_init():
    """An init op that assigns the local variables and leaves the table empty: nothing else runs."""
    tf1_no_init("tf1_only_init", v1.local_variables_initializer)


def tf1_unsaved():
    """A graph without a saver, as modules of TensorFlow Hub are: the collection of variables lists the restored ones."""
    from tensorflow.core.protobuf import saved_model_pb2
    b = builder("tf1_unsaved")
    with tf.Graph().as_default(), v1.Session() as s:
        a = v1.placeholder(tf.float32, [None, 4], name="a")
        parts = v1.get_variable("parts", [4, 3], initializer=v1.random_uniform_initializer(seed=3), partitioner=v1.fixed_size_partitioner(2), use_resource=True)
        ref = v1.get_variable("ref", [3], initializer=v1.constant_initializer([1.0, 2.0, 4.0]), use_resource=False)
        s.run(v1.global_variables_initializer())
        b.add_meta_graph_and_variables(s, [], {"default": sig({"a": a}, {"y": a @ tf.convert_to_tensor(parts) + ref})})
    b.save()
    file = os.path.join(here, "models", "tf1_unsaved", "saved_model.pb")
    with open(file, "rb") as f:
        m = saved_model_pb2.SavedModel.FromString(f.read())
    m.meta_graphs[0].ClearField("saver_def")
    graph = m.meta_graphs[0].graph_def
    kept = [n for n in graph.node if not n.name.startswith("save/")]
    del graph.node[:]
    graph.node.extend(kept)
    with open(file, "wb") as f:
        f.write(m.SerializeToString(deterministic=True))
    session_answers("tf1_unsaved", [], [("default", {"a": x(2, 4)})])


def tf1_graphs():
    """Two MetaGraphs over one checkpoint."""
    b = builder("tf1_graphs")
    first = True
    for tags, k in [(["serve"], 1.0), (["serve", "gpu"], 2.0)]:
        with tf.Graph().as_default(), v1.Session() as s:
            p = v1.placeholder(tf.float32, [None], name="p")
            w = v1.get_variable("w", [], initializer=v1.constant_initializer(4.0), use_resource=False)
            signatures = {"serving_default": sig({"p": p}, {"y": p * w + k})}
            if first:
                s.run(v1.global_variables_initializer())
                b.add_meta_graph_and_variables(s, tags, signatures)
                first = False
            else:
                b.add_meta_graph(tags, signatures)
    b.save()
    session_answers("tf1_graphs", ["serve"], [("serving_default", {"p": x(2)})])
    session_answers("tf1_graphs", ["serve", "gpu"], [("serving_default", {"p": x(2)})])


def tf1_sparse():
    b = builder("tf1_sparse")
    with tf.Graph().as_default(), v1.Session() as s:
        p = v1.sparse_placeholder(tf.float32, [None, 4], name="sp")
        y = tf.reduce_sum(p.values) + tf.cast(tf.reduce_sum(p.indices), tf.float32)
        b.add_meta_graph_and_variables(s, ["serve"], {"serving_default": sig({"s": p}, {"y": y, "shape": p.dense_shape})})
    b.save()
    session_answers("tf1_sparse", ["serve"], [("serving_default", {
        "s/indices": np.int64([[0, 1], [1, 3]]), "s/values": np.float32([1.5, 2.5]), "s/dense_shape": np.int64([2, 4])})])


def tf1_defun():
    from tensorflow.python.framework import function
    b = builder("tf1_defun")
    with tf.Graph().as_default(), v1.Session() as s:
        p = v1.placeholder(tf.float32, [None])

        @function.Defun(tf.float32)
        def f(a):
            return a * 2.0 + 1.0

        @function.Defun(tf.float32, tf.float32)
        def g(a, c):
            return f(a) + c

        b.add_meta_graph_and_variables(s, ["serve"], {"serving_default": sig({"p": p}, {"y": g(p, p)})})
    b.save()
    session_answers("tf1_defun", ["serve"], [("serving_default", {"p": x(3)})])


def tf1_effects():
    """Branches and loops that change reference variables."""
    b = builder("tf1_effects")
    with tf.Graph().as_default(), v1.Session() as s:
        v1.disable_control_flow_v2()
        p = v1.placeholder(tf.float32, [])
        ref = v1.get_variable("ref", [], initializer=v1.zeros_initializer(), use_resource=False)

        def body(i, a):
            with tf.control_dependencies([v1.assign_add(ref, 1.0)]):
                return i + 1, a * 2.0

        _, loop = v1.while_loop(lambda i, a: i < 3, body, [0, p])
        cond = v1.cond(p > 0.0, lambda: tf.identity(v1.assign_add(ref, 10.0)), lambda: p)
        case = v1.case([(p > 5.0, lambda: p + 1.0), (p > 2.0, lambda: p + 2.0)], default=lambda: p)
        with tf.control_dependencies([v1.Assert(p > -100.0, [p])]):
            asserted = tf.identity(p)
        s.run(v1.global_variables_initializer())
        ins = {"p": p}
        b.add_meta_graph_and_variables(s, ["serve"], {
            "loop": sig(ins, {"y": loop}), "cond": sig(ins, {"y": cond}), "case": sig(ins, {"y": case}),
            "assert": sig(ins, {"y": asserted}), "read": sig({}, {"ref": ref})})
    b.save()
    calls = [(n, {"p": np.float32(v)}) for v in (3, 7, -1) for n in ("cond", "case", "assert")]
    session_answers("tf1_effects", ["serve"], calls + [("read", {}), ("loop", {"p": np.float32(1)}), ("read", {})])


def tf1_branches():
    """Branches that draw numbers and change state, which gradients take values out of; and metrics, which wait for the feeds."""
    v1.disable_control_flow_v2()
    b = builder("tf1_branches")
    with tf.Graph().as_default(), v1.Session() as s:
        v1.set_random_seed(11)
        p = v1.placeholder(tf.float32, [3], name="p")
        on = v1.placeholder(tf.bool, [], name="on")
        n = v1.placeholder(tf.int32, [], name="n")
        w = v1.get_variable("w", initializer=np.float32([1, 2, 3]), use_resource=False)
        steps = v1.get_variable("steps", initializer=np.float32(0), use_resource=False, trainable=False)
        kept = v1.get_variable("kept", initializer=np.float32(0), use_resource=True, trainable=False)

        def noisy():
            r = tf.nn.dropout(p * w, rate=0.5, seed=4) + tf.random.uniform([3], seed=2) * w
            return r * v1.assign_add(steps, 1.0) * w, tf.reduce_sum(r)

        y, z = v1.cond(on, noisy, lambda: (p + w, tf.reduce_sum(w * w * kept.assign_add(10.0))))
        loss = tf.reduce_sum(y * y) + z * z
        gp, gw = tf.gradients(loss, [p, w])

        def turn(i, a):
            return i + 1, 0.9 * v1.cond(on, lambda: a + tf.random.uniform([3], seed=5), lambda: a - v1.assign_add(steps, 1.0))

        _, loop = v1.while_loop(lambda i, a: i < n, turn, [0, p], parallel_iterations=1)
        mean, update = v1.metrics.mean(p)
        with tf.control_dependencies([update]):
            updated = tf.constant(1)
        s.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        b.add_meta_graph_and_variables(s, ["serve"], {
            "serving_default": sig({"p": p, "on": on}, {"y": y, "z": z, "loss": loss, "gp": gp, "gw": tf.convert_to_tensor(gw)}),
            "state": sig({}, {"steps": steps.value(), "kept": kept.read_value()}),
            "loop": sig({"p": p, "on": on, "n": n}, {"y": loop}),
            "update": sig({"p": p}, {"updated": updated}),
            "mean": sig({}, {"mean": mean}),
        }, main_op=v1.local_variables_initializer())
    b.save()
    a = np.float32([1, -2, 3])
    both = [("serving_default", {"p": a, "on": np.bool_(v)}) for v in [True, True, False, True]]
    loops = [("loop", {"p": a, "on": np.bool_(v), "n": np.int32(k)}) for v, k in [(True, 3), (False, 2), (True, 1)]]
    state = [("state", {})]
    session_answers("tf1_branches", ["serve"], both[:1] + state + both[1:] + state + loops + state
                    + [("update", {"p": a}), ("update", {"p": a * 5}), ("mean", {})])


def finetune():
    """Models whose variables are trained further: gradients of the sum of squares of their results."""
    import tf_keras as keras

    @tf.custom_gradient
    def log1pexp(v):
        e = tf.exp(v)

        def grad(dy):
            return 0.5 * dy * (1 - 1 / (1 + e))

        return tf.math.log(1 + e), grad

    class Model(tf.Module):
        def __init__(self, layers, shape, call=None):
            super().__init__()
            self.layers, self.call = layers, call
            self.forward = tf.function(self._forward, input_signature=[tf.TensorSpec(shape, tf.float32)])

        def _forward(self, v):
            for l in self.layers:
                v = l(v, training=True) if isinstance(l, keras.layers.BatchNormalization) else l(v)
            return self.call(v) if self.call else v

    class Outer(tf.Module):
        """Gradients that capture values and a variable of the functions around."""
        def __init__(self):
            super().__init__()
            self.w = tf.Variable([1.0, 2.0, 3.0], name="w")
            self.forward = tf.function(self._forward, input_signature=[tf.TensorSpec([None, 3], tf.float32)])

        def _forward(self, v):
            y = v * self.w

            @tf.custom_gradient
            def twice(u):
                return u * 2.0, lambda dy: dy * y

            @tf.custom_gradient
            def times(u):
                return u * y, lambda dy: dy * (y + 1.0)

            @tf.custom_gradient
            def moved(u):
                return u + 1.0, lambda dy: dy * self.w

            @tf.function
            def inner(z):
                z = moved(z)
                for _ in tf.range(2):
                    z = times(z) * 0.5
                return twice(z)

            return inner(y + 1.0)

    keras.utils.set_random_seed(3)
    models = {
        "dense": Model([keras.layers.Dense(5, "tanh"), keras.layers.Dense(2, "softmax")], [None, 4]),
        "convolution": Model([keras.layers.Conv2D(3, 3), keras.layers.BatchNormalization(), keras.layers.ReLU(), keras.layers.MaxPool2D(), keras.layers.Flatten(),
                              keras.layers.Dense(2)], [None, 6, 6, 2]),
        "lstm": Model([keras.layers.LSTM(4), keras.layers.Dense(2)], [None, 5, 3]),
        "custom": Model([keras.layers.Dense(3), keras.layers.Lambda(log1pexp), keras.layers.Dense(2)], [None, 4]),
        "outer": Outer(),
    }
    for name, m in models.items():
        save_with_gradients(name, m)


def save_with_gradients(name, m):
    v = tf.constant(x(3, *m.forward.input_signature[0].shape[1:]))
    m.forward(v)  # makes the variables
    d = fresh("finetune_" + name)
    tf.saved_model.save(m, d, options=tf.saved_model.SaveOptions(experimental_custom_gradients=True))
    with tf.GradientTape() as tape:
        tape.watch(v)
        loss = tf.reduce_sum(tf.square(m.forward(v)))
    variables = list(m.trainable_variables)
    grads = tape.gradient(loss, [v] + variables)
    os.remove(os.path.join(d, "fingerprint.pb"))
    with open(os.path.join(d, "gradients.json"), "w") as f:
        json.dump({"x": plain(v), "loss": plain(loss), "dx": plain(grads[0]),
                   "variables": [{"name": w.name.split(":")[0], "value": plain(w), "gradient": plain(g)} for w, g in zip(variables, grads[1:])]}, f)


def random_paths():
    """Stateful random ops on several paths of calls: each function's results over three calls."""
    def draw():
        return tf.raw_ops.RandomUniform(shape=[2], dtype=tf.float32, seed=7, seed2=3)

    def function(f, **attributes):
        return tf.function(f, input_signature=[tf.TensorSpec([], tf.int32)] if f.__code__.co_argcount else [],
                           experimental_attributes={"_noinline": True} if attributes else None)

    g = function(lambda: draw())
    shared = function(lambda: draw(), noinline=True)
    shared_twice = function(lambda: tf.stack([g(), g()]), noinline=True)
    nested = function(lambda: tf.stack([g(), g()]))
    through = function(lambda: shared())

    def loop():
        return tf.while_loop(lambda i, _: i < 3, lambda i, a: (i + 1, a.write(i, draw())), [0, tf.TensorArray(tf.float32, 3)], parallel_iterations=1)[1].stack()

    looped = function(loop)

    def calls_in_loop():
        return tf.while_loop(lambda i, _: i < 3, lambda i, a: (i + 1, a.write(i, g() + 0.0 * g())), [0, tf.TensorArray(tf.float32, 3)], parallel_iterations=1)[1].stack()

    def branch(i):
        return tf.cond(i > 0, draw, lambda: draw() + 0.0)

    branched = function(branch)
    unary = tf.function(lambda x: draw() + 0.0 * x).get_concrete_function(tf.TensorSpec([], tf.float32))

    def lowered(y):  # as control flow of tf.function is; of other ops TensorFlow's answer depends on its optimizer
        y.op._set_attr("_lower_using_switch_merge", tf.compat.v1.AttrValue(b=True))
        return y

    def same(i):
        return lowered(tf.raw_ops.If(cond=i > 0, input=[tf.constant(1.0)], Tout=[tf.float32], then_branch=unary, else_branch=unary)[0])

    def same_cases(i):
        return lowered(tf.raw_ops.Case(branch_index=i, input=[tf.constant(1.0)], Tout=[tf.float32], branches=[unary, unary, unary])[0])

    def numbers():
        return tf.data.Dataset.range(2)

    def elements(d):
        it = iter(d)
        return tf.stack([it.get_next(), it.get_next()])

    m = tf.Module()
    functions = {
        "two_nodes": lambda: tf.stack([draw(), draw()]),
        "two_sites": lambda: tf.stack([g(), g()]),
        "nested": lambda: tf.concat([nested(), nested(), tf.stack([g()])], 0),
        "shared": lambda: tf.stack([shared(), through(), through()]),
        "shared_twice": lambda: tf.concat([shared_twice(), shared_twice()], 0),
        "loop": loop,
        "two_loops": lambda: tf.concat([looped(), looped()], 0),
        "calls_in_loop": lambda: tf.concat([calls_in_loop(), tf.stack([g()])], 0),
        "branches": lambda i: tf.stack([branched(i), branched(1 - i), branch(i)]),
        "same_branches": lambda i: tf.stack([same(i), same(i)]),
        "same_cases": lambda i: tf.stack([same_cases(i), same_cases(i)]),
        "elements": lambda: elements(numbers().map(lambda _: tf.stack([g(), g()]))),
        "elements_again": lambda: elements(numbers().map(lambda _: draw()).repeat(2).skip(1)),
        "reduced": lambda: numbers().reduce(tf.zeros([2]), lambda *_: draw()),
    }
    for name, f in functions.items():
        setattr(m, name, function(f))
    d = fresh("random_paths")
    tf.saved_model.save(m, d)
    os.remove(os.path.join(d, "fingerprint.pb"))
    loaded = tf.saved_model.load(d)
    with open(os.path.join(d, "results.json"), "w") as f:
        json.dump({name: [plain(getattr(loaded, name)(*([tf.constant(i)] if function.__code__.co_argcount else []))) for i in [1, 1, 0]]
                   for name, function in functions.items()}, f)


def finetune_some():
    """A custom gradient that has none with regard to an argument in the middle."""
    class Some(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable([0.5, -2.0, 3.0], name="w")
            self.forward = tf.function(self._forward, input_signature=[tf.TensorSpec([None, 3], tf.float32)])

        def _forward(self, v):
            @tf.custom_gradient
            def mixed(a, b, c):
                return a * b * c, lambda dy: (dy * 2.0, None, dy * a)

            return mixed(v * self.w, tf.sin(self.w), v + self.w)

    save_with_gradients("some", Some())


def finetune_arrays():
    """TensorFlow 1's arrays in its loops and branches: each signature with the gradient of its result's sum of squares."""
    v1.disable_control_flow_v2()

    def array(size, **kw):
        return tf.TensorArray(tf.float32, size=size, **kw)

    def count(size, body, *state):
        return v1.while_loop(lambda i, *_: i < size, lambda i, *v: (i + 1,) + tuple(body(i, *v)), (0,) + state)[1:]

    def build():
        p = v1.placeholder(tf.float32, [None, 3], name="p")
        n = tf.shape(p)[0]
        w = v1.get_variable("w", [3, 3], initializer=v1.random_uniform_initializer(-1, 1, seed=4), use_resource=True)
        rows = array(n).unstack(p)

        def recur(i, h, out):
            h = tf.tanh(tf.matmul(rows.read(i)[tf.newaxis], w) + h)
            return h, out.write(i, h[0])

        kept = array(n, clear_after_read=False).unstack(tf.matmul(p, w))
        cut = array(2, infer_shape=False).split(tf.matmul(p, w), [1, n - 1])
        picked = array(n, clear_after_read=False).scatter(tf.range(n)[::-1], tf.matmul(p, w))

        def choose(i, a):
            flow = v1.cond(i > 1, lambda: a.write(i, p[i] * 2.0).flow, lambda: a.write(i, tf.sin(p[i]) * tf.reduce_sum(w)).flow)
            return [tensor_array_ops.build_ta_with_new_flow(a, flow)]

        def nest(i, a):
            inner, = count(i, lambda j, c: [c.write(j, p[j] * p[i])], array(i, element_shape=[3]))
            return [a.write(i, tf.reduce_sum(inner.stack(), 0) + tf.matmul(p[i][tf.newaxis], w)[0])]

        return p, w, {
            "recurrent": count(n, recur, tf.zeros([1, 3]), array(n))[1].stack(),
            "reread": count(2 * n, lambda i, t: [t + kept.read(i % n) * kept.read(0) * tf.cast(i, tf.float32)], tf.zeros([3]))[0],
            "concat": count(n, lambda i, a: [a.write(i, tf.matmul(p[:i + 1], w))], array(0, dynamic_size=True, infer_shape=False))[0].concat(),
            "split": cut.read(1) * tf.reduce_sum(cut.read(0)),
            "gather": picked.gather([0, n - 1, 0]) * tf.cast(picked.size(), tf.float32),
            "branch": count(n, choose, array(n))[0].stack(),
            "nested": count(n, nest, array(n))[0].stack(),
        }

    fed = x(4, 3)
    b = builder("finetune_arrays")
    with tf.Graph().as_default(), v1.Session() as s:
        p, w, results = build()
        s.run(v1.global_variables_initializer())
        value = s.run(w)
        b.add_meta_graph_and_variables(s, ["serve"], {name: sig({"x": p}, {"y": y}) for name, y in results.items()})
    b.save()
    records = {"x": plain(fed), "w": plain(value), "signatures": {}}
    with tf.Graph().as_default(), v1.Session() as s:  # another graph, for the model holds no gradients
        p, w, results = build()
        s.run(w.initializer)
        w.load(value, s)
        for name, y in results.items():
            loss = tf.reduce_sum(tf.square(y))
            got = s.run([loss] + v1.gradients(loss, [p, w]), {p: fed})
            records["signatures"][name] = dict(zip(["loss", "dx", "dw"], map(plain, got)))
    with open(os.path.join(here, "models", "finetune_arrays", "gradients.json"), "w") as f:
        json.dump(records, f)


def hub_training():
    """A module as TensorFlow Hub's have it, loaded and trained further below a new layer: the losses of 20 steps."""
    class M(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(x(6, 5) / 2, name="w")
            self.b = tf.Variable(tf.zeros(5), name="b")
            self.mean = tf.Variable(tf.zeros(5), trainable=False, name="mean")

        @tf.function
        def __call__(self, v, training=False):
            y = tf.matmul(v, self.w) + self.b
            if training:
                m = tf.reduce_mean(y, 0)
                self.mean.assign(self.mean * 0.9 + m * 0.1)
                y = y - m
            else:
                y = y - self.mean
            return tf.nn.elu(y)

        @tf.function(input_signature=[])
        def penalty(self):
            return 0.01 * tf.nn.l2_loss(self.w)

    m = M()
    for training in [False, True]:
        m.__call__.get_concrete_function(tf.TensorSpec([None, 6]), training=training)
    root = tf.train.Checkpoint()
    root.__call__ = m.__call__
    root.variables = [m.w, m.b, m.mean]
    root.trainable_variables = [m.w, m.b]
    root.regularization_losses = [m.penalty]
    d = fresh("hub_training")
    tf.saved_model.save(root, d)
    loaded = tf.saved_model.load(d)
    head = tf.Variable(x(5, 3) / 2)
    first = plain(head)
    images, labels = tf.constant(x(12, 6)), tf.constant(RNG.randint(0, 3, 12))
    variables = list(loaded.trainable_variables) + [head]
    losses = []
    for _ in range(20):
        with tf.GradientTape() as tape:
            logits = tf.matmul(loaded(images, training=True), head)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)) + loaded.regularization_losses[0]()
        for v, g in zip(variables, tape.gradient(loss, variables)):
            v.assign_sub(0.2 * g)
        losses.append(float(loss))
    after = loaded(images)
    os.remove(os.path.join(d, "fingerprint.pb"))
    with open(os.path.join(d, "training.json"), "w") as f:
        json.dump({"x": plain(images), "labels": plain(labels), "head": first, "losses": losses, "after": plain(after), "mean": plain(loaded.variables[2])}, f)


class Tokens(tf.Module):
    """A model of tokens as a module with one signature."""
    def __init__(self, model, length, vocabulary):
        super().__init__()
        self.weights = model.variables  # not the model, whose functions are many
        self.serve = tf.function(lambda tokens: {"y": model(tokens)}, input_signature=[tf.TensorSpec([None, length], tf.int32, name="tokens")])
        self.example = RNG.randint(0, vocabulary, (2, length)).astype(np.int32)

    def save(self, name):
        self.serve.get_concrete_function()
        tf.saved_model.save(self, fresh(name), signatures=self.serve)
        a = Answers(name)
        a.signature("serving_default", tokens=self.example)
        a.write()


def transformer():
    """Two layers of attention, batches of any size."""
    import tf_keras as keras
    keras.utils.set_random_seed(5)
    tokens = keras.Input((24,), dtype="int32")
    y = keras.layers.Embedding(30, 32)(tokens) + keras.layers.Embedding(24, 32)(tf.range(24))
    for _ in range(2):
        y = keras.layers.LayerNormalization(epsilon=1e-6)(y + keras.layers.MultiHeadAttention(2, 16)(y, y))
        y = keras.layers.LayerNormalization(epsilon=1e-6)(y + keras.layers.Dense(32)(keras.layers.Dense(64, "gelu")(y)))
    Tokens(keras.Model(tokens, keras.layers.Dense(2)(keras.layers.GlobalAveragePooling1D()(y))), 24, 30).save("transformer")


def recurrent():
    """An LSTM in both directions and a GRU, over 60 tokens."""
    import tf_keras as keras
    keras.utils.set_random_seed(6)
    m = keras.Sequential([keras.Input((60,), dtype="int32"), keras.layers.Embedding(30, 8),
                          keras.layers.Bidirectional(keras.layers.RNN(keras.layers.LSTMCell(8), return_sequences=True)), keras.layers.RNN(keras.layers.GRUCell(8)), keras.layers.Dense(1, "sigmoid")])
    Tokens(m, 60, 30).save("recurrent")


ALL = [finetune, finetune_some, random_paths, hub_training, module, text, keras_mlp, hub, table, tf1_refs, tf1_control, tf1_gradients, tf1_init, tf1_local, tf1_no_init, tf1_only_init, tf1_unsaved, tf1_graphs, tf1_sparse,
       tables, no_signatures, unranked, reshaped, tf1_defun, tf1_effects, tf1_branches, structured, transformer, recurrent, finetune_arrays]

if __name__ == "__main__":
    os.chdir(tempfile.mkdtemp())
    for make in ALL:
        if len(sys.argv) < 2 or make.__name__ in sys.argv[1:]:
            make()
            d = os.path.join(here, "models", make.__name__)
            for extra in ["fingerprint.pb", "keras_metadata.pb"]:
                if make.__name__ != "keras_mlp" and extra == "keras_metadata.pb" and os.path.exists(os.path.join(d, extra)):
                    os.remove(os.path.join(d, extra))
            if not os.listdir(os.path.join(d, "assets")) if os.path.isdir(os.path.join(d, "assets")) else False:
                os.rmdir(os.path.join(d, "assets"))

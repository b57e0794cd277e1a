"""Writes SavedModels whose functions hold datasets, and whose graphs are fed by an
iterator or a queue, and TensorFlow 2.21's results for them.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_data_models.py
"""
import json
import os
import shutil

import numpy as np
import tensorflow as tf

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "models")
v1 = tf.compat.v1


def pack(v):
    v = np.asarray(v)
    p = {"dtype": tf.as_dtype(v.dtype).name, "shape": list(v.shape)}
    if v.dtype.kind in "OS":
        return dict(p, strings=[x.decode() for x in v.reshape(-1).tolist()])
    return dict(p, values=v.reshape(-1).tolist())


def fresh(name):
    d = os.path.join(HERE, name)
    shutil.rmtree(d, ignore_errors=True)
    return d


def finish(d, answers):
    shutil.rmtree(os.path.join(d, "assets"), ignore_errors=True)
    if os.path.exists(os.path.join(d, "fingerprint.pb")):
        os.remove(os.path.join(d, "fingerprint.pb"))
    with open(os.path.join(d, "answers.json"), "w") as f:
        json.dump(answers, f)


class Pipeline(tf.Module):
    def __init__(self):
        self.scale = tf.Variable(3.0)
        self.calls = tf.Variable(0)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, name="x")])
    def sums(self, x):
        """A loop over batches of a dataset that reads a variable."""
        self.calls.assign_add(1)
        ds = tf.data.Dataset.from_tensor_slices(x).map(lambda v: v * self.scale, num_parallel_calls=2).batch(3).prefetch(1)
        total, n = tf.constant(0.0), tf.constant(0)
        for batch in ds:
            total += tf.reduce_sum(batch) * tf.cast(n + 1, tf.float32)
            n += 1
        return {"total": total, "batches": n, "calls": self.calls.read_value()}

    @tf.function(input_signature=[tf.TensorSpec([], tf.int64, name="n")])
    def order(self, n):
        """Shuffled numbers up to a sum, in a loop that is left."""
        ds = tf.data.Dataset.range(n).shuffle(5, seed=11).repeat(2).filter(lambda v: v % 3 != 1)
        out = tf.TensorArray(tf.int64, size=0, dynamic_size=True, element_shape=[])
        total = tf.constant(0, tf.int64)
        i = tf.constant(0)
        for v in ds:
            if total > 40:
                break
            total += v
            out = out.write(i, v)
            i += 1
        return {"seen": out.stack(), "total": total}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="s")])
    def words(self, s):
        """Padded batches of words of unequal numbers, from an iterator."""
        ds = tf.data.Dataset.from_tensor_slices(s).map(lambda x: tf.strings.split(x)).padded_batch(2, padded_shapes=[None], padding_values="-")
        it = iter(ds)
        first = next(it)
        o = it.get_next_as_optional()
        second = tf.cond(o.has_value(), lambda: o.get_value(), lambda: tf.zeros([0, 0], tf.string))
        return {"first": first, "second": second}

    @tf.function(input_signature=[tf.TensorSpec([], tf.int64, name="n")])
    def windows(self, n):
        ds = tf.data.Dataset.range(n).window(3, shift=2, drop_remainder=True).flat_map(lambda w: w.batch(3))
        ds = tf.data.Dataset.zip((ds, ds.interleave(lambda w: tf.data.Dataset.from_tensors(w).repeat(2), cycle_length=2))).enumerate()
        return {"sum": ds.reduce(tf.constant(0, tf.int64), lambda s, e: s * 7 % 1000003 + e[0] + tf.reduce_sum(e[1][0]) * 2 + tf.reduce_max(e[1][1])), "size": ds.cardinality()}


d = fresh("datasets")
m = Pipeline()
tf.saved_model.save(m, d, signatures={"sums": m.sums, "order": m.order, "words": m.words, "windows": m.windows})
loaded = tf.saved_model.load(d)
answers = []
for sig, arg in [("sums", [1.0, 2.0, 3.0, 4.0]), ("sums", []), ("sums", [0.5] * 7), ("order", 12), ("order", 4), ("words", ["a b", "c", "d e f", ""]), ("words", ["x y"]), ("windows", 9), ("windows", 2)]:
    f = loaded.signatures[sig]
    name = list(f.structured_input_signature[1])[0]
    x = tf.constant(arg, f.structured_input_signature[1][name].dtype)
    answers.append({"signature": sig, "in": {name: pack(x.numpy())}, "out": {k: pack(v.numpy()) for k, v in f(**{name: x}).items()}})
finish(d, answers)


def graph_model(name, build, runs):
    """build returns signatures of inputs and outputs, and the op that initializes; runs are signatures and feeds."""
    d = fresh(name)
    with tf.Graph().as_default(), v1.Session() as sess:
        sigs, init = build()
        sess.run(v1.global_variables_initializer())
        b = v1.saved_model.Builder(d)
        b.add_meta_graph_and_variables(sess, ["serve"], main_op=init, signature_def_map={k: v1.saved_model.build_signature_def({n: v1.saved_model.build_tensor_info(t) for n, t in i.items()}, {n: v1.saved_model.build_tensor_info(t) for n, t in o.items()}, "tensorflow/serving/predict") for k, (i, o) in sigs.items()})
        b.save()
    answers = []
    with tf.Graph().as_default(), v1.Session() as sess:
        meta = v1.saved_model.load(sess, ["serve"], d)
        for sig, feed in runs:
            s = meta.signature_def[sig]
            got = sess.run({k: v.name for k, v in s.outputs.items()}, {s.inputs[k].name: v for k, v in feed.items()})
            answers.append({"signature": sig, "in": {k: pack(np.asarray(v, tf.as_dtype(s.inputs[k].dtype).as_numpy_dtype)) for k, v in feed.items()}, "out": {k: pack(v) for k, v in got.items()}})
    finish(d, answers)


def one_shot():
    ds = v1.data.Dataset.from_tensor_slices((np.arange(6, dtype=np.float32).reshape(3, 2), ["a", "b", "c"])).shuffle(3, seed=5).repeat()
    x, s = v1.data.make_one_shot_iterator(ds).get_next()
    w = v1.get_variable("w", initializer=[[1.0], [10.0]], use_resource=True)
    feed = v1.placeholder_with_default(x, [2], name="x")
    init_ds = v1.data.make_initializable_iterator(v1.data.Dataset.range(100).batch(2))
    n = init_ds.get_next()
    return {"next": ({}, {"y": tf.linalg.matvec(w, feed, transpose_a=True), "s": tf.identity(s)}), "fed": ({"x": feed}, {"y": tf.linalg.matvec(w, feed, transpose_a=True)}), "numbers": ({}, {"n": n})}, init_ds.initializer


graph_model("tf1_iterators", one_shot, [("next", {}), ("next", {}), ("fed", {"x": [1, 2]}), ("next", {}), ("next", {}), ("numbers", {}), ("numbers", {})])


def queued():
    x = v1.placeholder(tf.float32, [None, 2], name="x")
    q = v1.FIFOQueue(20, [tf.float32, tf.int32], shapes=[[2], []], shared_name="rows")
    put = q.enqueue_many([x, tf.range(tf.shape(x)[0])])
    with tf.control_dependencies([put]):
        size = q.size()
    a, b = q.dequeue()
    many, _ = q.dequeue_many(2)
    w = v1.get_variable("w", initializer=[2.0, 3.0], use_resource=False)
    return {"put": ({"x": x}, {"size": size}), "one": ({}, {"y": a * w, "number": b}), "two": ({}, {"y": many * w})}, None


graph_model("tf1_queue", queued, [("put", {"x": [[1, 2], [3, 4], [5, 6]]}), ("one", {}), ("two", {}), ("put", {"x": [[7, 8]]}), ("one", {})])

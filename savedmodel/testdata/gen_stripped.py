"""Writes stripped/: graphs before and after TensorFlow strips them.

debug_before.pb, debug_after.pb        SavedModels, without and with the debug stripper
defaults_before.pb, defaults_after.pb  MetaGraphDefs, with and without attributes that have their defaults

Run with TensorFlow 2.21: TF_CPP_MIN_LOG_LEVEL=3 python gen_stripped.py
"""
import os
import shutil
import tempfile

import tensorflow as tf
from tensorflow.core.protobuf import meta_graph_pb2
from tensorflow.python.framework import meta_graph


class Model(tf.Module):
    def __init__(self):
        self.v = tf.Variable([1.0, 2.0], name="v")

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32), tf.TensorSpec([], tf.bool)], autograph=False)
    def check(self, x, deep):
        """Every op, in the function itself and in a branch."""
        tf.debugging.Assert(tf.reduce_all(x > 0), [x, self.v], name="positive")
        tf.print("x is", x)
        y = tf.debugging.check_numerics(x * 2, "twice")
        y = tf.raw_ops.Print(input=y, data=[x, y], message="y is")

        def branch():
            with tf.control_dependencies([tf.debugging.Assert(deep, [deep]), tf.print("deep", y)]):
                return tf.debugging.check_numerics(y, "deep") + self.v[0]

        return {"y": tf.cond(deep, branch, lambda: y + 1), "sum": tf.raw_ops.CheckNumerics(tensor=x, message="argument")}


def defaults():
    """Calls of ops with attributes of every kind, each with its default and with another value."""
    @tf.function(autograph=False)
    def f(image, text, n):
        image = tf.raw_ops.Conv2D(input=image, filter=tf.ones([2, 2, 3, 3]), strides=[1, 1, 1, 1], padding="SAME")
        image = tf.raw_ops.Conv2D(input=image, filter=tf.ones([2, 2, 3, 3]), strides=[1, 1, 1, 1], padding="SAME",
                                  dilations=[1, 2, 2, 1], use_cudnn_on_gpu=False)
        image = tf.raw_ops.LeakyRelu(features=image, alpha=0.3) + tf.raw_ops.LeakyRelu(features=image)
        m = tf.raw_ops.MatMul(a=image[0, 0], b=tf.ones([3, 3]), transpose_b=True)
        total = tf.raw_ops.Sum(input=m, axis=0) + tf.raw_ops.Sum(input=m, axis=[0], keep_dims=True)
        words = tf.raw_ops.StringSplitV2(input=text, sep=" ", maxsplit=3)
        length = tf.raw_ops.StringLength(input=words.values, unit="UTF8_CHAR")
        noise = tf.raw_ops.RandomUniform(shape=[2], dtype=tf.float32, seed2=5)
        handle = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[2], shared_name="v", allowed_devices=[])
        place = tf.raw_ops.Placeholder(dtype=tf.int32)
        shape = tf.raw_ops.Shape(input=m, out_type=tf.int64), tf.raw_ops.Shape(input=m)
        loop = tf.while_loop(lambda i: i < n, lambda i: [i + 1], [0], parallel_iterations=7)
        table = tf.raw_ops.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64)
        data = tf.raw_ops.TensorDataset(components=[m], output_shapes=[[3]], metadata="x")
        return total, length, noise, handle, place, shape, loop, table, data

    specs = [tf.TensorSpec([1, 4, 4, 3]), tf.TensorSpec([None], tf.string), tf.TensorSpec([], tf.int32)]
    out = meta_graph_pb2.MetaGraphDef(graph_def=f.get_concrete_function(*specs).graph.as_graph_def())
    inner = tf.function(lambda x: tf.matmul(x, x) + tf.nn.relu(x), autograph=False)
    g = inner.get_concrete_function(tf.TensorSpec([2, 2])).function_def
    out.graph_def.library.function.add().CopyFrom(g)
    # An op of the library's name is a call, whatever attributes the op of that name has.
    out.graph_def.library.function.add().signature.name = "Relu6"
    out.graph_def.node.add(name="call", op="Relu6").attr["T"].type = 1
    out.graph_def.node.add(name="stranger", op="NoSuchOp").attr["x"].i = 0
    return out


here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "stripped")
shutil.rmtree(here, ignore_errors=True)
os.makedirs(here)
model = Model()
for name in ["before", "after"]:
    with tempfile.TemporaryDirectory() as d:
        tf.saved_model.save(model, d, options=tf.saved_model.SaveOptions(experimental_debug_stripper=name == "after"))
        shutil.copy(os.path.join(d, "saved_model.pb"), os.path.join(here, "debug_%s.pb" % name))
m = defaults()
for name in ["before", "after"]:
    with open(os.path.join(here, "defaults_%s.pb" % name), "wb") as f:
        f.write(m.SerializeToString(deterministic=True))
    meta_graph.strip_graph_default_valued_attrs(m)

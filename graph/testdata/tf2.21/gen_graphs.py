"""Writes graphs that TensorFlow made, of kinds that internal/pb's fixtures lack.

    pip install tensorflow-cpu==2.21.0
    python gen_graphs.py

Each file is <full name of the message>.<case>.pb.gz, encoded with sorted maps.
"""

import gzip
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import meta_graph_pb2
from tensorflow.python.framework import function

HERE = os.path.dirname(os.path.abspath(__file__))
v1 = tf.compat.v1


def keep(case, m):
    with open(os.path.join(HERE, f"{m.DESCRIPTOR.full_name}.{case}.pb.gz"), "wb") as f:
        f.write(gzip.compress(m.SerializeToString(deterministic=True), 9, mtime=0))


def defuns():
    """Functions of TensorFlow 1: called by their names, with gradient functions."""

    @function.Defun(tf.float32, tf.float32, func_name="SquareGrad")
    def square_grad(x, dy):
        return 2.0 * x * dy

    @function.Defun(tf.float32, func_name="Square2", grad_func=square_grad)
    def square(x):
        return x * x

    @function.Defun(tf.float32, tf.int32, func_name="TwoResults")
    def two(x, n):
        parts = tf.split(x, 2)
        return parts[1], square(parts[0]) + tf.cast(n, tf.float32)

    with tf.Graph().as_default() as g:
        x = v1.placeholder(tf.float32, [4], name="x")
        a, b = two(x, 3)
        tf.identity(b, name="b")
        v1.gradients(tf.reduce_sum(square(x)), x)
        return g.as_graph_def()


def control():
    """If, While and Case, stateful and not, with captured lists and constants of many types."""

    @tf.function
    def f(x, n, which):
        v = tf.constant([1.5, 2.5], tf.float16) + tf.cast(x[:2], tf.float16)
        b = tf.constant([True, False, True])
        s = tf.strings.join([tf.constant(["a", "b\x00"]), tf.constant("c")])
        z = tf.constant([1 + 2j], tf.complex64)
        e = tf.constant([], tf.int64)
        parts = tf.split(x, 2)
        y = tf.switch_case(which, [lambda: parts[0], lambda: parts[1], lambda: tf.random.uniform([2])])
        y = tf.cond(n > 2, lambda: y + 1, lambda: tf.stack([y[0], tf.reduce_sum(x)]))
        l = tf.while_loop(lambda i, t: i < n, lambda i, t: (i + 1, tf.cond(i > 1, lambda: t * 2, lambda: t)), [0, y])
        m = tf.map_fn(lambda t: t * t, x, parallel_iterations=4)
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(tf.foldl(lambda a, t: a * t, x))
        d = tf.py_function  # not called: only TensorFlow's own ops
        grads = tape.gradient(loss, x)
        opt = tf.experimental.Optional.from_value((x, n)).get_value()
        return v, b, s, z, e, l, m, grads, opt

    c = f.get_concrete_function(tf.TensorSpec([4]), tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.int32))
    return c.graph.as_graph_def(add_shapes=True)


def custom():
    """An op that TensorFlow lacks, in the graph and in a function, with its definition."""
    @tf.function
    def body(x):
        a, b = tf.split(tf.nn.elu(x), 2)
        return tf.nn.elu(b) + a

    @tf.function
    def outer(x):
        return body(tf.nn.elu(x))

    c = outer.get_concrete_function(tf.TensorSpec([4], tf.float32))
    m = meta_graph_pb2.MetaGraphDef()
    m.graph_def.CopyFrom(c.graph.as_graph_def())
    ops = set()
    for nodes in [m.graph_def.node] + [f.node_def for f in m.graph_def.library.function]:
        for n in nodes:
            if n.op == "Elu":
                n.op = "Mine>Act"
            n.input[:] = [i.replace(":activations:", ":y:") for i in n.input]
    for f in m.graph_def.library.function:
        for k in f.ret:
            f.ret[k] = f.ret[k].replace(":activations:", ":y:")
    op = m.meta_info_def.stripped_op_list.op.add(name="Mine>Act")
    op.input_arg.add(name="x", type_attr="T")
    op.output_arg.add(name="y", type_attr="T")
    op.attr.add(name="T", type="type")
    return m


def resources():
    """Functions with variables: handle data, captured arguments, mutable lists."""
    v = tf.Variable([1.0, 2.0])
    w = tf.Variable(3)

    @tf.function
    def step(x):
        w.assign_add(1)
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(x * v) * tf.cast(w, tf.float32)
        v.assign_sub(tape.gradient(y, v))
        return y

    @tf.function
    def outer(x):
        return step(x) + step(x + 1)

    return outer.get_concrete_function(tf.TensorSpec([2], tf.float32)).graph.as_graph_def()


keep("control", control())
keep("custom", custom())
keep("resources", resources())
keep("defuns", defuns())

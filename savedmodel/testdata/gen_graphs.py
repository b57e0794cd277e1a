"""Writes GraphDefs alone, as frozen graphs are, with the results of a session of TensorFlow for feeds and fetches.

    python gen_graphs.py

graphs/NAME.pb or .pbtxt is a graph; graphs/answers.json has the calls of all.
"""

import json
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import numpy as np
import tensorflow as tf

from make_models import plain

v1 = tf.compat.v1
v1.disable_control_flow_v2()
here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "graphs")
ANSWERS = []


def write(name, graph_def, calls, text=False):
    """Writes a graph, and its results for calls: pairs of feeds and fetches."""
    file = name + (".pbtxt" if text else ".pb")
    tf.io.write_graph(graph_def, here, file, as_text=text)
    with tf.Graph().as_default(), v1.Session() as s:
        tf.import_graph_def(graph_def, name="")
        for feeds, fetches in calls:
            named = lambda n: n if ":" in n else n + ":0"
            call = {"graph": file, "feeds": {k: plain(v) for k, v in feeds.items()}, "fetches": fetches}
            try:
                # An operation without outputs is run; all other names mean tensors.
                ends = [named(n) if s.graph.get_operation_by_name(n.split(":")[0]).outputs else n for n in fetches]
                got = s.run(ends, {named(k): v for k, v in feeds.items()})
                call["out"] = {n: plain(v) for n, v in zip(fetches, got) if v is not None}
            except tf.errors.OpError as e:  # that it fails is the answer
                call["error"] = type(e).__name__
            ANSWERS.append(call)


def frozen():
    """A frozen graph, as binary and as text."""
    with tf.Graph().as_default() as g, v1.Session() as s:
        x = v1.placeholder(tf.float32, [None, 3], name="x")
        scale = v1.placeholder_with_default(np.float32(2.0), [], name="scale")
        w = v1.get_variable("w", [3, 4], initializer=v1.random_uniform_initializer(seed=1))
        b = v1.get_variable("b", initializer=np.float32([1, -1, 0.5, 0]))
        y = tf.nn.relu(x @ w + b, name="y")
        tf.math.top_k(y * scale, 2, name="top")
        tf.raw_ops.Assert(condition=tf.reduce_all(x < 100.0), data=[x], name="small")
        tf.strings.join([v1.placeholder(tf.string, [], name="who"), tf.constant("!", name="mark")], name="hello")
        s.run(v1.global_variables_initializer())
        d = v1.graph_util.convert_variables_to_constants(s, g.as_graph_def(), ["y", "top", "small", "hello"])
    fed = np.float32([[1, 2, 3], [-4, 0.5, 6]])
    calls = [({"x": fed}, ["y"]), ({"x": fed}, ["top", "top:1"]), ({"x:0": fed, "scale": np.float32(-1)}, ["top:0", "y:0"]),
             ({"x": fed}, ["small"]), ({"x": fed * 100}, ["small"]), ({"who": "you"}, ["hello"]), ({"y": np.float32([[1, 5, 2, 4]])}, ["top:1"]), ({}, ["y"])]
    write("frozen", d, calls)
    write("frozen_text", d, calls[:2], text=True)


def branches():
    """Switch and Merge as no builder of TensorFlow makes them."""
    r = tf.raw_ops
    with tf.Graph().as_default() as g:
        x = v1.placeholder(tf.float32, [], name="x")
        p = v1.placeholder(tf.bool, [], name="p")
        q = v1.placeholder(tf.bool, [], name="q")
        s = r.Switch(data=x, pred=p, name="s")
        t = r.Switch(data=x * 10.0, pred=q, name="t")
        tf.negative(s.output_true, name="fetched")
        r.Merge(inputs=[s.output_true], name="one")
        r.Merge(inputs=[s.output_false, t.output_true], name="across")
        r.Merge(inputs=[s.output_false, s.output_true, t.output_true], name="three")
        # Which of several live inputs comes first isn't defined, unless they are equal.
        r.Merge(inputs=[s.output_true, tf.identity(s.output_true)], name="both_live")
        r.Merge(inputs=[tf.add(s.output_true, 1.0), tf.multiply(s.output_false, 3.0)], name="merged")
        tf.add(s.output_false, s.output_true, name="never")
        with tf.control_dependencies([tf.identity(s.output_true)]):
            only = tf.constant(5.0, name="only")  # where p holds
            nothing = tf.no_op()
        r.Merge(inputs=[only, t.output_false], name="constants")
        with tf.control_dependencies([nothing]):
            tf.identity(x, name="behind")
        with tf.control_dependencies([r.ControlTrigger()]):
            tf.identity(x, name="free")
        with tf.control_dependencies([s.output_false]):
            tf.identity(x * 2.0, name="waits_for_switch")
        m = r.Merge(inputs=[r.Switch(data=s.output_true, pred=q).output_false, t.output_true], name="nested")
        tf.add(m.output, tf.cast(m.value_index, tf.float32), name="sum")
        v1.cond(p, lambda: x + 1.0, lambda: x - 1.0, name="cond")
        # A drawn number that a conditional and an odd Merge both need is drawn once.
        drawn = tf.random.uniform([], seed=3) * s.output_true
        a = r.Merge(inputs=[drawn, s.output_false], name="a").output
        b = r.Merge(inputs=[drawn, t.output_true], name="b").output
        tf.subtract(a, b, name="difference")
    names = ["s", "s:1", "fetched", "one", "one:1", "across", "three", "both_live", "merged", "merged:1", "never", "constants", "behind", "free",
             "waits_for_switch", "nested", "nested:1", "sum", "cond/Merge"]
    calls = []
    for on, more in [(False, False), (False, True), (True, False), (True, True)]:
        live = dict(x=np.float32(3), p=np.bool_(on), q=np.bool_(more))
        for n in names:
            if on and more and n in ["across"] or not on and more and n in ["across", "three"] or on and more and n == "three" or on and not more and n == "constants":
                continue  # several live inputs that differ, or that nobody orders
            calls.append((live, [n]))
        if on:
            calls.append((dict(live, q=np.bool_(False)), ["difference"]))
    write("branches", g.as_graph_def(), calls)


if __name__ == "__main__":
    os.makedirs(here, exist_ok=True)
    frozen()
    branches()
    with open(os.path.join(here, "answers.json"), "w") as f:
        json.dump(ANSWERS, f, separators=(",", ":"))
        f.write("\n")

"""Writes the fixtures of package checkpoint with TensorFlow 2.21.0 and tf_keras 2.21.0.

    python gen_objects.py [CASE …]

Each case is a directory with checkpoints and a golden.json that lists the object
graph's nodes and the values. Variables hold numbers that follow from their
place, so that the Go tests can build the same objects.
"""
import json
import os
import shutil
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import numpy as np
import tensorflow as tf
import tf_keras
from tensorflow.core.protobuf import trackable_object_graph_pb2
from tensorflow.python.ops import io_ops, resource_variable_ops
from tensorflow.python.saved_model import registration
from tensorflow.python.trackable import autotrackable, base

HERE = os.path.dirname(os.path.abspath(__file__))
KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"


def dump(prefix):
    """The object graph and the tensors of a checkpoint, as JSON."""
    reader = tf.train.load_checkpoint(prefix)
    nodes = []
    shapes = reader.get_variable_to_shape_map()
    if KEY in shapes:
        graph = trackable_object_graph_pb2.TrackableObjectGraph()
        graph.ParseFromString(reader.get_tensor(KEY))
        for n in graph.nodes:
            nodes.append({
                "children": [[c.local_name, c.node_id] for c in n.children],
                "attributes": [[a.name, a.checkpoint_key, a.full_name] for a in n.attributes],
                "slots": [[s.slot_name, s.original_variable_node_id, s.slot_variable_node_id] for s in n.slot_variables],
                "saver": [n.registered_saver.name, n.registered_saver.object_name] if n.HasField("registered_saver") else None,
                "has": n.has_checkpoint_values.value,
            })
    values = {}
    for name in sorted(shapes):
        if name != KEY:
            t = reader.get_tensor(name)
            values[name] = np.asarray(t).astype("float64").ravel().tolist() if t.dtype.kind in "fiub" else None
    return {"nodes": nodes, "values": values}


def emit(case, prefix):
    folder = os.path.join(HERE, case)
    for f in os.listdir(folder):
        if f == "checkpoint":
            os.remove(os.path.join(folder, f))
    with open(os.path.join(folder, "golden.json"), "w") as f:
        json.dump(dump(prefix), f, indent=1)
        f.write("\n")


def var(x, name=None):
    return tf.Variable(np.asarray(x, "float32"), name=name)


class Net(tf_keras.Model):
    def __init__(self):
        super().__init__()
        self.l1 = tf_keras.layers.Dense(5)

    def call(self, x):
        return self.l1(x)


def guide(p):
    """The guide's objects: Net, legacy Adam, step; one training step, then set to known numbers."""
    net, opt = Net(), tf_keras.optimizers.legacy.Adam(0.1)
    ckpt = tf.train.Checkpoint(step=tf.Variable(1), optimizer=opt, net=net)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(net(tf.ones([2, 1])))
    variables = net.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
    net.l1.kernel.assign([[1, 2, 3, 4, 5]])
    net.l1.bias.assign([6, 7, 8, 9, 10])
    for i, slot in enumerate(["m", "v"]):
        opt.get_slot(net.l1.kernel, slot).assign(tf.fill([1, 5], 20.0 + i))
        opt.get_slot(net.l1.bias, slot).assign(tf.fill([5], 30.0 + i))
    ckpt.step.assign(10)
    return ckpt.save(p)


def containers(p):
    """Nested lists and dictionaries, empty ones, a list in a list."""
    one = var(1)
    root = tf.train.Checkpoint(
        listed=[one, [var(2), var(3)], {"b": var(4), "a": var(5)}],
        mapped={"one": one, "list": [var(6)], "deep": {"x": {"y": var(7)}}},
        empty_list=[], empty_map={})
    return root.save(p)


def shared(p):
    """Shared objects and cycles."""
    a, b = autotrackable.AutoTrackable(), autotrackable.AutoTrackable()
    a.v = var(1)
    a.other = b
    b.v = a.v
    b.back = a
    b.me = b
    b.w = var(2)
    root = tf.train.Checkpoint(first=a, second=b, loop=[a, b, a])
    return root.save(p)


def escaping(p):
    """Names with slashes, dots, and words that keys reserve."""
    names = ["a/b", ".", "..", "a.b", "/", "d/.ATTRIBUTES/f", ".S", ".ATTRIBUTES", "d/.S", ".OPTIMIZER_SLOT", "", "é", "VARIABLE_VALUE", "0"]
    return tf.train.Checkpoint(m={n: var(i) for i, n in enumerate(names)}).save(p)


def rooted(p):
    """Checkpoint(root, **kwargs)."""
    root = autotrackable.AutoTrackable()
    root.z = var(1)
    root.b = var(2)
    child = autotrackable.AutoTrackable()
    child.v = var(3)
    root.child = child
    ckpt = tf.train.Checkpoint(root, extra=var(4), apart=var(5, name="some/name"), x=child)
    return ckpt.save(p)


def variable_root(p):
    """Checkpoint(variable)."""
    return tf.train.Checkpoint(var(1)).write(p)  # only a true scalar can be a root


class Table(base.Trackable):
    def __init__(self, keys, values):
        self.keys, self.values = keys, values

    def _serialize_to_tensors(self):
        return {"keys": self.keys, "some/values": self.values}

    def _restore_from_tensors(self, t):
        self.keys.assign(t["keys"])
        self.values.assign(t["some/values"])


def serializer(p):
    """An object that writes two tensors, and TensorFlow's hash table, whose key is no key of the bundle."""
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, -1.0)
    table.insert(tf.constant([4], tf.int64), tf.constant([40.0]))
    root = tf.train.Checkpoint(
        table=Table(tf.constant([1, 2, 3], tf.int64), tf.constant([0.5, 1.5, 2.5])),
        inner=tf.train.Checkpoint(t=Table(tf.constant([7], tf.int64), tf.constant([8.0]))),
        hash=table)
    return root.write(p)


class Part(resource_variable_ops.ResourceVariable):
    def __init__(self, value):
        self._init_from_args(value)


class Stack(autotrackable.AutoTrackable):
    def __init__(self, parts=None):
        self.parts = parts

    def value(self):
        return tf.stack(self.parts)


def slices(trackables):
    names, tensors, stacks = [], [], []
    for prefix, obj in trackables.items():
        if isinstance(obj, Stack):
            names.append(prefix + "/value")
            tensors.append(obj.value())
            stacks.append(obj)
    return names, [""] * len(names), tensors, stacks


def save_stacks(trackables, file_prefix):
    names, specs, tensors, _ = slices(trackables)
    io_ops.save_v2(file_prefix, names, specs, tensors)
    return file_prefix


def restore_stacks(trackables, merged_prefix):
    names, specs, tensors, stacks = slices(trackables)
    for stack, t in zip(stacks, io_ops.restore_v2(merged_prefix, names, specs, [x.dtype for x in tensors])):
        for part, value in zip(stack.parts, tf.unstack(tf.reshape(t, stack.value().shape))):
            part.assign(value)


registration.register_checkpoint_saver(
    name="stacks", predicate=lambda x: isinstance(x, (Stack, Part)), save_fn=save_stacks, restore_fn=restore_stacks)


def stacked(p):
    """The document's stacked parts, and a default variable."""
    root = tf.train.Checkpoint(
        stack=Stack([Part([1.0, 2.0]), Part([3.0, 4.0]), Part([5.0, 6.0])]),
        other=Stack([Part([7.0, 8.0])]), plain=var(9))
    return root.save(p)


def saved_model(p):
    """The variables of a SavedModel."""
    root = autotrackable.AutoTrackable()
    root.v = var([1, 2, 3], name="v")
    root.deep = {"w": var(4, name="w")}
    root.f = tf.function(lambda x: x * root.v, input_signature=[tf.TensorSpec([3])])
    folder = os.path.dirname(p)
    tf.saved_model.save(root, folder)
    return os.path.join(folder, "variables", "variables")


def name_based(p):
    """TF1's Saver, in both formats."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as s:
        v = tf.compat.v1.get_variable("a/kernel", initializer=tf.constant([1.0, 2.0]), use_resource=True)
        w = tf.compat.v1.get_variable("b", initializer=tf.constant(3, tf.int64), use_resource=True)
        s.run(tf.compat.v1.global_variables_initializer())
        del v, w
        for name, version in [("v2", 2), ("v1", 1)]:
            tf.compat.v1.train.Saver(write_version=version).save(s, os.path.join(os.path.dirname(p), name), write_meta_graph=False)
    return os.path.join(os.path.dirname(p), "v2")


def late_slots(p):
    """Two variables, an optimizer with momentum: slots of a part of the variables only."""
    opt = tf_keras.optimizers.legacy.SGD(0.5, momentum=0.25)
    a, b = var([1, 2], name="a"), var([3, 4], name="b")
    opt.apply_gradients([(tf.constant([1.0, 1.0]), a), (tf.constant([2.0, 2.0]), b)])
    a.assign([1, 2])
    b.assign([3, 4])
    opt.get_slot(a, "momentum").assign([5, 6])
    opt.get_slot(b, "momentum").assign([7, 8])
    return tf.train.Checkpoint(opt=opt, var=b).save(p)


CASES = [guide, containers, shared, escaping, rooted, variable_root, serializer, stacked, saved_model, name_based, late_slots]

for case in CASES:
    if len(sys.argv) > 1 and case.__name__ not in sys.argv[1:]:
        continue
    folder = os.path.join(HERE, case.__name__)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    tf_keras.backend.clear_session()
    emit(case.__name__, case(os.path.join(folder, "ckpt")))
    print(case.__name__, sorted(os.listdir(folder)))

"""Builds a spec of graphs.py out of TensorFlow's own objects."""
import numpy as np
import tensorflow as tf
from tensorflow.python.trackable import autotrackable, data_structures


def value(t, zero=False):
    """The tensor that a spec describes; zero: one of its type and shape without its values."""
    if t["dtype"] == "string":
        data = [b"" if zero else bytes.fromhex(h) for h in t["data"]]
        return tf.constant(np.array(data, dtype=object).reshape(t["shape"]), tf.string)
    dtype = tf.dtypes.as_dtype(t["dtype"]).as_numpy_dtype
    raw = np.frombuffer(bytes.fromhex(t["data"]), dtype=dtype).reshape(t["shape"])
    return tf.constant(np.zeros_like(raw) if zero else raw)


def differs(t, got):
    """Returns how a variable or tensor differs from a spec, or None."""
    got = tf.convert_to_tensor(got)
    want = value(t)
    if got.dtype != want.dtype or got.shape != want.shape:
        return "%s%s, want %s%s" % (got.dtype.name, got.shape, want.dtype.name, want.shape)
    a, b = got.numpy(), want.numpy()
    same = np.array_equal(a, b) if t["dtype"] == "string" else a.tobytes() == b.tobytes()
    return None if same else "%r, want %r" % (a, b)


class Optimizer(autotrackable.AutoTrackable):
    """The least that TensorFlow takes for an optimizer with slot variables."""

    def __init__(self, names):
        super().__init__()
        object.__setattr__(self, "_names", list(names))  # past the tracking of attributes
        object.__setattr__(self, "_slots", {})

    def get_slot_names(self):
        return self._names

    def get_slot(self, variable, name):
        return self._slots.get((id(variable), name))

    def put(self, variable, name, slot):
        self._slots[id(variable), name] = slot
        self._slots[id(slot)] = variable  # keeps the id taken

    def _create_or_restore_slot_variable(self, slot_variable_position, slot_name, variable, **kwargs):
        slot = self.get_slot(variable, slot_name)
        if slot is None:
            slot = tf.Variable(tf.zeros_like(variable), name="restored")
            self.put(variable, slot_name, slot)
        slot_variable_position.restore(slot)


def build(spec, zero=False, slots=True):
    """The checkpoint of a spec, and its nodes by number."""
    nodes = []
    for n in spec["nodes"]:
        if n["kind"] == "var":
            nodes.append(tf.Variable(value(n, zero), name=n["name"]))
        elif n["kind"] == "list":
            nodes.append(data_structures.wrap_or_unwrap([]))
        elif n["kind"] == "map":
            nodes.append(data_structures.wrap_or_unwrap({}))
        elif n["kind"] == "opt":
            nodes.append(Optimizer(n["slots"]))
        else:
            nodes.append(autotrackable.AutoTrackable())
    for i, n in enumerate(spec["nodes"]):
        for edge, child in n.get("edges", []):
            if n["kind"] == "list":
                nodes[i].append(nodes[child])
            elif n["kind"] == "map":
                nodes[i][edge] = nodes[child]
            else:
                setattr(nodes[i], edge, nodes[child])
        if slots:
            for h in n.get("held", []):
                nodes[i].put(nodes[h["of"]], h["slot"], tf.Variable(value(h, zero), name=h["name"]))
    kwargs = {edge: nodes[child] for edge, child in spec["kwargs"]}
    if spec["style"] == "kwargs":
        return tf.train.Checkpoint(**kwargs), nodes
    return tf.train.Checkpoint(root=nodes[0], **kwargs), nodes


def reached(spec):
    """The numbers of the nodes that a walk from the root reaches."""
    seen = set()
    todo = [child for _, child in spec["kwargs"]] + ([0] if spec["style"] != "kwargs" else [])
    while todo:
        i = todo.pop()
        if i not in seen:
            seen.add(i)
            todo += [child for _, child in spec["nodes"][i].get("edges", [])]
    return seen


def compare(spec, nodes):
    """The parts of a restored graph that differ from the spec."""
    wrong, seen = [], reached(spec)
    for i in sorted(seen):
        n = spec["nodes"][i]
        if n["kind"] == "var":
            d = differs(n, nodes[i])
            if d:
                wrong.append("node %d: %s" % (i, d))
        for h in n.get("held", []):
            if h["of"] in seen:
                slot = nodes[i].get_slot(nodes[h["of"]], h["slot"])
                d = "missing" if slot is None else differs(h, slot)
                if d:
                    wrong.append("node %d, slot %s of node %d: %s" % (i, h["slot"], h["of"], d))
    return wrong

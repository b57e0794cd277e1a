"""Writes a SavedModel whose stacks of parts are saved by a registered saver, with
TensorFlow 2.21, and TensorFlow's results after that saver is registered.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_registered.py
"""
import json
import os
import shutil

import tensorflow as tf
from tensorflow.python.ops import io_ops
from tensorflow.python.ops import resource_variable_ops
from tensorflow.python.saved_model import registration
from tensorflow.python.trackable import autotrackable

DIR = os.path.join(os.path.dirname(os.path.abspath(__file__)), "models", "registered")


@registration.register_serializable(package="Custom")
class Part(resource_variable_ops.ResourceVariable):
    def __init__(self, value):
        self._init_from_args(value)

    @classmethod
    def _deserialize_from_proto(cls, **kwargs):
        return cls([0.0, 0.0])


@registration.register_serializable(package="Custom")
class Stack(autotrackable.AutoTrackable):
    def __init__(self, parts=None):
        self.parts = parts

    @tf.function(input_signature=[])
    def value(self):
        return tf.stack(self.parts)


def stacks(trackables):
    return {name + "/value": t for name, t in trackables.items() if isinstance(t, Stack)}


def save(trackables, file_prefix):
    named = stacks(trackables)
    io_ops.save_v2(file_prefix, list(named), [""] * len(named), [s.value() for s in named.values()])
    return file_prefix


def restore(trackables, merged_prefix):
    named = stacks(trackables)
    values = io_ops.restore_v2(merged_prefix, list(named), [""] * len(named), [tf.float32] * len(named))
    for value, stack in zip(values, named.values()):
        for i, part in enumerate(stack.parts):
            part.assign(value[i])


registration.register_checkpoint_saver(package="Custom", name="Stacks", predicate=lambda t: isinstance(t, (Stack, Part)), save_fn=save, restore_fn=restore)
root = tf.Module()
root.a = Stack([Part([1.0, 2.0]), Part([3.0, 4.0]), Part([5.0, 6.0])])
root.bias = tf.Variable([10.0, 20.0])
root.w = Stack([Part([-1.0, -2.0])])


@tf.function(input_signature=[tf.TensorSpec([2], name="x")])
def serve(x):
    return {"y": tf.linalg.matvec(root.a.value(), x) + root.bias[0], "w": root.w.value()}


root.serve = serve
shutil.rmtree(DIR, ignore_errors=True)
tf.saved_model.save(root, DIR, signatures=serve)
shutil.rmtree(os.path.join(DIR, "assets"), ignore_errors=True)
os.remove(os.path.join(DIR, "fingerprint.pb"))
x = [1.0, 2.0]
got = tf.saved_model.load(DIR).signatures["serving_default"](x=tf.constant(x))
pack = lambda v: {"dtype": "float32", "shape": list(v.shape), "values": v.numpy().reshape(-1).tolist()}
with open(os.path.join(DIR, "registered.json"), "w") as f:
    json.dump([{"in": {"x": pack(tf.constant(x))}, "out": {k: pack(v) for k, v in got.items()}}], f)

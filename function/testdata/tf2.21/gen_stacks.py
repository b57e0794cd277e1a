"""Writes stacks/: the registration document's stacked parts, saved by TensorFlow
2.21 with the document's saver (patched where 2.21 differs).

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_stacks.py [DIR]

With DIR it restores the checkpoint DIR/ours-1 through the saver instead, and
prints the parts.
"""
import os
import sys

import tensorflow as tf
from tensorflow.python.ops import io_ops
from tensorflow.python.ops import resource_variable_ops
from tensorflow.python.saved_model import registration
from tensorflow.python.trackable import autotrackable


@registration.register_serializable(package="Custom")
class Part(resource_variable_ops.ResourceVariable):
    def __init__(self, value):
        self._init_from_args(value)

    @classmethod
    def _deserialize_from_proto(cls, **kwargs):
        return cls([0, 0])


@registration.register_serializable(package="Custom")
class Stack(autotrackable.AutoTrackable):
    def __init__(self, parts=None):
        self.parts = parts

    def value(self):
        return tf.stack(self.parts)


def slices(trackables):
    names, values, stacks = [], [], []
    for prefix, obj in trackables.items():
        if isinstance(obj, Part):
            continue
        names.append(prefix + "/value")
        values.append(tf.identity(obj.value()))
        stacks.append(obj)
    return names, [""] * len(names), values, stacks


def save(trackables, file_prefix):
    names, specs, values, _ = slices(trackables)
    io_ops.save_v2(file_prefix, names, specs, values)
    return file_prefix


@tf.function
def read(prefix, names, specs, dtypes):
    return io_ops.restore_v2(prefix, names, specs, dtypes)


def restore(trackables, merged_prefix):
    names, specs, values, stacks = slices(trackables)
    restored = io_ops.restore_v2(merged_prefix, names, specs, [v.dtype for v in values])
    for stack, value in zip(stacks, restored):
        for part, v in zip(stack.parts, tf.unstack(value)):
            part.assign(v)


registration.register_checkpoint_saver(
    package="Custom", name="stacks", predicate=lambda x: isinstance(x, (Stack, Part)),
    save_fn=save, restore_fn=restore)


def build(values):
    return tf.train.Checkpoint(
        stack=Stack([Part(v) for v in values]), step=tf.Variable(7, dtype=tf.int64))


if len(sys.argv) > 1:
    ckpt = build([[0, 0], [0, 0], [0, 0]])
    ckpt.restore(os.path.join(sys.argv[1], "ours-1")).assert_consumed()
    print([p.numpy().tolist() for p in ckpt.stack.parts], int(ckpt.step))
else:
    here = os.path.dirname(os.path.abspath(__file__))
    print(build([[1, 2], [3, 4], [5, 6]]).save(os.path.join(here, "stacks", "ckpt")))

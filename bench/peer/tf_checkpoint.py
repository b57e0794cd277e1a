"""TensorFlow saves and restores the bench's tensors: tf_checkpoint.py DIR big|many|most|one"""
import os
import shutil
import sys

import numpy as np
import tensorflow as tf

from safetensors.numpy import save_file

from common import arrays, serve, some

folder, kind = sys.argv[1:3]
os.makedirs(folder, exist_ok=True)
module = tf.Module()
module.v = [tf.Variable(a) for a in arrays(kind)]
checkpoint = tf.train.Checkpoint(model=module)
prefix = os.path.join(folder, "ck")


def restore():
    checkpoint.read(prefix).assert_consumed()
    assert sum(float(v[0] if len(v.shape) == 1 else v[0, 0]) for v in some(module.v)) != 0


def tensors(path):
    """The values of a checkpoint by name; to read them verifies their checksums."""
    reader = tf.train.load_checkpoint(path)
    for name, dtype in reader.get_variable_to_dtype_map().items():
        if dtype != tf.string:
            yield name, reader.get_tensor(name)


def verify():
    assert sum(1 for _ in tensors(prefix)) == len(module.v)


def diff():
    twin = os.path.join(folder, "twin")
    for end in (".index", ".data-00000-of-00001"):  # copied by the round that counts for nothing
        if not os.path.exists(twin + end):
            shutil.copyfile(prefix + end, twin + end)
    other = tf.train.load_checkpoint(twin)
    assert all(np.array_equal(v, other.get_tensor(name)) for name, v in tensors(prefix))


serve({
    "save": lambda: checkpoint.write(prefix),
    "restore": restore,
    "verify": verify,
    "diff": diff,
    "convert": lambda: save_file(dict(tensors(prefix)), os.path.join(folder, "out.safetensors")),
})

"""TensorFlow saves and restores the bench's tensors: tf_checkpoint.py DIR big|many"""
import os
import sys

import tensorflow as tf

from common import arrays, serve

folder, kind = sys.argv[1:3]
os.makedirs(folder, exist_ok=True)
module = tf.Module()
module.v = [tf.Variable(a) for a in arrays(kind)]
checkpoint = tf.train.Checkpoint(model=module)
prefix = os.path.join(folder, "ck")


def restore():
    checkpoint.read(prefix).assert_consumed()
    assert sum(float(v[0] if len(v.shape) == 1 else v[0, 0]) for v in module.v) != 0


serve({"save": lambda: checkpoint.write(prefix), "restore": restore})

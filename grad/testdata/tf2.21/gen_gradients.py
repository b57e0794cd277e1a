"""Writes the ops that TensorFlow 2.21 differentiates, by its registry of gradients:

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_gradients.py

A line of gradients.txt is "yes Op", of an op that has a gradient function, or
"no Op", of one that is registered as having none. Ops that aren't registered
are not there.
"""

import os

import tensorflow as tf  # registers the gradients
from tensorflow.python.framework import ops
from tensorflow.python.ops import list_ops, optional_grad, rnn_grad, sparse_grad  # and those that it would only register when needed
from tensorflow.python.ops.ragged import ragged_tensor

HERE = os.path.dirname(os.path.abspath(__file__))

assert tf.__version__.startswith("2.21"), tf.__version__
registry = ops.gradient_registry
with open(os.path.join(HERE, "gradients.txt"), "w") as f:
    for op in sorted(registry.list()):
        f.write("%s %s\n" % ("no" if registry.lookup(op) is None else "yes", op))

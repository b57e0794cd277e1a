"""TensorFlow loads and runs a model: tf_infer.py DIR CALLS_OF_1 CALLS_OF_8"""
import sys

import numpy as np
import tensorflow as tf

from common import at_once, batches, serve

folder = sys.argv[1]
function = tf.saved_model.load(folder).signatures["serving_default"]
key, inputs = batches(folder)


def calls(x, n):
    x = tf.constant(x)

    def run():
        for _ in range(n):
            y = function(**{key: x})
        next(iter(y.values())).numpy()

    return run


verbs = {str(size): calls(x, int(n)) for (size, x), n in zip(inputs.items(), sys.argv[2:])}
serve({"load": lambda: tf.saved_model.load(folder), "two": at_once(verbs["1"]), **verbs})

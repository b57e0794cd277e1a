"""Writes slots: a module with an optimizer that keeps slot variables, after one step."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import tensorflow as tf  # noqa: E402
import tf_keras  # noqa: E402


class Module(tf.Module):
    def __init__(self):
        self.v = tf.Variable([1.0, 2.0], name="v")
        self.optimizer = tf_keras.optimizers.legacy.SGD(0.1, momentum=0.9)

    @tf.function(input_signature=[])
    def step(self):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(self.v**2)
        self.optimizer.apply_gradients([(tape.gradient(loss, self.v), self.v)])
        return loss


m = Module()
m.step()
tf.saved_model.save(m, os.path.join(os.path.dirname(os.path.abspath(__file__)), "models", "slots"), signatures={"step": m.step})

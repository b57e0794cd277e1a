"""Writes guide_keras3_*/ with TensorFlow 2.21 and its own tf.keras, which is Keras 3.15.

    python3 gen_keras3.py

The guide's program unchanged: ten steps, a checkpoint, ten more steps.
"""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np
import tensorflow as tf

OPTIMIZERS = {
    "adam": lambda: tf.keras.optimizers.Adam(0.1),
    "adamw": lambda: tf.keras.optimizers.AdamW(0.1),
    "sgd_momentum": lambda: tf.keras.optimizers.SGD(0.1, momentum=0.9),
    "rmsprop_centered_momentum": lambda: tf.keras.optimizers.RMSprop(0.1, momentum=0.9, centered=True),
    "adagrad": lambda: tf.keras.optimizers.Adagrad(0.1),
}


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.l1 = tf.keras.layers.Dense(5)

    def call(self, x):
        return self.l1(x)


for name, make in OPTIMIZERS.items():
    tf.keras.backend.clear_session()
    tf.keras.utils.set_random_seed(1)
    net, optimizer = Net(), make()
    ckpt = tf.train.Checkpoint(step=tf.Variable(1), optimizer=optimizer, net=net)
    x = tf.range(10.0)[:, None]
    y = x * 5.0 + tf.range(5.0)[None, :]
    losses, folder = [], "guide_keras3_" + name
    for i, (bx, by) in enumerate(tf.data.Dataset.from_tensor_slices((x, y)).repeat(10).batch(2).take(20)):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.abs(net(bx) - by))
        optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
        ckpt.step.assign_add(1)
        losses.append(loss.numpy())
        if i == 9:
            ckpt.save(os.path.join(folder, "ckpt"))
    os.remove(os.path.join(folder, "checkpoint"))
    np.savez(os.path.join(folder, "after.npz"), losses=np.array(losses), kernel=net.l1.kernel.numpy(), bias=net.l1.bias.numpy())

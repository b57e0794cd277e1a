"""Writes first_adam: the checkpoint of TensorFlow 1's Saver for a layer that its Adam has
trained for seven steps, and after.npz: the losses of three steps more, and
the variables after them.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= TF_ENABLE_ONEDNN_OPTS=0 python gen_first.py
"""
import os

import numpy as np
import tensorflow.compat.v1 as tf

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "first_adam")
tf.disable_eager_execution()
os.makedirs(HERE, exist_ok=True)
rng = np.random.default_rng(5)

x = tf.constant([[1, 2, 3], [4, 5, 6]], tf.float32)
kernel = tf.get_variable("places/dense/kernel", initializer=rng.normal(size=(3, 3)).astype(np.float32))
bias = tf.get_variable("places/dense/bias", initializer=rng.normal(size=3).astype(np.float32))
loss = tf.reduce_mean(tf.abs(tf.matmul(x, kernel) + bias - 1))
train = tf.train.AdamOptimizer(0.1, epsilon=1e-7).minimize(loss, global_step=tf.train.get_or_create_global_step())
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(7):
        session.run(train)
    tf.train.Saver().save(session, os.path.join(HERE, "ckpt-1"), write_meta_graph=False, write_state=False)
    losses = [session.run([loss, train])[0] for _ in range(3)]
    k, b = session.run([kernel, bias])
np.savez(os.path.join(HERE, "after.npz"), losses=np.array(losses, np.float32), kernel=k, bias=b)

"""TensorFlow trains the checkpoint guide's Net eagerly, 200 steps a request."""
import tensorflow as tf
import tf_keras

from common import serve


class Net(tf_keras.Model):
    def __init__(self):
        super().__init__()
        self.l1 = tf_keras.layers.Dense(5)

    def call(self, x):
        return self.l1(x)


net, optimizer = Net(), tf_keras.optimizers.legacy.Adam(0.1)
x = tf.constant([[0.0], [1.0]])
y = x * 5.0 + tf.range(5.0)[None, :]


def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.abs(net(x) - y))
    variables = net.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


def steps():
    for _ in range(200):
        loss = step()
    float(loss)


serve({"train": steps})

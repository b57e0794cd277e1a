"""TensorFlow takes steps: the checkpoint guide's Net and an MLP train, ops run
one by one, a loop turns. Each request asks for as many as in STEPS."""
import numpy as np
import tensorflow as tf
import tf_keras

from common import at_once, serve

STEPS = {"eager": 200, "traced": 200, "mlp": 20, "cnn": 5, "small": 10000, "loop": 10000, "chain": 200, "calls": 200}


class Net(tf_keras.Model):
    def __init__(self):
        super().__init__()
        self.l1 = tf_keras.layers.Dense(5)

    def call(self, x):
        return self.l1(x)


def guide():
    net, optimizer = Net(), tf_keras.optimizers.legacy.Adam(0.1)
    x = tf.constant([[0.0], [1.0]])
    y = x * 5.0 + tf.range(5.0)[None, :]

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.abs(net(x) - y))
        variables = net.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    return step


def mlp():
    return tf_keras.Sequential([
        tf_keras.layers.Dense(512, activation="relu"),
        tf_keras.layers.Dense(256, activation="relu"),
        tf_keras.layers.Dense(10),
    ])


def cnn():
    return tf_keras.Sequential([
        tf_keras.layers.Conv2D(32, 3, activation="relu"),
        tf_keras.layers.MaxPool2D(),
        tf_keras.layers.Conv2D(64, 3, activation="relu"),
        tf_keras.layers.MaxPool2D(),
        tf_keras.layers.Flatten(),
        tf_keras.layers.Dense(128, activation="relu"),
        tf_keras.layers.Dense(10),
    ])


def classifier(model, *shape):
    """A step of a classifier with 10 classes, on noise of a shape."""
    rng = np.random.default_rng(0)
    x = tf.constant(rng.random(shape, dtype=np.float32))
    y = tf.constant(rng.integers(0, 10, shape[0]))
    entropy = tf_keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = tf_keras.optimizers.Adam(1e-3)

    def step():
        with tf.GradientTape() as tape:
            loss = entropy(y, model(x, training=True))
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    return step


def times(step, n):
    def run():
        for _ in range(n):
            loss = step()
        float(loss)

    return run


def small(op):
    x = tf.constant([1.0, 2.0, 3.0, 4.0])

    def run():
        for _ in range(STEPS["small"]):
            y = op(x)
        y.numpy()

    return run


def constants(*lists):
    return [tf.constant(l) for l in lists]


BEGIN, END, STRIDE, AXIS, SHAPE = constants([1], [3], [1], 0, [2, 2])


# Of unknown rank: if TensorFlow knows that all shapes are equal, it makes the
# additions one multiplication by 201.
@tf.function(input_signature=[tf.TensorSpec(None, tf.float32)])
def chain(x):
    y = x
    for _ in range(STEPS["chain"]):
        y = y + x
    return y


WEIGHTS = tf.Variable(tf.zeros([128, 128]))


@tf.function
def call(x):
    for _ in range(8):
        x = tf.tanh(tf.matmul(x, WEIGHTS))
    return tf.reduce_sum(x)


def callers(n):
    x = tf.zeros([32, 128])

    def calls():
        for _ in range(STEPS["calls"]):
            y = call(x)
        float(y)

    return at_once(calls, n)


@tf.function
def loop(n):
    i, x = tf.constant(0), tf.constant(0.0)
    while i < n:
        i, x = i + 1, x + 0.5
    return x


serve({
    "eager": times(guide(), STEPS["eager"]),
    "traced": times(tf.function(guide()), STEPS["traced"]),
    "mlp": times(tf.function(classifier(mlp(), 128, 784)), STEPS["mlp"]),
    "cnn": times(tf.function(classifier(cnn(), 32, 28, 28, 1)), STEPS["cnn"]),
    "add": small(lambda x: tf.raw_ops.AddV2(x=x, y=x)),
    "slice": small(lambda x: tf.raw_ops.StridedSlice(input=x, begin=BEGIN, end=END, strides=STRIDE)),
    "concat": small(lambda x: tf.raw_ops.ConcatV2(values=[x, x], axis=AXIS)),
    "reshape": small(lambda x: tf.raw_ops.Reshape(tensor=x, shape=SHAPE)),
    "chain": lambda: chain(tf.zeros([1 << 20])).numpy(),
    "one": callers(1),
    "two": callers(2),
    "loop": lambda: float(loop(tf.constant(STEPS["loop"]))),
})

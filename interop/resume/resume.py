"""TensorFlow's side of the exact-resume runs; main.go starts it.

    python resume.py first WORK     trains every case without a break, saving on the way
    python resume.py second WORK    continues from the checkpoints that Cairn saved

A case is a model, a loss and an optimizer. The directories below WORK:

    tf/<case>/10, 20     TensorFlow's own checkpoints of the unbroken run, losses in tf/<case>/losses.json
    mixed/<case>/20      ours: from tf/<case>/10, ten steps more
    mixed/<case>/30      TensorFlow's: from that, ten more; losses in mixed/<case>/tf.json
    ours/<case>/20       ours: twenty steps from ours' own start
    ours/<case>/tf.json  TensorFlow's losses from that, twenty steps more
    demo/                the demo's checkpoint; demo/accuracy.json has TensorFlow's accuracy for it
"""
import json
import os
import sys
import zlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ["TF_USE_LEGACY_KERAS"] = "1"

import keras as keras3
import numpy as np
import tensorflow as tf
import tf_keras as keras

legacy = keras.optimizers.legacy


class Net(keras.Model):
    """The guide's."""

    def __init__(self):
        super().__init__()
        self.l1 = keras.layers.Dense(5)

    def call(self, x):
        return self.l1(x)


class Deep(keras.Model):
    """Layers in a list and in a sequential model; all are built at the first call."""

    def __init__(self):
        super().__init__()
        self.hidden = [keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(8, activation="relu")]
        self.head = keras.Sequential([keras.layers.Dense(6, activation="sigmoid"), keras.layers.Dense(3)])

    def call(self, x):
        for layer in self.hidden:
            x = layer(x)
        return self.head(x)


class Net3(keras3.Model):
    """The guide's, in the Keras that TensorFlow 2.21 calls tf.keras."""

    def __init__(self):
        super().__init__()
        self.l1 = keras3.layers.Dense(5)

    def call(self, x):
        return self.l1(x)


MODELS = {"guide": Net, "deep": Deep, "guide3": Net3}
LOSSES = {
    "mse": lambda o, y: tf.reduce_mean(tf.square(o - y)),
    "mae": lambda o, y: tf.reduce_mean(tf.abs(o - y)),
}
OPTIMIZERS = {
    "adam": lambda: legacy.Adam(0.1),
    "adam_small": lambda: legacy.Adam(0.01, amsgrad=True),
    "sgd": lambda: legacy.SGD(0.01, momentum=0.9, nesterov=True),
    "rmsprop": lambda: legacy.RMSprop(0.01, centered=True),
    "adagrad": lambda: legacy.Adagrad(0.1),
    "adamw": lambda: keras.optimizers.AdamW(0.01),
    "adam3": lambda: keras3.optimizers.Adam(0.1),
    "rmsprop3": lambda: keras3.optimizers.RMSprop(0.01),
}
# Cases are "model-loss-optimizer"; main.go has the same list.
CASES = [
    "guide-mse-adam", "guide-mae-adam", "deep-mse-adam_small", "deep-mae-adam_small",
    "guide-mse-sgd", "deep-mse-rmsprop", "deep-mse-adagrad", "deep-mse-adamw",
    "guide3-mse-adam3", "guide3-mse-rmsprop3",
]


def batch(model, step):
    """The batch of a step, from 0; the numbers are exact in float32."""
    if model in ("guide", "guide3"):
        x = np.array([[(2 * step) % 10], [(2 * step + 1) % 10]], np.float32)
        return x, x * 5 + np.arange(5, dtype=np.float32)
    i, j, k = np.arange(4)[:, None] + 4 * step, np.arange(4)[None, :], np.arange(3)[None, :]
    x = ((i * 7 + j * 3 + i * j) % 16 - 8) / 8.0
    y = ((i * 5 + k * 7) % 8 - 4) / 4.0
    return x.astype(np.float32), y.astype(np.float32)


class Run:
    def __init__(self, case):
        self.model, loss, optimizer = case.split("-")
        keras.backend.reset_uids()
        self.loss = LOSSES[loss]
        self.net, self.optimizer = MODELS[self.model](), OPTIMIZERS[optimizer]()
        self.step = tf.Variable(0, dtype=tf.int64)
        self.ckpt = tf.train.Checkpoint(step=self.step, optimizer=self.optimizer, net=self.net)

    def train(self, steps):
        losses = []
        for _ in range(steps):
            x, y = batch(self.model, int(self.step))
            with tf.GradientTape() as tape:
                loss = self.loss(self.net(x), y)
            variables = self.net.trainable_variables
            self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
            self.step.assign_add(1)
            losses.append(float(loss))
        return losses


def dump(path, what):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        json.dump(what, f)


def first(work):
    for n, case in enumerate(CASES):
        keras.utils.set_random_seed(n + 1)
        run, folder = Run(case), os.path.join(work, "tf", case)
        losses = run.train(10)
        run.ckpt.write(folder + "/10")
        losses += run.train(10)
        run.ckpt.write(folder + "/20")
        losses += run.train(20)
        dump(folder + "/losses.json", losses)


def second(work):
    for case in CASES:
        for name, steps in (("mixed", 10), ("ours", 20)):
            folder = os.path.join(work, name, case)
            run = Run(case)
            if run.model == "guide3":  # Keras 3 loses a kernel that it restores before the layer is built
                run.net(batch(run.model, 0)[0])
                run.optimizer.build(run.net.trainable_variables)
            status = run.ckpt.read(folder + "/20")
            losses = run.train(steps)
            status.assert_consumed()
            dump(folder + "/tf.json", losses)
            if name == "mixed":
                run.ckpt.write(folder + "/30")
    if os.path.isdir(os.path.join(work, "demo")):
        demo(work)


def demo(work):
    class Digits(keras.Model):
        def __init__(self):
            super().__init__(name="net")
            self.hidden = keras.layers.Dense(64, activation="relu")
            self.drop = keras.layers.Dropout(0.2)
            self.out = keras.layers.Dense(10)

        def call(self, x):
            return self.out(self.drop(self.hidden(x)))

    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "..", "..", "internal", "digits", "digits.deflate"), "rb") as f:
        data = np.frombuffer(zlib.decompress(f.read(), -15), np.uint8)
    images, labels = data[: 1797 * 64].reshape(1797, 64)[4::5] / np.float32(16), data[1797 * 64:][4::5]
    net = Digits()
    net(images[:1].astype(np.float32))
    ckpt = tf.train.Checkpoint(net=net, optimizer=legacy.Adam(0.003), step=tf.Variable(0, dtype=tf.int64))
    path = tf.train.latest_checkpoint(os.path.join(work, "demo"))
    ckpt.restore(path).assert_existing_objects_matched().expect_partial()
    right = int((net(images.astype(np.float32)).numpy().argmax(1) == labels).sum())
    dump(os.path.join(work, "demo", "accuracy.json"), {"right": right, "all": len(labels), "step": int(ckpt.step)})


if __name__ == "__main__":
    {"first": first, "second": second}[sys.argv[1]](sys.argv[2])

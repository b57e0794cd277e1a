"""Writes the fixtures of keras/models: SavedModels of tf_keras 2.21, zipped, with inputs and outputs.

Run in this directory, with TensorFlow 2.21 and tf_keras 2.21:

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_saved.py
"""
import os
import pathlib
import shutil
import tempfile
import zipfile

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
import tf_keras as keras

L = keras.layers


class Scale(L.Layer):
    """A layer whose class no reader knows."""

    def __init__(self, factor=2.0, **kwargs):
        super().__init__(**kwargs)
        self.factor = factor

    def build(self, shape):
        self.gain = self.add_weight("gain", shape=(shape[-1],), initializer="ones")

    def call(self, x, training=None):
        self.add_loss(0.1 * tf.reduce_sum(tf.square(self.gain)))
        return x * self.gain * (self.factor if training else 1.0)

    def get_config(self):
        return {**super().get_config(), "factor": self.factor}


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.first, self.second = L.Dense(3, activation="relu"), L.Dense(2)

    def call(self, x):
        return self.second(self.first(x))


def functional():
    x = keras.Input((4,), name="x")
    h = L.BatchNormalization()(L.Dense(3, kernel_regularizer="l2")(x))
    h = keras.Sequential([L.Dense(3, activation="tanh"), L.Dropout(0.5)])(h)
    m = keras.Model(x, [L.Dense(2, name="a")(h), h * 2.0])
    m.compile("adam", "mse")
    m.fit(np.ones((2, 4), "float32"), [np.ones((2, 2), "float32"), np.ones((2, 3), "float32")], verbose=0)
    return m, (3, 4)


def sequential():
    m = keras.Sequential([L.Masking(), L.GRU(3, return_sequences=True), L.GlobalMaxPooling1D(), L.Dense(1)])
    m(np.ones((2, 5, 3), "float32"))
    return m, (2, 5, 3)


def unknown():
    x = keras.Input((4,))
    m = keras.Model(x, L.Dense(2)(Scale(3.0, name="scale")(L.Dense(3)(x))))
    return m, (3, 4)


def subclassed():
    m = Net()
    m(np.ones((2, 4), "float32"))
    m(tf.ones((3, 4)))
    return m, (3, 4)


def main():
    arrays = {}
    for make in [functional, sequential, unknown, subclassed]:
        keras.backend.clear_session()
        keras.utils.set_random_seed(1)
        m, shape = make()
        name = make.__name__
        x = np.random.RandomState(2).uniform(-1, 1, shape).astype("float32")
        if len(shape) == 3:
            x[0, 3:] = 0
        arrays[f"{name}/input"] = x
        for i, o in enumerate(tf.nest.flatten(m(x, training=False))):
            arrays[f"{name}/output{i}"] = o.numpy()
        if name == "unknown":
            arrays[f"{name}/train"] = m(x, training=True).numpy()
        arrays[f"{name}/losses"] = np.array([float(l) for l in m.losses], "float32")
        folder = pathlib.Path(tempfile.mkdtemp())
        m.save(folder / "m", save_format="tf")
        with zipfile.ZipFile(f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as z:
            for f in sorted((folder / "m").rglob("*")):
                if f.is_file():
                    z.write(f, f.relative_to(folder / "m"))
        shutil.rmtree(folder)
    np.savez_compressed("saved.npz", **arrays)


main()

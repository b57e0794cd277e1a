"""Makes files of whole models of Keras 3: trained with scaled losses, compiled but not trained, and an .h5 file."""

import gzip
import os
import tempfile

import keras
import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
x = np.linspace(-1, 1, 12, dtype="float32").reshape(3, 4)
arrays = {"x": x}


def put(name, m, ext):
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "m" + ext)
        m.save(path)
        with open(path, "rb") as f, gzip.GzipFile(os.path.join(here, name + ext + ".gz"), "wb", mtime=0) as out:
            out.write(f.read())
    arrays[name] = m(x, training=False).numpy()


def small():
    return keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, activation="hard_sigmoid"), keras.layers.Dense(2, dtype="float32")])


keras.utils.set_random_seed(2)
keras.mixed_precision.set_global_policy("mixed_float16")
m = small()
m.compile("adam", "mse")
m.fit(x, x[:, :2], verbose=0)
put("keras3_mixed", m, ".keras")
keras.mixed_precision.set_global_policy("float32")
m = small()
m.compile("adam", "mse")
put("keras3_untrained", m, ".keras")
m = small()
m.compile("adam", "mse")
m.fit(x, x[:, :2], verbose=0)
put("keras3_model", m, ".h5")
np.savez_compressed(os.path.join(here, "outputs_keras3.npz"), **arrays)

"""Trains a small network on the digits and writes two SavedModels of it, with TensorFlow's answers.

    TF_USE_LEGACY_KERAS=1 python make_model.py        (tensorflow 2.21, tf_keras 2.21)

model/ is tf_keras's SavedModel: images of 8 by 8 pixels from 0 to 16 in, probabilities out; answers.npy has its
results for the held-out digits. ../../../examples/embed/model is an export for programs: any picture in.
"""

import os
import shutil
import zlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import numpy as np
import tensorflow as tf
import tf_keras as keras

here = os.path.dirname(os.path.abspath(__file__))
COUNT = 1797
raw = np.frombuffer(zlib.decompress(open(os.path.join(here, "digits.deflate"), "rb").read(), -15), np.uint8)
images = raw[: COUNT * 64].reshape(COUNT, 8, 8, 1).astype(np.float32)
labels = raw[COUNT * 64 :].astype(np.int64)
held_out = np.arange(COUNT) % 5 == 4

keras.utils.set_random_seed(1)
image = keras.Input([8, 8, 1], name="image")
x = keras.layers.Rescaling(1 / 16, name="pixels")(image)
x = keras.layers.Conv2D(16, 3, padding="same", activation="relu", name="edges")(x)
x = keras.layers.MaxPooling2D(2, name="smaller")(x)
x = keras.layers.Conv2D(32, 3, activation="relu", name="shapes")(x)
x = keras.layers.Flatten(name="flat")(x)
x = keras.layers.Dropout(0.2, name="drop")(x)
x = keras.layers.Dense(10, activation="softmax", name="probabilities")(x)
net = keras.Model(image, x, name="digits")
net.compile(keras.optimizers.legacy.Adam(0.003), "sparse_categorical_crossentropy", metrics=["accuracy"])
net.fit(images[~held_out], labels[~held_out], batch_size=32, epochs=25, verbose=0)
answers = net(images[held_out]).numpy()
print("accuracy", np.mean(answers.argmax(-1) == labels[held_out]))

model = os.path.join(here, "model")
shutil.rmtree(model, ignore_errors=True)
net.save(model, save_format="tf", include_optimizer=False)
shutil.rmtree(os.path.join(model, "assets"), ignore_errors=True)
again = tf.saved_model.load(model).signatures["serving_default"](image=tf.constant(images[held_out]))["probabilities"].numpy()
np.save(os.path.join(here, "answers.npy"), again)


class Reader(tf.Module):
    """The network for pictures of any size."""

    def __init__(self):
        super().__init__()
        self.net = net.variables

    @tf.function(input_signature=[tf.TensorSpec([None, None, None], tf.uint8, "image")])
    def classify(self, image):
        small = tf.image.resize(tf.cast(image, tf.float32)[tf.newaxis], [8, 8], "area")
        ink = tf.reduce_mean(small, -1, keepdims=True) * (16 / 255)
        return {"probabilities": net(ink, training=False)[0]}


reader = Reader()
target = os.path.join(here, "..", "..", "..", "examples", "embed", "model")
shutil.rmtree(target, ignore_errors=True)
tf.saved_model.save(reader, target, signatures={"serving_default": reader.classify})
shutil.rmtree(os.path.join(target, "assets"), ignore_errors=True)

# A three, eight times as large, as a picture to try, and TensorFlow's result for it.
three = int(np.flatnonzero(held_out & (labels == 3))[0])
big = np.kron(images[three, :, :, 0] * (255 / 16), np.ones([8, 8])).round().astype(np.uint8)[:, :, None]
tf.io.write_file(os.path.join(target, "..", "three.png"), tf.io.encode_png(big))
out = tf.saved_model.load(target).signatures["serving_default"](image=tf.constant(big))["probabilities"].numpy()
np.savetxt(os.path.join(target, "..", "three.txt"), out[None], "%.7g")

"""Writes models of tf_keras as SavedModels, with weights drawn from a seed: python apps.py DIRECTORY [NAME…]

DIRECTORY/apps/<name>/ gets the SavedModel and case.npz: inputs as in:<name>, the outputs of serving_default as out:<name>.
Without names, all models are written. The large ones are exported for inference only; the others are saved whole.
"""
import os
import sys

import numpy as np
import tensorflow as tf
import tf_keras as keras

APPLICATIONS = {
    "mobilenet_v2": (keras.applications.MobileNetV2, 224),
    "resnet50": (keras.applications.ResNet50, 224),
    "efficientnet_b0": (keras.applications.EfficientNetB0, 224),
    "densenet121": (keras.applications.DenseNet121, 224),
    "inception_v3": (keras.applications.InceptionV3, 299),
    "xception": (keras.applications.Xception, 299),
    "nasnet_mobile": (keras.applications.NASNetMobile, 224),
    "convnext_tiny": (keras.applications.ConvNeXtTiny, 224),
}
WHOLE = {"mobilenet_v2", "transformer", "recurrent"}


class Block(keras.layers.Layer):
    """Attention and a feed-forward network, each followed by a normalization."""

    def __init__(self, width, heads, **kwargs):
        super().__init__(**kwargs)
        self.width, self.heads = width, heads
        self.attention = keras.layers.MultiHeadAttention(heads, width // heads)
        self.norms = [keras.layers.LayerNormalization(epsilon=1e-6) for _ in range(2)]
        self.wide = keras.layers.Dense(4 * width, activation="gelu")
        self.narrow = keras.layers.Dense(width)

    def call(self, x):
        x = self.norms[0](x + self.attention(x, x))
        return self.norms[1](x + self.narrow(self.wide(x)))

    def get_config(self):
        return {**super().get_config(), "width": self.width, "heads": self.heads}


def transformer(length=128, width=256, heads=4, blocks=4, words=8000):
    tokens = keras.Input((length,), dtype="int32")
    x = keras.layers.Embedding(words, width)(tokens) + keras.layers.Embedding(length, width)(tf.range(length))
    for _ in range(blocks):
        x = Block(width, heads)(x)
    return keras.Model(tokens, keras.layers.Dense(2)(keras.layers.GlobalAveragePooling1D()(x)))


def recurrent(length=100, words=5000):
    return keras.Sequential([
        keras.Input((length,), dtype="int32"),
        keras.layers.Embedding(words, 64),
        keras.layers.Bidirectional(keras.layers.LSTM(64, return_sequences=True)),
        keras.layers.GRU(64),
        keras.layers.Dense(1),
    ])


def build(name, rng):
    """The model and a batch of two for it."""
    if name == "transformer":
        return transformer(), rng.integers(0, 8000, (2, 128)).astype(np.int32)
    if name == "recurrent":
        return recurrent(), rng.integers(0, 5000, (2, 100)).astype(np.int32)
    make, size = APPLICATIONS[name]
    # Logits show more than their softmax.
    model = make(weights=None, input_shape=(size, size, 3), classifier_activation=None)
    for v in model.weights:  # batch norms that do something
        if "moving_mean" in v.name:
            v.assign(rng.normal(0, 0.1, v.shape))
        elif "moving_variance" in v.name:
            v.assign(rng.uniform(0.5, 1.5, v.shape))
    return model, rng.uniform(0, 1, (2, size, size, 3)).astype(np.float32)


def write(name, folder):
    keras.backend.clear_session()
    keras.utils.set_random_seed(7)
    model, x = build(name, np.random.default_rng(1))
    if name in WHOLE:
        model.save(folder, save_format="tf")
    else:
        model.export(folder)
    signature = tf.saved_model.load(folder).signatures["serving_default"]
    (key,) = signature.structured_input_signature[1]
    y = signature(**{key: tf.constant(x)})
    np.savez(os.path.join(folder, "case.npz"), **{"in:" + key: x}, **{"out:" + k: v.numpy() for k, v in y.items()})


if __name__ == "__main__":
    root = os.path.join(os.path.abspath(sys.argv[1]), "apps")
    for app in sys.argv[2:] or [*APPLICATIONS, "transformer", "recurrent"]:
        write(app, os.path.join(root, app))
        print("wrote", app, file=sys.stderr, flush=True)

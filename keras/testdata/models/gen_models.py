"""Writes the fixtures of models: the outputs of tf_keras 2.21 for each, and its config.

Run in this directory, with TensorFlow 2.21 and tf_keras 2.21:

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_models.py

models.json has each model's config in both forms, its layers, weights' names and summary;
models.npz has weights, inputs and outputs.
"""
import json
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
import tf_keras as keras
from tf_keras.src.saving import serialization_lib
from tf_keras.src.saving.legacy import serialization as legacy
from tf_keras.src.saving.legacy.saved_model import json_utils

L = keras.layers
MODELS = {}


def model(*shapes, dtypes=None):
    """Registers a function that makes a model; shapes are those of the inputs of a call."""

    def add(f):
        MODELS[f.__name__] = (f, shapes, dtypes or ["float32"] * len(shapes))
        return f

    return add


@model((3, 4))
def sequential():
    return keras.Sequential([L.Dense(5, activation="relu"), L.Dropout(0.5), L.Dense(2)])


@model((3, 4))
def sequential_input():
    return keras.Sequential([keras.Input((4,)), L.Dense(5, activation="relu"), L.Dense(2, name="head")], name="named")


@model((2, 4))
def sequential_nested():
    return keras.Sequential([L.Dense(2, input_shape=(4,)), L.ReLU(), keras.Sequential([L.Dense(3), L.Dense(1)])])


@model((2, 8, 8, 3))
def sequential_images():
    return keras.Sequential([
        keras.Input((8, 8, 3)), L.Conv2D(4, 3, padding="same"), L.BatchNormalization(), L.ReLU(), L.MaxPooling2D(),
        L.Flatten(), L.Dense(3, activation="softmax")])


@model((2, 5), dtypes=["int32"])
def sequential_text():
    return keras.Sequential([keras.Input((5,), dtype="int32"), L.Embedding(10, 4, mask_zero=True), L.LSTM(3, return_sequences=True), L.GRU(2), L.Dense(1)])


@model((3, 4))
def chain():
    i = keras.Input((4,))
    h = L.Dense(5, activation="tanh")(i)
    return keras.Model(i, L.Dense(2)(h))


@model((3, 4))
def branches():
    i = keras.Input((4,), name="in")
    a = L.Dense(5, name="a")(i)
    b = L.Dense(5, name="b")(L.Dense(3, name="c")(i))
    return keras.Model(i, L.Dense(1, name="out")(L.Add()([a, b, a])))


@model((3, 4), (3, 2))
def several():
    x, y = keras.Input((4,), name="x"), keras.Input((2,), name="y")
    h = L.Concatenate()([L.Dense(3)(x), y])
    return keras.Model([x, y], [L.Dense(1, name="first")(h), L.Dense(2, name="second")(h)])


@model((3, 4), (3, 2))
def dictionaries():
    x, y = keras.Input((4,), name="x"), keras.Input((2,), name="y")
    h = L.Concatenate()([L.Dense(3)(x), y])
    return keras.Model({"left": x, "right": y}, {"all": h, "sum": L.Dense(1)(h)})


@model((2, 4))
def shared():
    i = keras.Input((4,))
    d = L.Dense(4)
    return keras.Model(i, d(L.ReLU()(d(d(i)))))


@model((2, 4), (2, 4))
def shared_depths():
    x, y = keras.Input((4,)), keras.Input((4,))
    d = L.Dense(4)
    u = d(L.ReLU()(L.Dense(4)(x)))
    v = d(y)
    return keras.Model([x, y], [L.Subtract()([u, v]), v])


@model((2, 4))
def nested():
    i = keras.Input((4,))
    inner = keras.Model(i, [L.Dense(3)(i), L.Dense(2)(i)], name="inner")
    o = keras.Input((4,), name="outer_input")
    p, q = inner(L.Dense(4)(o))
    r, s = inner(o)
    seq = keras.Sequential([L.Dense(2), L.ReLU()])
    return keras.Model(o, [L.Add()([p, r]), seq(q), s])


@model((2, 4))
def operators():
    i = keras.Input((4,))
    x = L.Dense(3)(i)
    y = 1.0 - x * 2.0 + tf.reduce_mean(x, axis=-1, keepdims=True)
    z = tf.concat([tf.nn.relu(y), x / 3.0], 1)[:, 1:4]
    w = tf.reshape(tf.cast(z > 0.1, "float32"), [-1, 3, 1])
    return keras.Model(i, [z, tf.squeeze(w, -1) + tf.math.sqrt(tf.abs(z)), -z, z @ tf.transpose(z)])


@model((2, 6, 3))
def operators_shapes():
    i = keras.Input((6, 3))
    n = tf.shape(i)[0]
    flat = tf.reshape(i, [n, 18])
    a, b = tf.split(flat, 2, axis=-1)
    s = tf.stack([a, b], axis=1)
    g = tf.gather(s, [1, 0], axis=1)
    one = tf.one_hot(tf.argmax(a, axis=-1), 9)
    return keras.Model(i, [tf.maximum(s, g), one, tf.clip_by_value(a, -0.5, 0.5) ** 2, tf.where(a > b, a, b), i[:, -1], tf.expand_dims(a, 1)])


@model((2, 5, 3))
def states():
    i = keras.Input((5, 3))
    x, h, c = L.LSTM(4, return_state=True, return_sequences=True)(L.Masking()(i))
    y = L.LSTM(4)(x, initial_state=[h, c])
    g = L.Bidirectional(L.GRU(2, return_sequences=True))(x)
    return keras.Model(i, [y, g])


@model((2, 5, 3))
def attention():
    i = keras.Input((5, 3))
    a, scores = L.MultiHeadAttention(2, 3)(i, i, use_causal_mask=True, return_attention_scores=True)
    x = L.LayerNormalization()(L.Add()([a, i]))
    d = L.Attention()([x, i])
    return keras.Model(i, [L.GlobalAveragePooling1D()(d), scores])


@model((2, 4))
def training_argument():
    i = keras.Input((4,))
    x = L.BatchNormalization()(i, training=False)
    return keras.Model(i, L.Dropout(0.5)(x, training=False))


@model((2, 3))
def from_middle():
    i = keras.Input((4,))
    h = L.Dense(3)(i)
    return keras.Model(h, L.Dense(2)(L.ReLU()(h)))


@model((2, 6, 3))
def wrappers():
    i = keras.Input((6, 3))
    x = L.TimeDistributed(L.Dense(4, activation="relu"))(i)
    x = L.TimeDistributed(keras.Sequential([L.Dense(2), L.ReLU()]))(x)
    return keras.Model(i, L.Flatten()(x))


@model((2, 4))
def frozen():
    i = keras.Input((4,))
    inner = keras.Sequential([keras.Input((4,)), L.Dense(3)])
    m = keras.Model(i, L.Dense(2)(inner(i)))
    m.layers[1].trainable = False
    return m


@model((2, 4, 3))
def further_functions():
    x = keras.Input((4, 3))
    positive = tf.cast(tf.argmax(x, axis=-1), "int64")
    return keras.Model(x, [
        x // 0.3, tf.linalg.band_part(x, 1, 0), tf.linalg.diag_part(x), tf.linalg.trace(x), tf.cast(tf.math.count_nonzero(x, axis=1), "float32"),
        tf.norm(x), tf.norm(x, axis=-1, keepdims=True), tf.norm(x, ord=1, axis=1), tf.nn.max_pool1d(x, 2, 1, "SAME"), tf.nn.avg_pool1d(x, 2, 2, "VALID"),
        tf.nn.conv1d(x, tf.ones((2, 3, 2)), 1, "SAME"), tf.roll(x, 1, axis=1), tf.sort(x, axis=-1), tf.sort(x, direction="DESCENDING"),
        tf.cast(tf.sequence_mask(positive, 4), "float32"), tf.tensordot(x, tf.ones((3, 2)), 1), tf.linalg.cross(x, x + 1.0),
        tf.cast(tf.strings.length(tf.strings.as_string(positive)), "float32"), *tf.nn.moments(x, [1]), tf.math.zero_fraction(x),
        tf.nn.max_pool2d(x[:, :, :, None], 2, 1, "SAME"), tf.nn.conv2d(x[:, :, :, None], tf.ones((2, 2, 1, 2)), 2, "VALID"),
    ])


@model((2, 4, 3))
def fed_arguments():
    x = keras.Input((4, 3))
    d = [L.Dense(3, name=name)(x) for name in ["w", "q", "v", "k"]]
    y = L.MultiHeadAttention(2, 3)(d[1], value=d[2], key=d[3], return_attention_scores=False)
    return keras.Model(x, L.Add()([y, d[0]]))


@model((2, 3), (2, 3))
def maps_of_inputs():
    a, b = keras.Input((3,)), keras.Input((3,))
    inner = keras.Model({"p": a, "q": b}, {"o": L.Add()([a, b]), "r": L.Dense(2)(b)}, name="inner")
    c, d = keras.Input((3,), name="c"), keras.Input((3,), name="d")
    named = keras.Model([c, d], L.Subtract()([c, d]), name="named")
    x, y = keras.Input((3,)), keras.Input((3,))
    o = inner({"q": x, "p": y})
    features = L.DenseFeatures([tf.feature_column.numeric_column("k", shape=(3,)), tf.feature_column.numeric_column("j", shape=(3,))])
    return keras.Model([x, y], [o["o"], o["r"], named({"d": x, "c": y}), features({"j": y, "k": x})])


@model((4,), (4, 1))
def conforming():
    x, y = keras.Input((1,)), keras.Input(())
    return keras.Model([x, y], L.Concatenate()([L.Dense(2)(x), tf.expand_dims(y, -1)]))


def encode(x):
    return json.loads(json.dumps(x, default=json_utils.get_json_type))


def main():
    described, arrays = [], {}
    for name, (make, shapes, dtypes) in MODELS.items():
        keras.backend.clear_session()
        keras.utils.set_random_seed(1)
        rng = np.random.RandomState(3)
        m = make()
        inputs = []
        for i, (shape, dtype) in enumerate(zip(shapes, dtypes)):
            x = rng.uniform(-1, 1, shape).astype("float32") if dtype == "float32" else rng.randint(0, 9, shape).astype(dtype)
            arrays[f"{name}/input{i}"] = x
            inputs.append(x)
        if isinstance(m.input if m.built else None, dict):
            given = dict(zip(sorted(m.input), inputs))
        else:
            given = inputs[0] if len(inputs) == 1 else inputs
        unbuilt = serialization_lib.serialize_keras_object(m)
        if not m.built:
            m.build((None,) + shapes[0][1:])
        for i, w in enumerate(m.weights):
            w.assign(rng.uniform(-1, 1, w.shape) if "variance" not in w.name else rng.uniform(0.5, 1.5, w.shape))
            arrays[f"{name}/weight{i}"] = w.numpy()
        out = m(given, training=False)
        for i, o in enumerate(tf.nest.flatten(out)):
            arrays[f"{name}/output{i}"] = o.numpy()
        lines = []
        m.summary(print_fn=lambda x: lines.append(x))
        config = serialization_lib.serialize_keras_object(m)
        m.use_legacy_config = True
        old = legacy.serialize_keras_object(m)
        described.append({
            "name": name, "unbuilt": encode(unbuilt), "config": encode(config), "legacy": encode(old), "inputs": len(inputs),
            "outputs": len(tf.nest.flatten(out)), "weights": [w.name for w in m.weights],
            "trainable": [w.name for w in m.trainable_weights], "layers": [l.name for l in m.layers],
            "output_names": getattr(m, "output_names", None), "summary": "\n".join(lines)})
    with open("models.json", "w") as f:
        json.dump(described, f, indent=1)
    np.savez_compressed("models.npz", **arrays)


main()

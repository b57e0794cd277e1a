"""Writes random models of tf_keras's layers: config, checkpoint, inputs, outputs, gradients and the losses of 20 steps;
the first ones as SavedModels too.

    architectures.py DIRECTORY COUNT
"""
import json
import os
import pathlib
import random
import shutil
import sys

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
import tf_keras as keras
from tf_keras.src.saving import serialization_lib
from tf_keras.src.saving.legacy import serialization as legacy
from tf_keras.src.saving.legacy.saved_model import json_utils

L = keras.layers
BATCH, STEPS = 4, 20
SAVED = 30  # so many are written as SavedModels too
ACTIVATIONS = ["relu", "tanh", "linear", "sigmoid", "elu", "selu", "gelu", "swish", "softplus", "softsign", "softmax", None]


def act(r):
    return r.choice(ACTIVATIONS)


def regular(r):
    return r.choice([None, None, None, "l2", keras.regularizers.L1(0.01), keras.regularizers.L1L2(0.001, 0.01)])


def constrained(r):
    return r.choice([None, None, None, keras.constraints.MaxNorm(2.0), keras.constraints.NonNeg(), keras.constraints.UnitNorm()])


def any_rank(r, x):
    """Layers for every tensor of floats."""
    return r.choice([
        lambda: L.Dense(r.randint(1, 6), activation=act(r), kernel_regularizer=regular(r), kernel_constraint=constrained(r), use_bias=r.random() < .8),
        lambda: L.Activation(act(r) or "relu"),
        lambda: L.BatchNormalization(momentum=r.choice([.9, .99]), scale=r.random() < .8, center=r.random() < .8),
        lambda: L.LayerNormalization(),
        lambda: L.UnitNormalization(),
        lambda: L.GroupNormalization(groups=1),
        lambda: L.Dropout(0.0), lambda: L.GaussianNoise(0.0), lambda: L.ActivityRegularization(l2=0.001),
        lambda: L.LeakyReLU(), lambda: L.PReLU(), lambda: L.ELU(), lambda: L.ReLU(max_value=r.choice([None, 2.0])), lambda: L.Softmax(), lambda: L.ThresholdedReLU(0.1),
        lambda: L.Rescaling(0.5, 0.1),
    ])()(x)


def sequence(r, x):
    n = x.shape[1]
    return r.choice([
        lambda: L.LSTM(r.randint(1, 5), return_sequences=r.random() < .6)(x), lambda: L.GRU(r.randint(1, 5), return_sequences=r.random() < .6, reset_after=r.random() < .7)(x),
        lambda: L.SimpleRNN(r.randint(1, 5), return_sequences=r.random() < .6)(x),
        lambda: L.Bidirectional(L.LSTM(r.randint(1, 3), return_sequences=True), merge_mode=r.choice(["concat", "sum", "mul", "ave"]))(x),
        lambda: L.Conv1D(r.randint(1, 5), 2, padding=r.choice(["same", "causal", "valid"]), activation=act(r))(x),
        lambda: L.SeparableConv1D(r.randint(1, 5), 2, padding="same")(x), lambda: L.DepthwiseConv1D(2, padding="same")(x),
        lambda: L.Conv1DTranspose(r.randint(1, 4), 2)(x), lambda: L.LocallyConnected1D(2, 2)(x),
        lambda: L.MaxPooling1D(2)(x), lambda: L.AveragePooling1D(2)(x), lambda: L.GlobalMaxPooling1D()(x), lambda: L.GlobalAveragePooling1D()(x),
        lambda: L.ZeroPadding1D(1)(x), lambda: L.UpSampling1D(2)(x), lambda: L.Cropping1D((1, 0))(x),
        lambda: L.TimeDistributed(L.Dense(r.randint(1, 5), activation=act(r)))(x), lambda: L.Permute((2, 1))(x),
        lambda: L.MultiHeadAttention(r.randint(1, 3), 2)(x, x, use_causal_mask=r.random() < .5), lambda: L.Attention(use_scale=r.random() < .5)([x, x]),
        lambda: L.AdditiveAttention()([x, x]), lambda: L.EinsumDense("abc,cd->abd", output_shape=(None, r.randint(1, 4)), bias_axes="d")(x),
        lambda: L.Reshape((x.shape[2], n))(x), lambda: x[:, 1:], lambda: tf.reverse(x, [1]), lambda: L.SpatialDropout1D(0.0)(x),
    ])()


def image(r, x):
    return r.choice([
        lambda: L.Conv2D(r.randint(1, 5), r.randint(1, 3), padding="same", strides=r.choice([1, 1, 2]), activation=act(r), kernel_regularizer=regular(r))(x),
        lambda: L.SeparableConv2D(r.randint(1, 4), 2, padding="same")(x), lambda: L.DepthwiseConv2D(2, padding="same", depth_multiplier=r.randint(1, 2))(x),
        lambda: L.Conv2DTranspose(r.randint(1, 3), 2, strides=r.choice([1, 2]))(x), lambda: L.LocallyConnected2D(2, 2)(x),
        lambda: L.MaxPooling2D(2, padding="same")(x), lambda: L.AveragePooling2D(2, padding="same")(x),
        lambda: L.GlobalMaxPooling2D(keepdims=r.random() < .3)(x), lambda: L.GlobalAveragePooling2D()(x),
        lambda: L.ZeroPadding2D(1)(x), lambda: L.UpSampling2D(2, interpolation=r.choice(["nearest", "bilinear"]))(x), lambda: L.Cropping2D(((1, 0), (0, 1)))(x),
        lambda: L.Permute((2, 1, 3))(x), lambda: L.Reshape((-1, x.shape[-1]))(x), lambda: L.SpatialDropout2D(0.0)(x), lambda: L.Resizing(5, 4)(x),
    ])()


def operators(r, x):
    return r.choice([
        lambda: x * 0.5 + 1.0, lambda: 1.0 - x, lambda: tf.nn.relu(x) - 0.1 * x, lambda: tf.math.tanh(x) ** 2, lambda: x / 2.0 + tf.reduce_mean(x, axis=-1, keepdims=True),
        lambda: tf.clip_by_value(x, -1.0, 1.0), lambda: tf.where(x > 0.1, x, 0.5 * x), lambda: tf.concat([x, -x], axis=-1), lambda: tf.maximum(x, tf.math.sigmoid(x)),
        lambda: tf.sqrt(tf.abs(x) + 0.1), lambda: tf.nn.softmax(x), lambda: tf.math.l2_normalize(x, axis=-1),
    ])()


def small(x):
    return x.shape.rank and all(d is not None for d in x.shape[1:]) and int(np.prod(x.shape[1:])) <= 400 and min(x.shape[1:]) >= 1


def grow(r, pool):
    """Adds one tensor to the pool."""
    x = r.choice(pool)
    rank = x.shape.rank
    kind = r.random()
    if kind < 0.12:
        same = [y for y in pool if y.shape == x.shape]
        merge = r.choice([L.Add, L.Multiply, L.Average, L.Maximum, L.Concatenate, L.Minimum])
        if len(same) > 1:
            return merge()(r.sample(same, 2))
        return merge()([x, L.Dense(x.shape[-1])(x)])
    if kind < 0.17 and rank == 2:
        d = L.Dense(x.shape[-1], activation="tanh")
        return d(d(x))
    if kind < 0.22 and rank == 2:
        return keras.Sequential([L.Dense(3, activation=act(r)), L.BatchNormalization(), L.Dense(2)])(x)
    if kind < 0.26 and rank == 2:
        i = keras.Input(x.shape[1:])
        a, b = keras.Model(i, [L.Dense(3)(i), L.Dense(3, activation="relu")(i)])(x)
        return L.Dot(axes=1)([a, b])
    if kind < 0.4:
        return operators(r, x)
    if rank == 2 or kind < 0.6:
        if rank == 2 and r.random() < .15:
            return L.RepeatVector(r.randint(1, 3))(x)
        return any_rank(r, x)
    return sequence(r, x) if rank == 3 else image(r, x)


def make(r):
    inputs, pool = [], []
    for _ in range(r.choice([1, 1, 2])):
        kind = r.choice(["vector", "sequence", "image", "tokens"])
        if kind == "tokens":
            i = keras.Input((5,), dtype="int32")
            x = L.Embedding(7, r.randint(2, 4), mask_zero=r.random() < .5)(i)
        else:
            i = keras.Input({"vector": (r.randint(2, 5),), "sequence": (5, 3), "image": (6, 5, 3)}[kind])
            x = L.Masking()(i) if kind == "sequence" and r.random() < .3 else i
        inputs.append(i)
        pool.append(x)
    for _ in range(r.randint(2, 7)):
        try:
            x = grow(r, pool)
        except ValueError:
            continue
        if small(x):
            pool.append(x)
    outputs = []
    for x in r.sample(pool[len(inputs):] or pool, min(len(pool[len(inputs):] or pool), r.choice([1, 1, 2]))):
        if x.shape.rank > 2:
            x = L.Flatten()(x)
        outputs.append(L.Dense(2)(x))
    # each input is used
    used = keras.Model(inputs, outputs)
    return used


def write(folder, seed):
    r = random.Random(seed)
    keras.backend.clear_session()
    keras.utils.set_random_seed(seed)
    rng = np.random.RandomState(seed)
    m = make(r)
    arrays = {}
    inputs = []
    for n, i in enumerate(m.inputs):
        shape = (BATCH,) + tuple(i.shape[1:])
        x = rng.randint(0, 7, shape).astype("int32") if i.dtype == tf.int32 else rng.uniform(-1, 1, shape).astype("float32")
        if i.dtype != tf.int32 and len(shape) == 3:
            x[0, -2:] = 0
        arrays[f"input{n}"] = x
        inputs.append(tf.constant(x))
    targets = [rng.uniform(-1, 1, (BATCH, 2)).astype("float32") for _ in m.outputs]
    for n, t in enumerate(targets):
        arrays[f"target{n}"] = t
    given = inputs if len(inputs) > 1 else inputs[0]
    config = serialization_lib.serialize_keras_object(m)
    if seed % 2:
        m.use_legacy_config = True
        config = legacy.serialize_keras_object(m)
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config, default=json_utils.get_json_type))
    tf.train.Checkpoint(model=m).write(str(folder / "ckpt"))
    for n, o in enumerate(m(given, training=False) if len(m.outputs) > 1 else [m(given, training=False)]):
        arrays[f"output{n}"] = o.numpy()
    if seed <= SAVED:
        m.save(folder / "saved", save_format="tf")
    optimizer = keras.optimizers.SGD(0.02, momentum=0.5)

    @tf.function
    def step(first):
        with tf.GradientTape() as tape:
            out = m(given, training=True)
            out = out if isinstance(out, (list, tuple)) else [out]
            loss = tf.add_n([tf.reduce_mean(tf.square(o - t)) for o, t in zip(out, targets)] + list(m.losses))
        gradients = tape.gradient(loss, m.trainable_variables)
        optimizer.apply_gradients(zip(gradients, m.trainable_variables))
        return loss, [tf.zeros_like(v) if g is None else tf.convert_to_tensor(g) for g, v in zip(gradients, m.trainable_variables)]

    losses = []
    for n in range(STEPS):
        loss, gradients = step(n == 0)
        losses.append(float(loss))
        if n == 0:
            for k, g in enumerate(gradients):
                arrays[f"gradient{k}"] = g.numpy()
    arrays["losses"] = np.array(losses, "float32")
    if not np.isfinite(losses).all() or max(losses) > 50:
        return False  # it diverges, and every rounding with it
    np.savez(folder / "arrays.npz", **arrays)
    return True


def main():
    out, count = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    seed = written = 0
    while written < count:
        seed += 1
        folder = out / f"{seed:04d}"
        try:
            ok = write(folder, seed)
        except (ValueError, TypeError, IndexError) as err:
            print(seed, type(err), str(err)[:200], file=sys.stderr)
            ok = False
        if ok:
            written += 1
        elif folder.exists():
            shutil.rmtree(folder)
    print(f"{written} models of {seed} tries")


main()

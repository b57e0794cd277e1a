"""Trains models with tf_keras and writes what fit, evaluate and predict return.

Run in this directory:

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_fit.py

Written by tf_keras 2.21 on TensorFlow 2.21. fit.json has the models, arguments and
results; fit.npz has the data and the predictions.
"""

import json

import numpy as np
import tensorflow as tf
import tf_keras as keras

L = keras.layers
r = np.random.RandomState(5)

data = {}


def put(case, **arrays):
    for name, a in arrays.items():
        if a.dtype == np.float64:
            a = a.astype(np.float32)
        data[case + "/" + name] = a


def glorot(seed):
    return keras.initializers.GlorotUniform(seed=seed)


def dense(units, seed, **kwargs):
    return L.Dense(units, kernel_initializer=glorot(seed), **kwargs)


def tabular(n=50, d=6):
    x = r.randn(n, d)
    return x, (x[:, :1] * 2 - x[:, 1:2] ** 2 + 0.1 * r.randn(n, 1))


def classes(n=60, d=6, k=3):
    x = r.randn(n, d)
    y = np.argmax(x[:, :k] + 0.3 * r.randn(n, k), axis=-1)
    return x, y.astype(np.int64)


def mlp(k=1, activation=None, width=8):
    return [dense(width, 1, activation="relu"), dense(width, 2, activation="tanh"), dense(k, 3, activation=activation)]


def cnn(k=3, **out):
    return [
        L.Conv2D(4, 3, activation="relu", kernel_initializer=glorot(1)),
        L.BatchNormalization(),
        L.MaxPooling2D(2),
        L.Flatten(),
        L.Dropout(0.0),
        dense(k, 2, activation="softmax", **out),
    ]


def lstm(units=5, **kwargs):
    return L.LSTM(units, kernel_initializer=glorot(2), recurrent_initializer=keras.initializers.Orthogonal(seed=3), **kwargs)


def sentences(n=40, steps=7, words=20):
    x = r.randint(1, words, size=(n, steps))
    for row, length in zip(x, r.randint(1, steps + 1, size=n)):
        row[length:] = 0
    return x.astype(np.int32)


def embedding(words=20, d=4):
    return L.Embedding(words, d, mask_zero=True, embeddings_initializer=keras.initializers.RandomUniform(seed=1))


CASES = []


def case(name, layers, x, y, **kwargs):
    CASES.append(dict(name=name, layers=layers, x=x, y=y, **kwargs))


x, y = tabular()
case("mlp", mlp(), x, y, optimizer=keras.optimizers.Adam(0.01), loss="mse", metrics=["mae", "RootMeanSquaredError"],
     fit=dict(epochs=3, batch_size=16))

x = r.rand(40, 8, 8, 1)
y = r.randint(0, 3, size=(40,))
x[np.arange(40), y] += 1
case("cnn", cnn(), x, y.astype(np.int64), optimizer=keras.optimizers.SGD(0.05, momentum=0.9),
     loss="sparse_categorical_crossentropy", metrics=["accuracy"], fit=dict(epochs=3, batch_size=8))

x = sentences()
y = (x.sum(axis=1, keepdims=True) > 35).astype(np.float32)
case("lstm", [embedding(), lstm(), dense(1, 4, activation="sigmoid")], x, y, optimizer=keras.optimizers.Adam(0.02),
     loss="binary_crossentropy", metrics=["accuracy", "AUC"], fit=dict(epochs=3, batch_size=10))

x = sentences(30)
y = (x % 4).astype(np.int64)
case("tagging", [embedding(), lstm(return_sequences=True), dense(4, 4, activation="softmax")], x, y,
     optimizer=keras.optimizers.RMSprop(0.01), loss="sparse_categorical_crossentropy", metrics=["accuracy"],
     weighted_metrics=["accuracy"], sample_weight=r.rand(30), fit=dict(epochs=2, batch_size=8))

x, y = classes()
case("class weights", mlp(3, "softmax"), x, y, optimizer=keras.optimizers.Adam(0.01),
     loss="sparse_categorical_crossentropy", metrics=["acc"], weighted_metrics=["accuracy", "ce"],
     fit=dict(epochs=3, batch_size=16, class_weight={0: 1.0, 1: 2.5, 2: 0.5}))

x, y = classes()
one_hot = np.eye(3)[y]
case("class weights of one-hot truths", mlp(3, "softmax"), x, one_hot, optimizer=keras.optimizers.Adam(0.01),
     loss="categorical_crossentropy", metrics=["accuracy"], weighted_metrics=["accuracy"],
     fit=dict(epochs=2, batch_size=16, class_weight={0: 1.0, 1: 2.5, 2: 0.5}))

x, y = tabular()
case("sample weights", mlp(), x, y, optimizer=keras.optimizers.Adam(0.01), loss="mae", metrics=["mse"],
     weighted_metrics=["mse"], sample_weight=r.rand(50), fit=dict(epochs=3))

x, y = classes(90)
case("validation split", mlp(3, "softmax"), x, y, optimizer=keras.optimizers.Adam(0.01),
     loss="sparse_categorical_crossentropy", metrics=["accuracy"], sample_weight=r.rand(90),
     fit=dict(epochs=4, batch_size=20, validation_split=0.3, validation_freq=2))

x, y = tabular(40)
case("validation data", mlp(), x, y, optimizer=keras.optimizers.Adam(0.01), loss="mse", metrics=["mae"],
     validation=tabular(25), fit=dict(epochs=3, validation_batch_size=10, validation_steps=2, validation_freq=[1, 3]))

x, y = tabular(40)
case("plateau", mlp(), x, y, optimizer=keras.optimizers.SGD(0.05), loss="mse", validation=tabular(20),
     callbacks=[("ReduceLROnPlateau", dict(factor=0.3, patience=1, min_delta=0.05)),
                ("EarlyStopping", dict(patience=3, min_delta=0.01, restore_best_weights=True))],
     fit=dict(epochs=30, batch_size=16))

x, y = classes()
case("mixed_float16", [L.Dense(8, activation="relu", kernel_initializer=glorot(1), dtype="mixed_float16"),
                       L.BatchNormalization(dtype="mixed_float16"),
                       L.Dense(3, activation="softmax", kernel_initializer=glorot(2), dtype="float32")], x, y,
     policy="mixed_float16", optimizer=keras.optimizers.Adam(0.01), loss="sparse_categorical_crossentropy",
     metrics=["accuracy"], fit=dict(epochs=3, batch_size=16))

x, y = classes()
case("regularized", [dense(8, 1, activation="relu", kernel_regularizer="l2", bias_regularizer=keras.regularizers.L1(0.02),
                           activity_regularizer=keras.regularizers.L2(0.01), kernel_constraint=keras.constraints.MaxNorm(0.8)),
                     L.BatchNormalization(), L.Dropout(0.0), L.ActivityRegularization(l1=0.01),
                     dense(3, 2, kernel_constraint="non_neg")], x, y,
     optimizer=keras.optimizers.SGD(0.1), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
     metrics=["sparse_categorical_accuracy"], validation=classes(20), fit=dict(epochs=3, batch_size=16))

for name, make in {
    "adamw clipnorm": lambda: keras.optimizers.AdamW(0.01, clipnorm=0.5),
    "rmsprop global clipnorm": lambda: keras.optimizers.RMSprop(0.01, global_clipnorm=0.7, momentum=0.5, centered=True),
    "adam ema": lambda: keras.optimizers.Adam(0.01, use_ema=True, ema_momentum=0.8, amsgrad=True),
    "adagrad clipvalue": lambda: keras.optimizers.Adagrad(0.1, clipvalue=0.1),
    "sgd schedule": lambda: keras.optimizers.SGD(keras.optimizers.schedules.ExponentialDecay(0.2, 3, 0.7), nesterov=True, momentum=0.8),
    "legacy adam": lambda: keras.optimizers.legacy.Adam(0.02, decay=0.1),
}.items():
    x, y = tabular(30)
    case(name, mlp(width=5), x, y, optimizer=make(), loss="huber", fit=dict(epochs=2, batch_size=8))

x, y = tabular(40)
case("epochs and steps", mlp(), x, y, optimizer=keras.optimizers.Adam(0.01), loss="mse",
     fit=dict(epochs=5, initial_epoch=2, steps_per_epoch=4))

x, y = tabular(40)
case("data that ends", mlp(), x, y, optimizer=keras.optimizers.Adam(0.01), loss="mse",
     on_batch=False, fit=dict(epochs=3, batch_size=16, steps_per_epoch=4))

x, y = tabular(40)
case("in order", mlp(), x, y, optimizer=keras.optimizers.Adam(0.01), loss="mse", fit=dict(epochs=2, batch_size=16, shuffle=False))

x, y = tabular(40)
case("fitted twice", mlp(), x, y, optimizer=keras.optimizers.Adam(0.01), loss="mse", again=True, fit=dict(epochs=2, batch_size=16))



def two_by_two(form):
    a, b = keras.Input((4,), name="a"), keras.Input((3,), name="b")
    shared = dense(5, 1, activation="relu", name="shared")
    h = L.Concatenate(name="both")([shared(a), shared(L.Dense(4, name="widen", kernel_initializer=glorot(5))(b))])
    value = dense(1, 2, name="value")(h)
    kind = dense(3, 3, activation="softmax", name="kind")(h)
    if form == "list":
        return keras.Model([a, b], [value, kind])
    return keras.Model({"a": a, "b": b}, {"value": value, "kind": kind})


def two_by_two_data(form):
    a, b = r.randn(40, 4).astype(np.float32), r.randn(40, 3).astype(np.float32)
    value = (a[:, :1] + b[:, :1]).astype(np.float32)
    kind = np.argmax(b, axis=-1).astype(np.int64)
    if form == "list":
        return [a, b], [value, kind]
    return {"a": a, "b": b}, {"value": value, "kind": kind}


x, y = two_by_two_data("list")
case("lists of inputs and outputs", None, x, y, model=two_by_two("list"), optimizer=keras.optimizers.Adam(0.01),
     loss={"value": "mse", "kind": "sparse_categorical_crossentropy"}, loss_weights={"value": 0.5, "kind": 2.0},
     metrics={"value": ["mae"], "kind": ["accuracy"]}, weighted_metrics=[["mae"], ["accuracy"]],
     sample_weight=[r.rand(40), r.rand(40)], fit=dict(epochs=3, batch_size=16, validation_split=0.2))
x, y = two_by_two_data("dict")
case("maps of inputs and outputs", None, x, y, model=two_by_two("dict"), optimizer=keras.optimizers.Adam(0.01),
     loss={"value": "mse", "kind": "sparse_categorical_crossentropy"},
     metrics={"kind": ["accuracy"]}, fit=dict(epochs=3, batch_size=16))

x, y = tabular(50)
case("shuffled dataset", mlp(), x, y, optimizer=keras.optimizers.Adam(0.01), loss="mse",
     dataset=lambda x, y: tf.data.Dataset.from_tensor_slices((x, y)).shuffle(20, seed=3).batch(8), fit=dict(epochs=3))


def part(x, n):
    return None if x is None else tf.nest.map_structure(lambda a: a[:n], x)


out = []
for c in CASES:
    keras.utils.set_random_seed(7)
    keras.mixed_precision.set_global_policy(c.get("policy", "float32"))
    model = c.get("model") or keras.Sequential(c["layers"])
    given = dict(
        loss_weights=c.get("loss_weights"),
        optimizer=c["optimizer"], loss=c["loss"], metrics=c.get("metrics"), weighted_metrics=c.get("weighted_metrics"),
    )
    text = dict(
        name=c["name"],
        layers=[keras.layers.serialize(l) for l in c["layers"] or []],
        loss_weights=c.get("loss_weights"),
        dataset="dataset" in c,
        optimizer=keras.optimizers.serialize(c["optimizer"]),
        loss=c["loss"] if isinstance(c["loss"], (str, dict)) else keras.losses.serialize(c["loss"]),
        metrics=c.get("metrics"),
        weighted_metrics=c.get("weighted_metrics"),
        fit=c["fit"],
        callbacks=c.get("callbacks"),
        again=c.get("again", False),
        seed=7,
    )
    text["layers"] = [json.loads(json.dumps(l)) for l in text["layers"]]
    for l in text["layers"]:
        l["config"].pop("batch_input_shape", None)
        l.pop("build_config", None)
    if "model" in c:
        text["model"] = keras.saving.serialize_keras_object(model)
        text["model"].pop("build_config", None)
    model.compile(**given)
    x, y = c["x"], c["y"]
    for name, given in [("x", x), ("y", y), ("sample_weight", c.get("sample_weight"))]:
        if isinstance(given, list):
            put(c["name"], **{name + "/" + str(i): a for i, a in enumerate(given)})
        elif isinstance(given, dict):
            put(c["name"], **{name + "/" + key: a for key, a in given.items()})
        elif given is not None:
            put(c["name"], **{name: given})
    weight = c.get("sample_weight")
    fit = dict(c["fit"])
    if "validation" in c:
        vx, vy = c["validation"]
        put(c["name"], validation_x=vx, validation_y=vy)
        fit["validation_data"] = (vx.astype(np.float32), vy)
    made = [getattr(keras.callbacks, name)(**args) for name, args in c.get("callbacks") or []]
    if "dataset" in c:
        history = model.fit(c["dataset"](x.astype(np.float32), y.astype(np.float32)), verbose=0, **fit)
    else:
        history = model.fit(x, y, sample_weight=weight, callbacks=made, verbose=0, **fit)
    text["history"] = {k: [float(v) for v in vs] for k, vs in history.history.items()}
    text["epoch"] = history.epoch
    if c.get("again"):
        history = model.fit(x, y, sample_weight=weight, verbose=0, **fit)
        text["second"] = {k: [float(v) for v in vs] for k, vs in history.history.items()}
    text["evaluate"] = {k: float(v) for k, v in model.evaluate(x, y, sample_weight=weight, batch_size=13, verbose=0, return_dict=True).items()}
    predicted = tf.nest.flatten(model.predict(x, verbose=0))
    put(c["name"], **{"predict/" + str(i): a.astype(np.float32) for i, a in enumerate(predicted)})
    if not c.get("on_batch", True):
        # A step of TensorFlow's that gets no data may still count as one.
        out.append(text)
        continue
    on_batch = dict(sample_weight=part(weight, 9))
    text["train_on_batch"] = {k: float(v) for k, v in model.train_on_batch(part(x, 9), part(y, 9), return_dict=True, **on_batch).items()}
    text["test_on_batch"] = {k: float(v) for k, v in model.test_on_batch(part(x, 9), part(y, 9), return_dict=True, **on_batch).items()}
    out.append(text)
    keras.mixed_precision.set_global_policy("float32")
    keras.backend.clear_session()

with open("fit.json", "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(c) for c in out) + "\n]\n")
np.savez_compressed("fit.npz", **{k.replace(" ", "_"): v for k, v in data.items()})

"""tf_keras fits small models and predicts from a table with lookups."""
import numpy as np
import tf_keras as keras

from common import serve

L = keras.layers
BATCH, STEPS, EPOCHS, ROWS = 32, 50, 4, 10_000


def fit(shape, layers):
    n = BATCH * STEPS
    x = ((np.arange(n * int(np.prod(shape))) % 13) / 13).astype(np.float32).reshape((n,) + shape)
    y = np.arange(n) % 10
    model = keras.Sequential(layers + [L.Dense(10, activation="softmax")])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return lambda: model.fit(x, y, batch_size=BATCH, epochs=EPOCHS, verbose=0)


def words(kind, n):
    return [f"{kind}_{i}" for i in range(n)]


def table_model():
    city, color = keras.Input((1,), dtype="string", name="city"), keras.Input((1,), dtype="string", name="color")
    age, wage = keras.Input((1,), dtype="int64", name="age"), keras.Input((8,), name="wage")
    joined = L.Concatenate()([
        L.Flatten()(L.Embedding(1001, 16)(L.StringLookup(vocabulary=words("city", 1000))(city))),
        L.StringLookup(vocabulary=words("color", 20), output_mode="one_hot")(color),
        L.IntegerLookup(vocabulary=list(range(80)), output_mode="one_hot")(age),
        L.Normalization(mean=2.0, variance=3.0)(wage),
    ])
    return keras.Model([city, color, age, wage], L.Dense(1)(L.Dense(64, activation="relu")(joined)))


def table():
    i = np.arange(ROWS)
    return [
        np.array([f"city_{k * 7 % 1100}" for k in i], object)[:, None],
        np.array([f"color_{k % 23}" for k in i], object)[:, None],
        (i % 90)[:, None],
        ((np.arange(ROWS * 8) % 13) / 13).astype(np.float32).reshape(ROWS, 8),
    ]


model, data = table_model(), table()


def predict(batch):
    return lambda: model.predict(data, batch_size=batch, verbose=0)


serve({
    "mlp": fit((64,), [L.Dense(64, activation="relu")]),
    "cnn": fit((16, 16, 1), [L.Conv2D(8, 3, activation="relu"), L.MaxPooling2D(), L.Conv2D(16, 3, activation="relu"), L.Flatten()]),
    "lstm": fit((20, 16), [L.LSTM(32)]),
    "table32": predict(32),
    "table1024": predict(1024),
})

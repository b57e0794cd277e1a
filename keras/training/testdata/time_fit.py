"""Times the trainings of BenchmarkFit in tf_keras: microseconds of a step."""

import time

import numpy as np
import tf_keras as keras

L = keras.layers
for name, shape, layers in [
    ("mlp", (64,), [L.Dense(64, activation="relu")]),
    ("cnn", (16, 16, 1), [L.Conv2D(8, 3, activation="relu"), L.MaxPooling2D(), L.Conv2D(16, 3, activation="relu"), L.Flatten()]),
    ("lstm", (20, 16), [L.LSTM(32)]),
]:
    n = 32 * 50
    x = ((np.arange(n * int(np.prod(shape))) % 13) / 13).astype(np.float32).reshape((n,) + shape)
    y = np.arange(n) % 10
    model = keras.Sequential(layers + [L.Dense(10, activation="softmax")])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x, y, batch_size=32, verbose=0)
    began = time.perf_counter()
    for _ in range(5):
        model.fit(x, y, batch_size=32, verbose=0)
    each_fit = (time.perf_counter() - began) / 5
    began = time.perf_counter()
    model.fit(x, y, batch_size=32, verbose=0, epochs=6)
    each_epoch = (time.perf_counter() - began) / 6
    print(f"{name}: {each_fit / 50 * 1e6:.0f} us a step in fits of one epoch, {each_epoch / 50 * 1e6:.0f} us in one fit of six")

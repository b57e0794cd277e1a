"""Writes the model of this example with TensorFlow 2.21: a price for a flat, from its city, its size and its rooms.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python make_model.py

flats.csv has rows, and prices.csv the prices that TensorFlow computes for them.
"""
import csv

import numpy as np
import tensorflow as tf

CITIES = ["Bremen", "Hamburg", "Kiel"]


class Price(tf.Module):
    def __init__(self):
        table = tf.lookup.KeyValueTensorInitializer(CITIES, tf.range(1, len(CITIES) + 1, dtype=tf.int64))
        self.cities = tf.lookup.StaticHashTable(table, default_value=0)
        self.embedding = tf.Variable([[0.0, 0.0], [1.0, 0.5], [2.0, 1.5], [0.5, 1.0]])
        self.kernel = tf.Variable([[3.0], [-1.0], [2.5], [10.0]])
        self.bias = tf.Variable([20.0])

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "city"), tf.TensorSpec([None], tf.float32, "size"),
                                  tf.TensorSpec([None], tf.int64, "rooms")])
    def __call__(self, city, size, rooms):
        rows = tf.gather(self.embedding, self.cities.lookup(city))
        numbers = tf.stack([size, tf.cast(rooms, tf.float32)], 1)
        x = tf.concat([rows, numbers], 1)
        return {"price": tf.squeeze(x @ self.kernel + self.bias, 1)}


def main():
    model = Price()
    tf.saved_model.save(model, "model", signatures=model.__call__)
    rng = np.random.RandomState(0)
    rows = [(rng.choice(CITIES + ["Ulm"]), round(float(rng.uniform(20, 150)), 1), int(rng.randint(1, 6))) for _ in range(20)]
    with open("flats.csv", "w") as f:
        w = csv.writer(f, lineterminator="\n")
        w.writerow(["size", "city", "rooms"])
        w.writerows((size, city, rooms) for city, size, rooms in rows)
    city, size, rooms = zip(*rows)
    prices = model(tf.constant(city), tf.constant(size), tf.constant(rooms, tf.int64))["price"]
    with open("prices.csv", "w") as f:
        f.write("price\n" + "".join(f"{p:.6g}\n" for p in prices.numpy()))


main()

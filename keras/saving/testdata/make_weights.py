"""Writes the fixtures of this directory with tf_keras (keras2_*) and Keras (keras3_*).

    python make_weights.py       (tf_keras 2.21, Keras 3.15, TensorFlow 2.21)

For each model: the files of its weights, and outputs.npz with an input and the output of each.
"""
import gzip, os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import keras, numpy as np, tf_keras

here = os.path.dirname(os.path.abspath(__file__))
rng = np.random.default_rng(1)


def stacked(k):
    l = k.layers
    frozen = l.Dense(3, name="frozen")
    frozen.trainable = False
    return k.Sequential(
        [
            l.Input((4, 3)),
            l.Bidirectional(l.LSTM(2, return_sequences=True), name="both"),
            l.RNN([l.LSTMCell(2), l.GRUCell(3)], return_sequences=True, name="cells"),
            l.TimeDistributed(l.Dense(3), name="steps"),
            l.BatchNormalization(name="norm"),
            l.SeparableConv1D(2, 2, name="conv"),
            l.Flatten(name="flat"),
            k.Sequential([l.Input((6,)), frozen, l.BatchNormalization(name="inner_norm"), l.Dense(4, name="thawed")], name="sequential"),
            l.Dense(2, name="dense"),
            l.Dense(2, name="last"),
        ],
        name="stacked",
    )


def net(k):
    l = k.layers

    class Part(l.Layer):
        def __init__(self):
            super().__init__(name="part")
            self.z, self.a = l.Dense(3, name="z"), l.Dense(3, name="a")
            self.li = [l.Dense(3, name="li_0"), l.BatchNormalization(name="li_1")]

        def build(self, shape):
            self.fixed = self.add_weight(name="fixed", shape=(3,), trainable=False)
            self.scale = self.add_weight(name="scale", shape=(3,))
            super().build(shape)

        def call(self, x):
            return self.li[1](self.li[0](self.a(self.z(x)))) * self.scale + self.fixed

    class Net(k.Model):
        def __init__(self):
            super().__init__(name="net")
            self.o, self.d = l.Dense(3, name="o"), l.Dense(3, name="d")
            self.blocks = [l.Dense(3, name="b_0"), l.Dense(3, name="b_1")]
            self.part = Part()
            self.attend = l.MultiHeadAttention(2, 2, name="attend")

        def call(self, x):
            x = self.blocks[1](self.blocks[0](self.d(self.o(x))))
            x = self.part(x)
            return self.attend(x, x)

    return Net()


def keep(name, arrays=None):
    path = os.path.join(here, name)
    with open(path, "rb") as f, gzip.GzipFile(path + ".gz", "wb", mtime=0) as out:
        out.write(f.read())
    os.remove(path)


def wide(k):
    l = k.layers
    i = l.Input((4, 3), name="in")
    a = l.Dense(3, activation="relu", name="a")
    x = l.Concatenate(name="join")([a(i), l.Conv1D(3, 2, padding="same", name="conv")(i)])
    return k.Model(i, l.Add(name="sum")([a(l.Dense(3, name="b")(x)), i]), name="wide")


outputs = {}
x = rng.normal(size=(2, 4, 3)).astype("float32")
outputs["x"] = x
for k, version in ((tf_keras, "keras2"), (keras, "keras3")):
    for make in (stacked, net):
        m = make(k)
        m(x)
        m.compile(k.optimizers.Adam(0.01), "mse", metrics=["mae"])
        m.fit(x, np.zeros_like(m(x)), verbose=0)
        for v in m.weights:  # so that no two are equal
            v.assign(np.abs(rng.normal(size=v.shape)).astype("float32"))
        name = f"{version}_{make.__name__}"
        outputs[name] = m(x).numpy()
        for end in [".weights.h5"] + [".h5"] * (k is tf_keras) + [".keras"] * (make is stacked):
            if end == ".keras":
                m.save(os.path.join(here, name + end))
            else:
                m.save_weights(os.path.join(here, name + end))
            keep(name + end)
for optimizer, name in ((tf_keras.optimizers.Adam(0.01), "keras2_model"), (tf_keras.optimizers.legacy.Adam(0.01), "keras2_legacy")):
    m = wide(tf_keras)
    m.compile(optimizer, "mse")
    m.fit(x, x, verbose=0)
    outputs[name] = m(x).numpy()
    m.save(os.path.join(here, name + ".h5"))
    keep(name + ".h5")
np.savez(os.path.join(here, "outputs.npz"), **outputs)

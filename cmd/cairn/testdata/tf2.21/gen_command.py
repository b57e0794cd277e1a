"""Writes the checkpoints that the command's golden tests look at, with TensorFlow 2.21.

guide/       the checkpoint guide's training, two saves of a manager, tf_keras's legacy Adam
names/       a name-based checkpoint (tf.compat.v1.train.Saver)
slices/      a tensor in two slices and one whole
parts/       two bundles, as two workers write them before they are merged
dtypes/      a tensor of every kind that SaveV2 takes
objects/     lists, maps, shared objects, a cycle, odd names
v1/          the older single-table format
saved_model/ a tf.Module with a function
keras3/      a compiled and trained Keras 3 model with its optimizer
bad/         guide's first checkpoint with one bit of the data and one of the index changed
"""
import os, shutil, sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import numpy as np
import tensorflow as tf
import tf_keras

here = os.path.dirname(os.path.abspath(__file__))
os.chdir(here)
for d in ["guide", "names", "slices", "parts", "dtypes", "objects", "v1", "saved_model", "bad"]:
    shutil.rmtree(d, ignore_errors=True)
    os.makedirs(d)
tf.random.set_seed(1)
tf_keras.utils.set_random_seed(1)


class Net(tf_keras.Model):
    def __init__(self):
        super().__init__()
        self.l1 = tf_keras.layers.Dense(5)

    def call(self, x):
        return self.l1(x)


def toy_dataset():
    inputs = tf.range(10.0)[:, None]
    labels = inputs * 5.0 + tf.range(5.0)[None, :]
    return tf.data.Dataset.from_tensor_slices(dict(x=inputs, y=labels)).repeat(10).batch(2)


opt, net = tf_keras.optimizers.legacy.Adam(0.1), Net()
ckpt = tf.train.Checkpoint(step=tf.Variable(1), optimizer=opt, net=net)
manager = tf.train.CheckpointManager(ckpt, "guide", max_to_keep=3)
for example in toy_dataset():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.abs(net(example["x"]) - example["y"]))
    opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    ckpt.step.assign_add(1)
    if int(ckpt.step) % 10 == 0:
        manager.save()
    if int(ckpt.step) == 20:
        break

with tf.Graph().as_default(), tf.compat.v1.Session() as s:
    tf.compat.v1.get_variable("dense/kernel", initializer=np.arange(6, dtype=np.float32).reshape(2, 3) / 4)
    tf.compat.v1.get_variable("dense/bias", initializer=np.array([0.5, np.nan, -np.inf], np.float32))
    tf.compat.v1.get_variable("global_step", initializer=np.int64(7))
    s.run(tf.compat.v1.global_variables_initializer())
    tf.compat.v1.train.Saver().save(s, "names/model.ckpt", global_step=7, write_meta_graph=False)
    tf.compat.v1.train.Saver(write_version=tf.compat.v1.train.SaverDef.V1).save(s, "v1/model.ckpt", write_meta_graph=False, write_state=False)

whole = np.arange(12, dtype=np.float32).reshape(4, 3)
tf.raw_ops.SaveV2(prefix="slices/s", tensor_names=["w", "w", "b"],
                  shape_and_slices=["4 3 0,2:-", "4 3 2,2:-", ""], tensors=[whole[:2], whole[2:], np.array([1, 2], np.int16)])
tf.raw_ops.SaveV2(prefix="parts/p0", tensor_names=["a", "w"], shape_and_slices=["", "4 3 0,2:-"],
                  tensors=[np.array([1.5, 2.5], np.float64), whole[:2]])
tf.raw_ops.SaveV2(prefix="parts/p1", tensor_names=["b", "w"], shape_and_slices=["", "4 3 2,2:-"],
                  tensors=[np.array([b"x", b"yz"], object), whole[2:]])

v = np.array([-2, -1, 0, 1], np.float32)
names, tensors = [], []
for d in ["float32", "float64", "int32", "uint8", "int16", "int8", "complex64", "int64", "bool", "bfloat16", "uint16", "complex128", "half",
          "uint32", "uint64", "float8_e5m2", "float8_e4m3fn", "int4", "uint4"]:
    t = tf.abs(v) if d.startswith("u") else v
    if d.endswith("int4"):
        t = tf.cast(t, tf.int8)  # there is no way from float
    t = tf.cast(t, getattr(tf.dtypes if hasattr(tf.dtypes, d) else tf.dtypes.experimental, d))
    names.append(d)
    tensors.append(t)
for d in ["qint8", "quint8", "qint32"]:
    names.append(d)
    tensors.append(tf.bitcast(tf.cast(tf.abs(v) if d == "quint8" else v, getattr(tf, d[1:])), getattr(tf, d)))
names += ["string", "scalar_string", "empty"]
tensors += [tf.constant([b"caf\xc3\xa9", b"", b"a\x00b", b"\xff"]), tf.constant(b"ends in NUL\x00"), tf.zeros([0, 3])]
tf.raw_ops.SaveV2(prefix="dtypes/all", tensor_names=names, shape_and_slices=[""] * len(names), tensors=tensors)

a, b = tf.train.Checkpoint(), tf.train.Checkpoint()
shared = tf.Variable([1.0, 2.0], name="shared")
a.peer, b.peer = b, a
a.mine, b.mine = shared, shared
root = tf.train.Checkpoint(a=a, listed=[tf.Variable(1), tf.Variable(2)], mapped={"one/two": tf.Variable(3.0), "dot.": tf.Variable([[4.0]])}, empty=[])
root.write("objects/o")


class Scale(tf.Module):
    def __init__(self):
        super().__init__()
        self.factor = tf.Variable(3.0, name="factor")

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def __call__(self, x):
        return x * self.factor


tf.saved_model.save(Scale(), "saved_model")

for f in ["ckpt-1.index", "ckpt-1.data-00000-of-00001"]:
    raw = bytearray(open("guide/" + f, "rb").read())
    if "data" in f:
        raw[7] ^= 4
    open("bad/data" + f[6:], "wb").write(raw)
    raw = bytearray(open("guide/" + f, "rb").read())
    if "index" in f:
        raw[40] ^= 4
    open("bad/index" + f[6:], "wb").write(raw)

# A compiled and trained Keras 3 model: the shortest way to its kernels leads
# through the optimizer.
import keras  # noqa: E402

keras.utils.set_random_seed(1)
model = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dropout(0.2), keras.layers.Dense(4)])
model.compile("adam", "mse")
model.fit(tf.random.stateless_uniform([32, 8], [1, 2]), tf.random.stateless_uniform([32, 4], [3, 4]), verbose=0)
tf.train.Checkpoint(model=model, optimizer=model.optimizer).save("keras3/ckpt")
os.remove("keras3/checkpoint")

"""Checkpoints of other kinds that TensorFlow writes and Cairn only has to read: each with its contents."""
import json
import os

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1


def described(name, array, **more):
    array = np.asarray(array)
    if array.dtype.kind in "OSU":
        data = [x.hex() for x in array.ravel().tolist()]
        return dict(more, name=name, dtype="string", shape=list(array.shape), data=data)
    return dict(more, name=name, dtype=tf.dtypes.as_dtype(array.dtype).name, shape=list(array.shape), data=array.tobytes().hex())


def graph_saver(folder, version, partitioned):
    """A name-based checkpoint of a TF1 graph."""
    rng = np.random.default_rng(3)
    with tf.Graph().as_default(), v1.Session() as session:
        want = []
        def variable(name, array, **kw):
            v = v1.get_variable(name, initializer=tf.constant(array), **kw)
            want.append((name, array))
            return v
        variable("net/w", rng.standard_normal((20, 6)).astype("float32"))
        variable("net/b", rng.standard_normal(6).astype("float32"))
        variable("step", np.int64(41))
        variable("flags", np.array([True, False, True]))
        variable("bytes", rng.integers(0, 255, 9).astype("uint8"))
        variable("wide", rng.integers(-2**31, 2**31, 7).astype("int32"))
        variable("wider", rng.integers(-2**62, 2**62, 7).astype("int64"))
        variable("double", rng.standard_normal((3, 1, 2)))
        variable("pair", (rng.standard_normal(4) + 1j * rng.standard_normal(4)).astype("complex64"))
        variable("words", np.array([b"a", b"", b"\xff\0z"], dtype=object))
        if partitioned:
            with v1.variable_scope("p", partitioner=v1.fixed_size_partitioner(3)):
                array = rng.standard_normal((10, 4)).astype("float32")
                v1.get_variable("embedding", shape=array.shape, initializer=lambda shape, dtype, partition_info=None, a=array: (
                    a[partition_info.var_offset[0]:partition_info.var_offset[0] + shape[0]]))
                want.append(("p/embedding", array))
        session.run(v1.global_variables_initializer())
        v1.train.Saver(write_version=version).save(session, folder + "/model.ckpt", write_meta_graph=False)
    return [described(n, a) for n, a in want]


def saved_model(folder):
    m = tf.Module()
    m.w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
    m.parts = [tf.Variable(5, name="part"), {"deep": tf.Variable([b"x", b"y"], name="deep")}]
    m.f = tf.function(lambda x: tf.matmul(x, m.w), input_signature=[tf.TensorSpec([None, 2])])
    tf.saved_model.save(m, folder + "/model")
    return [described("w/.ATTRIBUTES/VARIABLE_VALUE", m.w.numpy()),
            described("parts/0/.ATTRIBUTES/VARIABLE_VALUE", np.int32(5)),
            described("parts/1/deep/.ATTRIBUTES/VARIABLE_VALUE", np.array([b"x", b"y"], dtype=object))]


def sharded(folder, policy):
    rng = np.random.default_rng(4)
    arrays = {"a": rng.standard_normal(100).astype("float32"), "b": rng.standard_normal((40, 5)), "c": np.int32(7),
              "d": rng.integers(0, 99, (3, 33)).astype("int64")}
    ckpt = tf.train.Checkpoint(**{k: tf.Variable(v, name=k) for k, v in arrays.items()})
    ckpt.write(folder + "/model.ckpt", tf.train.CheckpointOptions(experimental_sharding_callback=policy))
    return [described(k + "/.ATTRIBUTES/VARIABLE_VALUE", v) for k, v in arrays.items()]


def resources(folder):
    """Tables and iterators, whose attributes' keys are none of the bundle's."""
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    table.insert(["x", "y"], [1, 2])
    dense = tf.lookup.experimental.DenseHashTable(tf.int64, tf.float32, 0.0, empty_key=-1, deleted_key=-2)
    dense.insert([5], [6.0])
    iterator = iter(tf.data.Dataset.range(10).shuffle(4, seed=1).batch(2))
    next(iterator)
    ckpt = tf.train.Checkpoint(table=table, dense=dense, iterator=iterator, v=tf.Variable(1.5, name="v"))
    ckpt.write(folder + "/model.ckpt")
    return [described("v/.ATTRIBUTES/VARIABLE_VALUE", np.float32(1.5))]


def keras3(folder):
    model = tf.keras.Sequential([tf.keras.layers.Input([3]), tf.keras.layers.Dense(2)])
    model.compile(optimizer="adam", loss="mse")
    model.fit(np.ones([4, 3], "float32"), np.ones([4, 2], "float32"), verbose=0)
    tf.train.Checkpoint(model=model).write(folder + "/model.ckpt")
    kernel = model.layers[0].kernel.numpy()
    return [described("model/optimizer/_trainable_variables/0/.ATTRIBUTES/VARIABLE_VALUE", kernel)]


V1, V2 = v1.train.SaverDef.V1, v1.train.SaverDef.V2
CASES = {
    "V1 checkpoint": lambda f: graph_saver(f, V1, False),
    "V1 checkpoint, partitioned": lambda f: graph_saver(f, V1, True),
    "name-based V2 checkpoint": lambda f: graph_saver(f, V2, False),
    "name-based V2 checkpoint, partitioned": lambda f: graph_saver(f, V2, True),
    "SavedModel's variables": saved_model,
    "shards by size": lambda f: sharded(f, tf.train.experimental.MaxShardSizePolicy(300)),
    "shards by task": lambda f: sharded(f, tf.train.experimental.ShardByTaskPolicy()),
    "tables and iterators": resources,
    "Keras 3 model": keras3,
}


def write(case, folder):
    want = CASES[case](folder)
    with open(os.path.join(folder, "want.json"), "w") as f:
        json.dump(want, f)

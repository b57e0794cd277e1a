"""Writes messages of TensorFlow-made graphs and models, and their text form.

    pip install tensorflow-cpu==2.21.0 tf_keras==2.21.0
    python gen_models.py

Each file is <full name of the message>.<case>.pb.gz, and .pbtxt.gz
for TensorFlow's own text of the same message. gzip is written without
times, so that the files change only with their contents.
"""

import gzip
import math
import os
import shutil
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import tensorflow as tf
import tf_keras
from google.protobuf import text_format
from tensorflow.core.framework import attr_value_pb2, graph_debug_info_pb2, graph_pb2, node_def_pb2, tensor_pb2
from tensorflow.core.protobuf import fingerprint_pb2, meta_graph_pb2, saved_model_pb2, struct_pb2
from tf_keras.protobuf import saved_metadata_pb2

HERE = os.path.dirname(os.path.abspath(__file__))
tf.random.set_seed(1)


def write(name, data):
    with open(os.path.join(HERE, name + ".gz"), "wb") as f:
        f.write(gzip.compress(data, 9, mtime=0))


def keep(case, kind, data, text=False):
    """Keeps encoded bytes as they are, and perhaps their text."""
    m = kind()
    m.ParseFromString(data)
    name = f"{m.DESCRIPTOR.full_name}.{case}"
    write(name + ".pb", data)
    if text:
        write(name + ".pbtxt", text_format.MessageToString(m).encode())


def read(path):
    with open(path, "rb") as f:
        return f.read()


class Doer(tf.Module):
    """Variables, a table, an asset, ragged and structured arguments, gradients."""

    def __init__(self, asset):
        super().__init__()
        self.w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
        self.steps = tf.Variable(0, dtype=tf.int64, trainable=False)
        self.asset = tf.saved_model.Asset(asset)
        init = tf.lookup.TextFileInitializer(
            self.asset, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER)
        self.table = tf.lookup.StaticHashTable(init, -1)
        self.counts = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, 0)
        self.parts = [tf.Variable(1.0), {"a": tf.Variable([1, 2]), "b": (tf.constant(3.0),)}]

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
    def product(self, x):
        self.steps.assign_add(1)
        return {"y": tf.matmul(x, self.w), "big": tf.constant([float(i) for i in range(200)])}

    @tf.function
    def options(self, x, scale=2.0, *, names=("a", None), mode=True):
        return x * scale if mode else x

    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.int64)])
    def rows(self, r):
        return tf.reduce_sum(r, axis=1), r

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def ids(self, s):
        self.counts.insert(s, tf.cast(tf.strings.length(s), tf.int64))
        return self.table.lookup(s)

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32), tf.TensorSpec(None, tf.float32)])
    def loop(self, n, x):
        """While and If with branches, nested calls and a TensorArray."""
        out = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[])
        for i in tf.range(n):
            if tf.reduce_sum(x) > 3.0:
                x = x * 0.5
            else:
                x = x + 1.0
            out = out.write(i, tf.reduce_sum(x))
        return out.stack()

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
    def step(self, x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.tanh(tf.matmul(x, self.w)) ** 2)
        self.w.assign_sub(0.1 * tape.gradient(loss, self.w))
        return loss


def modules(tmp):
    asset = "words.txt"  # a table's name holds the path
    with open(asset, "w") as f:
        f.write("a\nb\n")
    m = Doer(asset)
    m.options(tf.constant(1.0))
    m.options(tf.constant([1.0, 2.0]), 3.0, mode=False)
    out = os.path.join(tmp, "doer")
    tf.saved_model.save(
        m, out,
        signatures={"product": m.product, "ids": m.ids, "loop": m.loop, "step": m.step},
        options=tf.saved_model.SaveOptions(save_debug_info=True, function_aliases={"named": m.product}))
    keep("module", saved_model_pb2.SavedModel, read(out + "/saved_model.pb"), text=True)
    keep("module", fingerprint_pb2.FingerprintDef, read(out + "/fingerprint.pb"), text=True)
    info = graph_debug_info_pb2.GraphDebugInfo.FromString(read(out + "/debug/saved_model_debug_info.pb"))
    info.files[:] = [os.path.basename(f) for f in info.files]  # no paths of this machine
    keep("module", graph_debug_info_pb2.GraphDebugInfo, info.SerializeToString(deterministic=True))


def keras_models(tmp):
    mlp = tf_keras.Sequential([
        tf_keras.layers.Input([4]), tf_keras.layers.Dense(3, "relu"), tf_keras.layers.BatchNormalization(),
        tf_keras.layers.Dropout(0.5), tf_keras.layers.Dense(2)])
    mlp.compile(tf_keras.optimizers.Adam(0.01), "mse")
    mlp.fit(tf.zeros([4, 4]), tf.zeros([4, 2]), verbose=0)
    lstm = tf_keras.Sequential([tf_keras.layers.Input([None, 3]), tf_keras.layers.LSTM(2)])
    for name, model in ("mlp", mlp), ("lstm", lstm):
        out = os.path.join(tmp, name)
        model.save(out, save_format="tf")
        keep(name, saved_model_pb2.SavedModel, read(out + "/saved_model.pb"))
        keep(name, saved_metadata_pb2.SavedMetadata, read(out + "/keras_metadata.pb"), text=name == "mlp")


def v1_graphs(tmp):
    v1 = tf.compat.v1
    v1.disable_control_flow_v2()
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        sparse = v1.sparse_placeholder(tf.float32, [None, 5], name="sparse")
        w = v1.get_variable("w", [2, 2], use_resource=False)
        r = v1.get_variable("r", [2], use_resource=True, partitioner=None)
        v1.get_variable("parts", [4, 2], partitioner=v1.fixed_size_partitioner(2))
        y = v1.matmul(x, w) + r
        z = v1.cond(tf.reduce_sum(y) > 0, lambda: y * 2, lambda: y - w)
        total = v1.while_loop(
            lambda i, t: i < 3,
            lambda i, t: (i + 1, v1.cond(i > 1, lambda: t + v1.while_loop(lambda j: j < 2.0, lambda j: j + 1, [0.0]), lambda: t)),
            [0, 0.0])[1]
        loss = tf.reduce_sum(z) * total
        train = v1.train.AdamOptimizer(v1.train.exponential_decay(0.1, v1.train.get_or_create_global_step(), 3, 0.9)).minimize(
            loss, v1.train.get_global_step())
        v1.add_to_collection("numbers", 3)
        v1.add_to_collection("numbers", -1)
        v1.add_to_collection("floats", 0.1)
        v1.add_to_collection("bytes", b"\x00\xff")
        saver = v1.train.Saver(sharded=True, max_to_keep=7)
        meta = v1.train.export_meta_graph(saver_def=saver.as_saver_def(), clear_extraneous_savers=False)
        keep("v1", meta_graph_pb2.MetaGraphDef, meta.SerializeToString(deterministic=True), text=True)
        v1.train.export_meta_graph(os.path.join(tmp, "m.meta"), saver_def=saver.as_saver_def())
        keep("v1_file", meta_graph_pb2.MetaGraphDef, read(os.path.join(tmp, "m.meta")))
        keep("v1", graph_pb2.GraphDef, v1.get_default_graph().as_graph_def().SerializeToString(), text=True)
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            b = v1.saved_model.Builder(os.path.join(tmp, "v1"))
            sig = v1.saved_model.build_signature_def(
                {"x": v1.saved_model.build_tensor_info(x), "sparse": v1.saved_model.build_tensor_info(sparse)},
                {"loss": v1.saved_model.build_tensor_info(loss)}, "tensorflow/serving/predict")
            sig.defaults["x"].CopyFrom(tf.make_tensor_proto([[1.0, 2.0]]))
            b.add_meta_graph_and_variables(sess, ["serve", "train"], {"default": sig}, strip_default_attrs=True)
            b.add_meta_graph(["gpu"], {"default": sig})
            b.save()
            b.save(as_text=True)
        keep("v1", saved_model_pb2.SavedModel, read(os.path.join(tmp, "v1/saved_model.pb")), text=True)
        if text_format.Parse(read(os.path.join(tmp, "v1/saved_model.pbtxt")), saved_model_pb2.SavedModel()).SerializeToString(
                deterministic=True) != read(os.path.join(tmp, "v1/saved_model.pb")):
            raise SystemExit("the builder's text is of another model")


def odd_values():
    """Values that are difficult for text formats."""
    t = tensor_pb2.TensorProto(dtype=tf.float32.as_datatype_enum)
    t.float_val.extend([0.1, 1e-5, 1.0, -0.0, 3.4028235e38, 1e-45, 1e10, 123456789.0, 16777216.0, 1e20, 1e15, 1e16, 1e17, 0.3333333, math.inf, -math.inf, math.nan])
    t.double_val.extend([0.1, 1e-5, 1.0, 1e15, 1e16, 1e17, 1e22, 1.7976931348623157e308, 5e-324, 1 / 3, math.inf, -math.inf, math.nan])
    t.int_val.extend([-2147483648, 0, 2147483647])
    t.int64_val.extend([-(2**63), 2**63 - 1])
    t.uint64_val.extend([2**64 - 1])
    t.bool_val.extend([True, False])
    t.string_val.extend([bytes(range(256)), b"", "é\u4e2d\U0001f600".encode(), b"'\"\\\n\t\r", b"\x01\x31\xff7"])
    t.half_val.extend([15360])
    keep("odd", tensor_pb2.TensorProto, t.SerializeToString(deterministic=True), text=True)
    n = node_def_pb2.NodeDef(name="é\u4e2d'\"\\\n\x01\x7f", op="Op")
    for key, v in {
        "z": attr_value_pb2.AttrValue(i=-1), "a": attr_value_pb2.AttrValue(b=False), "": attr_value_pb2.AttrValue(),
        "é": attr_value_pb2.AttrValue(f=0.1), "t": attr_value_pb2.AttrValue(type=77),
        "l": attr_value_pb2.AttrValue(list=attr_value_pb2.AttrValue.ListValue(type=[1, 101, 99])),
        "e": attr_value_pb2.AttrValue(list=attr_value_pb2.AttrValue.ListValue()),
        "f": attr_value_pb2.AttrValue(func=attr_value_pb2.NameAttrList(name="f", attr={"x": attr_value_pb2.AttrValue(s=b"\x00")})),
    }.items():
        n.attr[key].CopyFrom(v)
    n.experimental_type.type_id = 1000
    n.experimental_type.args.add().s = ""
    keep("odd", node_def_pb2.NodeDef, n.SerializeToString(deterministic=True), text=True)
    s = struct_pb2.StructuredValue()
    d = s.dict_value.fields
    d["none"].none_value.SetInParent()
    d["i"].int64_value = -5
    d["f"].float64_value = 1e-7
    d["zero"].int64_value = 0
    d["type"].tensor_dtype_value = 3
    d["tuple"].tuple_value.values.add().string_value = ""
    d["spec"].type_spec_value.type_spec_class = 3
    keep("odd", struct_pb2.StructuredValue, s.SerializeToString(deterministic=True), text=True)
    m = meta_graph_pb2.MetaGraphDef()
    m.meta_info_def.any_info.Pack(tf.compat.v1.NodeDef(name="n", op="Op"))
    m.collection_def["any"].any_list.value.add().type_url = "type.googleapis.com/no.Such"
    keep("any", meta_graph_pb2.MetaGraphDef, m.SerializeToString(deterministic=True), text=True)


def main():
    tmp = tempfile.mkdtemp()
    os.chdir(tmp)
    try:
        modules(tmp)
        keras_models(tmp)
        odd_values()
        v1_graphs(tmp)
    finally:
        shutil.rmtree(tmp)


if __name__ == "__main__":
    main()

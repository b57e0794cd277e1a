"""Writes edges/: small SavedModels with rare forms of every field that a fingerprint is made of, and edges.json,
TensorFlow's fingerprints of them. An entry that is a string is TensorFlow's error, "crash" if it dies.

Run with TensorFlow 2.21: TF_CPP_MIN_LOG_LEVEL=3 python gen_edges.py
"""
import json
import os
import shutil
import struct
import tempfile

from tensorflow.core.framework import types_pb2
from tensorflow.core.protobuf import fingerprint_pb2
from tensorflow.core.protobuf import saved_model_pb2
from tensorflow.core.protobuf import saved_object_graph_pb2
from tensorflow.python.saved_model.pywrap_saved_model import fingerprinting

here = os.path.dirname(os.path.abspath(__file__))
folder = os.path.join(here, "edges")
fields = ["saved_model_checksum", "graph_def_program_hash", "signature_def_hash", "saved_object_graph_hash", "checkpoint_hash"]


def base():
    m = saved_model_pb2.SavedModel(saved_model_schema_version=1)
    g = m.meta_graphs.add()
    g.meta_info_def.tags.append("serve")
    g.graph_def.versions.producer = 2474
    return m, g


def call(g, name, op="PartitionedCall", config=b""):
    n = g.graph_def.node.add(name="n%d" % len(g.graph_def.node), op=op)
    n.attr["f"].func.name = name
    n.attr["config_proto"].s = config
    n.attr["Tin"].list.SetInParent()
    return n


def const(g, dtype, **value):
    n = g.graph_def.node.add(name="c%d" % len(g.graph_def.node), op="Const")
    if dtype is not None:
        n.attr["dtype"].type = dtype
    t = n.attr["value"].tensor
    for k, v in value.items():
        getattr(t, k).extend(v) if isinstance(v, list) else setattr(t, k, v)
    return n


def function(g, name):
    f = g.graph_def.library.function.add()
    f.signature.name = name
    f.node_def.add(name="x", op="NoOp")
    return f


def varint(n):
    out = b""
    while True:
        n, low = n >> 7, n & 0x7f
        if not n:
            return out + bytes([low])
        out += bytes([low | 0x80])


def field(num, data):
    """A field with a length."""
    return varint(num << 3 | 2) + varint(len(data)) + data


def encoded():
    yield "minimal", base()[0].SerializeToString()
    yield "empty_file", b""
    yield "no_metagraph", saved_model_pb2.SavedModel(saved_model_schema_version=1).SerializeToString()
    m = saved_model_pb2.SavedModel()
    m.meta_graphs.add()
    yield "empty_metagraph", m.SerializeToString()

    names = ["foo", "foo_12", "foo_", "123", "foo_12_", "foo_-5", "foo_+5", "foo_ 5", "foo_5 ", "foo_99999999999999999999",
             "foo_007", "_7", "foo_1_2", "foo_0x1", "", "foo_9223372036854775807", "foo_9223372036854775808", "\u00e9_1"]
    for i, name in enumerate(names):
        m, g = base()
        call(g, name)
        call(g, name, "StatefulPartitionedCall", b"config")
        call(g, name, "If")
        yield "call_%02d" % i, m.SerializeToString()
    for i in range(5):
        m, g = base()
        n = call(g, "foo_1")
        if i == 0:
            n.attr["f"].func.attr["g"].func.name = "bar_2"
        elif i == 1:
            del n.attr["config_proto"]
        elif i == 2:
            n.attr["config_proto"].i = 5
        elif i == 3:
            n.attr["f"].i = 5
        else:
            del n.attr["f"]
        yield "call_odd_%d" % i, m.SerializeToString()

    m, g = base()
    const(g, types_pb2.DT_STRING, string_val=[b"/tmp/a"])
    const(g, types_pb2.DT_STRING)
    const(g, types_pb2.DT_FLOAT, float_val=[1.0, -0.0])
    const(g, types_pb2.DT_STRING).op = "Placeholder"
    g.graph_def.versions.min_consumer = 7
    function(g, "foo_1")
    yield "consts", m.SerializeToString()
    m, g = base()
    const(g, None, string_val=[b"x"])
    yield "const_without_type", m.SerializeToString()
    m, g = base()
    del const(g, types_pb2.DT_STRING).attr["value"]
    yield "const_without_value", m.SerializeToString()

    m, g = base()
    for key in ["seed", "seed2", "", "a", "b\u00e9", "B", "s", "\U0001f600", "\uffee"]:
        s = g.signature_def[key]
        s.method_name = key
        s.inputs[key + "x"].name = "x:0"
        s.inputs[key].name = "y:0"
        s.inputs[key + "x"].tensor_shape.unknown_rank = True
        s.outputs["o"].dtype = types_pb2.DT_FLOAT
        s.defaults[key].dtype = types_pb2.DT_INT32
    yield "signatures", m.SerializeToString()

    lists = [["f_2", "f_10", "g_1"], ["f_-3", "f_0", "f_007", "f_0012"], ["12"], ["f"], ["f_"], ["f_1_x"], ["f_9223372036854775807", "f_1"],
             ["f_9223372036854775808"], ["f_+3", "f_2"], ["f_ 3", "f_4"], ["_1"], [""]]
    for i, names in enumerate(lists):
        m, g = base()
        for name in names:
            e = g.object_graph_def.concrete_functions[name]
            e.bound_inputs.extend([len(name), 0, 5])
            e.canonicalized_input_signature.tuple_value.values.add().none_value.SetInParent()
        o = g.object_graph_def.nodes.add()
        o.user_object.identifier = "x"
        yield "objects_%02d" % i, m.SerializeToString()

    m, g = base()
    g.object_graph_def.SetInParent()
    yield "objects_none", m.SerializeToString()

    # Odd but decodable encodings, which a canonical encoding normalizes.
    m, g = base()
    f = function(g, "foo_1")
    for i in [10, 2, 300, 0]:
        f.arg_attr[i].attr["_user_specified_name"].s = b"x%d" % i
        f.resource_arg_unique_id[i] = i
    f.ret["seed2"], f.ret["seed"] = "a", "b"
    n = g.graph_def.node.add(name="a", op="b")
    n.attr["seed"].i, n.attr["seed2"].i, n.attr["f"].f = 1, 0, -0.0
    n.attr["l"].list.f.extend([0.0, -0.0, float("nan")])
    n.attr["s"].shape.dim.add(size=-1)
    n.attr["t"].type = 999
    n.attr["e"].SetInParent()
    plain = m.SerializeToString()
    yield "maps", plain
    yield "fields_twice", plain + plain[:2] + field(2, g.SerializeToString()) + plain[:2]
    unknown = field(1000, b"u") + varint(999 << 3) + varint(5) + varint(998 << 3 | 5) + struct.pack("<f", 1)
    number = lambda num, v: varint(num << 3) + varint(v)
    attr = lambda key, value: field(5, field(1, key) + field(2, value))
    node = lambda data: field(2, field(2, field(1, data)))
    for i, data in enumerate([
            unknown + field(2, unknown + field(2, unknown + field(1, unknown) + unknown) + field(1, unknown + field(4, b"serve"))) + unknown,
            field(2, field(7, field(2, field(1, b"f_1") + field(2, unknown)) + unknown)),
            field(2, field(2, field(4, number(1, 0)) + field(4, number(1, 9) + number(1, 8)))) + number(1, 0),
            field(2, field(2, field(1, field(1, b"more"))) + field(2, field(1, field(1, b"again")))),
            node(field(1, b"a") + field(2, b"b") + field(1, b"c")),  # a text twice
            node(field(5, field(1, b"k"))),  # an entry without a value
            node(field(5, field(2, field(2, b"late")) + field(1, b"k2"))),  # the value before the key
            node(attr(b"k", number(3, 3)) + attr(b"k", number(3, 4))),  # a key twice
            node(attr(b"k", number(3, 3)) + attr(b"k", b"")),
            node(field(5, field(1, b"k") + field(2, number(3, 3)) + field(2, field(2, b"s")))),  # a value twice
            node(field(5, field(1, b"k") + field(1, b"l") + field(2, number(3, 3)))),
            node(field(5, field(2, b""))),  # no key
            node(field(5, b"")),
            node(field(5, field(1, b"k") + unknown)),  # an unknown field in an entry
            node(field(5, field(1, b"k") + field(2, number(3, 3)) + unknown) + field(5, field(1, b"a"))),
            node(attr(b"z", number(3, 4) + number(5, 1))),  # two members of a oneof
            node(attr(b"z", number(5, 1) + number(3, 0))),
            node(attr(b"z", field(8, number(4, 1)) + field(8, field(4, b"c")))),
            node(attr(b"z", field(8, number(1, 1)) + number(3, 1) + field(8, field(4, b"c")))),
            node(attr(b"l", field(1, number(3, 7) + number(3, 1)))),  # numbers that aren't packed
            node(attr(b"l", field(1, field(3, b"\x07\x81\x00") + number(3, 1) + field(3, b"")))),
            node(attr(b"l", field(1, field(4, b"\0\0\0\x80")))),
            node(attr(b"b", number(5, 2))),  # a bool that is 2
            node(attr(b"t", number(6, 1 << 35 | 5))),  # an enum of more than 32 bits
            node(attr(b"t", number(6, 2**64 - 1))),
            node(attr(b"h", field(7, field(2, field(1, b"\x81\x00") + unknown)))),
            node(number(1, 3) + field(2, b"op")),  # a known field of another wire type
            node(field(2, b"op") + varint(9 << 3 | 3) + number(1, 1) + varint(9 << 3 | 4)),  # a group
            node(field(5, field(1, b"k") + number(2, 1))),  # an entry whose value has another wire type
            node(field(5, field(1, b"k") + field(2, number(3, 3)) + varint(3 << 3 | 3) + varint(3 << 3 | 4))),
    ]):
        yield "odd_encoding_%02d" % i, data
    yield "cut_off", plain[:-3]


def fingerprint(d):
    """The fingerprint of a directory, computed in a separate process, because TensorFlow dies of some."""
    r, w = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            p = fingerprint_pb2.FingerprintDef.FromString(fingerprinting.CreateFingerprintDef(d))
            out = {k: str(getattr(p, k)) for k in fields}
        except Exception as e:
            out = str(e).split("\n")[0].replace(d, "DIR")
        os.write(w, json.dumps(out).encode())
        os._exit(0)
    os.close(w)
    with os.fdopen(r) as f:
        text = f.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else "crash"


shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
result = {}
for name, data in encoded():
    with open(os.path.join(folder, name + ".pb"), "wb") as f:
        f.write(data)
    with tempfile.TemporaryDirectory() as d:
        with open(d + "/saved_model.pb", "wb") as f:
            f.write(data)
        if len(data) % 2:  # an index of some models only
            os.mkdir(d + "/variables")
            with open(d + "/variables/variables.index", "wb") as f:
                f.write(data[::-1])
        result[name] = fingerprint(d)
with open(os.path.join(here, "edges.json"), "w") as f:
    json.dump(result, f, indent=1)
    f.write("\n")

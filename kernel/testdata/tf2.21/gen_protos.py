"""Writes the fixtures of ops that read and write messages of types known at run time,
protos.json.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_protos.py
"""
import numpy as np
import tensorflow as tf
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from recorder import *

FAMILY = "protos"
FIELD = descriptor_pb2.FieldDescriptorProto
NUMBERS = "DOUBLE FLOAT INT64 UINT64 INT32 FIXED64 FIXED32 BOOL UINT32 SFIXED32 SFIXED64 SINT32 SINT64".split()
TYPES = {"DOUBLE": ["float64"], "FLOAT": ["float32", "float64"], "INT64": ["int64"], "UINT64": ["uint64"], "INT32": ["int32", "int64"],
         "FIXED64": ["uint64"], "FIXED32": ["uint32", "uint64"], "BOOL": ["bool"], "UINT32": ["uint32", "uint64"], "SFIXED32": ["int32", "int64"],
         "SFIXED64": ["int64"], "SINT32": ["int32", "int64"], "SINT64": ["int64"], "STRING": ["string"], "BYTES": ["string"]}

files = descriptor_pb2.FileDescriptorSet()
for syntax in ["proto2", "proto3"]:
    file = files.file.add(name=syntax + ".proto", package=syntax, syntax=syntax)
    m = file.message_type.add(name="All")
    for i, t in enumerate(TYPES):
        # Not in the order of their numbers.
        m.field.add(name="one_" + t.lower(), number=90 - i, label=1, type=getattr(FIELD, "TYPE_" + t))
        m.field.add(name="many_" + t.lower(), number=i + 1, label=3, type=getattr(FIELD, "TYPE_" + t))
        if t in NUMBERS:
            for packed in [False, True]:
                f = m.field.add(name=("packed_" if packed else "loose_") + t.lower(), number=i + (121 if packed else 101), label=3, type=getattr(FIELD, "TYPE_" + t))
                f.options.packed = packed
    e = file.enum_type.add(name="E")
    for name, n in [("ZERO", 0), ("SIX", 6), ("MINUS", -2)]:
        e.value.add(name=name, number=n)
    m.field.add(name="one_enum", number=201, label=1, type=FIELD.TYPE_ENUM, type_name=".%s.E" % syntax)
    m.field.add(name="many_enum", number=202, label=3, type=FIELD.TYPE_ENUM, type_name="E")
    m.field.add(name="one_message", number=203, label=1, type=FIELD.TYPE_MESSAGE, type_name=".%s.All" % syntax)
    m.field.add(name="many_message", number=204, label=3, type=FIELD.TYPE_MESSAGE, type_name="All.Inner")
    inner = m.nested_type.add(name="Inner")
    inner.field.add(name="x", number=1, label=1, type=FIELD.TYPE_INT32)
    e = inner.enum_type.add(name="E")
    for name, n in [("FIVE", 5), ("NINE", 9)] if syntax == "proto2" else [("NONE", 0), ("NINE", 9)]:
        e.value.add(name="INNER_" + name, number=n)
    inner.field.add(name="e", number=2, label=1, type=FIELD.TYPE_ENUM, type_name="E")
    if syntax == "proto2":
        m.field.add(name="group", number=205, label=1, type=FIELD.TYPE_GROUP, type_name="Inner")
        d = file.message_type.add(name="Defaults")
        for i, (t, v) in enumerate([("INT32", "-7"), ("STRING", 'h"ey\\'), ("BYTES", r'\001a\\\xff\"'), ("FLOAT", "1.25"), ("DOUBLE", "-inf"), ("BOOL", "true"), ("UINT64", "18446744073709551615"),
                                    ("SINT64", "-9223372036854775808"), ("FIXED32", "4294967295"), ("ENUM", "SIX")]):
            d.field.add(name=t.lower(), number=i + 1, label=1, type=getattr(FIELD, "TYPE_" + t), default_value=v, type_name=".proto2.E" if t == "ENUM" else None)
encoded = files.SerializeToString()
SOURCE = b"bytes://" + encoded
pool = descriptor_pool.DescriptorPool()
for file in files.file:
    pool.Add(file)


def filled(syntax, n):
    """A message with n elements in each list."""
    out = message_factory.GetMessageClass(pool.FindMessageTypeByName(syntax + ".All"))()
    for f in out.DESCRIPTOR.fields:
        kind = next((t for t in TYPES if getattr(FIELD, "TYPE_" + t) == f.type), None)
        if kind is None:
            continue
        if kind in ["STRING", "BYTES"]:
            v = [c * k if kind == "STRING" else (c * k).encode() + b"\xff" for k, c in enumerate("xyz")]
        else:
            d = TYPES[kind][0]
            info = None if tf.as_dtype(d).is_floating or d == "bool" else np.iinfo(d)
            v = [True, False, True] if d == "bool" else [0.1, -2.5, float("inf")] if info is None else [info.max, info.min, 77]
        if f.name.startswith("one_"):
            setattr(out, f.name, v[n % 3])
        else:
            getattr(out, f.name).extend((v * 2)[:n])
    out.one_enum = 6
    out.many_enum.extend([6, 0, -2][:n])
    out.one_message.one_int32 = -n
    for i in range(n):
        out.many_message.add(x=i, e=9)
    if syntax == "proto2":
        out.group.x = 3
    return out


def decode(messages, fields, syntax="proto2", name="All", **attrs):
    case(FAMILY, "DecodeProtoV2", [("bytes", np.array(messages, object))],
         dict(message_type=syntax + "." + name, field_names=[f for f, _ in fields], output_types=[tf.as_dtype(t) for _, t in fields], descriptor_source=SOURCE) | attrs)


def fields_of(which):
    """Every field, as its first or its last type."""
    out = []
    for t, types in TYPES.items():
        for kind in ["one", "many"] + (["loose", "packed"] if t in NUMBERS else []):
            out.append((kind + "_" + t.lower(), types[which]))
    return out + [("one_enum", "int32"), ("many_enum", "int32"), ("one_message", "string"), ("many_message", "string")]


for syntax in ["proto2", "proto3"]:
    encodings = [filled(syntax, n).SerializeToString() for n in [0, 3, 1]]
    for which in [0, -1]:
        fields = fields_of(which)
        decode(encodings, fields, syntax)
        decode([[encodings[1], b""]], fields, syntax)
        decode(encodings[1], fields[::-1], syntax)
        decode([b""], fields, syntax)
        texts = [str(filled(syntax, n)).encode() for n in [0, 3]]
        decode(texts, fields, syntax, message_format="text")
        decode(encodings, fields, syntax, sanitize=True)
        # Decoded messages, written again.
        out = tf.raw_ops.DecodeProtoV2(bytes=encodings, message_type=syntax + ".All", field_names=[f for f, _ in fields], output_types=[tf.as_dtype(t) for _, t in fields], descriptor_source=SOURCE)
        case(FAMILY, "EncodeProto", [("sizes", out.sizes.numpy()), ("values", list(out.values))],
             dict(message_type=syntax + ".All", field_names=[f for f, _ in fields], descriptor_source=SOURCE))
group = [("group", "string"), ("one_int32", "int32")]
decode([filled("proto2", 2).SerializeToString(), b""], group)
decode([filled("proto2", 2).SerializeToString()], group[1:] + group[1:] + [("many_int32", "int32"), ("many_int32", "int64")])
decode([b""], [(f.name, TYPES.get(f.name.upper(), ["int32"])[0]) for f in files.file[0].message_type[1].field], name="Defaults")
decode([b""], [("x", "int32"), ("e", "int32")], name="All.Inner")
number = {f.name: f.number for f in files.file[0].message_type[0].field}["one_int32"]
tag = lambda wire: bytes([number << 3 & 0x7f | wire | 0x80, number >> 4])
for wire in [tag(0) + b"\1" + tag(0) + b"\2", tag(2) + b"\2\1\2", tag(5) + b"\1\2\3\4", tag(0) + b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", tag(0) + b"\xff\xff\xff\xff\x1f"]:
    decode([wire], [("one_int32", "int64"), ("many_int32", "int32")])
decode([b'one_int32: -0x10 many_int32: [1, 2,3]; many_int32: 010 one_string: "a\\tb" \'c\' one_float: -inf, one_double: 1e3f many_enum: SIX many_enum: -2 one_bool: t one_message { one_int64 : 5 } many_message: <x: 3> # end'],
       [("one_int32", "int32"), ("many_int32", "int64"), ("one_string", "string"), ("one_float", "float32"), ("one_double", "float64"), ("many_enum", "int32"), ("one_bool", "bool"), ("one_message", "string"), ("many_message", "string")], message_format="text")


def encode(sizes, fields, values, syntax="proto2"):
    case(FAMILY, "EncodeProto", [("sizes", np.array(sizes, np.int32)), ("values", values)], dict(message_type=syntax + ".All", field_names=fields, descriptor_source=SOURCE))


encode([[1, 1]], ["many_int32", "one_int32"], [np.int32([[5]]), np.int32([[1]])])
encode([[2, 2]], ["one_int32", "one_int32"], [np.int32([[5, 6]]), np.int64([[2 ** 40 + 3, -1]])])
encode([[0, -1]], ["one_int32", "packed_int32"], [np.int32([[5, 6]]), np.int64([[2 ** 40, -1]])])
encode([[1], [0]], ["group"], [s(b"\x08\x03", b"", shape=(2, 1))])
encode([[[1], [2]]], ["one_uint32"], [np.uint64([[[2 ** 33 + 1, 7], [8, 9]]])])
encode(np.zeros((0, 1)), ["one_int32"], [np.zeros((0, 1), np.int32)])
encode([[1, 1]], ["one_bytes", "many_string"], [s(b"\xff", shape=(1, 1)), s(b"\xff\0", shape=(1, 1))])
for name in ["tensorflow.Example", "tensorflow.Features", "tensorflow.TensorShapeProto", "tensorflow.NodeDef"]:
    values = {"tensorflow.Example": [("features", "string")], "tensorflow.Features": [("feature", "string")], "tensorflow.TensorShapeProto": [("dim", "string"), ("unknown_rank", "bool")], "tensorflow.NodeDef": [("name", "string"), ("input", "string")]}[name]
    message = {"tensorflow.Example": tf.train.Example(features=tf.train.Features(feature={"a": tf.train.Feature()})), "tensorflow.Features": tf.train.Features(feature={"a": tf.train.Feature()}),
               "tensorflow.TensorShapeProto": tf.TensorShape([2, None]).as_proto(), "tensorflow.NodeDef": tf.compat.v1.NodeDef(name="n", input=["a", "b"])}[name]
    case(FAMILY, "DecodeProtoV2", [("bytes", s(message.SerializeToString(), b""))], dict(message_type=name, field_names=[f for f, _ in values], output_types=[tf.as_dtype(t) for _, t in values]))
    out = tf.raw_ops.DecodeProtoV2(bytes=[message.SerializeToString()], message_type=name, field_names=[f for f, _ in values], output_types=[tf.as_dtype(t) for _, t in values])
    case(FAMILY, "EncodeProto", [("sizes", out.sizes.numpy()), ("values", list(out.values))], dict(message_type=name, field_names=[f for f, _ in values], descriptor_source="local://"))
write()

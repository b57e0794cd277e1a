"""Writes the fixtures of the kernels that read messages and texts: parse.json.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_parse.py
"""
from recorder import *  # noqa: F403

TYPES = {"s": tf.string, "f": tf.float32, "i": tf.int64}


def feature(v):
    f = tf.train.Feature()
    kind, v = v
    {"s": f.bytes_list, "f": f.float_list, "i": f.int64_list}[kind].SetInParent()
    {"s": f.bytes_list, "f": f.float_list, "i": f.int64_list}[kind].value.extend(v)
    return f


def example(**k):
    return tf.train.Example(features=tf.train.Features(feature={n: feature(v) if v else tf.train.Feature() for n, v in k.items()})).SerializeToString(deterministic=True)


FULL = example(a=("f", [1.5, -2]), b=("i", [3, -4, 5]), c=("s", [b"x", b"\xff\0"]), d=("f", [1, 2, 3, 4]), unused=("i", [9]))
SHORT = example(a=("f", [7, 8]), b=("i", []), c=("s", [b""]), d=("f", [5, 6]))
BARE = example(a=None, unused=("s", [b"q"]))

def dense_default(k, shape):
    kind = TYPES[k]
    if kind == tf.string:
        return np.full(shape, b"def", object)
    return np.full(shape, -1, kind.as_numpy_dtype)


def parse(serialized, sparse=(), dense=(), ragged=(), versions=(1, 2, 3)):
    """sparse: (key, kind); dense: (key, kind, shape, default); ragged: (key, kind, splits)."""
    defaults = [d if d is not None else np.zeros([0], object if TYPES[k] == tf.string else TYPES[k].as_numpy_dtype) for _, k, _, d in dense]
    shapes = [x[2] for x in dense]
    types = [TYPES[x[1]] for x in sparse]
    if 1 in versions and not ragged and serialized.shape != ():
        case("parse", "ParseExample", [("serialized", serialized), ("names", s()), ("sparse_keys", [one(x[0]) for x in sparse]), ("dense_keys", [one(x[0]) for x in dense]), ("dense_defaults", defaults)],
             {"sparse_types": types, "dense_shapes": shapes})
    if 2 in versions:
        case("parse", "ParseExampleV2", [("serialized", serialized), ("names", s()), ("sparse_keys", s(*[x[0] for x in sparse])), ("dense_keys", s(*[x[0] for x in dense])),
                                         ("ragged_keys", s(*[x[0] for x in ragged])), ("dense_defaults", defaults)],
             {"num_sparse": len(sparse), "sparse_types": types, "ragged_value_types": [TYPES[x[1]] for x in ragged], "ragged_split_types": [x[2] for x in ragged], "dense_shapes": shapes})
    if 3 in versions and not ragged and serialized.shape == ():
        case("parse", "ParseSingleExample", [("serialized", serialized), ("dense_defaults", defaults)],
             {"num_sparse": len(sparse), "sparse_keys": [x[0] for x in sparse], "dense_keys": [x[0] for x in dense], "sparse_types": types, "dense_shapes": shapes})


SPARSE = [("b", "i"), ("c", "s"), ("a", "f"), ("none", "f")]
for batch in [s(FULL, SHORT, BARE), s(BARE), s(), s(FULL), one(FULL), one(SHORT), one(BARE), s(b"", FULL)]:
    parse(batch, SPARSE)
    parse(batch, SPARSE[:2], [("a", "f", [2], dense_default("f", [2])), ("d", "f", [None, 2], dense_default("f", []))])
    parse(batch, [], [("none", "s", [], dense_default("s", [])), ("none2", "i", [2, 1], dense_default("i", [2, 1])), ("b", "i", [None], dense_default("i", [])), ("c", "s", [None], dense_default("s", []))])
    parse(batch, [("c", "s")], [("d", "f", [None], dense_default("f", []))], [("b", "i", tf.int64), ("a", "f", tf.int32), ("none", "s", tf.int32)])
parse(s(FULL, SHORT), [], [("a", "f", [2], None), ("a2", "f", [1, 2], dense_default("f", [1, 2]))])
parse(one(FULL), [], [("b", "i", [3], None), ("c", "s", [1, 2], None)])
parse(s(example(b=("i", [1, 300, -1]))), [("b", "i")])
# A key twice: the last one counts. Lists that are not packed.
TWICE = tf.train.Example(features=tf.train.Features(feature={"a": feature(("f", [1.0]))})).SerializeToString() + tf.train.Example(features=tf.train.Features(feature={"a": feature(("f", [2.0, 3.0]))})).SerializeToString()
UNPACKED = b"\x0a\x0e" + b"\x0a\x0c\x0a\x01b\x12\x07\x1a\x05" + b"\x08\x01\x08\xac\x02"
FLOATS = b"\x0a\x13" + b"\x0a\x11\x0a\x01a\x12\x0c\x12\x0a" + b"\x0d\0\0\0@\x0d\0\0@@"
parse(s(TWICE, UNPACKED, FLOATS), [("a", "f"), ("b", "i")])

RAW = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "float16", "float32", "float64", "complex64", "complex128"]
for d in RAW:
    n = tf.as_dtype(d).size
    x = np.empty((2,), object)
    x[:] = [rand("uint8", (2 * n,), 0, 60).tobytes() if d != "bool" else b"\1\0" for _ in range(2)]
    for little in (True, False):
        case("parse", "DecodeRaw", [("bytes", x)], {"out_type": tf.as_dtype(d), "little_endian": little})
        if not d.startswith("complex") and d != "bool":
            case("parse", "DecodePaddedRaw", [("input_bytes", s(x[0], x[1][:n + 1], "")), ("fixed_length", np.int32(2 * n))], {"out_type": tf.as_dtype(d), "little_endian": little})
case("parse", "DecodeRaw", [("bytes", one("abcd"))], {"out_type": tf.int16})
case("parse", "DecodeRaw", [("bytes", s("", ""))], {"out_type": tf.int16})
case("parse", "DecodeRaw", [("bytes", np.zeros((0, 2), object))], {"out_type": tf.int16})
case("parse", "DecodePaddedRaw", [("input_bytes", s("abcdefgh", "x")), ("fixed_length", np.int32(4))], {"out_type": tf.int16})


def csv(records, *defaults, **attrs):
    case("parse", "DecodeCSV", [("records", records), ("record_defaults", list(defaults))], attrs)


D = [np.array([0], np.int32), np.array([7.5], np.float32), s("d"), np.array([1], np.int64), np.array([0.5])]
csv(s("1,2.5,a,4,5e3", '3,,"q,""z""",,', "4,1e3,NA,-1,inf"), *D, na_value="NA")
csv(s("1,2.5,a,4,5e3", '3,,"q,z",,', shape=(2, 1)), *D)
csv(one(" 1 , a "), np.array(9, np.int32), one(""))
csv(s("a;b", '"x";y'), s(""), np.zeros([0], object), field_delim=";")
csv(s('a"b,"c'), s(""), s(""), use_quote_delim=False)
csv(s("1,,3", "4,5,6"), np.zeros([0], np.int32), select_cols=[2])
csv(s("1,,3", "4,5,6"), np.array([8], np.int32), np.array([9], np.int32), select_cols=[0, 1])
csv(s('"a","b\nc"', '"",""""', "x,"), s("p"), s("q"))

for d in ["float32", "float64", "int32", "int64", "uint8", "int8", "bool", "complex64", "float16", "bfloat16", "uint16", "int16"]:
    x = rand(d, (2, 3))
    case("parse", "SerializeTensor", [("tensor", x)])
    case("parse", "ParseTensor", [("serialized", one(tf.io.serialize_tensor(x).numpy()))], {"out_type": tf.as_dtype(d)})
for x in [s("a", "", b"\xff"), one("x"), np.zeros((0, 2), np.float32), np.float32(3)]:
    case("parse", "SerializeTensor", [("tensor", x)])
    case("parse", "ParseTensor", [("serialized", one(tf.io.serialize_tensor(x).numpy()))], {"out_type": tf.convert_to_tensor(x).dtype})
case("parse", "ParseTensor", [("serialized", one(tf.make_tensor_proto(1.5, shape=[2, 2]).SerializeToString()))], {"out_type": tf.float32})
write()

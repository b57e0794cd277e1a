"""Writes the fixtures of SequenceExamples, JSON, compressed strings and
fingerprints: sequence.json.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_sequence.py
"""
import gzip
import zlib

from recorder import *  # noqa: F403

TYPES = {"s": tf.string, "f": tf.float32, "i": tf.int64}


def feature(kind, v):
    f = tf.train.Feature()
    if v is not None:
        part = {"s": f.bytes_list, "f": f.float_list, "i": f.int64_list}[kind]
        part.SetInParent()
        part.value.extend(v)
    return f


def sequence(context, lists):
    return tf.train.SequenceExample(
        context=tf.train.Features(feature={k: feature(*v) for k, v in context.items()}),
        feature_lists=tf.train.FeatureLists(feature_list={k: tf.train.FeatureList(feature=[feature(kind, v) for v in steps]) for k, (kind, steps) in lists.items()}),
    ).SerializeToString(deterministic=True)


FULL = sequence({"a": ("f", [1.5, -2]), "b": ("i", [3, -4, 5]), "c": ("s", [b"x", b"\xff\0"])},
                {"t": ("s", [[b"to"], [b"be"], [b""]]), "p": ("f", [[1, 2], [3, 4], [5, 6]]), "n": ("i", [[1], [], [2, 3, -300]]), "unused": ("i", [[1]])})
SHORT = sequence({"a": ("f", [7, 8])}, {"t": ("s", [[b"x"]]), "p": ("f", [[0.5, 0.25]]), "n": ("i", [[], None])})
BARE = sequence({"b": ("i", None)}, {"n": ("i", [])})


def default(k, shape):
    return np.full(shape, b"def", object) if k == "s" else np.full(shape, -1, TYPES[k].as_numpy_dtype)


def none(k):
    return np.zeros([0], object if k == "s" else TYPES[k].as_numpy_dtype)


def parse(x, cs=(), cd=(), cr=(), ls=(), ld=(), lr=(), empty=(), which="123"):
    """cs, ls: (key, kind); cd: (key, kind, shape, default); ld: (key, kind, shape); cr, lr: (key, kind, splits)."""
    defaults = [d if d is not None else none(k) for _, k, _, d in cd]
    types = lambda l: [TYPES[v[1]] for v in l]
    keys = lambda l: [v[0] for v in l]
    common = {"context_sparse_types": types(cs), "context_dense_shapes": [v[2] for v in cd], "feature_list_dense_types": types(ld),
              "feature_list_sparse_types": types(ls), "feature_list_dense_shapes": [v[2] for v in ld]}
    counts = {"Ncontext_sparse": len(cs), "Nfeature_list_sparse": len(ls), "Nfeature_list_dense": len(ld)}
    scalar = x.shape == ()
    if "1" in which and not (cr or lr or scalar):
        case("sequence", "ParseSequenceExample", [("serialized", x), ("debug_name", s()), ("context_dense_defaults", defaults)],
             dict(common, **counts, Ncontext_dense=len(cd), Tcontext_dense=types(cd), feature_list_dense_missing_assumed_empty=list(empty), context_sparse_keys=keys(cs), context_dense_keys=keys(cd), feature_list_sparse_keys=keys(ls), feature_list_dense_keys=keys(ld)),
             raw=lambda Tcontext_dense, **k: tf.raw_ops.ParseSequenceExample(**k))
    if "2" in which:
        case("sequence", "ParseSequenceExampleV2", [("serialized", x), ("debug_name", s()), ("context_sparse_keys", s(*keys(cs))), ("context_dense_keys", s(*keys(cd))), ("context_ragged_keys", s(*keys(cr))),
                                                    ("feature_list_sparse_keys", s(*keys(ls))), ("feature_list_dense_keys", s(*keys(ld))), ("feature_list_ragged_keys", s(*keys(lr))),
                                                    ("feature_list_dense_missing_assumed_empty", np.array([k in empty for k in keys(ld)], bool)), ("context_dense_defaults", defaults)],
             dict(common, **counts, Tcontext_dense=types(cd), context_ragged_value_types=types(cr), context_ragged_split_types=[v[2] for v in cr], feature_list_ragged_value_types=types(lr), feature_list_ragged_split_types=[v[2] for v in lr]),
             raw=lambda Tcontext_dense, **k: tf.raw_ops.ParseSequenceExampleV2(**k))
    if "3" in which and scalar and not (cr or lr):
        case("sequence", "ParseSingleSequenceExample", [("serialized", x), ("feature_list_dense_missing_assumed_empty", s(*empty)), ("context_sparse_keys", [one(k) for k in keys(cs)]), ("context_dense_keys", [one(k) for k in keys(cd)]),
                                                        ("feature_list_sparse_keys", [one(k) for k in keys(ls)]), ("feature_list_dense_keys", [one(k) for k in keys(ld)]), ("context_dense_defaults", defaults), ("debug_name", one(""))], common)


I64, I32 = tf.int64, tf.int32
SPARSE = [("b", "i"), ("c", "s"), ("none", "f")]
for x in [s(FULL, SHORT, BARE), s(FULL), s(BARE), s(), one(FULL), one(SHORT), one(BARE), s(b"", FULL), one(b"")]:
    parse(x, cs=SPARSE, ls=[("n", "i"), ("none", "s")])
    parse(x, cd=[("a", "f", [2], default("f", [2])), ("none", "s", [], default("s", []))], ld=[("t", "s", []), ("p", "f", [2]), ("none", "i", [1, 2])], empty=["t", "p", "none"])
    parse(x, cs=[("a", "f")], cr=[("b", "i", I64), ("c", "s", I32), ("none", "f", I32)], ls=[("t", "s")], lr=[("n", "i", I64), ("p", "f", I32), ("none", "s", I64)], ld=[("t", "s", [1])], empty=["t"])
parse(s(FULL), cd=[("a", "f", [2], None)], ld=[("t", "s", [])])
parse(one(FULL), cd=[("a", "f", [2], None)], ld=[("t", "s", []), ("p", "f", [1, 2])])
parse(one(FULL), ls=[("n", "i"), ("p", "f"), ("t", "s")], cs=[("a", "f")])
# The same key twice: the parts of two messages one after the other.
parse(s(SHORT + FULL, FULL + SHORT), cs=[("a", "f")], ls=[("n", "i")], ld=[("p", "f", [2])])
parse(one(FULL + SHORT), cs=[("a", "f")], ls=[("n", "i")], ld=[("p", "f", [2])], which="2")


def j(*x):
    case("sequence", "DecodeJSONExample", [("json_examples", s(*x))])


j('{"features":{"feature":{"b":{"int64List":{"value":[1,"2",-3]}},"a":{"bytesList":{"value":["YWI=","_-8"]}},"c":{"floatList":{"value":[1.5,"NaN","-Infinity",2]}}}}}')
j('{"features":{"feature":{"b":{"int64_list":{"value":[]}},"e":{},"n":null,"d":{"floatList":{}}}}}', "{}", '{"features":null}', '{"features":{}}', '{"features":{},"features":{}}')
j('{"features":{"feature":{"a":{"int64List":{"value":[1.0, 1e2, null]}}}}}', '{"features":{"feature":{"a":{"int64List":{"value":1}}}}}', '{"features":{"feature":{"\\u00e9\\n":{"bytesList":{"value":["YWI","YQ==","YR"]}}}}}')
j("{'features':{'feature':{'it\\'s \"x\"':{}}}}", '{"features":{},}', "{features:{}}", '\n { "features" : { } } \t', '{"features":{"feature":{"a":{"floatList":{"value":["1.5","-2e3",1e-50]}}}}}')
case("sequence", "DecodeJSONExample", [("json_examples", s("{}", "{}", shape=(2, 1)))])

z, g = zlib.compress, lambda x: gzip.compress(x, mtime=0)
for kind, x in [("ZLIB", s(z(b"abc" * 10), z(b""), z(b"abc") + b"xx", "")), ("GZIP", s(g(b"hello"), g(b"hello") + g(b" world"), "")), ("", s("raw", b"\xff")), ("ZLIB", s(shape=(0, 2)))]:
    case("sequence", "DecodeCompressed", [("bytes", x)], {"compression_type": kind})

for x in [s("a", "bc", ""), s("a", "bc", shape=(1, 2)), s("a", "bc", shape=(2, 1)), np.zeros((0, 3), np.float32), np.zeros((2, 0), np.float32), np.array([[1, 2], [3, 4]], np.int32), np.array([True, False])] + [rand(d, (3, 5)) for d in ["float32", "float64", "bfloat16", "float16", "int8", "uint16", "int64", "complex64"]] + [rand("uint8", (2, n)) for n in (1, 7, 16, 33, 64, 100)]:
    case("sequence", "Fingerprint", [("data", x), ("method", one("farmhash64"))])
write()

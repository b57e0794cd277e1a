"""Compares SavedModels that were loaded and saved again with the originals, in TensorFlow.

    resaved.py ORIGINALS COPIES

Each folder of COPIES has the name of one of ORIGINALS. One line a case; the exit code is
1 if one fails.
"""

import os
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from google.protobuf import text_format  # noqa: E402
from tensorflow.core.protobuf import fingerprint_pb2, saved_model_pb2  # noqa: E402
from tensorflow.python.saved_model.pywrap_saved_model import fingerprinting  # noqa: E402

tf.get_logger().setLevel("ERROR")


def value(spec, rng):
    """Returns an input for a spec, the same for the same generator."""
    shape = [3 if d is None else d for d in (spec.shape.as_list() if spec.shape.rank is not None else [2])]
    if spec.dtype == tf.string:
        return rng.choice(["a", "b", "the cat", "7"], size=shape).astype(object)
    if spec.dtype == tf.bool:
        return rng.integers(0, 2, shape) > 0
    if spec.dtype.is_integer:
        return rng.integers(0, 3, shape).astype(spec.dtype.as_numpy_dtype)
    return rng.normal(size=shape).astype(spec.dtype.as_numpy_dtype)


def flat(x):
    return [t for t in tf.nest.flatten(x, expand_composites=True) if isinstance(t, tf.Tensor)]


def same(a, b):
    a, b = flat(a), flat(b)
    if len(a) != len(b):
        return False
    for x, y in zip(a, b):
        if x.dtype in (tf.resource, tf.variant):
            continue
        if x.dtype.is_floating or x.dtype.is_complex:
            if not np.allclose(x, y, 1e-5, 1e-6, equal_nan=True):
                return False
        elif not np.array_equal(x.numpy(), y.numpy()):
            return False
    return True


def outcome(f):
    """Returns what a call returns, or the name of its exception."""
    try:
        return f()
    except Exception as e:  # noqa: BLE001
        return type(e).__name__


def compare(a, b, what, faults):
    if isinstance(a, str) or isinstance(b, str):
        if a is not b and a != b:
            faults.append(f"{what}: {a if isinstance(a, str) else 'an answer'} and {b if isinstance(b, str) else 'an answer'}")
    elif not same(a, b):
        faults.append(f"{what}: other values")


def graph_of(path):
    p = saved_model_pb2.SavedModel()
    if os.path.exists(os.path.join(path, "saved_model.pbtxt")):
        return text_format.Parse(open(os.path.join(path, "saved_model.pbtxt")).read(), p)
    p.ParseFromString(open(os.path.join(path, "saved_model.pb"), "rb").read())
    return p


def nodes(p):
    """Returns the kinds of the objects by their paths, and the numbers of their traces."""
    g = p.meta_graphs[0].object_graph_def
    out, queue = {}, [("", 0)]
    seen = set()
    while queue:
        path, i = queue.pop(0)
        if i in seen:
            continue
        seen.add(i)
        n = g.nodes[i]
        kind = n.WhichOneof("kind")
        detail = ""
        if kind == "function":
            detail = len(n.function.concrete_functions)
        if kind == "user_object":
            detail = (n.user_object.identifier, n.user_object.version.producer, n.user_object.metadata)
        if kind == "variable":
            v = n.variable
            detail = (v.dtype, v.trainable, v.name, v.shape.SerializeToString(), v.synchronization, v.aggregation)
        out[path] = (kind, detail, n.registered_name)
        for c in n.children:
            queue.append((path + "/" + c.local_name, c.node_id))
    return out


def check(original, copy):
    faults = []
    a, b = tf.saved_model.load(original), tf.saved_model.load(copy)
    na, nb = nodes(graph_of(original)), nodes(graph_of(copy))
    for path in sorted(set(na) | set(nb)):
        if na.get(path) != nb.get(path) and not path.rsplit("/", 1)[-1].startswith("capture_") and "/signatures" not in path:
            faults.append(f"object {path or '(root)'}: {na.get(path)} and {nb.get(path)}")
    if sorted(a.signatures) != sorted(b.signatures):
        faults.append(f"signatures {sorted(a.signatures)} and {sorted(b.signatures)}")
    for name in a.signatures:
        f, g = a.signatures[name], b.signatures[name]
        rng = np.random.default_rng(0)
        args = {k: tf.constant(value(s, rng), s.dtype) for k, s in sorted(f.structured_input_signature[1].items())}
        compare(outcome(lambda: f(**args)), outcome(lambda: g(**args)), f"signature {name}", faults)
    with tempfile.TemporaryDirectory() as d:
        again = outcome(lambda: tf.saved_model.save(a, os.path.join(d, "a"), signatures=a.signatures))
        mine = outcome(lambda: tf.saved_model.save(b, os.path.join(d, "b"), signatures=b.signatures))
        if mine != again:
            faults.append(f"TensorFlow saves it again: {again} and {mine}")
    # The session of TensorFlow 1, with which servers run a model: initialization, values, a call.
    for path, answers in ((original, {}), (copy, faults)):
        with tf.compat.v1.Session(graph=tf.Graph()) as session:
            got = outcome(lambda: tf.compat.v1.saved_model.load(session, ["serve"], path))
            if isinstance(got, str):
                answers_of = got
            else:
                answers_of = {}
                for name, sig in got.signature_def.items():
                    if name.startswith("__"):
                        continue
                    rng = np.random.default_rng(0)
                    feed = {}
                    for k, info in sorted(sig.inputs.items()):
                        spec = tf.TensorSpec(tf.TensorShape(info.tensor_shape), tf.dtypes.as_dtype(info.dtype))
                        feed[info.name] = value(spec, rng)
                    answers_of[name] = outcome(lambda: session.run({k: v.name for k, v in sig.outputs.items()}, feed))
        if path == original:
            want = answers_of
        elif isinstance(want, str) or isinstance(answers_of, str):
            if isinstance(answers_of, str) and want != answers_of:
                faults.append(f"session: {want} and {answers_of}")
        else:
            for name in want:
                x, y = want[name], answers_of.get(name)
                if isinstance(x, str) or isinstance(y, str):
                    if isinstance(y, str) and x != y:
                        faults.append(f"session {name}: {x if isinstance(x, str) else 'an answer'} and {y}")
                    continue
                for k in x:
                    if np.asarray(x[k]).dtype.kind in "fc":
                        ok = np.allclose(x[k], y[k], 1e-5, 1e-6, equal_nan=True)
                    else:
                        ok = np.array_equal(x[k], y[k])
                    if not ok:
                        faults.append(f"session {name}: other values of {k}")
    wrote = fingerprint_pb2.FingerprintDef()
    wrote.ParseFromString(open(os.path.join(copy, "fingerprint.pb"), "rb").read())
    made = fingerprint_pb2.FingerprintDef()
    made.ParseFromString(fingerprinting.CreateFingerprintDef(copy))
    wrote.uuid = made.uuid = ""
    if wrote != made:
        faults.append("fingerprint.pb is not TensorFlow's")
    return faults


def main():
    originals, copies = sys.argv[1:3]
    failed = 0
    for name in sorted(n for n in os.listdir(copies) if os.path.isdir(os.path.join(copies, n))):
        try:
            faults = check(os.path.join(originals, name), os.path.join(copies, name))
        except Exception as e:  # noqa: BLE001
            faults = [f"{type(e).__name__}: {str(e)[:300]}"]
        failed += bool(faults)
        print(f"FAIL saved again {name}: " + "; ".join(faults[:6]) if faults else f"ok   saved again {name}", flush=True)
    return 1 if failed else 0


sys.exit(main())

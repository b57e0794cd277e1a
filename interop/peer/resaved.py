"""Compares SavedModels that were loaded and saved again with the originals, in TensorFlow.

    resaved.py ORIGINALS COPIES

Each directory of COPIES has the name of one of ORIGINALS. One line a case; the exit code is
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
    if isinstance(spec, tf.SparseTensorSpec):
        return tf.sparse.from_dense(value(tf.TensorSpec(spec.shape, spec.dtype), rng))
    if isinstance(spec, tf.RaggedTensorSpec):
        return ragged(spec, rng)
    if isinstance(spec, tf.data.DatasetSpec):
        rows = tf.nest.map_structure(lambda e: [value(e, rng) for _ in range(3)], spec.element_spec)
        return tf.data.Dataset.from_tensor_slices(tf.nest.map_structure(lambda e, r: tf.constant(np.stack(r), e.dtype), spec.element_spec, rows))
    if isinstance(spec, tf.IndexedSlicesSpec):
        parts = [value(s, rng) for s in spec._component_specs]  # noqa: SLF001
        return tf.IndexedSlices(*[tf.constant(p, s.dtype) for p, s in zip(parts, spec._component_specs)])  # noqa: SLF001
    if type(spec).__name__ == "VariableSpec":
        return tf.Variable(tf.constant(value(tf.TensorSpec(spec.shape, spec.dtype), rng), spec.dtype))
    shape = [3 if d is None else d for d in (spec.shape.as_list() if spec.shape.rank is not None else [2])]
    if spec.dtype == tf.string:
        return rng.choice(["a", "b", "the cat", "7"], size=shape).astype(object)
    if spec.dtype == tf.bool:
        return rng.integers(0, 2, shape) > 0
    if spec.dtype.is_integer:
        return rng.integers(0, 3, shape).astype(spec.dtype.as_numpy_dtype)
    return rng.normal(size=shape).astype(spec.dtype.as_numpy_dtype)


def ragged(spec, rng):
    """Returns a ragged tensor for a spec."""
    lengths = []
    rows = 3 if spec.shape[0] is None else spec.shape[0]
    for _ in range(spec.ragged_rank):
        lengths.append(rng.integers(0, 4, rows).astype(spec.row_splits_dtype.as_numpy_dtype))
        rows = int(lengths[-1].sum())
    flat = value(tf.TensorSpec([rows] + spec.shape.as_list()[spec.ragged_rank + 1:], spec.dtype), rng)
    return tf.RaggedTensor.from_nested_row_lengths(tf.constant(flat, spec.dtype), lengths) if lengths else tf.constant(flat, spec.dtype)


def arguments(signature, seed):
    """Returns arguments for a structured input signature: values for specs, all else as it is."""
    rng = np.random.default_rng(seed)

    def one(x):
        if isinstance(x, tf.TensorSpec):
            return tf.constant(value(x, rng), x.dtype)
        return value(x, rng) if isinstance(x, tf.TypeSpec) else x
    return tf.nest.map_structure(one, signature)


def text(x):
    """Returns a structure as text; the order of a dictionary doesn't count."""
    if isinstance(x, dict):
        return "{%s}" % ", ".join(f"{k}: {text(v)}" for k, v in sorted(x.items()))
    if isinstance(x, (list, tuple)):
        return type(x).__name__ + "(%s)" % ", ".join(text(v) for v in x)
    return str(x)


def functions(root):
    """Returns the functions of a loaded model by their paths."""
    # Tables trace their functions anew when they are asked for children: seen holds the objects, or a later one could have the
    # id of one that was freed.
    out, seen, queue = {}, {}, [("", root)]
    while queue:
        path, x = queue.pop(0)
        if id(x) in seen:
            continue
        seen[id(x)] = x
        if hasattr(x, "concrete_functions") or hasattr(x, "structured_input_signature"):
            out[path] = x
            continue
        try:
            children = x._trackable_children(save_type="savedmodel", cache={})  # noqa: SLF001
        except Exception:  # noqa: BLE001
            continue
        queue += [(path + "/" + k, v) for k, v in sorted(children.items()) if not k.startswith("capture_")]
    return out


def compare_functions(a, b, faults):
    """Calls each trace of each function of two loaded models, in the same order."""
    fa, fb = functions(a), functions(b)
    if sorted(fa) != sorted(fb):
        faults.append(f"functions {sorted(set(fa) ^ set(fb))} are in one of both only")
    for path in sorted(set(fa) & set(fb)):
        f, g = fa[path], fb[path]
        traces = [getattr(x, "concrete_functions", [x]) for x in (f, g)]
        words = [[text((c.structured_input_signature, c.structured_outputs)) for c in t] for t in traces]
        if words[0] != words[1]:
            faults.append(f"function {path}: its traces are {words[0]} and {words[1]}")
            continue
        if getattr(f, "_function_spec", None) and str(f._function_spec) != str(g._function_spec):  # noqa: SLF001
            faults.append(f"function {path}: its parameters are {f._function_spec} and {g._function_spec}")  # noqa: SLF001
        for i, c in enumerate(traces[0]):
            if c.structured_input_signature is None:
                continue

            def call(h):
                args, kwargs = arguments(c.structured_input_signature, i)
                with tf.GradientTape() as tape:
                    y = h(*args, **kwargs)
                    targets = [t for t in flat(y) if t.dtype.is_floating]
                watched = sorted(tape.watched_variables(), key=lambda v: (v.name, str(v.shape)))
                try:
                    gradients = tape.gradient(targets, watched) if targets and watched else []
                except Exception as e:  # noqa: BLE001
                    gradients = type(e).__name__
                return y, [tf.convert_to_tensor(x) for x in gradients if x is not None] if isinstance(gradients, list) else gradients
            x, y = outcome(lambda: call(f)), outcome(lambda: call(g))
            if isinstance(x, str) or isinstance(y, str):
                compare(x, y, f"function {path}, trace {i}", faults)
                continue
            compare(x[0], y[0], f"function {path}, trace {i}", faults)
            compare(x[1], y[1], f"function {path}, gradient of trace {i}", faults)


def flat(x):
    return [t for t in tf.nest.flatten(x, expand_composites=True) if isinstance(t, tf.Tensor)]


def same(a, b):
    a, b = flat(a), flat(b)
    if len(a) != len(b):
        return False
    for x, y in zip(a, b):
        if x.dtype in (tf.resource, tf.variant):
            continue
        if x.dtype != y.dtype or x.shape != y.shape:
            return False
        if x.dtype.is_floating or x.dtype.is_complex:
            if not np.allclose(x, y, 1e-5, 1e-6, equal_nan=True):
                return False
        elif not np.array_equal(x.numpy(), y.numpy()):
            return False
    return True


def outcome(f):
    """Returns the results of a call, or the name of its exception."""
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


def fetches(sig):
    """Returns the tensors of a signature's outputs by their names, those of composites too."""
    out = {}
    for k, v in sig.outputs.items():
        if v.WhichOneof("encoding") == "coo_sparse":
            c = v.coo_sparse
            out.update({k + "/indices": c.indices_tensor_name, k + "/values": c.values_tensor_name, k + "/shape": c.dense_shape_tensor_name})
        elif v.WhichOneof("encoding") == "composite_tensor":
            out.update({f"{k}/{i}": c.name for i, c in enumerate(v.composite_tensor.components)})
        else:
            out[k] = v.name
    return out


def described(path):
    """Returns the signatures' descriptions of their inputs and outputs, except for names in the graph."""
    def info(t):
        which = t.WhichOneof("encoding")
        rest = [info(c) for c in t.composite_tensor.components] + [t.composite_tensor.type_spec.SerializeToString(deterministic=True)] if which == "composite_tensor" else []
        return (which, t.dtype, t.tensor_shape.SerializeToString(deterministic=True), rest)
    return {name: [{k: info(t) for k, t in side.items()} for side in (s.inputs, s.outputs)]
            for name, s in graph_of(path).meta_graphs[0].signature_def.items()}


def assets(path):
    """Returns the contents of the assets by their names."""
    root = os.path.join(path, "assets")
    return {os.path.relpath(os.path.join(d, n), root): open(os.path.join(d, n), "rb").read() for d, _, names in os.walk(root) for n in names}


def check(original, copy):
    faults = []
    if graph_of(original).meta_graphs[0].HasField("object_graph_def"):
        check_objects(original, copy, faults)
    check_files(original, copy, faults)
    check_sessions(original, copy, faults)
    return faults


def check_objects(original, copy, faults):
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
    compare_functions(a, b, faults)
    save_both(a, b, faults)


def check_files(original, copy, faults):
    if described(original) != described(copy):
        faults.append(f"signatures are described as {described(original)} and {described(copy)}")
    if assets(original) != assets(copy):
        faults.append(f"assets {sorted(assets(original))} and {sorted(assets(copy))}")
    wrote = fingerprint_pb2.FingerprintDef()
    wrote.ParseFromString(open(os.path.join(copy, "fingerprint.pb"), "rb").read())
    made = fingerprint_pb2.FingerprintDef()
    made.ParseFromString(fingerprinting.CreateFingerprintDef(copy))
    wrote.uuid = made.uuid = ""
    if wrote != made:
        faults.append("fingerprint.pb is not TensorFlow's")


def save_both(a, b, faults):
    with tempfile.TemporaryDirectory() as d:
        again = outcome(lambda: tf.saved_model.save(a, os.path.join(d, "a"), signatures=a.signatures))
        mine = outcome(lambda: tf.saved_model.save(b, os.path.join(d, "b"), signatures=b.signatures))
        if mine != again:
            faults.append(f"TensorFlow saves it again: {again} and {mine}")


# The errors of variables and tables without values: a session reports that of whichever op runs first.
UNINITIALIZED = {"FailedPreconditionError", "NotFoundError"}


def check_sessions(original, copy, faults):
    # The session of TensorFlow 1, with which servers run a model: initialization, values, a call.
    for path, answers in ((original, {}), (copy, faults)):
        config = tf.compat.v1.ConfigProto(operation_timeout_in_ms=20000)  # an empty queue waits forever
        with tf.compat.v1.Session(graph=tf.Graph(), config=config) as session:
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
                        if not info.name:
                            continue
                        spec = tf.TensorSpec(tf.TensorShape(info.tensor_shape), tf.dtypes.as_dtype(info.dtype))
                        feed[info.name] = value(spec, rng)
                    answers_of[name] = outcome(lambda: session.run(fetches(sig), feed))
        if path == original:
            want = answers_of
        elif isinstance(want, str) or isinstance(answers_of, str):
            if isinstance(answers_of, str) and want != answers_of:
                faults.append(f"session: {want} and {answers_of}")
        else:
            for name in want:
                x, y = want[name], answers_of.get(name)
                if isinstance(x, str) or isinstance(y, str):
                    if isinstance(y, str) and x != y and not (isinstance(x, str) and {x, y} <= UNINITIALIZED):
                        faults.append(f"session {name}: {x if isinstance(x, str) else 'an answer'} and {y}")
                    continue
                for k in x:
                    if np.shape(x[k]) != np.shape(y[k]):
                        ok = False
                    elif np.asarray(x[k]).dtype.kind in "fc":
                        ok = np.allclose(x[k], y[k], 1e-5, 1e-6, equal_nan=True)
                    else:
                        ok = np.array_equal(x[k], y[k])
                    if not ok:
                        faults.append(f"session {name}: other values of {k}")


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

"""Runs SavedModels that Go wrote in every part of TensorFlow that loads one.

    savedmodels.py DIR [ORIGINALS]

DIR holds a directory NAME for each model, and NAME.npz with its calls: arrays "CALL|SIGNATURE|in|INPUT" and
"CALL|SIGNATURE|out|OUTPUT"; CALL is a number. The calls are made in the order of their numbers, all on one loaded model.
One line a case; the exit code is 1 if one fails. ORIGINALS has models of the same names that TensorFlow wrote. A failure
of TensorFlow with such a model too is no failure of the case.

The loaders: tf.saved_model.load (V2), the loader of TensorFlow 1 with the save and restore ops (V1), the C API's
TF_LoadSessionFromSavedModel (servers call the same code), keras.layers.TFSMLayer, and saved_model_cli. V2 saves the model
again. The fingerprint is compared with the one that TensorFlow computes.
"""
import contextlib
import ctypes
import io
import os
import re
import sys
import tempfile
import traceback

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from tensorflow.core.protobuf import fingerprint_pb2  # noqa: E402
from tensorflow.core.protobuf import saved_model_pb2  # noqa: E402
from tensorflow.python.saved_model.pywrap_saved_model import fingerprinting  # noqa: E402
from tensorflow.python.tools import saved_model_cli  # noqa: E402

tf.get_logger().setLevel("ERROR")


NOTHING = "nothing to check"


class Wrong(Exception):
    """A difference from the expected behaviour of the model."""


class Call:
    def __init__(self, signature):
        self.signature, self.inputs, self.outputs = signature, {}, {}

    def compare(self, got):
        """Holds outputs, arrays by name, to those of the npz."""
        if sorted(got) != sorted(self.outputs):
            raise Wrong("%s returns %s, want %s" % (self.signature, sorted(got), sorted(self.outputs)))
        for k, want in self.outputs.items():
            x = np.asarray(got[k])
            if x.dtype.kind in "OSU":
                x = np.asarray([v if isinstance(v, bytes) else str(v).encode() for v in x.ravel()], object).reshape(x.shape)
            where = "%s %s" % (self.signature, k)
            if x.shape != want.shape:
                raise Wrong("%s has shape %s, want %s" % (where, x.shape, want.shape))
            if x.dtype != want.dtype:
                raise Wrong("%s has type %s, want %s" % (where, x.dtype, want.dtype))
            if want.dtype.kind in "iubO":
                same = np.array_equal(x, want)
            else:
                wide = np.complex128 if want.dtype.kind == "c" else np.float64
                loose = 1e-2 if want.dtype.itemsize == 2 else 1e-5
                same = np.allclose(x.astype(wide), want.astype(wide), loose, loose / 10, equal_nan=True)
            if not same:
                raise Wrong("%s is %s, want %s" % (where, str(x.ravel()[:4]), str(want.ravel()[:4])))


def tensors(infos):
    """The names and types of tensors by the names of a signature, those of composites by their parts."""
    out = {}
    for name, info in infos.items():
        encoding = info.WhichOneof("encoding")
        if encoding == "coo_sparse":
            sparse = info.coo_sparse
            out[name + "/indices"] = sparse.indices_tensor_name, tf.int64
            out[name + "/values"] = sparse.values_tensor_name, tf.dtypes.as_dtype(info.dtype)
            out[name + "/dense_shape"] = sparse.dense_shape_tensor_name, tf.int64
        elif encoding == "composite_tensor":
            for i, part in enumerate(info.composite_tensor.components):
                out["%s/component_%d" % (name, i)] = part.name, tf.dtypes.as_dtype(part.dtype)
        else:
            out[name] = info.name, tf.dtypes.as_dtype(info.dtype) if info.dtype else None
    return out


def read_calls(path, graph):
    calls = {}
    with np.load(path) as f:
        for key in sorted(f.files, key=lambda k: int(k.split("|", 1)[0])):
            number, signature, way, name = key.split("|", 3)
            call = calls.setdefault(int(number), Call(signature))
            sig = graph.signature_def[signature]
            dtype = tensors(sig.inputs if way == "in" else sig.outputs)[name][1]
            v = f[key]
            if v.dtype.kind in "SU":  # numpy cuts zeros off the ends of bytes: no model here has them
                v = np.asarray([x if isinstance(x, bytes) else x.encode() for x in v.ravel()], object).reshape(v.shape)
            else:  # types that numpy lacks were widened
                v = v.astype(dtype.as_numpy_dtype)
            (call.inputs if way == "in" else call.outputs)[name] = v
    return list(calls.values())


def numpy_of(outputs):
    out = {}
    for k, v in outputs.items():
        if isinstance(v, tf.SparseTensor):
            out.update({k + "/indices": v.indices.numpy(), k + "/values": v.values.numpy(), k + "/dense_shape": v.dense_shape.numpy()})
        elif tf.is_tensor(v) and hasattr(v, "numpy") and not hasattr(v, "_type_spec"):
            out[k] = v.numpy()
        else:
            out.update({"%s/component_%d" % (k, i): x.numpy() for i, x in enumerate(tf.nest.flatten(v, expand_composites=True))})
    return out


def constants(call):
    return {k: tf.constant(v) for k, v in call.inputs.items()}


def call_all(model, calls):
    for c in calls:
        c.compare(numpy_of(model.signatures[c.signature](**constants(c))))


def check_v2(case):
    call_all(tf.saved_model.load(case.dir), case.calls)


def check_again(case):
    model = tf.saved_model.load(case.dir)
    with tempfile.TemporaryDirectory() as d:
        tf.saved_model.save(model, d + "/again", signatures=model.signatures)
        call_all(tf.saved_model.load(d + "/again"), case.calls)


def pairs(reader, key):
    """The pairs of a table. TensorFlow saves them in its own order, and of a dense table the unused places too, whose key
    is the table's empty one: b"" in the models here."""
    keys = reader.get_tensor(key).ravel()
    values = reader.get_tensor(key[: -len("keys")] + "values").reshape(len(keys), -1)
    return {k: tuple(v) for k, v in zip(keys.tolist(), values.tolist()) if k != b""}


def check_v1(case):
    """Calls; then the restore op brings the first state back, and the save op's file equals the saved one."""
    with tf.compat.v1.Session(graph=tf.Graph()) as session, tempfile.TemporaryDirectory() as d:
        graph = tf.compat.v1.saved_model.load(session, case.tags, case.dir)

        def run():
            for c in case.calls:
                sig = graph.signature_def[c.signature]
                fed = tensors(sig.inputs)
                c.compare(session.run({k: name for k, (name, _) in tensors(sig.outputs).items()},
                                      {fed[k][0]: v for k, v in c.inputs.items()}))
        saver = graph.saver_def
        if not saver.restore_op_name:
            return run()
        prefix = case.dir + "/variables/variables"
        session.run(saver.save_tensor_name, {saver.filename_tensor_name: d + "/ckpt"})
        want, got = tf.train.load_checkpoint(prefix), tf.train.load_checkpoint(d + "/ckpt")
        for key in got.get_variable_to_shape_map():
            if key.endswith("/table-values"):
                continue
            if key.endswith("/table-keys"):
                if pairs(got, key) != pairs(want, key):
                    raise Wrong("the save op wrote another table %s" % key)
                continue
            if not np.array_equal(got.get_tensor(key), want.get_tensor(key)):
                raise Wrong("the save op wrote another value of %s" % key)
        for key in want.get_variable_to_shape_map():
            if key != "_CHECKPOINTABLE_OBJECT_GRAPH" and not got.has_tensor(key):
                raise Wrong("the save op left out %s" % key)
        run()
        session.run(saver.restore_op_name, {saver.filename_tensor_name: prefix})
        run()


class CSession:
    """A session of the C API."""

    def __init__(self, dir, tags):
        self.lib = l = ctypes.CDLL(os.path.join(os.path.dirname(tf.__file__), "libtensorflow_cc.so.2"))
        p = ctypes.c_void_p
        for name, result, arguments in [
                ("TF_NewStatus", p, []), ("TF_GetCode", ctypes.c_int, [p]), ("TF_Message", ctypes.c_char_p, [p]),
                ("TF_NewSessionOptions", p, []), ("TF_NewGraph", p, []),
                ("TF_LoadSessionFromSavedModel", p, [p, p, ctypes.c_char_p, p, ctypes.c_int, p, p, p]),
                ("TF_GraphOperationByName", p, [p, ctypes.c_char_p]),
                ("TF_AllocateTensor", p, [ctypes.c_int, p, ctypes.c_int, ctypes.c_size_t]),
                ("TF_TensorData", p, [p]), ("TF_TensorByteSize", ctypes.c_size_t, [p]), ("TF_TensorType", ctypes.c_int, [p]),
                ("TF_NumDims", ctypes.c_int, [p]), ("TF_Dim", ctypes.c_int64, [p, ctypes.c_int]), ("TF_DeleteTensor", None, [p]),
                ("TF_StringInit", None, [p]), ("TF_StringCopy", None, [p, ctypes.c_char_p, ctypes.c_size_t]),
                ("TF_StringGetDataPointer", p, [p]), ("TF_StringGetSize", ctypes.c_size_t, [p]),
                ("TF_SessionRun", None, [p, p, p, p, ctypes.c_int, p, p, ctypes.c_int, p, ctypes.c_int, p, p]),
                ("TF_CloseSession", None, [p, p]), ("TF_DeleteSession", None, [p, p])]:
            f = getattr(l, name)
            f.restype, f.argtypes = result, arguments
        self.status, self.graph = l.TF_NewStatus(), l.TF_NewGraph()
        names = (ctypes.c_char_p * len(tags))(*[t.encode() for t in tags])
        self.session = l.TF_LoadSessionFromSavedModel(
            l.TF_NewSessionOptions(), None, dir.encode(), names, len(tags), self.graph, None, self.status)
        self.check()

    def check(self):
        if self.lib.TF_GetCode(self.status):
            raise Wrong(self.lib.TF_Message(self.status).decode()[:400])

    def outputs(self, names):
        """An array of TF_Output."""
        class Output(ctypes.Structure):
            _fields_ = [("oper", ctypes.c_void_p), ("index", ctypes.c_int)]
        out = (Output * len(names))()
        for i, name in enumerate(names):
            op, index = name.rsplit(":", 1)
            out[i].oper, out[i].index = self.lib.TF_GraphOperationByName(self.graph, op.encode()), int(index)
            if not out[i].oper:
                raise Wrong("the graph has no node %s" % op)
        return out

    def tensor(self, v):
        v = np.asarray(v)
        dims = (ctypes.c_int64 * v.ndim)(*v.shape)
        kind = tf.dtypes.as_dtype(v.dtype).as_datatype_enum if v.dtype != object else tf.string.as_datatype_enum
        size = 24 * v.size if v.dtype == object else v.nbytes
        t = self.lib.TF_AllocateTensor(kind, dims, v.ndim, size)
        data = self.lib.TF_TensorData(t)
        if v.dtype == object:
            for i, s in enumerate(v.ravel()):
                self.lib.TF_StringInit(data + 24 * i)
                self.lib.TF_StringCopy(data + 24 * i, s, len(s))
        elif size:
            ctypes.memmove(data, np.ascontiguousarray(v).ctypes.data, size)
        return t

    def array(self, t):
        l = self.lib
        shape = [l.TF_Dim(t, i) for i in range(l.TF_NumDims(t))]
        dtype, data, size = tf.dtypes.as_dtype(l.TF_TensorType(t)), l.TF_TensorData(t), l.TF_TensorByteSize(t)
        if dtype == tf.string:
            at = [data + 24 * i for i in range(int(np.prod(shape)))]
            texts = [ctypes.string_at(l.TF_StringGetDataPointer(a), l.TF_StringGetSize(a)) for a in at]
            out = np.asarray(texts, object).reshape(shape)
        else:
            out = np.frombuffer(ctypes.string_at(data, size) if size else b"", dtype.as_numpy_dtype).reshape(shape)
        l.TF_DeleteTensor(t)
        return out

    def run(self, feeds, fetches):
        names = list(fetches)
        inputs, outputs = self.outputs([k for k, _ in feeds]), self.outputs([fetches[k] for k in names])
        given = (ctypes.c_void_p * len(feeds))(*[self.tensor(v) for _, v in feeds])
        got = (ctypes.c_void_p * len(names))()
        self.lib.TF_SessionRun(self.session, None, inputs, given, len(feeds), outputs, got, len(names), None, 0, None, self.status)
        for t in given:
            self.lib.TF_DeleteTensor(t)
        self.check()
        return {k: self.array(t) for k, t in zip(names, got)}

    def close(self):
        self.lib.TF_CloseSession(self.session, self.status)
        self.lib.TF_DeleteSession(self.session, self.status)


def check_c(case):
    session = CSession(case.dir, case.tags)
    try:
        for c in case.calls:
            sig = case.graph.signature_def[c.signature]
            fed = tensors(sig.inputs)
            c.compare(session.run([(fed[k][0], v) for k, v in c.inputs.items()],
                                  {k: name for k, (name, _) in tensors(sig.outputs).items()}))
    finally:
        session.close()


def check_layer(case):
    """TFSMLayer passes one tensor on, by its place."""
    names = sorted({c.signature for c in case.calls if len(c.inputs) == 1})
    if not names:
        return NOTHING
    for name in names:
        layer = keras.layers.TFSMLayer(case.dir, call_endpoint=name)
        for c in case.calls:
            if c.signature == name:
                c.compare(numpy_of(layer(*constants(c).values())))
            elif case.stateful:
                break  # the state is another one from here on


def command(*arguments):
    """Runs saved_model_cli, and returns its output."""
    flags = saved_model_cli.flags.FLAGS
    for flag in flags.get_key_flags_for_module(saved_model_cli):
        flag.unparse()
    flags.mark_as_parsed()
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        saved_model_cli.create_parser().parse_args(list(arguments)).func()
    return out.getvalue()


def check_command(case):
    shown = command("show", "--dir", case.dir, "--all")
    for name, sig in case.graph.signature_def.items():
        if "signature_def['%s']" % name not in shown:
            raise Wrong("saved_model_cli show --all says nothing of the signature %s" % name)
        for k in list(sig.inputs) + list(sig.outputs):
            if "['%s'] tensor_info" % k not in shown and not name.startswith("__"):
                raise Wrong("saved_model_cli show --all says nothing of %s of %s" % (k, name))
    if case.stateful:
        return
    for c in case.calls:
        if not c.outputs or any(v.dtype == object or not v.flags.c_contiguous for v in c.inputs.values()):
            continue  # it takes strings from expressions only
        with tempfile.TemporaryDirectory() as d:
            # The names of inputs may contain characters of its syntax, so each has a file that is named by a number.
            words = []
            for i, (k, v) in enumerate(c.inputs.items()):
                np.save("%s/in%d.npy" % (d, i), v)
                words.append("%s=%s/in%d.npy" % (k, d, i))
            if not words or any(not re.fullmatch(r"\w+", k) for k in c.inputs):
                continue
            command("run", "--dir", case.dir, "--tag_set", ",".join(case.tags), "--signature_def", c.signature,
                    "--inputs", ";".join(words), "--outdir", d + "/out", "--overwrite")
            c.compare({k: np.load("%s/out/%s.npy" % (d, k), allow_pickle=True) for k in c.outputs})


def check_fingerprint(case):
    got, want = fingerprint_pb2.FingerprintDef(), fingerprint_pb2.FingerprintDef()
    with open(case.dir + "/fingerprint.pb", "rb") as f:
        got.ParseFromString(f.read())
    want.ParseFromString(fingerprinting.CreateFingerprintDef(case.dir))
    if not re.fullmatch(r"[0-9]{1,39}", got.uuid) or int(got.uuid) >= 2**128:
        raise Wrong("the uuid is %r, no number of 128 bits" % got.uuid)
    got.uuid = want.uuid = ""
    if got != want:
        raise Wrong("fingerprint.pb is %s, TensorFlow's %s" % (str(got).replace("\n", " "), str(want).replace("\n", " ")))


CHECKS = {
    "V2 loads and calls it": check_v2, "V2 saves it again": check_again, "V1 runs, saves and restores it": check_v1,
    "the C API runs it": check_c, "TFSMLayer calls it": check_layer, "saved_model_cli shows and runs it": check_command,
    "its fingerprint is TensorFlow's": check_fingerprint,
}

# Ops after which a second call may differ from the first.
CHANGES = re.compile(r"Assign|Scatter.*|.*Insert.*|Stateful.*Random|RandomUniform|RandomStandardNormal|TruncatedNormal|Mutable.*Table")


class Case:
    def __init__(self, dir, calls):
        self.dir = dir
        p = saved_model_pb2.SavedModel()
        with open(dir + "/saved_model.pb", "rb") as f:
            p.ParseFromString(f.read())
        self.graph = p.meta_graphs[0]
        self.tags = list(self.graph.meta_info_def.tags)
        self.calls = read_calls(calls, self.graph)
        if not self.calls:
            raise Wrong("%s has no calls" % calls)
        bodies = [self.signature_ops(f) for f in self.graph.graph_def.library.function
                  if not re.search("restore|initial|create|destroy", f.signature.name)]
        self.stateful = any(CHANGES.match(op) for ops in bodies for op in ops)

    @staticmethod
    def signature_ops(f):
        return {n.op for n in f.node_def}


def faults(check, case):
    """The fault, "" if there is none."""
    try:
        return check(case) or ""
    except Wrong as e:
        return str(e)
    except Exception as e:  # noqa: BLE001
        traceback.print_exc()
        return ("%s: %s" % (type(e).__name__, str(e)[:400])).replace("\n", " ")


def main():
    root, originals = sys.argv[1], (sys.argv[2:] + [None])[0]
    names = sorted(n for n in os.listdir(root) if os.path.isdir(os.path.join(root, n)))
    failed = 0
    for name in names:
        try:
            case = Case(os.path.join(root, name), os.path.join(root, name + ".npz"))
        except Exception as e:  # noqa: BLE001
            failed += 1
            print("FAIL written SavedModel %s: %s" % (name, str(e)[:400]), flush=True)
            continue
        for what, check in CHECKS.items():
            fault = faults(check, case)
            if fault == NOTHING:
                continue
            if fault and originals and check is not check_fingerprint:
                original = Case(os.path.join(originals, name), os.path.join(root, name + ".npz"))
                if faults(check, original):
                    print("ok   written SavedModel %s: TensorFlow refuses the original too where %s" % (name, what), flush=True)
                    continue
            failed += bool(fault)
            print("%s written SavedModel %s: %s%s" % ("FAIL" if fault else "ok  ", name, what, ": " + fault if fault else ""), flush=True)
    if not names:
        print("FAIL written SavedModels: there are none in %s" % root)
    return 1 if failed or not names else 0


sys.exit(main())

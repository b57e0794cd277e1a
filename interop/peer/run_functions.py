"""Runs functions of a GraphDef in TensorFlow: the judge of graphs made elsewhere.

    python run_functions.py DIRECTORY...

A directory holds

  graph.pb     a GraphDef; its library has the functions, its nodes are not used
  calls.json   {"calls": [...]}: calls, run one after another
  *.npz        the inputs

A call is

  function   the name of a function of the library
  inputs     an .npz whose arrays are the arguments, "0", "1", ...; optional
  args       optional; one a place of the function's signature, if not all are
             tensors of inputs:
               {"input": "key"}         that array of inputs
               {"variable": "name"}     the resource of a variable
  outputs    the .npz to write: the results as "0", "1", ..., and each variable's
             value after the call as "variable/<name>"

and "variables" of calls.json lists the variables, which live through all calls:

  {"name", "dtype", "shape": [..., null for unknown] or null, "value": [npz, key] or null}

Strings are stored in npz as hexadecimal digits, for arrays of type S lose NULs at
their ends; bfloat16 and the 8-bit floats are stored as float32. An argument is cast to the signature's type.
Graph rewrites and oneDNN are off, so that results are those of the unchanged
graph.

Writes result.json: {"ok": true}, or {"ok": false, "call": i, "error": "..."}.
Prints a line a directory; the exit code is 1 if one failed.
"""

import json
import os
import sys

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import graph_pb2
from tensorflow.python.eager import context
from tensorflow.python.eager import execute
from tensorflow.python.framework import function_def_to_graph, importer

OFF = {"disable_meta_optimizer": True}


def value_of(array, dtype):
    """An array of an npz as a tensor of a type that npz may not have."""
    if dtype == tf.string:
        flat = [bytes.fromhex(v.decode() if isinstance(v, bytes) else v) for v in array.ravel().tolist()]
        return tf.reshape(tf.constant(flat, tf.string, shape=[len(flat)]), array.shape)
    want = dtype.as_numpy_dtype
    if array.dtype != want and array.dtype.kind == "V":
        array = array.view(want)
    return tf.constant(array.astype(want), dtype, shape=array.shape)


def array_of(tensor):
    """A tensor as an array of an npz; a list or another variant as its text."""
    if isinstance(tensor, tf.RaggedTensor) or tensor.dtype in (tf.variant, tf.resource):
        return np.array(str(tensor.dtype.name))
    a = tensor.numpy()
    if tensor.dtype == tf.string:
        return np.array([v.hex().encode() for v in np.array(a, dtype=object).ravel()], dtype=bytes).reshape(np.shape(a))
    if tensor.dtype.name == "bfloat16" or tensor.dtype.name.startswith("float8"):
        return a.astype(np.float32)
    return a


def check_import(graph):
    """Imports the graph and every function's body, as loading a SavedModel does."""
    with tf.Graph().as_default():
        importer.import_graph_def(graph, name="")
        for f in graph.library.function:
            function_def_to_graph.function_def_to_graph(f, include_library_functions=True)


class Folder:
    def __init__(self, path):
        self.path = path
        self.graph = graph_pb2.GraphDef()
        with open(os.path.join(path, "graph.pb"), "rb") as f:
            self.graph.ParseFromString(f.read())
        with open(os.path.join(path, "calls.json")) as f:
            self.spec = json.load(f)
        self.functions = {f.signature.name: f for f in self.graph.library.function}
        self.files = {}
        self.variables = {}

    def npz(self, name):
        if name not in self.files:
            self.files[name] = dict(np.load(os.path.join(self.path, name), allow_pickle=True))
        return self.files[name]

    def run(self):
        for f in self.functions.values():
            if context.context().has_function(f.signature.name):
                raise ValueError("function %s is there already" % f.signature.name)
            context.context().add_function_def(f)
        for v in self.spec.get("variables") or []:
            dtype, shape = tf.dtypes.as_dtype(v["dtype"]), v.get("shape")
            shape = tf.TensorShape(None if shape is None else [None if d is None or d < 0 else d for d in shape])
            if v.get("value"):
                name, key = v["value"]
                var = tf.Variable(value_of(self.npz(name)[key], dtype), shape=shape, dtype=dtype)
            else:
                var = tf.raw_ops.VarHandleOp(dtype=dtype, shape=shape, shared_name=v["name"])
            self.variables[v["name"]] = var
        for i, call in enumerate(self.spec["calls"]):
            try:
                self.call(call)
            except Exception as e:
                return {"ok": False, "call": i, "error": "%s: %s" % (type(e).__name__, e)}
        return {"ok": True}

    def call(self, call):
        sig = self.functions[call["function"]].signature
        inputs = self.npz(call["inputs"]) if call.get("inputs") else {}
        places = call.get("args") or [{"input": str(i)} for i in range(len(sig.input_arg))]
        if len(places) != len(sig.input_arg):
            raise ValueError("%d arguments are given, %s takes %d" % (len(places), sig.name, len(sig.input_arg)))
        args = []
        for place, arg in zip(places, sig.input_arg):
            if "variable" in place:
                v = self.variables[place["variable"]]
                args.append(v.handle if isinstance(v, tf.Variable) else v)
            else:
                args.append(value_of(inputs[place["input"]], tf.dtypes.as_dtype(arg.type)))
        outs = execute.execute(
            sig.name.encode(), len(sig.output_arg), inputs=args, attrs=None, ctx=context.context())
        outs = outs or []
        arrays = {str(i): array_of(o) for i, o in enumerate(outs)}
        for name, v in self.variables.items():
            if isinstance(v, tf.Variable):
                arrays["variable/" + name] = array_of(v.read_value())
            elif tf.raw_ops.VarIsInitializedOp(resource=v):
                dtype = next(d["dtype"] for d in self.spec["variables"] if d["name"] == name)
                arrays["variable/" + name] = array_of(tf.raw_ops.ReadVariableOp(resource=v, dtype=tf.dtypes.as_dtype(dtype)))
        np.savez(os.path.join(self.path, call["outputs"]), **arrays)


def main(paths):
    failed = 0
    for path in paths:
        context._reset_context()  # two directories may have functions of one name
        tf.config.optimizer.set_experimental_options(OFF)
        try:
            folder = Folder(path)
            check_import(folder.graph)
            result = folder.run()
        except Exception as e:
            result = {"ok": False, "call": -1, "error": "%s: %s" % (type(e).__name__, e)}
        with open(os.path.join(path, "result.json"), "w") as f:
            json.dump(result, f)
        if not result["ok"]:
            failed += 1
            print("FAIL %s: call %d: %s" % (path, result["call"], result["error"].splitlines()[0]))
        else:
            print("ran %s" % path)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

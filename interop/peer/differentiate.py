"""Differentiates functions of a GraphDef in TensorFlow, as a reference for gradients made elsewhere.

    python differentiate.py DIRECTORY...

A directory has the files that run_functions.py describes; each call has two more fields:

  dys   one a result: the array of inputs that is its gradient, or null
  by    the places of the arguments with regard to which it is differentiated

The library is loaded as that of a SavedModel is, so that the gradient is that of
a loaded function. outputs has, for each place of by, the gradient as
"gradient/<place>", zeros if there is none, and as "kind/<place>" its kind:
"none", "dense" or "slices".

"gradients" of calls.json has the description of the library's registered
gradients, as the objects of a SavedModel have it:

  {"function", "inputs": how many gradients it takes, "gives": the places of its
   results, "captures": [{"function", "tensor"}]}

Writes result.json: {"calls": [{"ok": true}, {"ok": false, "error": "..."}, ...]},
one a call, and prints a line a directory; the exit code is 1 if a directory has no
result.
"""

import json
import os
import sys

from run_functions import OFF, Folder, array_of, value_of

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context
from tensorflow.core.function.capture import restore_captures
from tensorflow.core.protobuf import saved_object_graph_pb2
from tensorflow.python.saved_model import function_deserialization, nested_structure_coder


class Differentiated(Folder):

    def run(self):
        library = type(self.graph.library)()
        library.CopyFrom(self.graph.library)
        objects = saved_object_graph_pb2.SavedObjectGraph()
        for call in self.spec["calls"]:
            types = objects.concrete_functions[call["function"]]
            signature = self.functions[call["function"]].signature
            inputs = (tuple(tf.TensorSpec(None, a.type, name=a.name) for a in signature.input_arg), {})
            types.canonicalized_input_signature.CopyFrom(nested_structure_coder.encode_structure(inputs))
            outputs = tuple(tf.TensorSpec(None, a.type) for a in signature.output_arg)
            types.output_signature.CopyFrom(nested_structure_coder.encode_structure(outputs))
        gradients = self.spec.get("gradients") or []
        for g in gradients:
            types = objects.concrete_functions[g["function"]]
            signature = self.functions[g["function"]].signature
            inputs = ((None,) + tuple(tf.TensorSpec(None, a.type, name=a.name) for a in signature.input_arg[:g["inputs"]]), {})
            types.canonicalized_input_signature.CopyFrom(nested_structure_coder.encode_structure(inputs))
            outputs = [None] * g["inputs"]
            for place, a in zip(g["gives"], signature.output_arg):
                outputs[place] = tf.TensorSpec(None, a.type)
            types.output_signature.CopyFrom(nested_structure_coder.encode_structure(outputs))
        concrete = function_deserialization.load_function_def_library(library, objects)
        for g in gradients:
            restore_captures.restore_captures(
                concrete[g["function"]], [concrete[c["function"]].graph.get_tensor_by_name(c["tensor"]) for c in g["captures"]])
        results = []
        for call in self.spec["calls"]:
            try:
                self.differentiate(concrete[call["function"]], call)
                results.append({"ok": True})
            except Exception as e:
                results.append({"ok": False, "error": "%s: %s" % (type(e).__name__, e)})
        return {"calls": results}

    def differentiate(self, function, call):
        signature = self.functions[call["function"]].signature
        inputs = self.npz(call["inputs"])
        variables = {}
        for v in self.spec.get("variables") or []:
            name, key = v["value"]
            dtype = tf.dtypes.as_dtype(v["dtype"])
            variables[v["name"]] = tf.Variable(value_of(self.npz(name)[key], dtype), dtype=dtype)
        args, sources = [], []
        with tf.GradientTape() as tape:
            for i, (place, arg) in enumerate(zip(call["args"], signature.input_arg)):
                if "variable" in place:
                    v = variables[place["variable"]]
                    args.append(v.handle)
                else:
                    v = value_of(inputs[place["input"]], tf.dtypes.as_dtype(arg.type))
                    args.append(v)
                if i in call["by"]:
                    tape.watch(v)
                    sources.append(v)
            outs = function._call_flat(args, [])
        pairs = [(o, value_of(inputs[key], o.dtype)) for o, key in zip(outs, call["dys"]) if key is not None]
        grads = tape.gradient([o for o, _ in pairs], sources, output_gradients=[dy for _, dy in pairs])
        arrays = {}
        for place, x, g in zip(call["by"], sources, grads):
            kind = "none" if g is None else "slices" if isinstance(g, tf.IndexedSlices) else "dense"
            g = tf.zeros(x.shape, x.dtype) if g is None else tf.convert_to_tensor(g)
            arrays["gradient/%d" % place] = array_of(g)
            arrays["kind/%d" % place] = np.array([kind.encode().hex().encode()])
        np.savez(os.path.join(self.path, call["outputs"]), **arrays)


def main(paths):
    failed = 0
    for path in paths:
        context._reset_context()
        tf.config.optimizer.set_experimental_options(OFF)
        try:
            result = Differentiated(path).run()
        except Exception as e:
            result = {"error": "%s: %s" % (type(e).__name__, e)}
            failed += 1
        with open(os.path.join(path, "result.json"), "w") as f:
            json.dump(result, f)
        print("ran %s" % path)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

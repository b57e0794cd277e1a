"""Writes the definitions of all of TensorFlow's ops to a file, or those that a
library adds to them.

    pip install tensorflow-cpu==2.21.0 tensorflow-text==2.21.1
    python internal/gen/opdefs/dump.py graph/opdefs.bin
    python internal/gen/opdefs/dump.py graph/textdefs.bin tensorflow_text

The file is a tensorflow.OpList sorted by name, without descriptions. It holds
the ops that the CPU build registers. It is made once for each version of TensorFlow and
committed; `go generate` needs no TensorFlow and so leaves it alone.
"""

import importlib
import sys

import tensorflow as tf
from tensorflow.core.framework import op_def_pb2
from tensorflow.python.client import pywrap_tf_session

VERSION = "2.21.0"


def registered():
    """Every op that the loaded libraries have registered."""
    buf = pywrap_tf_session.TF_GetAllOpList()
    ops = op_def_pb2.OpList()
    ops.ParseFromString(pywrap_tf_session.TF_GetBuffer(buf))
    missing = {n for n in dir(tf.raw_ops) if not n.startswith("_")} - {op.name for op in ops.op}
    if missing:
        sys.exit(f"tf.raw_ops has ops that the registry lacks: {sorted(missing)}")
    return sorted(ops.op, key=lambda op: op.name.encode())


def without_words(op):
    """The definition without its descriptions."""
    op.ClearField("summary")
    op.ClearField("description")
    for part in [*op.input_arg, *op.output_arg, *op.attr]:
        part.ClearField("description")
    return op


def main(path, library=None):
    if tf.__version__ != VERSION:
        sys.exit(f"this is TensorFlow {tf.__version__}, not {VERSION}")
    list_ = registered()
    if library:
        own = {op.name for op in list_}
        importlib.import_module(library)
        list_ = [op for op in registered() if op.name not in own]
    ops = op_def_pb2.OpList(op=[without_words(op) for op in list_])
    with open(path, "wb") as f:
        f.write(ops.SerializeToString(deterministic=True))
    print(f"{len(ops.op)} ops")


if __name__ == "__main__":
    main(*sys.argv[1:])

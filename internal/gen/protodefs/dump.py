"""Writes the descriptors of the messages that TensorFlow has linked in: those of the
descriptor source local://.

    pip install tensorflow-cpu==2.21.0
    python internal/gen/protodefs/dump.py kernel/parse/local.deflate

The file is a FileDescriptorSet without options, compressed. It is made once for each
version of TensorFlow and committed.
"""

import importlib
import pkgutil
import sys
import zlib

from google.protobuf import descriptor_pb2
from tensorflow.core import example, framework, protobuf


def main(path):
    files, seen = descriptor_pb2.FileDescriptorSet(), set()

    def add(file):
        if file.name in seen:
            return
        seen.add(file.name)
        for needed in file.dependencies:
            add(needed)
        p = files.file.add()
        file.CopyToProto(p)
        p.ClearField("options")

    for package in [example, framework, protobuf]:
        for module in sorted(pkgutil.iter_modules(package.__path__), key=lambda m: m.name):
            if module.name.endswith("_pb2"):
                add(importlib.import_module(package.__name__ + "." + module.name).DESCRIPTOR)
    c = zlib.compressobj(9, zlib.DEFLATED, -15)
    with open(path, "wb") as f:
        f.write(c.compress(files.SerializeToString(deterministic=True)) + c.flush())


main(sys.argv[1])

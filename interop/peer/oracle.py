"""Dumps a checkpoint as text: a line an entry, a line a node.

    python oracle.py PREFIX          the dump
    python oracle.py PREFIX OTHER    the difference of two dumps

It reads the index by itself, so that its dump depends on neither side's
reader, and takes TensorFlow's generated messages for the protos.
"""
import difflib
import os
import struct
import sys


def varint(b, i):
    x = shift = 0
    while True:
        x |= (b[i] & 127) << shift
        shift += 7
        i += 1
        if b[i - 1] < 128:
            return x, i


def block(f, offset, size):
    """The records of an uncompressed block, in order."""
    if f[offset + size] != 0:
        raise ValueError("block at %d: compression %d" % (offset, f[offset + size]))
    b = f[offset:offset + size]
    restarts = struct.unpack("<I", b[-4:])[0]
    i, key = 0, b""
    while i < len(b) - 4 - 4 * restarts:
        shared, i = varint(b, i)
        rest, i = varint(b, i)
        n, i = varint(b, i)
        key = key[:shared] + b[i:i + rest]
        yield key, b[i + rest:i + rest + n]
        i += rest + n


def table(path):
    """All records of a table, and its blocks as (separator, offset, size)."""
    with open(path, "rb") as file:
        f = file.read()
    i = len(f) - 48
    _, i = varint(f, i)
    _, i = varint(f, i)
    offset, i = varint(f, i)
    size, i = varint(f, i)
    records, blocks = [], []
    for separator, handle in block(f, offset, size):
        o, i = varint(handle, 0)
        n, _ = varint(handle, i)
        blocks.append((separator, o, n))
        records += block(f, o, n)
    return records, blocks


def show(key):
    return repr(key)[2:-1]


def dump(prefix):
    """The lines that describe the checkpoint."""
    from tensorflow.core.protobuf import tensor_bundle_pb2, trackable_object_graph_pb2
    from tensorflow.python.framework import dtypes
    lines, graph = [], None
    records, blocks = table(prefix + ".index")
    for separator, offset, size in blocks:
        lines.append("block   %d+%d up to %s" % (offset, size, show(separator)))
    for key, raw in records:
        if not key:
            header = tensor_bundle_pb2.BundleHeaderProto.FromString(raw)
            lines.append("header  shards %d, %s, version %d/%d" % (
                header.num_shards, ["little", "big"][header.endianness], header.version.producer, header.version.min_consumer))
            continue
        e = tensor_bundle_pb2.BundleEntryProto.FromString(raw)
        dims = "[%s]" % ",".join(str(d.size) for d in e.shape.dim)
        lines.append("entry   %s %s%s shard %d at %d+%d crc %08x%s" % (
            show(key), dtypes.as_dtype(e.dtype).name, dims, e.shard_id, e.offset, e.size, e.crc32c,
            "".join(" slice " + ":".join("%d,%d" % (x.start, x.length) if x.HasField("length") else "-" for x in s.extent)
                    for s in e.slices)))
        if key == b"_CHECKPOINTABLE_OBJECT_GRAPH":
            path = "%s.data-%05d-of-%05d" % (prefix, e.shard_id, header.num_shards)
            with open(path, "rb") as f:
                f.seek(e.offset)
                b = f.read(e.size)
            n, i = varint(b, 0)
            graph = trackable_object_graph_pb2.TrackableObjectGraph.FromString(b[i + 4:i + 4 + n])
    for i, n in enumerate(graph.nodes if graph else []):
        lines.append("node    %d%s%s" % (i, " values" if n.has_checkpoint_values.value else
                                         "" if n.HasField("has_checkpoint_values") else " unsaid",
                                         " saver %s as %r" % (n.registered_saver.name, n.registered_saver.object_name)
                                         if n.HasField("registered_saver") else ""))
        for c in n.children:
            lines.append("  edge  %r to %d" % (c.local_name, c.node_id))
        for a in n.attributes:
            lines.append("  attr  %r key %r full name %r" % (a.name, a.checkpoint_key, a.full_name))
        for s in n.slot_variables:
            lines.append("  slot  %r of %d is %d" % (s.slot_name, s.original_variable_node_id, s.slot_variable_node_id))
    folder, base = os.path.split(prefix)
    for name in sorted(os.listdir(folder or ".")):
        if name.startswith(base + "."):
            lines.append("file    %s %d" % (name[len(base):], os.path.getsize(os.path.join(folder, name))))
    return lines


if __name__ == "__main__":
    dumps = [dump(prefix) for prefix in sys.argv[1:]]
    if len(dumps) > 1:
        dumps[0] = difflib.unified_diff(*dumps[:2], *sys.argv[1:3], n=0, lineterm="")
    print("\n".join(dumps[0]))

"""Reads spoiled checkpoints with TensorFlow and compares with Cairn's verdicts: python hostile.py DIRECTORY.

TensorFlow may crash on them: a child does the reading, and its parent starts another one after the file that ended it.
"""
import hashlib
import json
import os
import resource
import struct
import sys


def digest(prefix):
    import numpy as np
    import tensorflow as tf
    types = tf.train.load_checkpoint(prefix).get_variable_to_dtype_map()
    names = sorted(types, key=lambda n: n.encode("utf-8", "surrogateescape"))
    if not names:
        return hashlib.sha256().hexdigest()
    values = tf.raw_ops.RestoreV2(prefix=prefix, tensor_names=names, shape_and_slices=[""] * len(names),
                                  dtypes=[types[n] for n in names])
    h = hashlib.sha256()
    number = lambda n: h.update(struct.pack("<Q", n))
    for name, v in zip(names, values):
        raw = name.encode("utf-8", "surrogateescape")
        number(len(raw))
        h.update(raw)
        number(v.dtype.as_datatype_enum)
        for n in v.shape:
            number(n)
        if v.dtype != tf.string:
            h.update(v.numpy().tobytes())
            continue
        for s in np.asarray(v.numpy(), dtype=object).ravel().tolist():
            number(len(s))
            h.update(s)
    return h.hexdigest()


def child(root, folders, out):
    for folder in folders:
        try:
            verdict = {"digest": digest(os.path.join(root, folder, "ckpt"))}
        except BaseException as e:
            verdict = {"error": "%s: %s" % (type(e).__name__, str(e)[:300])}
        os.write(out, (json.dumps(dict(verdict, folder=folder)) + "\n").encode())


def in_child(root, folders):
    """The verdicts of a child that ends, one way or another."""
    out, into = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(out)
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 2)  # a crash prints a stack
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            child(root, folders, into)
            code = 0
        finally:
            os._exit(code)
    os.close(into)
    with os.fdopen(out) as f:
        verdicts = [json.loads(line) for line in f]
    os.waitpid(pid, 0)
    return verdicts


def main(root):
    root = os.path.join(root, "go", "hostile")
    with open(os.path.join(root, "verdicts.json")) as f:
        ours = json.load(f)
    import tensorflow  # once: children inherit it, and it has done nothing yet that a fork would break
    left, theirs, crashes = [v["folder"] for v in ours], {}, 0
    while left:
        for v in in_child(root, left):
            theirs[v["folder"]] = v
            left.remove(v["folder"])
        if left:
            crashes += 1
            left.pop(0)
    wrong, both, stricter = [], 0, 0
    for v in ours:
        t = theirs.get(v["folder"], {"error": "TensorFlow crashed"})
        if "error" in t and not v["error"]:
            wrong.append("%s (%s): ours reads what TensorFlow refuses: %s" % (v["folder"], v["how"], t["error"]))
        elif "digest" in t and not v["error"]:
            both += 1
            if t["digest"] != v["digest"]:
                wrong.append("%s (%s): other values" % (v["folder"], v["how"]))
        elif "digest" in t:
            stricter += 1
    print("%-4s hostile files: what ours reads TensorFlow reads alike: %d files, %d read by both, %d refused by ours alone, "
          "%d crash TensorFlow" % ("FAIL" if wrong else "ok", len(ours), both, stricter, crashes))
    for w in wrong[:12]:
        print("     " + w)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))

"""Reads Cairn's files with TensorFlow: python check.py DIRECTORY. A line a case; exit code 1 if one fails."""
import json
import logging
import os
import sys

import tensorflow as tf

import bundles
import models
import objects
import oracle
import orders

failed = 0


def case(name, wrong, detail=""):
    global failed
    failed += bool(wrong)
    print("%-4s %s%s" % ("FAIL" if wrong else "ok", name, ": " + detail if detail else ""), flush=True)
    for line in wrong[:8]:
        print("     " + str(line)[:600])


def tried(f, *args):
    """The faults that f finds, an exception included."""
    try:
        return f(*args)
    except Exception as e:
        return ["%s: %s" % (type(e).__name__, e)]


def restored(spec, prefix, slots):
    ckpt, nodes = objects.build(spec, zero=True, slots=slots)
    ckpt.read(prefix).assert_consumed()
    return objects.compare(spec, nodes)


def joined(first, second, prefix):
    """Restores two object graphs below one root: a checkpoint that was saved with root= has that object as its own root."""
    a, of_a = objects.build(first, zero=True, slots=True)
    b, of_b = objects.build(second, zero=True, slots=True)
    tf.train.Checkpoint(a=a.root if first["style"] == "object" else a, b=b.root if second["style"] == "object" else b).read(prefix).assert_consumed()
    return objects.compare(first, of_a) + objects.compare(second, of_b)


def big_endian(spec, folder):
    """The values that TensorFlow reads otherwise, and the types whose bytes it reports that it can't swap."""
    wrong, refused = [], []
    tensors = spec["files"][0]["tensors"]
    for dtype in sorted({t["dtype"] for t in tensors}):
        one = dict(spec["files"][0], tensors=[t for t in tensors if t["dtype"] == dtype])
        try:
            wrong += bundles.mismatches(dict(spec, files=[one]), folder)
        except tf.errors.UnimplementedError:
            refused.append(dtype)
        except Exception as e:
            wrong.append("%s: %s" % (type(e).__name__, e))
    return wrong, refused


def main(root):
    ours = os.path.join(root, "go")
    with open(os.path.join(root, "specs.json")) as f:
        specs = json.load(f)

    able = [s for s in specs["graphs"] if s["tf_restores"]]
    wrong = []
    for spec in able:
        for slots in (False, True):
            for w in tried(restored, spec, "%s/graphs/%d/ckpt" % (ours, spec["seed"]), slots):
                wrong.append("graph %d: %s" % (spec["seed"], w))
    case("TensorFlow restores our object graphs", wrong,
         "%d of %d; the others it can't restore when it wrote them itself" % (len(able), len(specs["graphs"])))

    wrong, whole = orders.check(specs["orders"], os.path.join(root, "tf", "orders"), os.path.join(ours, "orders"))
    if whole < len(specs["orders"]) * 2 // 3:
        wrong.append("only %d programs ran to their ends" % whole)
    case("programs of every order leave TensorFlow's values", wrong,
         "%d of %d to their ends, the others to what ours refuses" % (whole, len(specs["orders"])))

    single = [s for s in able if s["style"] != "both"]  # a nested Checkpoint can't be an object with more children
    pairs = [p for p in zip(single[::2], single[1::2]) if os.path.isdir("%s/joined/%d-%d" % (ours, p[0]["seed"], p[1]["seed"]))]
    wrong = []
    for a, b in pairs:
        for w in tried(joined, a, b, "%s/joined/%d-%d/ckpt" % (ours, a["seed"], b["seed"])):
            wrong.append("graphs %d and %d: %s" % (a["seed"], b["seed"], w))
    case("TensorFlow restores object graphs that merge joined", wrong or ([] if pairs else ["there are none"]), "%d pairs" % len(pairs))

    for spec in specs["bundles"]:
        case("TensorFlow reads our " + spec["case"], tried(bundles.mismatches, spec, os.path.join(ours, "bundles", spec["case"])))
    for spec in specs["bundles"]:
        if spec["case"] in ("every dtype", "slices"):
            wrong, refused = big_endian(spec, os.path.join(ours, "big-endian", spec["case"]))
            case("TensorFlow reads our big-endian " + spec["case"], wrong,
                 "all but those it can't swap: " + ", ".join(refused) if refused else "")
    for optimizer in models.OPTIMIZERS:
        case("TensorFlow resumes our guide with " + optimizer,
             tried(models.check_guide, os.path.join(ours, "guide", optimizer), optimizer))
    models.register_stacks()
    for name in models.PLAIN:
        case("TensorFlow restores our " + name, tried(models.check_plain, name, os.path.join(ours, "models", name)))
    for name, prefix in models.MANAGERS.items():
        case("TensorFlow's manager takes over ours: " + name,
             tried(models.check_manager, os.path.join(ours, "manager", name), prefix))
    return failed


if __name__ == "__main__":
    logging.getLogger("tensorflow").setLevel(logging.ERROR)
    sys.exit(1 if main(os.path.abspath(sys.argv[1])) else 0)

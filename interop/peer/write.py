"""Writes everything that ours is compared with: python write.py DIRECTORY.

DIRECTORY gets specs.json and tf/<kind>/<case>/…; kind is one of graphs, bundles, orders, models, guide, manager, legacy.
"""
import json
import os
import sys

import bundles
import graphs
import legacy
import models
import objects
import orders

GRAPHS = 200


def folder(root, *parts):
    path = os.path.join(root, "tf", *map(str, parts))
    os.makedirs(path, exist_ok=True)
    return path


def restores(spec, prefix):
    """Whether TensorFlow can restore its own checkpoint: some names of edges defeat its reader."""
    ckpt, nodes = objects.build(spec, zero=True, slots=False)
    try:
        ckpt.read(prefix).assert_consumed()
    except Exception:
        return False
    return not objects.compare(spec, nodes)


def main(root):
    specs = {"graphs": [graphs.generate(seed) for seed in range(GRAPHS)], "bundles": list(bundles.specs()),
             "orders": orders.programs()}
    for spec in specs["graphs"]:
        prefix = folder(root, "graphs", spec["seed"]) + "/ckpt"
        ckpt, _ = objects.build(spec)
        ckpt.write(prefix)
        spec["tf_restores"] = restores(spec, prefix)
    with open(os.path.join(root, "specs.json"), "w") as f:
        json.dump(specs, f)
    for spec in specs["bundles"]:
        bundles.write(spec, folder(root, "bundles", spec["case"]))
    for i, steps in enumerate(specs["orders"]):
        orders.write(steps, folder(root, "orders", i))
    for optimizer in models.OPTIMIZERS:
        models.write_guide(folder(root, "guide", optimizer), optimizer)
    models.register_stacks()
    for case in models.PLAIN:
        models.write_plain(case, folder(root, "models", case))
    for case, name in models.MANAGERS.items():
        models.write_manager(folder(root, "manager", case), name)
    for case in legacy.CASES:
        legacy.write(case, folder(root, "legacy", case))


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))

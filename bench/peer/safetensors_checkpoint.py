"""safetensors saves and loads the bench's tensors: safetensors_checkpoint.py DIR big|many|most|one

It neither syncs nor has checksums."""
import os
import shutil
import sys

import numpy as np
from safetensors.numpy import load_file, save_file

from common import arrays, serve, some

folder, kind = sys.argv[1:3]
os.makedirs(folder, exist_ok=True)
path = os.path.join(folder, "a.safetensors")
tensors = {f"model/v/{i}": a for i, a in enumerate(arrays(kind))}


def restore():
    assert sum(float(a.flat[0]) for a in some(list(load_file(path).values()))) != 0


def twin():
    """A copy, made by the round that counts for nothing."""
    other = os.path.join(folder, "twin.safetensors")
    if not os.path.exists(other):
        shutil.copyfile(path, other)
    return other


def diff():
    a, b = load_file(path), load_file(twin())
    assert all(np.array_equal(a[k], b[k]) for k in a)


serve({
    "save": lambda: save_file(tensors, path),
    "restore": restore,
    "verify": restore,
    "diff": diff,
    "convert": lambda: save_file(load_file(path), os.path.join(folder, "out.safetensors")),
})

"""safetensors saves and loads the bench's tensors: safetensors_checkpoint.py DIR big|many

It neither syncs nor has checksums."""
import os
import sys

from safetensors.numpy import load_file, save_file

from common import arrays, serve

folder, kind = sys.argv[1:3]
os.makedirs(folder, exist_ok=True)
path = os.path.join(folder, "a.safetensors")
tensors = {f"model/v/{i}": a for i, a in enumerate(arrays(kind))}


def restore():
    assert sum(float(a.flat[0]) for a in load_file(path).values()) != 0


serve({"save": lambda: save_file(tensors, path), "restore": restore})

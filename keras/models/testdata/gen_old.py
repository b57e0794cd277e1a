"""Packs two models that older versions of TensorFlow saved, and TensorFlow's outputs for them.

Usage: gen_old.py TFX; TFX is a clone of https://github.com/tensorflow/tfx. TensorFlow 2.1.0 saved the first model,
2.3.1 the second one. Both have Keras's metadata in the nodes of the object graph.
"""

import io
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile

import numpy as np
import tf_keras as keras

here = os.path.dirname(os.path.abspath(__file__))
folder = "tfx/components/testdata/trainer/keras/serving_model_dir"
arrays = {}
for name, commit in (("tf21", "d79f3119f"), ("tf23", "09f0e1e81")):
    tar = subprocess.run(["git", "archive", commit, folder], cwd=sys.argv[1], check=True, capture_output=True).stdout
    with tempfile.TemporaryDirectory() as tmp:
        tarfile.open(fileobj=io.BytesIO(tar)).extractall(tmp)
        root = os.path.join(tmp, folder)
        with zipfile.ZipFile(os.path.join(here, name + ".zip"), "w", zipfile.ZIP_DEFLATED) as z:
            for at, _, files in sorted(os.walk(root)):
                for f in sorted(files):
                    path = os.path.join(at, f)
                    z.writestr(zipfile.ZipInfo(os.path.relpath(path, root)), open(path, "rb").read(), zipfile.ZIP_DEFLATED)
        m = keras.models.load_model(root)
        xs = [np.linspace(-1, 1, 4, dtype="float32").reshape(4, 1) * (i + 1) for i in range(len(m.inputs))]
        for i, x in enumerate(xs):
            arrays[f"{name}/input{i}"] = x
        arrays[f"{name}/output0"] = m(xs).numpy()
np.savez_compressed(os.path.join(here, "old.npz"), **arrays)

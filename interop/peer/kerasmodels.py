"""Opens Keras models that Go saved as SavedModels.

    kerasmodels.py SAVED WRITTEN

WRITTEN has the outputs of each model that architectures.py wrote; the opened ones must compute the same.
"""
import json
import os
import pathlib
import sys

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
import tf_keras as keras

OPENED = 60  # so many are opened


def flat(x):
    return x if isinstance(x, (list, tuple)) else [x]


def near(got, want, what):
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5, err_msg=what)


def check(saved, written):
    arrays = np.load(written / "arrays.npz")
    inputs = [arrays[f"input{i}"] for i in range(len([k for k in arrays if k.startswith("input")]))]
    outputs = [arrays[f"output{i}"] for i in range(len([k for k in arrays if k.startswith("output")]))]
    m = keras.models.load_model(saved)
    for name in (type(l).__module__ for l in m._flatten_layers()):
        assert "saved_model.load" not in name, f"a layer is a generic one ({name})"
    given = [tf.constant(x) for x in inputs]
    for i, (got, want) in enumerate(zip(flat(m(given if len(given) > 1 else given[0], training=False)), outputs)):
        near(got.numpy(), want, f"output {i}")
    text = json.loads((written / "config.json").read_text())
    if text.get("module"):
        assert m.get_config()["name"] == text["config"]["name"]
    restored = tf.saved_model.load(str(saved))
    signature = restored.signatures["serving_default"]
    got = signature(**{i.name.split("/")[0]: x for i, x in zip(m.inputs, given)})
    for name, want in zip(m.output_names, outputs):
        near(got[name].numpy(), want, f"signature {name}")
    call = restored(given if len(given) > 1 else given[0], training=False)
    for got, want in zip(flat(call), outputs):
        near(got.numpy(), want, "__call__")
    # It trains on: the functions of training, and the losses.
    m.compile("sgd", "mse")
    targets = [arrays[f"target{i}"] for i in range(len(outputs))]
    m.train_on_batch(inputs if len(inputs) > 1 else inputs[0], targets if len(targets) > 1 else targets[0])


def main():
    saved, written = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    for folder in sorted(saved.iterdir())[:OPENED]:
        try:
            check(folder, written / folder.name)
        except Exception as err:
            print(f"FAIL opening {folder.name} in tf_keras: {type(err).__name__}: {str(err)[:700]}")
            if os.environ.get("TRACE"):
                raise
        else:
            print(f"ok   opening {folder.name} in tf_keras")


main()

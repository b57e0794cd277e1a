"""Writes Keras models as files of each kind, for the scan: MobileNet (its graphs
alone, since the weights are of no interest), a model with a Lambda layer and one
without. TensorFlow 2.21, tf_keras 2.21, keras 3."""
import gzip
import os
import tempfile

import keras
import tf_keras

here = os.path.dirname(os.path.abspath(__file__))
for lib, name in ((tf_keras, "keras2"), (keras, "keras3")):
    with tempfile.TemporaryDirectory() as tmp:
        model = lib.applications.MobileNet(weights=None)
        if lib is tf_keras:
            model.save(tmp, save_format="tf")
        else:
            model.export(tmp, verbose=False)
        for file in ("saved_model.pb", "keras_metadata.pb"):
            if os.path.exists(os.path.join(tmp, file)):
                with open(os.path.join(tmp, file), "rb") as f:
                    b = gzip.compress(f.read(), mtime=0)
                with open(os.path.join(here, f"{name}_mobilenet.{file}.gz"), "wb") as f:
                    f.write(b)
    layers = [lib.layers.Input((4,)), lib.layers.Lambda(lambda x: x * 2, name="shout"), lib.layers.Dense(2)]
    for kind, chosen in (("lambda", layers), ("plain", [lib.layers.Input((4,)), lib.layers.Dense(2)])):
        model = lib.Sequential(chosen)
        for suffix in ("keras", "h5"):
            model.save(os.path.join(here, f"{name}_{kind}.{suffix}"))

"""tf_keras loads whole models from the files in a directory."""
import os
import sys

import tf_keras as keras

from common import serve

folder = sys.argv[1]


def again(path):
    """Returns a function that saves a model again, which the first call loads."""
    loaded = []

    def save():
        if not loaded:
            loaded.append(keras.models.load_model(path))
        loaded[0].save(path + ".tf_again", save_format="tf")
    return save


verbs = {name: (lambda path: lambda: keras.models.load_model(path))(os.path.join(folder, name)) for name in ("model.keras", "model.h5")}
verbs["resnet50"] = again(os.path.join(folder, "resnet50"))
serve(verbs)

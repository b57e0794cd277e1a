"""tf_keras loads whole models from the files in a folder."""
import os
import sys

import tf_keras as keras

from common import serve

folder = sys.argv[1]
serve({name: (lambda path: lambda: keras.models.load_model(path))(os.path.join(folder, name)) for name in ("model.keras", "model.h5")})

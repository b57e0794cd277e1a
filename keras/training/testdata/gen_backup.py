"""Trains with tf_keras's ModelCheckpoint and BackupAndRestore, and keeps their files.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_backup.py

backup/ is the directory of a run that was cut off in its third epoch, weights/ has the files
of a ModelCheckpoint, backup.json the results of the run that continued.
"""

import json
import shutil

import numpy as np
import tf_keras as keras

r = np.random.RandomState(1)
x = r.randn(20, 3).astype(np.float32)
y = (x[:, :1] - x[:, 1:2]).astype(np.float32)


def model():
    layers = [
        keras.layers.Dense(4, activation="tanh", kernel_initializer=keras.initializers.GlorotUniform(seed=1), input_shape=(3,)),
        keras.layers.Dense(1, kernel_initializer=keras.initializers.GlorotUniform(seed=2)),
    ]
    m = keras.Sequential(layers)
    m.compile(keras.optimizers.Adam(0.05), "mse")
    return m


class CutOff(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        if epoch == 2:
            raise KeyboardInterrupt


for folder in ["backup", "weights"]:
    shutil.rmtree(folder, ignore_errors=True)
fit = dict(batch_size=8, epochs=4, shuffle=False, verbose=0)
try:
    model().fit(x, y, callbacks=[keras.callbacks.BackupAndRestore("backup"), CutOff(),
                                 keras.callbacks.ModelCheckpoint("weights/{epoch:02d}", save_weights_only=True)], **fit)
except KeyboardInterrupt:
    pass
shutil.copytree("backup", "copy")
m = model()
h = m.fit(x, y, callbacks=[keras.callbacks.BackupAndRestore("backup")], **fit)
shutil.rmtree("backup")
shutil.move("copy", "backup")
with open("backup.json", "w") as f:
    json.dump(dict(x=x.tolist(), y=y.tolist(), epoch=h.epoch, loss=h.history["loss"], predict=m.predict(x, verbose=0).tolist()), f)

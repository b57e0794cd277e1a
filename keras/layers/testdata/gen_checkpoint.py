"""Writes recurrent.ckpt: a checkpoint of recurrent layers as tf_keras 2.21 has them in the
object graph, with the layers' inputs and outputs as variables.

Run in this directory, with TensorFlow 2.21 and tf_keras 2.21:

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_checkpoint.py
"""
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
import tf_keras
from tf_keras import layers

tf_keras.utils.set_random_seed(1)
rng = np.random.RandomState(2)
net = {
    "lstm": layers.LSTM(3),
    "gru": layers.GRU(3, reset_after=False),
    "simple": layers.SimpleRNN(2, return_sequences=True),
    "stack": layers.RNN([layers.LSTMCell(3), layers.GRUCell(2)]),
    "both": layers.Bidirectional(layers.LSTM(2)),
    "back": layers.Bidirectional(layers.GRU(2), backward_layer=layers.LSTM(3, go_backwards=True)),
    "time": layers.TimeDistributed(layers.Dense(4)),
    "conv": layers.ConvLSTM2D(2, 2),
}
x, images = rng.uniform(-1, 1, (2, 4, 3)).astype("float32"), rng.uniform(-1, 1, (1, 3, 4, 4, 2)).astype("float32")
net["conv"](images)
out = {name: tf.Variable(layer(images if name == "conv" else x)) for name, layer in net.items()}
tf.train.Checkpoint(x=tf.Variable(x), images=tf.Variable(images), outputs=out, **net).write("recurrent.ckpt")

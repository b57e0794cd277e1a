"""Has TensorFlow load a SavedModel and save it again: again.py FROM TO."""

import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import tensorflow as tf  # noqa: E402

model = tf.saved_model.load(sys.argv[1])
tf.saved_model.save(model, sys.argv[2], signatures=model.signatures)

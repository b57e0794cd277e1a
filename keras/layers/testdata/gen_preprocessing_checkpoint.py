"""Writes preprocessing.ckpt: a checkpoint of preprocessing layers that have adapted.

Run in this directory, with TensorFlow 2.21 and tf_keras 2.21:

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_preprocessing_checkpoint.py
"""
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
from tf_keras import layers as L

words = np.array([["b", "a"], ["b", "c"]])
net = tf.train.Checkpoint()
net.bins = L.Discretization(num_bins=3, epsilon=0.1)
net.bins.adapt(np.arange(30.0).astype("float32"))
net.words = L.StringLookup()
net.words.adapt(words)
net.idf = L.StringLookup(output_mode="tf_idf")
net.idf.adapt(words)
net.text = L.TextVectorization()
net.text.adapt(np.array(["a b", "b c"]))
net.texts = L.TextVectorization(vocabulary=["x", "y"], output_mode="tf_idf", idf_weights=[0.5, 0.25])
net.features = L.DenseFeatures([tf.feature_column.embedding_column(tf.feature_column.categorical_column_with_hash_bucket("w", 4), 2)])
net.features({"w": tf.constant(["a"])})
net.features.set_weights([np.arange(8.0).reshape(4, 2)])
net.numbers = L.Normalization()
net.numbers.adapt(np.array([[1.0, 4.0], [3.0, 8.0]], "float32"))
net.flip = L.RandomFlip(seed=1)
net.flip(tf.zeros([1, 2, 2, 1]))
net.write("preprocessing.ckpt")

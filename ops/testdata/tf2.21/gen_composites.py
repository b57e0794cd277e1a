"""Writes composites.json: what TensorFlow 2.21 and tf_keras give for the
functions of package ops that are made of several ops.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_composites.py
"""
import json
import os

import numpy as np
import tensorflow as tf
import tf_keras

x = np.array([[-3.5, -1.0, -0.2, 0.0], [0.3, 0.9, 2.5, 6.0]], np.float32)
z = np.array([[0.0, 1.0, 0.5, 0.25], [1.0, 0.0, 0.75, 1.0]], np.float32)
mean, variance = tf.nn.moments(x, [0])
out = {
    "Gelu": tf.nn.gelu(x), "GeluTanh": tf.nn.gelu(x, approximate=True), "Swish": tf.nn.silu(x),
    "Mish": tf_keras.activations.mish(tf.constant(x)), "HardSigmoid": tf_keras.activations.hard_sigmoid(tf.constant(x)),
    "LogSumExp": tf.reduce_logsumexp(x, -1), "L2Normalize": tf.nn.l2_normalize(x, -1, 1e-12),
    "Norm": tf.norm(x, axis=0), "Mean": mean, "Variance": variance,
    "SigmoidCrossEntropy": tf.nn.sigmoid_cross_entropy_with_logits(z, x),
    "SoftmaxCrossEntropy": tf.nn.softmax_cross_entropy_with_logits(z / z.sum(-1, keepdims=True), x),
    "SparseSoftmaxCrossEntropy": tf.nn.sparse_softmax_cross_entropy_with_logits([2, 0], x),
}
data = {"x": x.reshape(-1).tolist(), "z": z.reshape(-1).tolist(),
        "out": {k: np.asarray(v).reshape(-1).tolist() for k, v in out.items()}}
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "composites.json"), "w") as f:
    json.dump(data, f, indent=1)
    f.write("\n")

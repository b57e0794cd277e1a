"""Runs the training step of a SavedModel that was written by Go, in TensorFlow.

    trainstep.py DIR

DIR has the model and losses.npz: the inputs, and the losses of 20 steps there. The step
runs as a function, as a signature, and in a session of TensorFlow 1.
"""

import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

directory = os.path.join(sys.argv[1], "model")
data = np.load(os.path.join(sys.argv[1], "losses.npz"))
x, y, want = data["x"], data["y"], data["losses"]
failed = 0


def report(name, losses):
    global failed
    difference = float(np.max(np.abs(np.asarray(losses) - want)))
    ok = len(losses) == len(want) and difference < 1e-5
    failed += not ok
    print(f"{'ok  ' if ok else 'FAIL'} training step, {name}: losses of {len(want)} steps differ by {difference:.2g}", flush=True)


model = tf.saved_model.load(directory)
report("a function", [float(model.train(x, y)) for _ in want])
model = tf.saved_model.load(directory)
train = model.signatures["train"]
report("a signature", [float(train(x=tf.constant(x), y=tf.constant(y))["output_0"]) for _ in want])
with tf.compat.v1.Session(graph=tf.Graph()) as session:
    meta = tf.compat.v1.saved_model.load(session, ["serve"], directory)
    s = meta.signature_def["train"]
    feed = {s.inputs["x"].name: x, s.inputs["y"].name: y}
    report("a session", [float(session.run(s.outputs["output_0"].name, feed)) for _ in want])
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((model.predict(x) - y) ** 2)
gradients = tape.gradient(loss, [model.layers.hidden.kernel, model.layers.out.bias])
ok = all(g is not None for g in gradients)
failed += not ok
print(f"{'ok  ' if ok else 'FAIL'} training step: TensorFlow differentiates the model's function", flush=True)
sys.exit(1 if failed else 0)

"""Calls layers that Cairn has traced and saved, and compares them with tf_keras's.

    layers.py FIXTURES LIST

FIXTURES is the directory of keras/layers with FAMILY.npz. LIST is the file of traced layers that
layers.go writes. The answer on standard output is a JSON object: by directory, what differs.
"""
import json
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

HALVES = (tf.float16, tf.bfloat16)


def differs(got, want, tolerance, half):
    """Tolerances are relative to an element, and to a tenth of the largest, as in keras/layers.

    Sums of half precision have another order in graphs than in the eager calls that were recorded, so
    that their errors are relative to the largest element.
    """
    if got.shape != want.shape:
        return f"has shape {got.shape}, tf_keras's {want.shape}"
    if got.dtype == object:
        text = lambda x: x if isinstance(x, bytes) else str(x).encode()
        same = [text(a) == text(b) for a, b in zip(got.ravel(), want.ravel())]
        return "" if all(same) else f"is {got}, tf_keras's {want}"
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    got, want = got.astype(wide), want.astype(wide)
    with np.errstate(invalid="ignore"):
        most = np.max(np.abs(want[np.isfinite(want)]), initial=0)
        near = np.abs(got - want) <= tolerance * np.maximum(np.abs(want), most if half else most / 10)
        near |= (got == want) | (np.isnan(got) & np.isnan(want))
    return "" if near.all() else f"is off by {np.nanmax(np.abs(got - want))} of {most}"


def compare(c, arrays):
    model = tf.saved_model.load(c["directory"])  # the variables live as long as it
    name, mode = c["case"], c["mode"]
    inputs = []
    for i in range(c["inputs"]):
        x = arrays[f"{name}/input{i}"]
        inputs.append(tf.constant(x.astype(object) if x.dtype.kind in "SUO" else x))
    wanted = [i for i in range(len(inputs)) if f"{name}/{mode}/gradient_input{i}" in arrays]
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        if wanted:
            tape.watch([inputs[i] for i in wanted])
            outputs = tf.nest.flatten(model.call(*inputs))
        else:
            with tape.stop_recording():
                outputs = tf.nest.flatten(model.call(*inputs))
        loss = 0.0
        for i, o in enumerate(outputs):
            up = arrays.get(f"{name}/upstream{i}")
            if up is not None and wanted:
                loss += tf.cast(tf.reduce_sum(o * tf.cast(up, o.dtype)), tf.float32)
    wrong = []
    half = any(o.dtype in HALVES for o in outputs)
    for i, o in enumerate(outputs):
        d = differs(o.numpy(), arrays[f"{name}/{mode}/output{i}"], 1.6e-2 if half else 1e-5, half)
        wrong += [f"output {i} {d}"] if d else []
    for i, g in zip(wanted, tape.gradient(loss, [inputs[i] for i in wanted]) if wanted else []):
        want = arrays[f"{name}/{mode}/gradient_input{i}"]
        if g is None:
            wrong.append(f"input {i} has no gradient")
        elif np.max(np.abs(want.astype(np.float64)), initial=0) > 1e-6:
            d = differs(tf.convert_to_tensor(g).numpy(), want, 1.6e-2 if half else 1e-4, half)
            wrong += [f"the gradient of input {i} {d}"] if d else []
    return wrong


def main():
    answers, family, arrays = {}, None, None
    for c in json.load(open(sys.argv[2])):
        if c["family"] != family:
            family = c["family"]
            with np.load(os.path.join(sys.argv[1], family + ".npz"), allow_pickle=True) as z:
                arrays = dict(z)
        try:
            answers[c["directory"]] = compare(c, arrays)
        except Exception as e:  # the case fails, the others go on
            answers[c["directory"]] = [f"{type(e).__name__}: {str(e)[:400]}"]
    print(json.dumps(answers))


main()

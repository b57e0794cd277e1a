"""Writes the fixtures of keras/layers: the results of tf_keras 2.21 for each layer.

Run in this directory, with TensorFlow 2.21 and tf_keras 2.21:

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_layers.py [family…]

Each family of layers is a file cases/<family>.py with a list CASES, and gets
<family>.json and <family>.npz. A case is a dict:

    name      unique in the family
    layer     a function of no argument that makes the layer
    inputs    a list of shapes, of numpy arrays, or of functions that make a sparse or a ragged
              tensor; floats in [-1, 1) are made for shapes
    adapt     an array whose elements are the batches that the layer adapts to first; optional
    mask      a list with a bool array or None for each input; optional
    kwargs    further call arguments that JSON can hold; optional
    args      further call arguments that are lists of shapes or arrays, such as initial_state; optional
    tensors   further call arguments that are shapes or arrays; optional
    tensor_masks  masks of those; optional
    states    arrays that a stateful layer begins each call with, of Bidirectional a list for each direction; optional
    names     the keys of a dict of the inputs, in order; optional
    gradients False if TensorFlow has none; default True
    training  modes to run, default [False, True]; [False] where training draws numbers

The JSON has the layer's config in both forms, its weights' names (below the layer) and
the arguments of its calls; the npz has inputs, weights, outputs, masks and the gradients of
sum(output*upstream) with respect to weights and floating inputs.
"""
import importlib.util
import json
import os
import pathlib
import sys

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"  # whose products of bfloat16 round otherwise than TensorFlow's own
import numpy as np
import tensorflow as tf
import tf_keras
from tf_keras.src.saving import serialization_lib
from tf_keras.src.saving.legacy import serialization as legacy
from tf_keras.src.saving.legacy.saved_model import json_utils

here = pathlib.Path(__file__).parent


def plain(t):
    """Returns an array that npz files can hold: bfloat16 as float32, strings of fixed length."""
    if t.dtype == tf.string:
        return np.array(t.numpy(), np.bytes_)
    return (tf.cast(t, tf.float32) if t.dtype == tf.bfloat16 else t).numpy()


def array(rng, x):
    if callable(x):
        return x()
    return x if isinstance(x, np.ndarray) else rng.uniform(-1, 1, x).astype("float32")


def variables(layer):
    """Returns the weights of the layer that are variables; vocabularies are others."""
    return [w for w in layer.weights if isinstance(w, tf.Variable)]


def form(x):
    return {tf.SparseTensor: "sparse", tf.RaggedTensor: "ragged"}.get(type(x), "")


def parts(x):
    return tf.nest.flatten(x, expand_composites=True)


def run(case, arrays):
    rng = np.random.RandomState(7)
    name = case["name"]
    tf_keras.backend.clear_session()
    tf_keras.utils.set_random_seed(1)
    layer = case["layer"]()
    recurrent = layer if hasattr(layer, "reset_states") else getattr(layer, "layer", None)
    unbuilt = serialization_lib.serialize_keras_object(layer)
    inputs = [array(rng, x) for x in case["inputs"]]
    masks = case.get("mask")
    kwargs = case.get("kwargs", {})
    lists = {key: [tf.constant(array(rng, x)) for x in values] for key, values in case.get("args", {}).items()}
    single = list(case.get("tensors", {}))
    for key, x in case.get("tensors", {}).items():
        lists[key] = [tf.constant(array(rng, x))]
    for key, values in lists.items():
        for i, v in enumerate(values):
            arrays[f"{name}/arg/{key}/{i}"] = v.numpy()
    for key, m in case.get("tensor_masks", {}).items():
        arrays[f"{name}/argmask/{key}"] = m
    states = case.get("states", [])
    for i, v in enumerate(tf.nest.flatten(states)):
        arrays[f"{name}/state{i}"] = v
    forms = [form(x) for x in inputs]
    for i, x in enumerate(inputs):
        for j, part in enumerate(parts(x)):
            key = f"{name}/input{i}/part{j}" if forms[i] else f"{name}/input{i}"
            arrays[key] = plain(tf.constant(part))
    if masks:
        for i, m in enumerate(masks):
            if m is not None:
                arrays[f"{name}/mask{i}"] = m
    tensors = [x if f else tf.constant(x) for x, f in zip(inputs, forms)]
    adapt = case.get("adapt")
    if adapt is not None:
        arrays[f"{name}/adapt"] = plain(tf.constant(adapt))
        layer.adapt(tf.data.Dataset.from_tensor_slices(adapt))

    def call(training):
        args = {**kwargs, **lists, **{key: lists[key][0] for key in single}}
        for key, m in case.get("tensor_masks", {}).items():
            args[key]._keras_mask = tf.constant(m)
        if layer._call_spec.expects_training_arg:
            args["training"] = training
        if masks:
            for t, m in zip(tensors, masks):
                t._keras_mask = None if m is None else tf.constant(m)
        if "names" in case:
            return layer(dict(zip(case["names"], tensors)), **args)
        return layer(tensors[0] if len(tensors) == 1 else tensors, **args)

    call(False)
    for w in variables(layer):
        if w.dtype.is_floating and adapt is None and w.shape.is_fully_defined():  # zeros and ones would hide faults
            w.assign(rng.uniform(-1, 1, w.shape) if "variance" not in w.name else rng.uniform(0.5, 1.5, w.shape))
    prefix = layer.name + "/"
    names = []
    for w in variables(layer):
        n = w.name.split(":")[0].removeprefix(prefix)
        names.append(n if n not in names else f"{n}#{len(names)}")
    start = [w.numpy() for w in variables(layer)]
    for n, w in zip(names, start):
        arrays[f"{name}/weight/{n}"] = w
    for training in case.get("training", [False, True]):
        for w, value in zip(variables(layer), start):
            w.assign(value)
        if hasattr(layer, "finalize_state"):  # takes the weights over
            layer.finalize_state()
        if states:
            recurrent.reset_states(states)
        mode = "train" if training else "infer"
        floating = [t for t, f in zip(tensors, forms) if t.dtype.is_floating and not f]
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(floating)
            tape.watch([t for values in lists.values() for t in values if t.dtype.is_floating])
            out = call(training)
            outforms = [form(o) for o in tf.nest.flatten(out)]
            flat = parts(out)
            loss = 0.0
            for i, o in enumerate(flat):
                arrays[f"{name}/{mode}/output{i}"] = plain(o)
                if o.dtype.is_floating and not any(outforms):
                    up = tf.cast(np.random.RandomState(11 + i).uniform(-1, 1, o.shape), o.dtype)
                    arrays[f"{name}/upstream{i}"] = plain(up)
                    loss += tf.cast(tf.reduce_sum(o * up), tf.float32)
            losses = layer.losses
        for i, o in enumerate(flat):
            m = getattr(o, "_keras_mask", None)
            if m is not None:
                arrays[f"{name}/{mode}/outmask{i}"] = m.numpy()
        if losses:
            arrays[f"{name}/{mode}/losses"] = np.array([float(l) for l in losses], "float32")
        if not isinstance(loss, float) and case.get("gradients", True):
            trainable = layer.trainable_weights
            for w, g in zip(trainable, tape.gradient(loss, trainable)):
                if g is not None:
                    n = w.name.split(":")[0].removeprefix(prefix)
                    arrays[f"{name}/{mode}/gradient/{n}"] = plain(tf.convert_to_tensor(g))
            for i, t in enumerate(tensors):
                if t.dtype.is_floating and not forms[i]:
                    g = tape.gradient(loss, t)
                    if g is not None:
                        arrays[f"{name}/{mode}/gradient_input{i}"] = plain(tf.convert_to_tensor(g))
            for key, values in lists.items():
                for i, t in enumerate(values):
                    g = tape.gradient(loss, t) if t.dtype.is_floating else None
                    if g is not None:
                        arrays[f"{name}/{mode}/gradient_arg/{key}/{i}"] = plain(tf.convert_to_tensor(g))
        if states:
            both = hasattr(recurrent, "forward_layer")
            held = recurrent.forward_layer.states + recurrent.backward_layer.states if both else recurrent.states
            for i, v in enumerate(held):
                arrays[f"{name}/{mode}/state{i}"] = v.numpy()
        for n, w in zip(names, variables(layer)):
            if not np.array_equal(w.numpy(), arrays[f"{name}/weight/{n}"]):
                arrays[f"{name}/{mode}/after/{n}"] = w.numpy()
    return {
        "name": name,
        "config": unbuilt,
        "built": serialization_lib.serialize_keras_object(layer),
        "legacy": legacy.serialize_keras_object(layer),
        "inputs": len(inputs),
        "outputs": [o.dtype.name for o in flat],
        **({"forms": forms} if any(forms) else {}),
        **({"outforms": outforms} if any(outforms) else {}),
        **({"adapt": True} if adapt is not None else {}),
        "kwargs": kwargs,
        **({"args": {key: len(values) for key, values in lists.items()}} if lists else {}),
        **({"single": single} if single else {}),
        **({"states": len(tf.nest.flatten(states))} if states else {}),
        "training": case.get("training", [False, True]),
        "weights": names,
        "trainable": [any(w is t for t in layer.trainable_weights) for w in variables(layer)],
    }


def main():
    families = sys.argv[1:] or sorted(p.stem for p in (here / "cases").glob("*.py"))
    for family in families:
        spec = importlib.util.spec_from_file_location(family, here / "cases" / f"{family}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        arrays, cases = {}, []
        for case in module.CASES:
            cases.append(run(case, arrays))
        np.savez_compressed(here / f"{family}.npz", **arrays)
        (here / f"{family}.json").write_text(json.dumps(cases, indent=1, default=json_utils.get_json_type) + "\n")


main()

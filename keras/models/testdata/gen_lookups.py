"""Writes lookups.zip, a SavedModel of tf_keras 2.21 whose layers have vocabularies, and lookups.npz with its outputs.

Run in this directory, with TensorFlow 2.21 and tf_keras 2.21:

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_lookups.py
"""
import os
import pathlib
import tempfile
import zipfile

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
import tf_keras as keras

L = keras.layers


def main():
    keras.utils.set_random_seed(1)
    folder = pathlib.Path(tempfile.mkdtemp())
    (folder / "tags.txt").write_text("u\nv\nw\n")
    text, tag = keras.Input((1,), dtype="string", name="text"), keras.Input((2,), dtype="string", name="tag")
    number = keras.Input((2,), dtype="int64", name="number")
    words = L.TextVectorization(max_tokens=20, output_sequence_length=4)
    words.adapt(tf.constant(["a b c", "a d e f", "b b"]))
    adapted = L.StringLookup(output_mode="multi_hot")
    adapted.adapt(tf.constant(["u", "q", "q", "v"]))
    weighted = L.IntegerLookup(output_mode="tf_idf", max_tokens=6, pad_to_max_tokens=True)
    weighted.adapt(tf.data.Dataset.from_tensor_slices(tf.constant([[3, 3], [5, 9]])).batch(1))
    bins = L.Discretization(num_bins=3)
    bins.adapt(np.array([1.0, 2, 3, 4, 5, 6]))
    m = keras.Model([text, tag, number], [
        L.Embedding(20, 3)(words(text)), adapted(tag), L.StringLookup(vocabulary=str(folder / "tags.txt"))(tag), weighted(number), bins(number),
        L.StringLookup(vocabulary=["x", "y"], invert=True)(L.IntegerLookup(vocabulary=[9, 5])(number)),
    ])
    inputs = {"text": [["a b"], ["z a c d e"]], "tag": [["u", "q"], ["w", "v"]], "number": [[3, 4], [9, 5]]}
    arrays = {k: np.array(v) for k, v in inputs.items()}
    for i, o in enumerate(m([tf.constant(x) if k != "number" else tf.constant(x, tf.int64) for k, x in inputs.items()])):
        arrays[f"output{i}"] = o.numpy().astype("S") if o.dtype == tf.string else o.numpy()
    m.save(folder / "m", save_format="tf")
    with zipfile.ZipFile("lookups.zip", "w", zipfile.ZIP_DEFLATED) as z:
        for f in sorted((folder / "m").rglob("*")):
            if f.is_file():
                z.write(f, f.relative_to(folder / "m"))
    np.savez_compressed("lookups.npz", **{k: v.astype("S") if v.dtype.kind == "U" else v for k, v in arrays.items()})


main()

"""Writes the fixtures of the functions of tf_keras.utils for data: utils.json, utils.npz, files/, bmp/ and png/.

Run in this directory, with TensorFlow 2.21 and tf_keras 2.21:

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_utils.py
"""
import json
import os
import pathlib
import shutil
import struct

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context
from tf_keras import utils
from tf_keras.src.utils import dataset_utils

here = pathlib.Path(__file__).parent
os.chdir(here)
rng = np.random.RandomState(5)
arrays, cases = {}, {}

# to_categorical
cases["categorical"] = []
for i, (labels, classes, dtype) in enumerate([
        ([0, 2, 1, 2], None, "float32"), ([[0], [3]], 5, "int32"), ([[0, 1], [2, 0]], None, "float64"), ([1, -1, -3], 3, "uint8"), (1, 3, "float32"),
        ([0.9, 1.2, 2.0], None, "float32"), ([[[1], [0]]], 2, "float32")]):
    arrays[f"categorical/{i}/labels"] = np.array(labels)
    arrays[f"categorical/{i}/out"] = utils.to_categorical(labels, classes, dtype)
    cases["categorical"].append({"classes": classes or 0, "dtype": dtype})

# pad_sequences
seqs = [[1], [2, 3], [], [4, 5, 6, 7]]
cases["pad"] = {"sequences": seqs, "cases": []}
for i, (n, after, cut, value) in enumerate([
        (None, False, False, 0), (None, True, False, -1), (2, False, False, 9), (3, True, True, 0), (2, False, True, 0), (6, False, False, 7)]):
    arrays[f"pad/{i}"] = utils.pad_sequences(seqs, n, padding="post" if after else "pre", truncating="post" if cut else "pre", value=value)
    cases["pad"]["cases"].append({"length": n or 0, "after": after, "cut": cut, "value": value})
vectors = [rng.uniform(-1, 1, (n, 2)).astype("float32") for n in (2, 4, 1)]
for i, v in enumerate(vectors):
    arrays[f"vectors/{i}"] = v
arrays["vectors/out"] = utils.pad_sequences(vectors, 3, dtype="float32", value=0.5)
arrays["vectors/out_after"] = utils.pad_sequences(vectors, 3, dtype="float32", value=0.5, padding="post", truncating="post")

# timeseries_dataset_from_array
data, targets = np.arange(40, dtype="int32").reshape(20, 2), np.arange(100, 120, dtype="float32")
arrays["series/data"], arrays["series/targets"] = data, targets
cases["series"] = []
for i, kw in enumerate([
        dict(sequence_length=3), dict(sequence_length=4, sequence_stride=3, sampling_rate=2), dict(sequence_length=2, start_index=3, end_index=15),
        dict(sequence_length=3, shuffle=True, seed=11), dict(sequence_length=20), dict(sequence_length=21), dict(sequence_length=1, sequence_stride=7)]):
    unshuffled = dict(kw)
    seed = unshuffled.pop("seed", None)
    shuffle = unshuffled.pop("shuffle", False)
    for with_targets in (False, True):
        ds = utils.timeseries_dataset_from_array(data, targets if with_targets else None, batch_size=None, **unshuffled)
        out = list(ds.as_numpy_iterator())
        if shuffle:
            np.random.RandomState(seed).shuffle(order := np.arange(len(out)))
            out = [out[k] for k in order]
        x = [o[0] if with_targets else o for o in out]
        if out:
            arrays[f"series/{i}/{'labeled_x' if with_targets else 'x'}"] = np.stack(x)
            if with_targets:
                arrays[f"series/{i}/y"] = np.stack([o[1] for o in out])
    cases["series"].append(dict(kw, count=len(out)))

# Files: two classes, directories in them, and endings in capitals.
for folder in ("files", "bmp", "png"):
    shutil.rmtree(folder, ignore_errors=True)


def write(name, data):
    path = pathlib.Path("files") / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def picture(h, w, c):
    y, x = np.mgrid[0:h, 0:w]
    return np.stack([(40 * y + 17 * x * (k + 1) + 30 * k) % 256 for k in range(c)], -1).astype("uint8")


def bmp(p):
    h, w, _ = p.shape
    row = (3 * w + 3) // 4 * 4
    body = b"".join(p[y, :, ::-1].tobytes().ljust(row, b"\0") for y in reversed(range(h)))
    return b"BM" + struct.pack("<IHHIIiiHHIIiiII", 54 + len(body), 0, 0, 54, 40, w, h, 1, 24, 0, len(body), 0, 0, 0, 0) + body


for name in ["b.txt", "a.TXT", "deep/c.txt", "d.md"]:
    write("bird/" + name, f"bird {name}".encode())
for name in ["x.txt", "a b.txt", "deep/er/c.txt", "y.txt"]:
    write("ant/" + name, f"ant {name} \u00e9".encode())
write("bird/2.png", tf.io.encode_png(picture(5, 7, 3)).numpy())
write("bird/1.jpg", tf.io.encode_jpeg(picture(8, 6, 3)).numpy())
write("../bmp/ant/3.BMP", bmp(picture(4, 9, 3)))
write("../png/one/7.png", tf.io.encode_png(picture(5, 5, 4)).numpy())
write("../png/one/8.png", tf.io.encode_png(picture(7, 3, 1)).numpy())
write("ant/in/4.png", tf.io.encode_png(picture(6, 6, 4)).numpy())
write("ant/5.jpeg", tf.io.encode_jpeg(picture(9, 4, 1)).numpy())
write(".hidden/6.txt", b"hidden")

cases["texts"], cases["images"] = [], []
for kw in [dict(), dict(label_mode="binary"), dict(label_mode="categorical", class_names=["bird", "ant"]), dict(max_length=5),
           dict(labels=[5, 1, 5, 0, 3, 3, 3, 1], label_mode="int"), dict(labels=None)]:
    ds = utils.text_dataset_from_directory("files", shuffle=False, batch_size=None, **kw)
    out = list(ds.as_numpy_iterator())
    unlabeled = "labels" in kw and kw["labels"] is None
    texts = [(o if unlabeled else o[0]).decode("utf-8", "surrogateescape") for o in out]
    if not unlabeled:
        arrays[f"texts/{len(cases['texts'])}"] = np.stack([o[1] for o in out])
    cases["texts"].append({"options": kw, "texts": texts, "classes": ds.class_names})
for seed in (0, 123):
    for subset in (None, "training", "validation"):
        paths, labels, classes = dataset_utils.index_directory("files", "inferred", (".txt",), shuffle=True, seed=seed)
        if subset:
            paths, labels = dataset_utils.get_training_or_validation_split(paths, labels, 0.3, subset)
        cases.setdefault("lists", []).append({"seed": seed, "subset": subset or "", "paths": list(paths), "labels": [int(l) for l in labels]})
for kw in [dict(image_size=(6, 5)), dict(image_size=(3, 8), color_mode="grayscale"), dict(directory="png", image_size=(7, 7), color_mode="rgba"),
           dict(image_size=(6, 4), crop_to_aspect_ratio=True), dict(directory="bmp", image_size=(4, 4))] + [
               dict(image_size=(5, 6), interpolation=m) for m in ["nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"]]:
    ds = utils.image_dataset_from_directory(**{"directory": "files", **kw}, shuffle=False, batch_size=None)
    arrays[f"images/{len(cases['images'])}"] = np.stack([o[0] for o in ds.as_numpy_iterator()])
    cases["images"].append({"options": kw, "paths": ds.file_paths})

ds = utils.text_dataset_from_directory("files", seed=5, batch_size=2)
cases["shuffled"] = [[[x.decode() for x in b] for b, _ in ds.as_numpy_iterator()] for _ in range(3)]
cases["shuffles"] = []
for n, buffer, seed, reshuffle, overall in [(10, 3, 1, True, None), (10, 10, 0, True, None), (17, 5, 123, False, None), (12, 100, 7, True, 42), (8, 4, 0, True, 0), (5, 1, 3, True, None)]:
    if overall is not None:
        tf.random.set_seed(overall)
    ds = tf.data.Dataset.range(n).shuffle(buffer, seed=seed, reshuffle_each_iteration=reshuffle)
    cases["shuffles"].append({"n": n, "buffer": buffer, "seed": seed, "same": not reshuffle, "global": overall,
                              "passes": [[int(x) for x in ds] for _ in range(4)]})
    context.context()._seed = None  # as before any set_seed

np.savez_compressed("utils.npz", **arrays)
pathlib.Path("utils.json").write_text(json.dumps(cases, indent=1) + "\n")

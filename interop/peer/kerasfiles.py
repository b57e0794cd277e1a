"""Writes HDF5 files with h5py and models with Keras 2 and 3, and compares them with Go's copies of them.

    kerasfiles.py write THEIRS OURS
    kerasfiles.py check THEIRS OURS     a line for each case: its name, and after a tab its fault
"""
import os
import random
import sys
import zipfile

import h5py
import numpy as np

DTYPES = "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128 bool".split()
VERSIONS = {"earliest": None, "latest": "latest", "v108": ("v108", "v108"), "v110": ("v110", "v110")}


def random_value(r, rank=None):
    shape = tuple(r.randint(0, 9) for _ in range(r.randint(0, 4) if rank is None else rank))
    kind = r.choice(DTYPES + ["text", "ascii", "fixed"])
    n = int(np.prod(shape))
    if kind in ("text", "ascii", "fixed"):
        words = ["".join(r.choice("abcde") for _ in range(r.randint(0, 30))) for _ in range(n)]
        if kind == "fixed":
            return np.array([w.encode() for w in words], dtype="S30").reshape(shape)
        return np.array(words, dtype=object).reshape(shape).astype(h5py.string_dtype("utf-8" if kind == "text" else "ascii"))
    v = np.array([r.randint(0, 120) for _ in range(n)]).astype(kind).reshape(shape)
    return v.astype(v.dtype.newbyteorder(">")) if r.random() < 0.2 else v


def random_file(path, version, seed):
    r = random.Random(seed)
    with h5py.File(path, "w", libver=VERSIONS[version], track_order=r.random() < 0.3) as f:
        places = [f]
        for i in range(r.randint(20, 120)):
            g = r.choice(places)
            if r.random() < 0.3:
                places.append(g.create_group(f"group{i}", track_order=r.random() < 0.3))
                continue
            v = random_value(r)
            options = {}
            if v.ndim and v.size and r.random() < 0.6:
                options = dict(chunks=tuple(r.randint(1, n) for n in v.shape), compression=r.choice([None, "gzip", 9]),
                               shuffle=r.random() < 0.5, fletcher32=r.random() < 0.5,
                               maxshape=tuple(r.choice([None, n, n + 7]) for n in v.shape))
            if v.dtype.kind == "O":
                options.pop("fletcher32", None)
            g.create_dataset(f"data{i}", data=v, **options)
        for g in places:
            for i in range(r.choice([0, 1, 5, 40])):
                g.attrs[f"a{i}"] = random_value(r)


def model(k, name):
    k.utils.set_random_seed(7)
    i = k.layers.Input((6,), name="in")
    if name == "dense":
        x = k.layers.Dense(5, activation="relu")(i)
        x = k.layers.BatchNormalization()(x)
        x = k.Sequential([k.layers.Input((5,)), k.layers.Dense(4), k.layers.Dropout(0.0)])(x)
    elif name == "recurrent":
        x = k.layers.Reshape((3, 2))(i)
        x = k.layers.Bidirectional(k.layers.LSTM(3, return_sequences=True))(x)
        x = k.layers.MultiHeadAttention(2, 3)(x, x)
        x = k.layers.GRU(4)(x)
    else:
        x = k.layers.Reshape((3, 2, 1))(i)
        x = k.layers.SeparableConv2D(4, 2)(x)
        x = k.layers.LayerNormalization()(x)
        x = k.layers.Flatten()(x)
    m = k.Model(i, k.layers.Dense(2, name="out")(x), name=name)
    m.compile(k.optimizers.Adam(0.01), k.losses.MeanSquaredError())
    m.fit(*data(), shuffle=False, verbose=0)
    return m


def data():
    x = (np.arange(48) % 11 / 11).astype("float32").reshape(8, 6)
    return x, x[:, :2] * 2


def libraries():
    import keras
    import tf_keras

    return {"keras2": tf_keras, "keras3": keras}


NAMES = ("dense", "recurrent", "conv")


def write(theirs):
    for version in VERSIONS:
        for seed in range(4):
            random_file(os.path.join(theirs, f"random-{version}-{seed}.h5"), version, seed)
    for label, k in libraries().items():
        for name in NAMES:
            m = model(k, name)
            for end in (".keras", ".h5", ".weights.h5"):
                path = os.path.join(theirs, f"{label}-{name}{end}")
                m.save_weights(path) if end == ".weights.h5" else m.save(path)
        v = k.layers.TextVectorization(output_sequence_length=4)
        v.adapt(["red green", "green blue blue"])
        i = k.layers.Input((1,), dtype="string", name="in")
        k.Model(i, k.layers.Embedding(10, 3)(v(i))).save(os.path.join(theirs, f"{label}-text.keras"))


def same(a, b):
    if isinstance(a, h5py.Empty) or isinstance(b, h5py.Empty):
        return type(a) is type(b)
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype.kind == "S":  # as wide as the longest string, whatever the original's width
        return a.shape == b.shape and b.dtype.kind == "S" and np.array_equal(a, b)
    return a.shape == b.shape and a.dtype.newbyteorder("=") == b.dtype.newbyteorder("=") and np.array_equal(a, b)


def compare(a, b):
    """Returns the first difference between two objects."""
    if sorted(a.attrs) != sorted(b.attrs):
        return f"{a.name}: attributes {sorted(b.attrs)}, not {sorted(a.attrs)}"
    for k in a.attrs:
        if not same(a.attrs[k], b.attrs[k]):
            return f"{a.name}@{k}: {b.attrs[k]!r}, not {a.attrs[k]!r}"
    if isinstance(a, h5py.Dataset):
        return "" if same(a[()], b[()]) else f"{a.name} differs"
    if sorted(a) != sorted(b):
        return f"{a.name}: {sorted(b)}, not {sorted(a)}"
    for k in a:
        if wrong := compare(a[k], b[k]):
            return wrong
    return ""


def check_model(k, name, theirs, ours):
    if ours.endswith(".weights.h5"):
        models = []
        for path in (theirs, ours):
            m = model(k, name)
            m.set_weights([np.zeros_like(w) for w in m.get_weights()])
            m.load_weights(path)
            models.append(m)
    else:
        models = [k.models.load_model(path) for path in (theirs, ours)]
    if name == "text":
        x = np.array([["red blue"], ["x green"]])
        a, b = (m(x) for m in models)
        return "" if np.array_equal(a, b) else "the outputs differ"
    a, b = (m.predict(data()[0], verbose=0) for m in models)
    if not np.array_equal(a, b):
        return f"the outputs differ by {np.abs(a - b).max()}"
    if k.__name__ == "keras" and ours.endswith(".h5") and not ours.endswith(".weights.h5"):
        # Keras 3 can't train a model that it loads from its own .h5; the optimizer's state is there all the same.
        a, b = ([np.array(v) for v in m.optimizer.variables] for m in models)
        return "" if len(a) == len(b) and all(np.array_equal(x, y) for x, y in zip(a, b)) else "the optimizers differ"
    a, b = (m.fit(*data(), shuffle=False, epochs=3, verbose=0).history["loss"] for m in models)
    return "" if np.allclose(a, b, rtol=1e-6, atol=0) else f"the losses differ: {a}, {b}"


def check(theirs, ours):
    ks = libraries()
    for name in sorted(os.listdir(theirs)):
        a, b = os.path.join(theirs, name), os.path.join(ours, name)
        try:
            if name.startswith("random"):
                title, wrong = "h5py reads our " + name, compare(h5py.File(a), h5py.File(b))
                if not wrong:
                    with h5py.File(b, "r+") as f:  # it can go on with our file
                        f["added"] = np.arange(5)
                        f.attrs["added"] = "x" * 3000
                    with h5py.File(b) as f:
                        wrong = "" if f["added"][4] == 4 and len(f.attrs["added"]) == 3000 else "h5py can't change it"
            else:
                label, rest = name.split("-", 1)
                title = f"{label} loads our {rest}"
                if name.endswith(".keras"):
                    zipfile.ZipFile(b).testzip()
                wrong = check_model(ks[label], rest.split(".")[0], a, b)
        except Exception as e:
            wrong = repr(e)
        print(title + ("\t" + " ".join(wrong.split())[:500] if wrong else ""), flush=True)


if __name__ == "__main__":
    verb, theirs, ours = sys.argv[1:]
    write(theirs) if verb == "write" else check(theirs, ours)

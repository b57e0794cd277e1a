"""Writes the fixtures of this directory with tf_keras (keras2_*) and Keras (keras3_*).

    python make_keras.py       (tf_keras 2.21, Keras 3.15, TensorFlow 2.21)

NAME.gz is a file, NAME.txt the contents that Keras' own libraries read: a line for each weight in its order,
with element type, shape and crc32; of many the first and the last three.
"""
import gzip, io, json, os, sys, zipfile, zlib

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import h5py, keras, ml_dtypes, numpy as np, tf_keras

here = os.path.dirname(os.path.abspath(__file__))


def model(k):
    keras.utils.set_random_seed(1)
    tf_keras.utils.set_random_seed(1)
    i = k.layers.Input((3,), name="in")
    x = k.layers.Dense(4, activation="relu", name="first")(i)
    x = k.layers.BatchNormalization(name="norm")(x)
    inner = k.Sequential([k.layers.Input((4,)), k.layers.Dense(5, name="a"), k.layers.Dense(4, name="b")], name="inner")
    o = k.layers.Dense(2, name="last")(inner(x))
    m = k.Model(i, o, name="model")
    m.compile(k.optimizers.Adam(0.01), "mse", metrics=["mae"])
    m.fit(np.arange(12, dtype="float32").reshape(4, 3), np.ones((4, 2), "float32"), verbose=0)
    return m


def text(k):
    v = k.layers.TextVectorization(output_sequence_length=4)
    v.adapt(["red green", "green blue blue"])
    i = k.layers.Input((1,), dtype="string")
    return k.Model(i, k.layers.Dense(2)(k.layers.Embedding(10, 3)(v(i))))


def half():
    i = keras.layers.Input((3,))
    return keras.Model(i, keras.layers.Dense(2, dtype=keras.DTypePolicy("bfloat16"))(i))


def many(k):
    i = k.layers.Input((1,))
    x = i
    for n in range(700):
        x = k.layers.Dense(1, use_bias=False, name=f"a_rather_long_name_for_a_layer_{n:060d}")(x)
    return k.Model(i, x)


def line(path, v):
    return f"{path} {v.dtype.name} [{' '.join(map(str, v.shape))}] {zlib.crc32(v.tobytes()):08x}"


def value(d):
    v = np.array(d)
    return v.view(ml_dtypes.bfloat16) if d.attrs.get("dtype") == "bfloat16" else v


def names(g, name):
    if name in g.attrs:
        parts = [g.attrs[name]]
    else:
        parts, n = [], 0
        while f"{name}{n}" in g.attrs:
            parts.append(g.attrs[f"{name}{n}"])
            n += 1
    return [v.decode() if isinstance(v, bytes) else v for p in parts for v in p]


def legacy(f):
    lines = []
    g = f["model_weights"] if "model_weights" in f else f
    for layer in names(g, "layer_names") + ["top_level_model_weights"]:
        lines += [line(layer + " " + w, np.array(g[layer][w])) for w in names(g[layer], "weight_names")]
    if "optimizer_weights" in f:
        o = f["optimizer_weights"]
        lines += [line("optimizer_weights " + w, np.array(o[w])) for w in names(o, "weight_names")]
    return lines


def objects(f):
    groups = {}

    def visit(name, o):
        if isinstance(o, h5py.Dataset):
            dir, base = name.rsplit("/", 1)
            groups.setdefault(dir.removesuffix("vars").removesuffix("/"), []).append((int(base), value(o)))

    f.visititems(visit)
    return [line(f"{g} {n}", v) for g in sorted(groups) for n, v in sorted(groups[g], key=lambda p: p[0])]


def keep(name):
    path = os.path.join(here, name)
    if name.endswith(".keras"):
        z = zipfile.ZipFile(path)
        lines = objects(h5py.File(io.BytesIO(z.read("model.weights.h5"))))
        lines += [f"{i.filename} {zlib.crc32(z.read(i)):08x}" for i in z.infolist() if i.filename.startswith("assets/") and not i.is_dir()]
    else:
        f = h5py.File(path)
        lines = objects(f) if name.endswith(".weights.h5") else legacy(f)
    if len(lines) > 100:
        lines = lines[:3] + [f"{len(lines) - 6} more"] + lines[-3:]
    with open(path + ".txt", "w") as out:
        out.write("\n".join(lines) + "\n")
    with open(path, "rb") as f, gzip.GzipFile(path + ".gz", "wb", mtime=0) as out:
        out.write(f.read())
    os.remove(path)


for k, name in ((tf_keras, "keras2"), (keras, "keras3")):
    m = model(k)
    m.save(os.path.join(here, name + "_model.keras"))
    m.save(os.path.join(here, name + "_model.h5"))
    m.save_weights(os.path.join(here, name + "_model.weights.h5"))
    for end in (".keras", ".h5", ".weights.h5"):
        keep(name + "_model" + end)
    text(k).save(os.path.join(here, name + "_text.keras"))
    keep(name + "_text.keras")
m = model(tf_keras)
m.save_weights(os.path.join(here, "keras2_only.h5"))
keep("keras2_only.h5")
half().save(os.path.join(here, "keras3_half.keras"))
keep("keras3_half.keras")
many(tf_keras).save_weights(os.path.join(here, "keras2_many.h5"))
keep("keras2_many.h5")

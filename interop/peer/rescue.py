"""The Python side of the suite "rescue": models moved between Keras 2 (tf_keras) and Keras 3.

    rescue.py two DIRECTORY      writes models with tf_keras, and their outputs
    rescue.py three DIRECTORY    Keras 3 opens the rescued ones, and writes its own models
    rescue.py back DIRECTORY     tf_keras opens the SavedModels made of these, and those that Cairn saved again

Each model is a name.keras, .h5 or directory, with name.npz: in0…, out0…, and for trained models x, y and losses, those of
five more steps. Lines are "name<TAB>fault"; the fault is empty if there is none.
"""
import importlib
import os
import pathlib
import sys

verb, folder = sys.argv[1], pathlib.Path(sys.argv[2])
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
if verb != "three":
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf

if verb == "three":
    import keras
else:
    import tf_keras as keras

here = pathlib.Path(__file__).resolve().parent.parent.parent
STEPS = 5
OPTIMIZERS = {
    "sgd": dict(class_name="SGD", config=dict(learning_rate=0.1)), "momentum": dict(class_name="SGD", config=dict(learning_rate=0.05, momentum=0.9, nesterov=True)),
    "adam": dict(class_name="Adam", config=dict(learning_rate=0.05)), "amsgrad": dict(class_name="Adam", config=dict(learning_rate=0.05, amsgrad=True)),
    "adamw": dict(class_name="AdamW", config=dict(learning_rate=0.05)), "rmsprop": dict(class_name="RMSprop", config=dict(learning_rate=0.01, momentum=0.5, centered=True)),
    "adagrad": dict(class_name="Adagrad", config=dict(learning_rate=0.1)), "adadelta": dict(class_name="Adadelta", config=dict(learning_rate=1.0)),
    "adamax": dict(class_name="Adamax", config=dict(learning_rate=0.05)),  # not Nadam, whose product tf_keras keeps in no file
    "ftrl": dict(class_name="Ftrl", config=dict(learning_rate=0.1)), "lion": dict(class_name="Lion", config=dict(learning_rate=0.01)),
}
# Cases of layers that Keras 3 computes otherwise or not at all, and that the translation does not see: inputs without a batch
# or with several, sizes that only TensorFlow's GPU kernels take, and half precision, which Keras 3 rounds at other places.
LEFT_OUT = ("_scalar", "_mixed", "_float16", "_bfloat16", "_first", "turned2D_dilation", "one_hot_single", "_single")


def plain(t):
    return np.array(t.numpy(), np.bytes_) if t.dtype == tf.string else np.asarray(t)


def flat(y):
    return [plain(tf.convert_to_tensor(t)) for t in tf.nest.flatten(y)]


def keep(path, xs, ys, **more):
    np.savez(path, **{f"in{i}": x for i, x in enumerate(xs)}, **{f"out{i}": y for i, y in enumerate(ys)}, **more)


def given(m, xs):
    names = m.input if verb != "three" else getattr(m, "_inputs_struct", None)
    if isinstance(names, dict):
        return dict(zip(sorted(names), xs))
    return xs[0] if len(xs) == 1 else xs


def randomize(m, rng):
    for w in m.weights:
        if hasattr(w, "assign") and w.dtype in ("float32", tf.float32) and all(w.shape):
            w.assign(rng.uniform(-1, 1, w.shape) if "variance" not in w.name else rng.uniform(0.5, 1.5, w.shape))


def more_steps(m, x, y):
    out = []
    for _ in range(STEPS):
        loss = m.train_on_batch(x, y)
        out.append(float(loss[0] if isinstance(loss, (list, tuple)) else loss))
    return np.array(out)


def small(optimizer):
    l = keras.layers
    i = l.Input((4,), name="x")
    h = l.BatchNormalization()(l.Dense(5, activation="tanh")(i))
    m = keras.Model(i, l.Dense(2)(l.Concatenate()([h, l.Dense(3, use_bias=False)(i)])))
    m.compile(getattr(keras.optimizers, optimizer["class_name"])(**optimizer["config"]), "mse", metrics=["mae"])
    return m


def trained(prefix, paths):
    rng = np.random.RandomState(5)
    x, y = rng.uniform(-1, 1, (8, 4)).astype("float32"), rng.uniform(-1, 1, (8, 2)).astype("float32")
    for name, optimizer in OPTIMIZERS.items():
        keras.utils.set_random_seed(1)
        m = small(optimizer)
        more_steps(m, x, y)
        for path in paths(prefix + name):
            m.save(path)
        out = flat(m(x, training=False))
        keep(folder / f"{prefix}{name}.npz", [x], out, x=x, y=y, losses=more_steps(m, x, y))


def write_two():
    source = (here / "keras/testdata/models/gen_models.py").read_text().replace("\nmain()\n", "\n")
    made = {"__name__": "models"}
    exec(compile(source, "gen_models.py", "exec"), made)
    for name, (make, shapes, dtypes) in made["MODELS"].items():
        keras.backend.clear_session()
        keras.utils.set_random_seed(1)
        rng = np.random.RandomState(3)
        m = make()
        xs = [rng.uniform(-1, 1, s).astype(d) if d == "float32" else rng.randint(0, 9, s).astype(d) for s, d in zip(shapes, dtypes)]
        if not m.built:
            m.build((None,) + shapes[0][1:])
        randomize(m, rng)
        keep(folder / f"{name}.npz", xs, flat(m(given(m, xs), training=False)))
        m.save(folder / f"{name}.keras")
        m.save(folder / f"{name}.h5")
        if name in ("sequential_text", "dictionaries", "nested", "attention"):
            m.save(folder / f"{name}.tf", save_format="tf")
    sys.path.insert(0, str(here / "keras/layers/testdata/cases"))
    seen = {}
    for path in sorted((here / "keras/layers/testdata/cases").glob("*.py")):
        for case in importlib.import_module(path.stem).CASES:
            write_case(path.stem, case, seen)
    trained("fit_", lambda name: [folder / f"{name}.keras", folder / f"{name}.h5"])
    adapted(folder)
    for name, m, shape in others():
        rng = np.random.RandomState(4)
        x = rng.uniform(-1, 1, shape).astype("float32")
        for path in (f"{name}.keras", f"{name}.h5", f"{name}.tf"):
            if (name, path) != ("shared_layer", "shared_layer.keras"):  # tf_keras doesn't read its own such file
                m.save(folder / path)
        keep(folder / f"{name}.npz", [x], flat(m(x, training=False)))


def others():
    """Models of layers and compilations that Keras 3 has another form for."""
    l = keras.layers
    yield "hard_lstm", keras.Sequential([l.Input((4, 5)), l.LSTM(3, recurrent_activation="hard_sigmoid", return_sequences=True),
                                         l.Bidirectional(l.GRU(2, recurrent_activation="hard_sigmoid")), l.Dense(2, activation="hard_sigmoid")]), (2, 4, 5)
    yield "hard_images", keras.Sequential([l.Input((3, 6, 6, 2)), l.ConvLSTM2D(3, 2), l.Flatten(), l.Dense(1)]), (2, 3, 6, 6, 2)
    i = l.Input((4, 6))
    s = tf.shape(i)
    yield "sizes_known", keras.Model(i, l.Conv1D(2, 3)(tf.reshape(i, [s[0], s[2], s[1]]))), (2, 4, 6)
    i = l.Input((None, 6))
    s = tf.shape(i)
    yield "sizes_unknown", keras.Model(i, l.GlobalAveragePooling2D()(tf.reshape(i, [s[0], s[1], 3, 2]))), (2, 4, 6)
    m = keras.Sequential([l.Input((4,)), l.Dense(3), l.Dense(1)])
    m.compile("adam", "mse")
    yield "no_steps", m, (2, 4)
    dense = l.Dense(5)
    yield "shared_layer", keras.Sequential([l.Input((4, 5)), l.TimeDistributed(dense), l.ReLU(), l.TimeDistributed(dense)]), (2, 4, 5)
    keras.mixed_precision.set_global_policy("mixed_float16")
    m = keras.Sequential([l.Input((4,)), l.Dense(3, activation="tanh"), l.Dense(2, dtype="float32")])
    m.compile("adam", "mse")
    keras.mixed_precision.set_global_policy("float32")
    m.fit(np.ones((4, 4)), np.ones((4, 2)), verbose=0)
    yield "mixed", m, (2, 4)


def write_case(family, case, seen):
    """Writes the first two cases of each class of layers."""
    if any(k in case for k in ("args", "tensors", "names", "states", "tensor_masks")) or any(callable(x) for x in case["inputs"]) or any(
            case["name"].endswith(end) or end in case["name"] for end in LEFT_OUT):
        return
    keras.backend.clear_session()
    keras.utils.set_random_seed(1)
    layer = case["layer"]()
    if not type(layer).__module__.startswith("tf_keras"):
        return
    if seen.setdefault(type(layer), 0) >= 2:
        return
    rng = np.random.RandomState(7)
    xs = [x if isinstance(x, np.ndarray) else rng.uniform(-1, 1, x).astype("float32") for x in case["inputs"]]
    if xs[0].ndim < 2:
        return
    if "adapt" in case:
        layer.adapt(tf.data.Dataset.from_tensor_slices(case["adapt"]))
    try:
        ins = [keras.Input(x.shape[1:], dtype=tf.string if x.dtype.kind in "SUO" else x.dtype) for x in xs]
        m = keras.Model(ins, layer(ins[0] if len(ins) == 1 else ins, **case.get("kwargs", {})))
        if "adapt" not in case:
            randomize(m, rng)
        if hasattr(layer, "finalize_state"):
            layer.finalize_state()
        ys = flat(m(given(m, xs), training=False))
        m.save(folder / f"{family}-{case['name']}.keras")
    except (AttributeError, ValueError, tf.errors.OpError):  # sparse results, sizes that TensorFlow lacks on this machine
        return
    seen[type(layer)] += 1
    keep(folder / f"{family}-{case['name']}.npz", [np.array(x, np.bytes_) if x.dtype.kind in "SUO" else x for x in xs], ys)


def adapted(to):
    """Writes models with layers that adapted to data."""
    l = keras.layers
    words = np.array([["a b"], ["b c"], ["b b"]], object)
    text = l.TextVectorization(output_mode="int", output_sequence_length=3)
    text.adapt(words[:, 0])
    numbers = l.IntegerLookup(output_mode="one_hot", num_oov_indices=1)
    numbers.adapt(np.array([[3], [5], [5]]))
    strings = l.StringLookup(output_mode="multi_hot")
    strings.adapt(np.array([["x"], ["y"], ["x"]], object))
    weights = l.TextVectorization(output_mode="tf_idf")
    weights.adapt(words[:, 0])
    norm = l.Normalization()
    norm.adapt(np.array([[1.0, 2.0], [3.0, 5.0], [2.0, 0.0]], "float32"))
    bins = l.Discretization(num_bins=3)
    bins.adapt(np.array([[1.0], [2.0], [3.0], [4.0], [8.0]], "float32"))
    for name, layer, x in [("text", text, [["b a"], ["c z"]]), ("weights", weights, [["b a"], ["c z"]]), ("strings", strings, [["x"], ["q"]]), ("numbers", numbers, [[5], [7]]),
                           ("norm", norm, [[1.0, 2.0], [0.0, 1.0]]), ("bins", bins, [[1.5], [9.0]])]:
        x = np.array(x, object if isinstance(x[0][0], str) else "int64" if isinstance(x[0][0], int) else "float32")
        i = l.Input(x.shape[1:], dtype="string" if x.dtype == object else str(x.dtype))
        m = keras.Model(i, layer(i))
        m.save(to / f"adapted_{name}.keras")
        keep(to / f"adapted_{name}.npz", [np.array(x, np.bytes_) if x.dtype == object else x], flat(m(tf.constant(x))))


def inputs_of(data):
    xs = [data[f"in{i}"] for i in range(sum(k.startswith("in") for k in data.files))]
    return [tf.constant([[s for s in row] for row in x.tolist()] if x.ndim == 2 else x.tolist()) if x.dtype.kind == "S" else x for x in xs]


def check(path, data, fits=True):
    """Compares a model's outputs, and the losses of five more steps, with the recorded ones."""
    try:
        m = keras.models.load_model(path)
        if verb != "three" and os.path.isdir(path) and not isinstance(m, keras.Model):
            return f"it is a {type(m)}"
        xs = inputs_of(data)
        got = flat(m(given(m, xs), training=False))
        want = [data[f"out{i}"] for i in range(sum(k.startswith("out") for k in data.files))]
        if len(got) != len(want):
            return f"{len(got)} outputs, want {len(want)}"
        for a, b in zip(got, want):
            if b.dtype.kind == "S":
                if a.tolist() != b.tolist():
                    return "strings differ"
            else:
                np.testing.assert_allclose(np.asarray(a, "float64"), np.asarray(b, "float64"), rtol=1e-5, atol=1e-5)
        if "losses" in data.files and fits:
            np.testing.assert_allclose(more_steps(m, data["x"], data["y"]), data["losses"], rtol=1e-4, atol=1e-6)
    except Exception as e:  # a line of the report
        return f"{type(e).__name__}: {str(e)[-600:]}".replace("\n", " ").replace("\t", " ")
    return ""


def write_three(to):
    l, ops = keras.layers, keras.ops
    rng = np.random.RandomState(9)

    def put(name, m, *shapes, ints=False):
        xs = [rng.randint(0, 9, s) if ints else rng.uniform(-1, 1, s).astype("float32") for s in shapes]
        randomize(m, rng)
        m.save(to / f"{name}.keras")
        m.save(to / f"{name}.h5")
        keep(to / f"{name}.npz", xs, flat(m(given(m, xs), training=False)))

    put("chain", keras.Sequential([l.Input((4,)), l.Dense(5, activation="gelu"), l.BatchNormalization(), l.Dropout(0.5), l.LeakyReLU(), l.Dense(2)]), (3, 4))
    put("images", keras.Sequential([
        l.Input((8, 8, 3)), l.Conv2D(4, 3, padding="same"), l.DepthwiseConv2D(2), l.SeparableConv2D(3, 2), l.MaxPooling2D(), l.Conv2DTranspose(2, 2),
        l.LayerNormalization(), l.GlobalAveragePooling2D(keepdims=True), l.Flatten()]), (2, 8, 8, 3))
    put("words", keras.Sequential([l.Input((5,), dtype="int32"), l.Embedding(10, 4, mask_zero=True), l.LSTM(3, return_sequences=True), l.Bidirectional(l.GRU(2))]), (2, 5), ints=True)
    i = l.Input((5, 3))
    x, h, c = l.LSTM(4, return_state=True, return_sequences=True)(l.Masking()(i))
    put("states", keras.Model(i, l.LSTM(4)(x, initial_state=[h, c])), (2, 5, 3))
    a, s = l.MultiHeadAttention(2, 3)(i, i, return_attention_scores=True)
    put("attention", keras.Model(i, [l.Attention()([l.Add()([a, i]), i]), s]), (2, 5, 3))
    p, q = l.Input((4,), name="p"), l.Input((4,), name="q")
    d = l.Dense(4)
    inner = keras.Model(p, [l.Dense(3)(p), l.Dense(2)(p)], name="inner")
    u, v = inner(d(q))
    put("several", keras.Model({"p": p, "q": q}, {"sum": l.Subtract()([d(p), d(q)]), "u": u, "v": keras.Sequential([l.Dense(2), l.ReLU()])(v)}), (3, 4), (3, 4))
    y = ops.concatenate([1.0 - p * 2.0, ops.relu(q) / 3.0], axis=1)[:, 1:7]
    z = ops.reshape(ops.mean(y, axis=-1, keepdims=True), (-1, 1)) + ops.sqrt(ops.abs(y))
    put("operations", keras.Model([p, q], [z, ops.transpose(z, (1, 0)), ops.cast(z > 0.5, "float32"), ops.expand_dims(ops.clip(y, -0.5, 0.5) ** 2, 1)]), (3, 4), (3, 4))
    names = "hard_silu celu squareplus hard_tanh tanh_shrink soft_shrink hard_shrink log_sigmoid sparse_plus sparse_sigmoid hard_sigmoid leaky_relu relu6".split()
    put("activations", keras.Model(p, [l.Dense(4, activation=name)(p * 3.0) for name in names]), (3, 4))
    adapted(to)

    global folder
    keep_folder, folder = folder, to
    trained("fit_", lambda name: [to / f"{name}.keras", to / f"{name}.h5"])
    folder = keep_folder


if verb == "two":
    folder.mkdir(parents=True, exist_ok=True)
    write_two()
elif verb == "three":
    for path in sorted(p for p in (folder / "rescued").iterdir() if p.suffix in (".keras", ".h5")):
        data = np.load(folder / f"{path.name.split('.')[0]}.npz")
        # Keras 3 builds the optimizer of a functional model in a .h5 file for no variables.
        print(f"Keras 3 opens {path.name}\t{check(path, data, fits=path.suffix == '.keras')}")
    (folder / "three").mkdir(exist_ok=True)
    write_three(folder / "three")
else:
    for path in sorted((folder / "back").iterdir()):
        data = np.load(folder / "three" / f"{path.name.split('.')[0]}.npz")
        print(f"tf_keras opens the SavedModel of Keras 3's {path.name}\t{check(str(path), data)}")
    for path in sorted((folder / "again").iterdir()):
        data = np.load(folder / f"{path.name.split('.')[0]}.npz")
        print(f"tf_keras opens ours, {path.name}\t{check(str(path), data)}")

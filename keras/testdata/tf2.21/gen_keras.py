"""Writes the fixtures of package keras with TensorFlow 2.21 and tf_keras 2.21.

    python3 gen_keras.py [part ...]      parts: listings updates rows schedules activations checkpoints tracked

Run it in this directory. It writes:

    listings.txt     object graph of every optimizer and model kind, as text
    updates.npz      the results of ten gradients for each optimizer
    rows.npz         the same of gradients that are slices of a table
    schedules.npz    the learning rates of every schedule
    activations.npz  every activation and its gradient
    guide_*/         checkpoints of the guide's objects after training
    tracked/         the same with a metric, averages and a schedule's variable
"""

import os
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
import tf_keras as keras
from tensorflow.core.protobuf import trackable_object_graph_pb2

WORK = tempfile.mkdtemp()

layers = keras.layers
legacy = keras.optimizers.legacy
new = keras.optimizers


def listing(path):
    """The object graph of a checkpoint, one line a node, an edge, a value, a slot."""
    reader = tf.train.load_checkpoint(path)
    graph = trackable_object_graph_pb2.TrackableObjectGraph()
    graph.ParseFromString(reader.get_tensor("_CHECKPOINTABLE_OBJECT_GRAPH"))
    shapes, types = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
    lines = []
    for i, node in enumerate(graph.nodes):
        lines.append("%d%s" % (i, "" if node.has_checkpoint_values.value else " no values"))
        for c in node.children:
            lines.append("  %s -> %d" % (c.local_name, c.node_id))
        for a in node.attributes:
            key = a.checkpoint_key
            lines.append("  %s %s %s %s%s" % (a.name, a.full_name, key, types[key].name, str(shapes[key]).replace(" ", "")))
        for s in node.slot_variables:
            lines.append("  slot %s of %d -> %d" % (s.slot_name, s.original_variable_node_id, s.slot_variable_node_id))
    return lines


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.l1 = layers.Dense(5)

    def call(self, x):
        return self.l1(x)


def toy():
    inputs = tf.range(10.0)[:, None]
    labels = inputs * 5.0 + tf.range(5.0)[None, :]
    return inputs, labels


def step(model, optimizer, x, y, loss=lambda o, y: tf.reduce_mean(tf.abs(o - y))):
    with tf.GradientTape() as tape:
        value = loss(model(x, training=True) if isinstance(model, keras.Model) else model(x), y)
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(value, variables), variables))
    return value


class Rated(tf.Module, keras.optimizers.schedules.LearningRateSchedule):
    """A schedule with a variable, which the optimizer tracks."""

    def __init__(self, rate):
        super().__init__()
        self.rate = tf.Variable(rate, name="rate")

    def __call__(self, step):
        return self.rate / (1.0 + tf.cast(step, tf.float32))

    def get_config(self):
        return {}


OPTIMIZERS = {
    "sgd": lambda: legacy.SGD(0.1),
    "sgd_momentum": lambda: legacy.SGD(0.1, momentum=0.9),
    "sgd_nesterov": lambda: legacy.SGD(0.1, momentum=0.9, nesterov=True),
    "sgd_decay": lambda: legacy.SGD(0.1, decay=0.25),
    "adam": lambda: legacy.Adam(0.1),
    "adam_amsgrad": lambda: legacy.Adam(0.1, amsgrad=True),
    "adam_decay": lambda: legacy.Adam(0.1, beta_1=0.8, beta_2=0.95, epsilon=1e-3, decay=0.25),
    "adam_clipnorm": lambda: legacy.Adam(0.1, clipnorm=0.5),
    "adam_clipvalue": lambda: legacy.Adam(0.1, clipvalue=0.3),
    "adam_global_clipnorm": lambda: legacy.Adam(0.1, global_clipnorm=0.5),
    "rmsprop": lambda: legacy.RMSprop(0.1),
    "rmsprop_momentum": lambda: legacy.RMSprop(0.1, momentum=0.9),
    "rmsprop_centered": lambda: legacy.RMSprop(0.1, centered=True),
    "rmsprop_centered_momentum": lambda: legacy.RMSprop(0.1, momentum=0.9, centered=True),
    "adagrad": lambda: legacy.Adagrad(0.1),
    "sgd_schedule": lambda: legacy.SGD(keras.optimizers.schedules.ExponentialDecay(0.1, 3, 0.5)),
    "new_sgd": lambda: new.SGD(0.1),
    "new_sgd_nesterov": lambda: new.SGD(0.1, momentum=0.9, nesterov=True),
    "new_adam": lambda: new.Adam(0.1),
    "new_adam_amsgrad": lambda: new.Adam(0.1, amsgrad=True),
    "new_adam_decay": lambda: new.Adam(0.1, weight_decay=0.01),
    "new_adamw": lambda: new.AdamW(0.1),
    "new_adamw_amsgrad": lambda: new.AdamW(0.1, weight_decay=0.1, amsgrad=True),
    "new_rmsprop": lambda: new.RMSprop(0.1),
    "new_rmsprop_centered_momentum": lambda: new.RMSprop(0.1, momentum=0.9, centered=True),
    "new_adagrad": lambda: new.Adagrad(0.1),
    "adadelta": lambda: legacy.Adadelta(0.1),
    "adamax": lambda: legacy.Adamax(0.1),
    "ftrl": lambda: legacy.Ftrl(0.1),
    "ftrl_regularized": lambda: legacy.Ftrl(
        0.1,
        l1_regularization_strength=0.01,
        l2_regularization_strength=0.1,
        l2_shrinkage_regularization_strength=0.05,
        beta=0.2,
    ),
    "new_adadelta": lambda: new.Adadelta(0.1),
    "new_adamax": lambda: new.Adamax(0.1),
    "new_ftrl": lambda: new.Ftrl(0.1),
    "new_ftrl_regularized": lambda: new.Ftrl(
        0.1,
        l1_regularization_strength=0.01,
        l2_regularization_strength=0.1,
        l2_shrinkage_regularization_strength=0.05,
        beta=0.2,
    ),
    "new_lion": lambda: new.Lion(0.01),
    "nadam": lambda: legacy.Nadam(0.1),
    "new_nadam": lambda: new.Nadam(0.1),
    "new_adafactor": lambda: new.Adafactor(0.1),
    "new_adafactor_absolute": lambda: new.Adafactor(0.1, relative_step=False, clip_threshold=0.5, beta_2_decay=-0.6),
    "new_adam_schedule": lambda: new.Adam(keras.optimizers.schedules.ExponentialDecay(0.1, 3, 0.5)),
    "adam_rated": lambda: legacy.Adam(Rated(0.5)),
    "new_adam_rated": lambda: new.Adam(Rated(0.5)),
}


class Deep(keras.Model):
    def __init__(self):
        super().__init__()
        self.flat = layers.Flatten()
        self.hidden = [layers.Dense(4), layers.Dense(4)]
        self.drop = layers.Dropout(0.5)
        self.heads = {"a": layers.Dense(3), "b": layers.Dense(3)}
        self.scale = tf.Variable(2.0, name="scale")
        self.last = layers.Dense(3, use_bias=False, name="final")

    def call(self, x):
        x = self.flat(x)
        for h in self.hidden:
            x = h(x)
        x = self.drop(x)
        return self.last(self.heads["a"](x) + self.heads["b"](x)) * self.scale


class Affine(layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.units = units
        self.inner = layers.Dense(2)

    def build(self, shape):
        self.w = self.add_weight("w", (shape[-1], self.units))
        self.b = self.add_weight("b", (self.units,), trainable=False, initializer="zeros")

    def call(self, x):
        return self.inner(x @ self.w + self.b)


class Own(keras.Model):
    def __init__(self):
        super().__init__(name="own_model")
        self.flat = layers.Flatten()
        self.affine = Affine(3)
        self.seq = keras.Sequential([layers.Dense(3), layers.Dense(3)])

    def call(self, x):
        return self.seq(self.affine(self.flat(x)))


class Plain(tf.Module):
    def __init__(self):
        super().__init__()
        self.d1 = layers.Dense(4)
        self.d2 = layers.Dense(3)

    def __call__(self, x):
        return self.d2(self.d1(tf.reshape(x, (2, 4))))


class Block(keras.Model):
    def __init__(self):
        super().__init__()
        self.d = layers.Dense(3)
        self.e = layers.Dense(3)

    def call(self, x):
        return self.e(self.d(x))


class TopNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.f = layers.Flatten()
        self.b1 = Block()
        self.b2 = Block()

    def call(self, x):
        return self.b2(self.b1(self.f(x)))


def functional():
    i = keras.Input((2, 2))
    h = layers.Dense(4, activation="relu")(layers.Flatten()(i))
    return keras.Model(i, layers.Dense(3)(layers.Dropout(0.5)(h)))


MODELS = {
    "sequential": lambda: keras.Sequential(
        [layers.Flatten(), layers.Dense(4, activation="relu"), layers.Dropout(0.5), layers.Dense(3)]
    ),
    "functional": functional,
    "deep": Deep,
    "own": Own,
    "plain": Plain,
    "nested": TopNet,
}


def fresh():
    keras.backend.clear_session()
    keras.utils.set_random_seed(1)


def write_listings():
    with open("listings.txt", "w") as out:
        for name, make in OPTIMIZERS.items():
            for steps in (0, 2):
                fresh()
                net, optimizer = Net(), make()
                x, y = toy()
                net(x)
                for _ in range(steps):
                    step(net, optimizer, x, y)
                ckpt = tf.train.Checkpoint(step=tf.Variable(1), optimizer=optimizer, net=net)
                print("# optimizer %s after %d steps" % (name, steps), *listing(ckpt.save(os.path.join(WORK, "l"))), sep="\n", file=out)
        x, y = tf.reshape(tf.range(8.0), (2, 2, 2)), tf.ones((2, 3))
        for name, make in MODELS.items():
            fresh()
            model, optimizer = make(), legacy.Adam(0.1)
            step(model, optimizer, x, y)
            ckpt = tf.train.Checkpoint(optimizer=optimizer, net=model)
            print("# model %s" % name, *listing(ckpt.save(os.path.join(WORK, "l"))), sep="\n", file=out)
            print("trainable", *[v.name[:-2] for v in model.trainable_variables], file=out)
            print("variables", *[v.name[:-2] for v in model.variables], file=out)


def write_updates():
    rng = np.random.default_rng(7)
    arrays = {
        "kernel": rng.normal(size=(3, 4)).astype(np.float32),
        "bias": rng.normal(size=(4,)).astype(np.float32),
        "kernel_gradients": rng.normal(size=(10, 3, 4)).astype(np.float32),
        "bias_gradients": rng.normal(size=(10, 4)).astype(np.float32),
    }
    for name, make in OPTIMIZERS.items():
        for dtype in (tf.float32, tf.float64):
            if dtype == tf.float64 and name not in ("sgd_nesterov", "adam", "rmsprop_centered", "adagrad", "new_adamw", "adadelta", "adamax", "new_adadelta", "new_adamax", "new_lion", "nadam", "new_nadam", "new_adafactor"):
                continue
            fresh()
            optimizer = make()
            kernel = tf.Variable(tf.cast(arrays["kernel"], dtype))
            bias = tf.Variable(tf.cast(arrays["bias"], dtype))
            kernels, biases = [], []
            for t in range(10):
                g = tf.cast(arrays["kernel_gradients"][t], dtype), tf.cast(arrays["bias_gradients"][t], dtype)
                optimizer.apply_gradients(zip(g, (kernel, bias)))
                kernels.append(kernel.numpy())
                biases.append(bias.numpy())
            key = name + ("_float64" if dtype == tf.float64 else "")
            arrays[key + "/kernel"] = np.stack(kernels)
            arrays[key + "/bias"] = np.stack(biases)
    np.savez_compressed("updates.npz", **arrays)


def write_rows():
    """The results for each optimizer of ten gradients that are slices, some of one row."""
    rng = np.random.default_rng(11)
    arrays = {
        "table": rng.normal(size=(5, 3)).astype(np.float32),
        "values": rng.normal(size=(10, 4, 3)).astype(np.float32),
        "indices": rng.integers(0, 5, size=(10, 4)).astype(np.int64),
    }
    for name, make in OPTIMIZERS.items():
        for dtype in (tf.float32, tf.float64):
            if dtype == tf.float64 and name.endswith(("decay", "schedule", "clipnorm", "clipvalue")):
                continue
            fresh()
            optimizer = make()
            table = tf.Variable(tf.cast(arrays["table"], dtype))
            steps = []
            for t in range(10):
                g = tf.IndexedSlices(tf.cast(arrays["values"][t], dtype), tf.constant(arrays["indices"][t]), tf.constant([5, 3], tf.int64))
                optimizer.apply_gradients([(g, table)])
                steps.append(table.numpy())
            arrays[name + ("_float64" if dtype == tf.float64 else "") + "/table"] = np.stack(steps)
    np.savez_compressed("rows.npz", **arrays)


schedules = keras.optimizers.schedules

SCHEDULES = {
    "exponential": schedules.ExponentialDecay(0.1, 3, 0.5),
    "exponential staircase": schedules.ExponentialDecay(0.1, 3, 0.5, staircase=True),
    "inverse time": schedules.InverseTimeDecay(0.1, 3, 0.5),
    "inverse staircase": schedules.InverseTimeDecay(0.1, 3, 0.5, staircase=True),
    "polynomial": schedules.PolynomialDecay(0.1, 4, end_learning_rate=0.01),
    "polynomial cycle": schedules.PolynomialDecay(0.1, 4, end_learning_rate=0.01, power=0.5, cycle=True),
    "cosine": schedules.CosineDecay(0.1, 6, alpha=0.1),
    "cosine restarts": schedules.CosineDecayRestarts(0.1, 2, m_mul=0.9, alpha=0.1),
    "cosine even restarts": schedules.CosineDecayRestarts(0.1, 3, t_mul=1.0),
    "piecewise": schedules.PiecewiseConstantDecay([2, 5], [1.0, 0.5, 0.25]),
}


def write_schedules():
    """The rates of the first 20 steps, and of the same counted in float32."""
    arrays = {}
    for name, schedule in SCHEDULES.items():
        for dtype in (tf.int64, tf.float32):
            arrays[name + "/" + dtype.name] = np.array([schedule(tf.constant(i, dtype)).numpy() for i in range(20)])
    np.savez_compressed("schedules.npz", **arrays)


ACTIVATIONS = (
    "linear relu sigmoid tanh softmax softplus softsign elu selu gelu swish exponential hard_sigmoid mish".split()
)


def write_activations():
    rng = np.random.default_rng(8)
    x = np.concatenate([rng.normal(size=(12, 5)) * 2, rng.normal(size=(4, 5)) * 20]).astype(np.float32)
    up = rng.normal(size=x.shape).astype(np.float32)
    arrays = {"x": x, "upstream": up}
    fns = {n: keras.activations.get(n) for n in ACTIVATIONS}
    fns["leaky_relu"] = lambda v: tf.nn.leaky_relu(v, 0.2)
    fns["relu6"] = tf.nn.relu6
    fns["log_softmax"] = tf.nn.log_softmax
    fns["gelu_approximate"] = lambda v: tf.nn.gelu(v, approximate=True)
    for name, f in fns.items():
        v = tf.constant(np.clip(x, -60, 60) if name == "exponential" else x)
        with tf.GradientTape() as tape:
            tape.watch(v)
            y = f(v)
        arrays[name] = y.numpy()
        arrays[name + "/gradient"] = tape.gradient(y, v, output_gradients=up).numpy()
    np.savez_compressed("activations.npz", **arrays)


def write_checkpoints():
    """The guide's program for ten steps with an optimizer of each layout."""
    for name in ("adam", "adam_rated", "sgd_momentum", "rmsprop_centered_momentum", "adagrad", "new_adam", "new_adamw", "new_sgd", "new_rmsprop", "new_adagrad"):
        fresh()
        net, optimizer = Net(), OPTIMIZERS[name]()
        ckpt = tf.train.Checkpoint(step=tf.Variable(1), optimizer=optimizer, net=net)
        x, y = toy()
        losses = []
        data = tf.data.Dataset.from_tensor_slices((x, y)).repeat(10).batch(2)
        for i, (bx, by) in enumerate(data.take(20)):
            losses.append(step(net, optimizer, bx, by).numpy())
            ckpt.step.assign_add(1)
            if i == 9:
                ckpt.save(os.path.join("guide_" + name, "ckpt"))
        os.remove(os.path.join("guide_" + name, "checkpoint"))
        np.savez(os.path.join("guide_" + name, "after.npz"), losses=np.array(losses), kernel=net.l1.kernel.numpy(), bias=net.l1.bias.numpy())


def write_tracked():
    """Ten steps with all that a program may track: a metric in the model, averages, a schedule with a variable."""

    class Watched(Net):
        def __init__(self):
            super().__init__()
            self.seen = keras.metrics.Mean(name="seen")

    fresh()
    net, optimizer, averages = Watched(), OPTIMIZERS["adam_rated"](), tf.Module()
    averages.of = []
    average = tf.train.ExponentialMovingAverage(0.5)
    ckpt = tf.train.Checkpoint(averages=averages, optimizer=optimizer, net=net)
    x, y = toy()
    losses = []
    for i, (bx, by) in enumerate(tf.data.Dataset.from_tensor_slices((x, y)).repeat(10).batch(2).take(10)):
        losses.append(step(net, optimizer, bx, by))
        net.seen.update_state(losses[-1])
        average.apply(net.trainable_variables)
        if not averages.of:
            averages.of.extend(average.average(v) for v in net.trainable_variables)
        optimizer.learning_rate.rate.assign_add(0.25)
        if i == 4:
            ckpt.save(os.path.join("tracked", "ckpt"))
    os.remove(os.path.join("tracked", "checkpoint"))
    np.savez(
        os.path.join("tracked", "after.npz"), losses=np.array(losses), kernel=net.l1.kernel.numpy(), bias=net.l1.bias.numpy(),
        total=net.seen.total.numpy(), count=net.seen.count.numpy(), rate=optimizer.learning_rate.rate.numpy(),
        kernel_average=averages.of[0].numpy(), bias_average=averages.of[1].numpy())


if __name__ == "__main__":
    parts = sys.argv[1:] or ["listings", "updates", "rows", "schedules", "activations", "checkpoints", "tracked"]
    for part in parts:
        globals()["write_" + part]()

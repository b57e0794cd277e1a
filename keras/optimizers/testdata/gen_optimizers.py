"""Writes optimizers.json and optimizers.npz: the steps of tf_keras 2.21's optimizers.

Run in this directory, with TensorFlow 2.21 and tf_keras 2.21:

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_optimizers.py

Each case of CASES trains a kernel and a bias with dense gradients and a table with slices,
some of one row, for five steps. The JSON has, for each case:

    config         of the new optimizer, with module and registered_name
    legacy         the same as {"class_name", "config"}
    after          config after the five steps
    variables      names of the optimizer's variables after the five steps
    listing        the object graph of a checkpoint of the three variables and the optimizer
    exclude        patterns of exclude_from_weight_decay
    finalize       whether finalize_variable_values is called at the end

The npz has the three variables after each step, and their first values and gradients.
SCHEDULES are learning rate schedules: configs, and the rates of the first 20 steps.
REFUSED are configs that tf_keras refuses.
"""
import json
import os
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
import tf_keras
from tensorflow.core.protobuf import trackable_object_graph_pb2
from tf_keras.src.saving import serialization_lib
from tf_keras.src.saving.legacy import serialization as legacy_serialization

new = tf_keras.optimizers
old = tf_keras.optimizers.legacy
schedules = tf_keras.optimizers.schedules
scaled = tf_keras.mixed_precision.LossScaleOptimizer

SCHEDULES = {
    "exponential": lambda: schedules.ExponentialDecay(0.1, 3, 0.5),
    "exponential staircase": lambda: schedules.ExponentialDecay(0.1, 3, 0.5, staircase=True, name="mine"),
    "exponential fraction": lambda: schedules.ExponentialDecay(0.1, 2.5, 0.5),
    "inverse time": lambda: schedules.InverseTimeDecay(0.1, 3, 0.5),
    "inverse staircase": lambda: schedules.InverseTimeDecay(0.1, 3, 0.5, staircase=True),
    "polynomial": lambda: schedules.PolynomialDecay(0.1, 4),
    "polynomial cycle": lambda: schedules.PolynomialDecay(0.1, 4, end_learning_rate=0.01, power=0.5, cycle=True),
    "polynomial zero": lambda: schedules.PolynomialDecay(0.1, 4, end_learning_rate=0.0, power=2.0),
    "cosine": lambda: schedules.CosineDecay(0.1, 6, alpha=0.1),
    "cosine warmup": lambda: schedules.CosineDecay(0.01, 6, alpha=0.1, warmup_target=0.2, warmup_steps=4),
    "cosine warmup in no step": lambda: schedules.CosineDecay(0.01, 6, warmup_target=0.2),
    "cosine restarts": lambda: schedules.CosineDecayRestarts(0.1, 2, m_mul=0.9, alpha=0.1),
    "cosine even restarts": lambda: schedules.CosineDecayRestarts(0.1, 3, t_mul=1.0),
    "piecewise": lambda: schedules.PiecewiseConstantDecay([2, 5], [1.0, 0.5, 0.25]),
    "piecewise fraction": lambda: schedules.PiecewiseConstantDecay([2.5, 5.0], [1.0, 0.5, 0.25]),
}

halving = lambda: schedules.ExponentialDecay(0.1, 3, 0.5)


def excluding(optimizer, *names):
    optimizer.exclude_from_weight_decay(var_names=list(names))
    optimizer.__dict__["test_exclude"] = list(names)  # untracked
    return optimizer


def finalized(optimizer):
    optimizer.__dict__["test_finalize"] = True
    return optimizer


CASES = {
    # The legacy family.
    "legacy sgd": lambda: old.SGD(),
    "legacy sgd nesterov": lambda: old.SGD(0.1, momentum=0.9, nesterov=True, name="mine"),
    "legacy sgd clipped": lambda: old.SGD(0.1, momentum=0.5, clipnorm=0.5, clipvalue=0.3),
    "legacy sgd clipped to zero": lambda: old.SGD(0.1, clipvalue=0.0),
    "legacy sgd schedule": lambda: old.SGD(halving(), decay=0.5),
    "legacy adam": lambda: old.Adam(),
    "legacy adam amsgrad": lambda: old.Adam(0.1, beta_1=0.8, beta_2=0.95, epsilon=1e-3, amsgrad=True, decay=0.25),
    "legacy adam clipped": lambda: old.Adam(0.1, global_clipnorm=0.5, clipvalue=1.0),
    "legacy rmsprop": lambda: old.RMSprop(),
    "legacy rmsprop momentum": lambda: old.RMSprop(0.01, rho=0.8, momentum=0.9, centered=True, epsilon=1e-3),
    "legacy rmsprop centered": lambda: old.RMSprop(0.01, centered=True, clipnorm=1.0),
    "legacy adagrad": lambda: old.Adagrad(),
    "legacy adagrad options": lambda: old.Adagrad(0.1, initial_accumulator_value=0.5, epsilon=1e-3, decay=0.1),
    "legacy adadelta": lambda: old.Adadelta(),
    "legacy adadelta options": lambda: old.Adadelta(1.0, rho=0.8, epsilon=1e-3, decay=0.1),
    "legacy adamax": lambda: old.Adamax(),
    "legacy adamax options": lambda: old.Adamax(0.1, beta_1=0.8, beta_2=0.95, epsilon=1e-3, decay=0.1),
    "legacy nadam": lambda: old.Nadam(),
    "legacy nadam options": lambda: old.Nadam(0.1, beta_1=0.8, beta_2=0.95, epsilon=1e-3, schedule_decay=0.01),
    "legacy ftrl": lambda: old.Ftrl(),
    "legacy ftrl options": lambda: old.Ftrl(
        0.1,
        learning_rate_power=-0.4,
        initial_accumulator_value=0.2,
        l1_regularization_strength=0.01,
        l2_regularization_strength=0.1,
        l2_shrinkage_regularization_strength=0.05,
        beta=0.2,
        decay=0.1,
    ),
    # The newer family.
    "sgd": lambda: new.SGD(),
    "sgd momentum": lambda: new.SGD(0.1, momentum=0.9),
    "sgd nesterov": lambda: new.SGD(0.1, momentum=0.9, nesterov=True, weight_decay=0.01, name="mine"),
    "sgd clipnorm": lambda: new.SGD(0.1, clipnorm=0.5, clipvalue=0.1),
    "sgd global clipnorm": lambda: new.SGD(0.1, global_clipnorm=0.5, clipvalue=0.1),
    "sgd clipvalue": lambda: new.SGD(0.1, clipvalue=0.1),
    "sgd clipped to zero": lambda: new.SGD(0.1, clipvalue=0.0, weight_decay=0.0),
    "sgd schedule": lambda: new.SGD(schedules.PiecewiseConstantDecay([1, 3], [0.1, 0.2, 0.3]), weight_decay=0.1),
    "sgd average": lambda: new.SGD(0.1, momentum=0.9, use_ema=True, ema_momentum=0.5),
    "sgd average overwritten": lambda: new.SGD(0.1, use_ema=True, ema_momentum=0.9, ema_overwrite_frequency=2),
    "sgd average finalized": lambda: finalized(new.SGD(0.1, use_ema=True, ema_momentum=0.9)),
    "adam": lambda: new.Adam(),
    "adam options": lambda: new.Adam(0.1, beta_1=0.8, beta_2=0.95, epsilon=1e-3, amsgrad=True, weight_decay=0.004),
    "adam schedule": lambda: new.Adam(halving(), use_ema=True, weight_decay=0.1),
    "adam average": lambda: new.Adam(0.1, use_ema=True, ema_momentum=0.9, ema_overwrite_frequency=3, amsgrad=True),
    "adamw": lambda: new.AdamW(),
    "adamw options": lambda: new.AdamW(0.1, weight_decay=0.1, amsgrad=True, clipnorm=1.0),
    "adamw excluding": lambda: excluding(new.AdamW(0.1, weight_decay=0.5), "bias", "ab.e"),
    "rmsprop": lambda: new.RMSprop(),
    "rmsprop options": lambda: new.RMSprop(0.01, rho=0.8, momentum=0.9, centered=True, epsilon=1e-3, weight_decay=0.1),
    "rmsprop centered": lambda: new.RMSprop(0.01, centered=True, use_ema=True, ema_overwrite_frequency=2),
    "adagrad": lambda: new.Adagrad(),
    "adagrad options": lambda: new.Adagrad(0.1, initial_accumulator_value=0.5, epsilon=1e-3, use_ema=True, weight_decay=0.1),
    "adadelta": lambda: new.Adadelta(),
    "adadelta options": lambda: new.Adadelta(1.0, rho=0.8, epsilon=1e-3, use_ema=True, weight_decay=0.1),
    "adamax": lambda: new.Adamax(),
    "adamax options": lambda: new.Adamax(0.1, beta_1=0.8, beta_2=0.95, epsilon=1e-3, use_ema=True, weight_decay=0.1),
    "nadam": lambda: new.Nadam(),
    "nadam options": lambda: new.Nadam(0.1, beta_1=0.8, beta_2=0.95, epsilon=1e-3, use_ema=True, weight_decay=0.1),
    "ftrl": lambda: new.Ftrl(),
    "ftrl options": lambda: new.Ftrl(
        0.1,
        learning_rate_power=-0.4,
        initial_accumulator_value=0.2,
        l1_regularization_strength=0.01,
        l2_regularization_strength=0.1,
        l2_shrinkage_regularization_strength=0.05,
        beta=0.2,
        use_ema=True,
        weight_decay=0.1,
    ),
    "lion": lambda: new.Lion(),
    "lion options": lambda: new.Lion(0.01, beta_1=0.8, beta_2=0.95, use_ema=True, weight_decay=0.1),
    "adafactor": lambda: new.Adafactor(),
    "adafactor options": lambda: new.Adafactor(
        0.1, beta_2_decay=-0.6, epsilon_1=1e-20, epsilon_2=1e-2, clip_threshold=0.5, relative_step=False, use_ema=True, weight_decay=0.1
    ),
    # Loss scaling.
    "scaled sgd": lambda: scaled(new.SGD(0.1, momentum=0.9)),
    "scaled sgd options": lambda: scaled(new.SGD(0.1, use_ema=True), initial_scale=4.0, dynamic_growth_steps=2),
    "scaled adam fixed": lambda: scaled(new.Adam(0.1), dynamic=False, initial_scale=128.0),
    "scaled adam schedule": lambda: scaled(new.Adam(halving()), initial_scale=1.0),
    "scaled legacy sgd": lambda: scaled(old.SGD(0.1, momentum=0.9)),
    "scaled legacy adam": lambda: scaled(old.Adam(0.1), initial_scale=4.0, dynamic_growth_steps=2),
    "scaled legacy sgd fixed": lambda: scaled(old.SGD(0.1), dynamic=False, initial_scale=8.0),
}

REFUSED = {
    "both norms": {"class_name": "SGD", "config": {"name": "SGD", "clipnorm": 1.0, "global_clipnorm": 1.0, "is_legacy_optimizer": False}},
    "legacy both norms": {"class_name": "SGD", "config": {"name": "SGD", "clipnorm": 1.0, "global_clipnorm": 1.0}},
    "negative clipnorm": {"class_name": "SGD", "config": {"name": "SGD", "clipnorm": -1.0}},
    "negative decay": {"class_name": "SGD", "config": {"name": "SGD", "decay": -1.0}},
    "decay of a new optimizer": {"class_name": "SGD", "config": {"name": "SGD", "decay": 0.1, "is_legacy_optimizer": False}},
    "average of a legacy optimizer": {"class_name": "SGD", "config": {"name": "SGD", "use_ema": True}},
    "momentum of an average": {"class_name": "SGD", "config": {"name": "SGD", "use_ema": True, "ema_momentum": 1.5, "is_legacy_optimizer": False}},
    "frequency of an average": {"class_name": "SGD", "config": {"name": "SGD", "use_ema": True, "ema_overwrite_frequency": -1, "is_legacy_optimizer": False}},
    "unknown option": {"class_name": "SGD", "config": {"name": "SGD", "momentums": 1.5, "is_legacy_optimizer": False}},
    "momentum": {"class_name": "SGD", "config": {"name": "SGD", "momentum": 1.5, "is_legacy_optimizer": False}},
    "legacy momentum": {"class_name": "SGD", "config": {"name": "SGD", "momentum": 1.5}},
    "ftrl's power": {"class_name": "Ftrl", "config": {"name": "Ftrl", "learning_rate_power": 1.5}},
    "nadam's schedule": {"class_name": "Nadam", "config": {"name": "Nadam", "learning_rate": schedules.serialize(halving())}},
    "unknown class": {"class_name": "Adamant", "config": {"name": "Adamant"}},
}


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


def main():
    rng = np.random.default_rng(3)
    f = lambda *shape: rng.normal(size=shape).astype(np.float32)
    arrays = {
        "kernel": f(3, 4),
        "bias": f(4),
        "table": f(5, 3),
        "kernel_gradients": f(5, 3, 4),
        "bias_gradients": f(5, 4),
        "table_values": f(5, 4, 3),
        "table_indices": rng.integers(0, 5, size=(5, 4)).astype(np.int64),
    }
    out = {"cases": {}, "schedules": {}, "refused": {}}
    for name, make in SCHEDULES.items():
        schedule = make()
        out["schedules"][name] = {
            "config": serialization_lib.serialize_keras_object(schedule),
            "legacy": legacy_serialization.serialize_keras_object(schedule),
        }
        for dtype in (tf.int64, tf.float32):
            arrays[f"schedule/{name}/{dtype.name}"] = np.array([schedule(tf.constant(i, dtype)).numpy() for i in range(20)])
    for name, config in REFUSED.items():
        out["refused"][name] = config
        try:
            new.deserialize(json.loads(json.dumps(config)), use_legacy_format=True)
        except (ValueError, TypeError):
            continue
        raise AssertionError(f"tf_keras takes {name}")
    for name, make in CASES.items():
        tf_keras.backend.clear_session()
        optimizer = make()
        case = {
            "config": serialization_lib.serialize_keras_object(optimizer),
            "legacy": legacy_serialization.serialize_keras_object(optimizer),
        }
        for key in ("exclude", "finalize"):
            if "test_" + key in optimizer.__dict__:
                case[key] = optimizer.__dict__["test_" + key]
        variables = [tf.Variable(arrays[n], name=n) for n in ("kernel", "bias", "table")]
        checkpoint = tf.train.Checkpoint(kernel=variables[0], bias=variables[1], table=variables[2], opt=optimizer)
        values, scales, counts = [[], [], []], [], []
        for t in range(5):
            k, b, v = (tf.constant(arrays[n][t]) for n in ("kernel_gradients", "bias_gradients", "table_values"))
            if "scaled" in name:
                k, b, v = (optimizer.get_scaled_loss(x) for x in (k, b, v))
                if t == 2:
                    k = k * np.inf
            grads = [k, b, tf.IndexedSlices(v, tf.constant(arrays["table_indices"][t]), tf.constant([5, 3], tf.int64))]
            if "scaled" in name:
                grads = optimizer.get_unscaled_gradients(grads)
            optimizer.apply_gradients(zip(grads, variables))
            if "scaled" in name:
                scales.append(optimizer.loss_scale.numpy())
                counts.append(0 if optimizer.dynamic_counter is None else optimizer.dynamic_counter.numpy())
            if t == 4 and case.get("finalize"):
                optimizer.finalize_variable_values(variables)
            for list, v in zip(values, variables):
                list.append(v.numpy())
        for n, list in zip(("kernel", "bias", "table"), values):
            arrays[f"{name}/{n}"] = np.stack(list)
        if scales:
            arrays[f"{name}/scales"], arrays[f"{name}/counts"] = np.array(scales, np.float32), np.array(counts, np.int64)
        case["after"] = serialization_lib.serialize_keras_object(optimizer)
        weights = optimizer.variables
        weights = weights() if callable(weights) else weights
        case["variables"] = [v.name.removesuffix(":0") for v in weights]
        with tempfile.TemporaryDirectory() as d:
            case["listing"] = listing(checkpoint.write(os.path.join(d, "x")))
        out["cases"][name] = case
    with open("optimizers.json", "w") as file:
        json.dump(out, file, indent=1, default=lambda x: x.item() if isinstance(x, np.generic) else None)
        file.write("\n")
    np.savez_compressed("optimizers.npz", **arrays)


main()

"""Writes losses.json and losses.npz: the results of tf_keras 2.21 for each loss.

Run in this directory, with TensorFlow 2.21 and tf_keras 2.21:

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_losses.py

A case is a loss with a truth, predictions, and optionally weights and a mask. The JSON has
its config in both forms. The npz has the inputs, the losses of the examples, the reduced
loss, and its gradient with respect to the predictions.
"""
import json
import os
import pathlib

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
import tf_keras
from tf_keras import losses as L
from tf_keras.src.saving import serialization_lib
from tf_keras.src.saving.legacy import serialization as legacy

here = pathlib.Path(__file__).parent
rng = np.random.RandomState(3)
real = lambda *s: rng.normal(size=s).astype("float32")
positive = lambda *s: rng.uniform(0.05, 2, s).astype("float32")
unit = lambda *s: rng.uniform(0.02, 0.98, s).astype("float32")
bits = lambda *s: rng.randint(0, 2, s).astype("float32")
labels = lambda *s: rng.randint(0, 3, s).astype("int64")


def probs(*s):
    x = rng.uniform(0.05, 1, s)
    return (x / x.sum(-1, keepdims=True)).astype("float32")


def onehot(*s):
    return np.eye(s[-1], dtype="float32")[rng.randint(0, s[-1], s[:-1])]


CASES = []


def case(name, loss, truth, predicted, weights=None, mask=None):
    CASES.append(dict(name=name, loss=loss, truth=truth, predicted=predicted, weights=weights, mask=mask))


def family(name, make, truth, predicted):
    """All reductions, weights of several shapes, and a mask."""
    t, p = truth(4, 3), predicted(4, 3)
    if t.dtype == np.int64:
        t = t[:, 0]
    case(name, make(), t, p)
    case(name + "_sum", make(reduction="sum"), t, p)
    case(name + "_none", make(reduction="none", name="mine"), t, p)
    case(name + "_weighted", make(), t, p, positive(4))
    case(name + "_weighted_sum", make(reduction="sum"), t, p, positive(4, 1))
    case(name + "_weighted_none", make(reduction="none"), t, p, positive(1))
    t, p = truth(2, 4, 3), predicted(2, 4, 3)
    if t.dtype == np.int64:
        t = t[..., 0]
    mask = np.array([[True, True, False, True], [True, False, False, True]])
    case(name + "_rank3", make(), t, p)
    case(name + "_rank3_weighted", make(reduction="none"), t, p, positive(2, 4))
    case(name + "_rank3_examples", make(), t, p, positive(2, 1))
    case(name + "_masked", make(), t, p, mask=mask)
    case(name + "_masked_sum", make(reduction="sum"), t, p, mask=mask)
    case(name + "_masked_weighted", make(), t, p, positive(2, 4), mask)
    case(name + "_masked_none", make(reduction="none"), t, p, positive(2, 4, 1), mask)


family("mse", L.MeanSquaredError, real, real)
family("mae", L.MeanAbsoluteError, real, real)
family("mape", L.MeanAbsolutePercentageError, real, real)
family("msle", L.MeanSquaredLogarithmicError, positive, positive)
family("log_cosh", L.LogCosh, real, real)
family("huber", L.Huber, real, real)
family("cosine", L.CosineSimilarity, real, real)
family("hinge", L.Hinge, lambda *s: 2 * bits(*s) - 1, real)
family("squared_hinge", L.SquaredHinge, bits, real)
family("categorical_hinge", L.CategoricalHinge, onehot, real)
family("poisson", L.Poisson, positive, positive)
family("kld", L.KLDivergence, probs, probs)
family("binary", L.BinaryCrossentropy, bits, unit)
family("binary_focal", L.BinaryFocalCrossentropy, bits, unit)
family("categorical", L.CategoricalCrossentropy, onehot, probs)
family("categorical_focal", L.CategoricalFocalCrossentropy, onehot, probs)
family("sparse", L.SparseCategoricalCrossentropy, labels, probs)

# Options.
case("huber_delta", L.Huber(delta=0.3), real(4, 3), real(4, 3))
case("cosine_axis", L.CosineSimilarity(axis=1), real(2, 4, 3), real(2, 4, 3))
case("binary_logits", L.BinaryCrossentropy(from_logits=True), bits(4, 3), real(4, 3))
case("binary_smoothed", L.BinaryCrossentropy(label_smoothing=0.2), bits(4, 3), unit(4, 3))
case("binary_axis", L.BinaryCrossentropy(axis=0), bits(4, 3), unit(4, 3))
case("binary_focal_logits", L.BinaryFocalCrossentropy(from_logits=True, gamma=1.5), bits(4, 3), real(4, 3))
case("binary_focal_balanced", L.BinaryFocalCrossentropy(apply_class_balancing=True, alpha=0.4, label_smoothing=0.1), bits(4, 3), unit(4, 3))
case("categorical_logits", L.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1), onehot(4, 3), real(4, 3))
case("categorical_smoothed", L.CategoricalCrossentropy(label_smoothing=0.1), onehot(4, 3), probs(4, 3))
case("categorical_axis", L.CategoricalCrossentropy(axis=1), onehot(2, 4, 3).transpose(0, 2, 1), probs(2, 4, 3).transpose(0, 2, 1))
case("categorical_axis_logits", L.CategoricalCrossentropy(axis=1, from_logits=True), onehot(2, 4, 3).transpose(0, 2, 1), real(2, 3, 4))
case("categorical_focal_logits", L.CategoricalFocalCrossentropy(from_logits=True, gamma=1.0, alpha=0.5, label_smoothing=0.1), onehot(4, 3), real(4, 3))
case("categorical_focal_alphas", L.CategoricalFocalCrossentropy(alpha=[0.2, 0.3, 0.5]), onehot(4, 3), probs(4, 3))
case("categorical_focal_axis", L.CategoricalFocalCrossentropy(from_logits=True, axis=1), onehot(2, 4, 3).transpose(0, 2, 1), real(2, 3, 4))
case("sparse_logits", L.SparseCategoricalCrossentropy(from_logits=True), labels(4), real(4, 3))
case("sparse_column", L.SparseCategoricalCrossentropy(), labels(4, 1), probs(4, 3))
case("sparse_floats", L.SparseCategoricalCrossentropy(), labels(4).astype("float32"), probs(4, 3))
case("sparse_rank3_column", L.SparseCategoricalCrossentropy(reduction="none"), labels(2, 4, 1), probs(2, 4, 3))
case("sparse_ignore", L.SparseCategoricalCrossentropy(ignore_class=1), np.array([0, 1, 2, 1]), probs(4, 3))
case("sparse_ignore_255", L.SparseCategoricalCrossentropy(ignore_class=255, from_logits=True, reduction="none"), np.array([[0, 255, 2], [1, 2, 255]]), real(2, 3, 3))
case("sparse_ignore_negative", L.SparseCategoricalCrossentropy(ignore_class=-1), np.array([[0, -1], [1, 2]]), probs(2, 2, 3), positive(2, 2),
     np.array([[True, False], [True, True]]))

# Ranks that differ, and types.
case("mse_column", L.MeanSquaredError(), real(4), real(4, 1))
case("mse_truth_column", L.MeanSquaredError(), real(4, 3, 1), real(4, 3))
case("mse_scalar_weight", L.MeanSquaredError(), real(4, 3), real(4, 3), np.float32(0.5))
case("mse_empty", L.MeanSquaredError(), real(0, 3), real(0, 3))
for name, make, t, p in (
    ("mse", L.MeanSquaredError, real(4, 3), real(4, 3)),
    ("huber", L.Huber, real(4, 3), real(4, 3)),
    ("binary", L.BinaryCrossentropy, bits(4, 3), unit(4, 3)),
    ("categorical", L.CategoricalCrossentropy, onehot(4, 3), probs(4, 3)),
    ("sparse", L.SparseCategoricalCrossentropy, labels(4), probs(4, 3)),
    ("poisson", L.Poisson, positive(4, 3), positive(4, 3)),
):
    case(name + "_float16", make(), t, p.astype("float16"), positive(4))
    case(name + "_float64", make(), t, p.astype("float64"), positive(4))


def main():
    arrays, out = {}, []
    for c in CASES:
        name, loss = c["name"], c["loss"]
        t, p = tf.constant(c["truth"]), tf.constant(c["predicted"])
        arrays[f"{name}/truth"], arrays[f"{name}/predicted"] = c["truth"], c["predicted"]
        w = c["weights"]
        if w is not None:
            arrays[f"{name}/weights"] = w
        if c["mask"] is not None:
            arrays[f"{name}/mask"] = c["mask"]
            p._keras_mask = tf.constant(c["mask"])
        with tf.GradientTape() as tape:
            tape.watch(p)
            value = loss(t, p, sample_weight=w)
        arrays[f"{name}/gradient"] = tf.convert_to_tensor(tape.gradient(value, p)).numpy()
        arrays[f"{name}/loss"] = value.numpy()
        try:
            arrays[f"{name}/call"] = loss.fn(t, p, **loss._fn_kwargs).numpy()
        except tf.errors.InvalidArgumentError:
            pass  # only a class matches ranks
        out.append(dict(name=name, config=serialization_lib.serialize_keras_object(loss),
                        legacy=legacy.serialize_keras_object(loss)))
    # Functions, and the logits of activations.
    named = {}
    for alias in ("mean_squared_error mse MSE mean_absolute_error mae MAE mean_absolute_percentage_error mape MAPE "
                  "mean_squared_logarithmic_error msle MSLE kl_divergence kullback_leibler_divergence kld KLD bce BCE "
                  "binary_crossentropy binary_focal_crossentropy categorical_crossentropy categorical_focal_crossentropy "
                  "hinge squared_hinge categorical_hinge log_cosh logcosh huber huber_loss poisson cosine_similarity "
                  "MeanSquaredError Huber BinaryCrossentropy").split():
        t, p = onehot(4, 3), probs(4, 3)
        arrays[f"get/{alias}/truth"], arrays[f"get/{alias}/predicted"] = t, p
        got = L.get(alias)
        value = got(tf.constant(t), tf.constant(p))
        arrays[f"get/{alias}/call"] = value.numpy()
        named[alias] = getattr(got, "__name__", None) or type(got).__name__
    for name, activation, make, t, x in (
        ("softmax", "softmax", L.CategoricalCrossentropy, onehot(4, 3), 40 * real(4, 3)),
        ("sparse_softmax", "softmax", L.SparseCategoricalCrossentropy, labels(4), 40 * real(4, 3)),
        ("sigmoid", "sigmoid", L.BinaryCrossentropy, bits(4, 3), 40 * real(4, 3)),
    ):
        v = tf.constant(x)
        with tf.GradientTape() as tape:
            tape.watch(v)
            value = make()(tf.constant(t), tf_keras.activations.get(activation)(v))
        arrays[f"activation/{name}/truth"], arrays[f"activation/{name}/logits"] = t, x
        arrays[f"activation/{name}/loss"], arrays[f"activation/{name}/gradient"] = value.numpy(), tape.gradient(value, v).numpy()
    (here / "losses.json").write_text(json.dumps(dict(cases=out, named=named), indent=1) + "\n")
    np.savez_compressed(here / "losses.npz", **arrays)
    print(len(out), "cases")


main()

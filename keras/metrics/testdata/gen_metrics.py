"""Writes metrics.json and metrics.npz: the results of tf_keras 2.21 for each metric.

Run in this directory, with TensorFlow 2.21 and tf_keras 2.21:

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_metrics.py

A case is a metric and a list of updates. The JSON has its config in both forms, the edges
of its checkpoint's object graph, and its variables' names. The npz has the inputs of each
update, and the variables and the result after it.
"""
import json
import os
import pathlib

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
import tf_keras
from tensorflow.core.protobuf import trackable_object_graph_pb2
from tf_keras import metrics as M
from tf_keras.src.engine import compile_utils
from tf_keras.src.metrics import base_metric
from tf_keras.src.saving import serialization_lib
from tf_keras.src.saving.legacy import serialization as legacy

here = pathlib.Path(__file__).parent
rng = np.random.RandomState(5)
real = lambda *s: rng.normal(size=s).astype("float32")
positive = lambda *s: rng.uniform(0.05, 2, s).astype("float32")
unit = lambda *s: rng.uniform(0.0, 1.0, s).astype("float32")
bits = lambda *s: rng.randint(0, 2, s).astype("float32")
labels = lambda *s: rng.randint(0, 4, s).astype("int64")


def probs(*s):
    x = rng.uniform(0.05, 1, s)
    return (x / x.sum(-1, keepdims=True)).astype("float32")


def onehot(*s):
    return np.eye(s[-1], dtype="float32")[rng.randint(0, s[-1], s[:-1])]


CASES = []


def case(name, make, *updates):
    """updates are tuples (truth, predicted) or (truth, predicted, weights); (values,) and
    (values, weights) of metrics of values."""
    CASES.append((name, make, updates))


def pairs(name, make, truth, predicted, n=6, c=4, rank3=True):
    """Updates without and with weights, of several shapes."""
    t = lambda *s: truth(*s) if truth is not labels else truth(*s[:-1])
    case(name, make, (t(n, c), predicted(n, c)), (t(3, c), predicted(3, c)))
    case(name + "_weighted", make, (t(n, c), predicted(n, c), positive(n)), (t(3, c), predicted(3, c)), (t(2, c), predicted(2, c), positive(2)))
    if rank3:
        case(name + "_rank3", make, (t(2, 3, c), predicted(2, 3, c)), (t(2, 3, c), predicted(2, 3, c), positive(2, 3)), (t(2, 3, c), predicted(2, 3, c), positive(2, 1)))


# Of values.
for name, make in (("mean", M.Mean), ("sum", M.Sum)):
    case(name, make, (real(5),), (real(2, 3),), (real(3), positive(3)), (real(2, 3), positive(2)), (real(2, 3), positive(2, 1)), (real(2, 3, 2), positive(2)),
         (np.array([1, 2], "int32"), np.array([True, False])), (np.float32(3),))
case("mean_float16", lambda: M.Mean(name="half", dtype="float16"), (real(5),), (real(3), positive(3)))
case("mean_float64", lambda: M.Mean(dtype="float64"), (real(5),), (real(3), positive(3)))
case("mean_tensor", M.MeanTensor, (real(2, 3),), (real(2, 3), positive(2, 3)), (real(2, 3), positive(2)))
case("sum_over_batch_size", base_metric.SumOverBatchSize, (real(5),), (real(3), positive(3)), (real(2, 3), positive(2)))

# Means of functions.
case("accuracy", M.Accuracy, (labels(5), labels(5)), (labels(4, 1), labels(4, 1), positive(4)), (labels(4), labels(4, 1)))
pairs("binary_accuracy", M.BinaryAccuracy, bits, unit)
case("binary_accuracy_threshold", lambda: M.BinaryAccuracy(threshold=0.3), (bits(6), unit(6, 1)))
pairs("categorical_accuracy", M.CategoricalAccuracy, onehot, probs)
pairs("sparse_categorical_accuracy", M.SparseCategoricalAccuracy, labels, probs)
case("sparse_categorical_accuracy_column", M.SparseCategoricalAccuracy, (labels(5, 1), probs(5, 4)), (labels(5, 1), probs(5, 4), positive(5)))
pairs("top_k", lambda: M.TopKCategoricalAccuracy(k=2), onehot, probs)
pairs("sparse_top_k", lambda: M.SparseTopKCategoricalAccuracy(k=2, name="best"), labels, probs)
case("top_k_default", M.TopKCategoricalAccuracy, (onehot(5, 7), probs(5, 7)))
pairs("mse", M.MeanSquaredError, real, real)
pairs("mae", M.MeanAbsoluteError, real, real)
pairs("mape", M.MeanAbsolutePercentageError, positive, real)
pairs("msle", M.MeanSquaredLogarithmicError, positive, positive)
pairs("rmse", M.RootMeanSquaredError, real, real)
pairs("log_cosh", M.LogCoshError, real, real)
pairs("cosine", M.CosineSimilarity, real, real)
case("cosine_axis", lambda: M.CosineSimilarity(axis=1), (real(2, 3, 4), real(2, 3, 4)))
pairs("hinge", M.Hinge, bits, real)
pairs("squared_hinge", M.SquaredHinge, bits, real)
pairs("categorical_hinge", M.CategoricalHinge, onehot, real)
pairs("kld", M.KLDivergence, probs, probs)
pairs("poisson", M.Poisson, positive, positive)
pairs("binary_crossentropy", lambda: M.BinaryCrossentropy(label_smoothing=0.1), bits, unit)
case("binary_crossentropy_logits", lambda: M.BinaryCrossentropy(from_logits=True), (bits(4, 3), real(4, 3)))
pairs("categorical_crossentropy", M.CategoricalCrossentropy, onehot, probs)
case("categorical_crossentropy_logits", lambda: M.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1), (onehot(4, 3), real(4, 3)))
pairs("sparse_categorical_crossentropy", M.SparseCategoricalCrossentropy, labels, probs)
case("sparse_categorical_crossentropy_ignore", lambda: M.SparseCategoricalCrossentropy(ignore_class=1, from_logits=True),
     (np.array([0, 1, 2, 3]), real(4, 4)), (np.array([0, 1, 2, 1]), real(4, 4), positive(4)))
case("mean_relative_error", lambda: M.MeanRelativeError(normalizer=[1.0, 3.0, 2.0, 0.0]), (real(4), real(4)), (real(4), real(4), positive(4)))
case("wrapper", lambda: M.MeanMetricWrapper(tf_keras.losses.mean_squared_error, name="mine"), (real(4, 3), real(4, 3)), (real(4, 3), real(4, 3), positive(4)))
case("wrapper_accuracy", lambda: M.MeanMetricWrapper(M.binary_accuracy), (bits(4, 3), unit(4, 3)))
case("batch_size_wrapper", lambda: base_metric.SumOverBatchSizeMetricWrapper(tf_keras.losses.mean_squared_error, name="mine"), (real(4, 3), real(4, 3)), (real(4, 3), real(4, 3), positive(4)))

# Confusion matrices.
for name, make in (("true_positives", M.TruePositives), ("true_negatives", M.TrueNegatives), ("false_positives", M.FalsePositives), ("false_negatives", M.FalseNegatives),
                   ("precision", M.Precision), ("recall", M.Recall)):
    case(name, make, (bits(6), unit(6)), (bits(3, 4), unit(3, 4)), (bits(4), unit(4), positive(4)), (bits(2, 3), unit(2, 3), positive(2)))
    case(name + "_threshold", lambda make=make: make(thresholds=0.3), (bits(6), unit(6)))
    case(name + "_list", lambda make=make: make(thresholds=[0.7]), (bits(6), unit(6)))
    case(name + "_thresholds", lambda make=make: make(thresholds=[0.1, 0.3, 0.9]), (bits(6), unit(6)), (bits(3, 4), unit(3, 4), positive(3, 4)))
    case(name + "_even", lambda make=make: make(thresholds=[0.0, 0.25, 0.5, 0.75, 1.0]), (bits(6), np.array([0, 0.25, 0.3, 0.5, 1, 0.99], "float32")), (bits(3, 4), unit(3, 4), positive(3, 1)))
for name, make in (("precision", M.Precision), ("recall", M.Recall)):
    case(name + "_top_k", lambda make=make: make(top_k=2), (bits(6, 4), unit(6, 4)), (bits(6, 4), unit(6, 4), positive(6)))
    case(name + "_class", lambda make=make: make(class_id=1, top_k=3), (bits(6, 4), unit(6, 4)))
    case(name + "_class_threshold", lambda make=make: make(class_id=2, thresholds=[0.2, 0.6]), (bits(6, 4), unit(6, 4), positive(6)))
for name, make in (("sensitivity_at_specificity", M.SensitivityAtSpecificity), ("specificity_at_sensitivity", M.SpecificityAtSensitivity),
                   ("precision_at_recall", M.PrecisionAtRecall), ("recall_at_precision", M.RecallAtPrecision)):
    case(name, lambda make=make: make(0.5), (bits(20), unit(20)), (bits(20), unit(20), positive(20)))
    case(name + "_few", lambda make=make: make(0.6, num_thresholds=4, name="few"), (bits(20), unit(20)))
    case(name + "_one", lambda make=make: make(0.3, num_thresholds=1), (bits(20), unit(20)))
    case(name + "_none", lambda make=make: make(1.0, num_thresholds=3), (np.array([1, 0, 1, 0], "float32"), np.array([0.1, 0.9, 0.2, 0.8], "float32")))
    case(name + "_class", lambda make=make: make(0.5, class_id=1), (bits(20, 3), unit(20, 3)))
for curve in ("ROC", "PR", "PR_GAIN"):
    for method in ("interpolation", "majoring", "minoring"):
        case(f"auc_{curve}_{method}", lambda curve=curve, method=method: M.AUC(num_thresholds=20, curve=curve, summation_method=method),
             (bits(30), unit(30)), (bits(10, 3), unit(10, 3), positive(10)))
        case(f"auc_multi_{curve}_{method}", lambda curve=curve, method=method: M.AUC(num_thresholds=10, curve=curve, summation_method=method, multi_label=True),
             (bits(12, 3), unit(12, 3)), (bits(12, 3), unit(12, 3), positive(12)))
case("auc", M.AUC, (bits(30), unit(30)), (bits(30), unit(30), positive(30)))
case("auc_thresholds", lambda: M.AUC(thresholds=[0.7, 0.2, 0.4]), (bits(30), unit(30)))
case("auc_even_thresholds", lambda: M.AUC(thresholds=[0.5]), (bits(30), unit(30)))
case("auc_logits", lambda: M.AUC(from_logits=True), (bits(30), 3 * real(30)))
case("auc_label_weights", lambda: M.AUC(label_weights=[1.0, 0.5, 2.0], num_thresholds=10), (bits(12, 3), unit(12, 3)), (bits(12, 3), unit(12, 3), positive(12)))
case("auc_multi_label_weights", lambda: M.AUC(multi_label=True, num_labels=3, label_weights=[1.0, 0.5, 2.0], num_thresholds=10), (bits(12, 3), unit(12, 3)))
case("auc_multi_thresholds", lambda: M.AUC(multi_label=True, thresholds=[0.1, 0.6]), (bits(12, 3), unit(12, 3)), (bits(12, 3), unit(12, 3), positive(12, 1)))

# Overlaps.
case("iou", lambda: M.IoU(num_classes=4, target_class_ids=[0, 2]), (labels(8), labels(8)), (labels(2, 4), labels(2, 4), positive(2, 4)))
case("iou_ignore", lambda: M.IoU(num_classes=4, target_class_ids=[1], ignore_class=255), (np.array([0, 1, 255, 1]), np.array([1, 1, 2, 0])), (np.array([1, 255]), np.array([1, 1]), positive(2)))
case("iou_onehot", lambda: M.IoU(num_classes=4, target_class_ids=[1, 3], sparse_y_true=False, sparse_y_pred=False, axis=1, name="mine"), (onehot(3, 5, 4).transpose(0, 2, 1), probs(3, 5, 4).transpose(0, 2, 1)))
case("binary_iou", M.BinaryIoU, (bits(8), unit(8)), (bits(2, 4), unit(2, 4), positive(2, 4)))
case("binary_iou_threshold", lambda: M.BinaryIoU(target_class_ids=[1], threshold=0.3), (bits(8), unit(8)))
case("mean_iou", lambda: M.MeanIoU(num_classes=4), (labels(8), labels(8)), (labels(8), labels(8), positive(8)))
case("mean_iou_ignore", lambda: M.MeanIoU(num_classes=4, ignore_class=2, sparse_y_pred=False), (labels(8), probs(8, 4)))
case("one_hot_iou", lambda: M.OneHotIoU(num_classes=4, target_class_ids=[0, 2]), (onehot(6, 4), probs(6, 4)), (onehot(6, 4), probs(6, 4), positive(6)))
case("one_hot_mean_iou", lambda: M.OneHotMeanIoU(num_classes=4), (onehot(6, 4), probs(6, 4)))
case("one_hot_mean_iou_sparse", lambda: M.OneHotMeanIoU(num_classes=4, sparse_y_pred=True, ignore_class=1), (onehot(6, 4), labels(6)))

# Scores.
for average in (None, "micro", "macro", "weighted"):
    case(f"fbeta_{average}", lambda average=average: M.FBetaScore(average=average, beta=2.0, threshold=0.5), (bits(6, 3), unit(6, 3)), (bits(6, 3), unit(6, 3), positive(6)))
    case(f"f1_{average}", lambda average=average: M.F1Score(average=average), (onehot(6, 3), probs(6, 3)), (onehot(6, 3), probs(6, 3), positive(6)))
for aggregation in (None, "uniform_average", "variance_weighted_average"):
    case(f"r2_{aggregation}", lambda aggregation=aggregation: M.R2Score(class_aggregation=aggregation), (real(6, 2), real(6, 2)), (real(6, 2), real(6, 2), positive(6)))
case("r2_adjusted", lambda: M.R2Score(num_regressors=3), (real(6, 1), real(6, 1)), (real(6, 1), real(6, 1)))
case("r2_too_many", lambda: M.R2Score(num_regressors=5), (real(6, 1), real(6, 1)))

# Types.
for name, make, u in (("mse", lambda: M.MeanSquaredError(dtype="float16"), (real(6, 3), real(6, 3))), ("auc", lambda: M.AUC(dtype="float64"), (bits(30), unit(30))),
                      ("iou", lambda: M.MeanIoU(num_classes=4, dtype="float64"), (labels(8), labels(8))),
                      ("recall", lambda: M.Recall(dtype="float16"), (bits(6), unit(6)))):
    case("type_" + name, make, u)


class Default(json.JSONEncoder):
    """tf_keras's encoder of config values that json doesn't know."""

    def default(self, x):
        from tf_keras.src.saving.legacy.saved_model import json_utils
        return json_utils.get_json_type(x)


def graph(metric, folder):
    """The edges and full names of the metric's checkpoint."""
    path = tf.train.Checkpoint(m=metric).write(str(folder / "x"))
    g = trackable_object_graph_pb2.TrackableObjectGraph()
    g.ParseFromString(tf.train.load_checkpoint(path).get_tensor("_CHECKPOINTABLE_OBJECT_GRAPH"))
    at = next(c.node_id for c in g.nodes[0].children if c.local_name == "m")
    out = []
    for c in g.nodes[at].children:
        attributes = [f"{a.full_name} {a.checkpoint_key}" for a in g.nodes[c.node_id].attributes]
        out.append(" ".join([c.local_name] + attributes))
    return out


def main():
    import tempfile
    arrays, out = {}, []
    with tempfile.TemporaryDirectory() as folder:
        for name, make, updates in CASES:
            tf_keras.backend.clear_session()
            metric = make()
            row = dict(name=name, keras_name=metric.name, updates=[])
            try:
                row["config"] = serialization_lib.serialize_keras_object(metric)
            except Exception as e:
                print(name, "has no config:", e)
            try:
                row["legacy"] = json.loads(json.dumps(legacy.serialize_keras_object(metric), cls=Default))
            except Exception as e:
                print(name, "has no legacy config:", e)
            row["early"] = graph(metric, pathlib.Path(folder))
            values = isinstance(metric, (M.Sum, M.MeanTensor)) or type(metric) in (M.Mean, base_metric.SumOverBatchSize)
            for i, u in enumerate(updates):
                inputs = ("values", "weights") if values else ("truth", "predicted", "weights")
                row["updates"].append(list(inputs[: len(u)]))
                for key, x in zip(inputs, u):
                    arrays[f"{name}/{i}/{key}"] = np.asarray(x)
                metric.update_state(*[tf.constant(x) for x in u])
                for v in metric.variables:
                    arrays[f"{name}/{i}/state/{v.name.split(':')[0]}"] = v.numpy()
                arrays[f"{name}/{i}/result"] = metric.result().numpy()
            row["variables"] = [v.name.split(":")[0] for v in metric.variables]
            row["graph"] = graph(metric, pathlib.Path(folder))
            metric.reset_state()
            try:
                arrays[f"{name}/reset"] = metric.result().numpy()
            except Exception as e:
                print(name, "after a reset:", e)
            out.append(row)
    # The choice of Compile.
    chosen = []
    for identifier in ("accuracy", "acc", "crossentropy", "ce", "Accuracy", "mse", "AUC", "binary_accuracy", "cosine_similarity", "top_k_categorical_accuracy", "logcosh"):
        for truth, predicted in (((4,), (4, 1)), ((4, 1), (4, 1)), ((4,), (4, 3)), ((4, 1), (4, 3)), ((4, 3), (4, 3)), ((4, 5), (4, 5, 3)), ((4, 5, 1), (4, 5, 3))):
            tf_keras.backend.clear_session()
            c = compile_utils.MetricsContainer(metrics=identifier)
            m = c._get_metric_object(identifier, tf.zeros(truth), tf.zeros(predicted))
            chosen.append(dict(identifier=identifier, truth=truth, predicted=predicted, type=type(m).__name__, name=m.name, fn=getattr(getattr(m, "_fn", None), "__name__", "")))
    names = {}
    for k in ("acc ACC bce BCE mse MSE mae MAE mape MAPE msle MSLE log_cosh logcosh cosine_proximity cosine_similarity accuracy binary_accuracy categorical_accuracy "
              "sparse_categorical_accuracy top_k_categorical_accuracy sparse_top_k_categorical_accuracy binary_crossentropy categorical_crossentropy kullback_leibler_divergence "
              "poisson sparse_categorical_crossentropy mean_absolute_error categorical_hinge squared_hinge hinge AUC MeanIoU").split():
        try:
            f = M.get(k)
            names[k] = getattr(f, "__name__", None) or type(f).__name__
        except Exception as e:
            print("get", k, str(e)[:80])
    (here / "metrics.json").write_text(json.dumps(dict(cases=out, chosen=chosen, names=names), indent=1) + "\n")
    np.savez_compressed(here / "metrics.npz", **arrays)
    print(len(out), "cases")


main()

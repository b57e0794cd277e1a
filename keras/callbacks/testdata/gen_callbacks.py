"""Writes callbacks.json: the effects of tf_keras 2.21's callbacks for given logs.

Run in this directory, with TensorFlow 2.21 and tf_keras 2.21:

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_callbacks.py

Each case has a class, its arguments, and the logs of each epoch. In epoch i the model's only
weight is i+1. The JSON has, for each case, the learning rate in each epoch after its begin
and after its end, the entries that the callback added to the logs, the epoch after which training
stopped, the weight at the end, and the printed text. TerminateOnNaN gets the logs as those
of batches. CSVLogger's cases have the file's text after each training in runs.
"""
import contextlib
import io
import json
import os
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_USE_LEGACY_KERAS"] = "1"

import tensorflow as tf
import tf_keras
from tf_keras import callbacks


def losses(*values, name="val_loss"):
    return [{"loss": 1.0 / (i + 1), name: v} for i, v in enumerate(values)]


falling = losses(1.0, 0.8, 0.9, 0.85, 0.7, 0.75, 0.76, 0.77)
rising = losses(0.1, 0.3, 0.2, 0.25, 0.4, 0.3, 0.2, 0.1, name="val_accuracy")
flat = losses(*[0.5] * 8)

CASES = {
    "early": ("EarlyStopping", {}, falling),
    "early patience": ("EarlyStopping", {"patience": 2, "verbose": 1}, falling),
    "early patience 3": ("EarlyStopping", {"patience": 3, "restore_best_weights": True, "verbose": 1}, falling),
    "early delta": ("EarlyStopping", {"patience": 1, "min_delta": -0.15}, falling),
    "early accuracy": ("EarlyStopping", {"monitor": "val_accuracy", "patience": 2, "restore_best_weights": True}, rising),
    "early mode": ("EarlyStopping", {"monitor": "val_accuracy", "mode": "min", "patience": 1}, rising),
    "early max": ("EarlyStopping", {"mode": "max", "patience": 1, "restore_best_weights": True}, falling),
    "early baseline": ("EarlyStopping", {"baseline": 0.75, "patience": 3, "restore_best_weights": True}, falling),
    "early start": ("EarlyStopping", {"start_from_epoch": 4, "patience": 1, "verbose": 1}, falling),
    "early no progress": ("EarlyStopping", {"restore_best_weights": True, "patience": 2, "verbose": 1}, losses(*[float("nan")] * 5)),
    "early without monitor": ("EarlyStopping", {"monitor": "other"}, falling),
    "early never": ("EarlyStopping", {"restore_best_weights": True, "patience": 20}, falling),
    "plateau": ("ReduceLROnPlateau", {"patience": 2, "verbose": 1}, flat),
    "plateau at once": ("ReduceLROnPlateau", {"patience": 0, "factor": 0.5, "verbose": 1}, falling),
    "plateau cooldown": ("ReduceLROnPlateau", {"patience": 1, "factor": 0.5, "cooldown": 2, "verbose": 1}, flat),
    "plateau least": ("ReduceLROnPlateau", {"patience": 1, "factor": 0.2, "min_lr": 0.03, "verbose": 1}, flat),
    "plateau delta": ("ReduceLROnPlateau", {"patience": 1, "min_delta": 0.3, "factor": 0.3}, falling),
    "plateau accuracy": ("ReduceLROnPlateau", {"monitor": "val_accuracy", "patience": 1, "factor": 0.7, "verbose": 1}, rising),
    "plateau mode": ("ReduceLROnPlateau", {"monitor": "val_accuracy", "mode": "min", "patience": 1, "factor": 0.7}, rising),
    "plateau without monitor": ("ReduceLROnPlateau", {"monitor": "other"}, flat),
    "scheduler": ("LearningRateScheduler", {"schedule": "halve", "verbose": 1}, flat),
    "scheduler by epoch": ("LearningRateScheduler", {"schedule": "epoch"}, flat),
    "nan": ("TerminateOnNaN", {}, [{"loss": 1.0}, {"loss": float("nan")}, {"loss": 1.0}]),
    "infinity": ("TerminateOnNaN", {}, [{"loss": 1.0}, {"loss": 2.0}, {"loss": float("-inf")}]),
    "finite": ("TerminateOnNaN", {}, [{"loss": 1.0}, {"acc": float("nan")}]),
}

SCHEDULES = {"halve": lambda epoch, lr: lr * 0.5, "epoch": lambda epoch, lr: 0.1 / (epoch + 1)}

few = [{"loss": 0.1, "acc": 1.0, "lr": "float32 0.001"}, {"loss": 1e-05, "acc": 0.25, "lr": "float32 1e-07"}, {"loss": 123456789012345680.0, "acc": float("nan"), "lr": "float32 0.1"}]
CSV = {
    "csv": ({}, [few]),
    "csv validation": ({}, [[{"val_loss": 0.5, "loss": 0.25}, {"loss": 0.125}]]),
    "csv later validation": ({"separator": ";"}, [[{"loss": 0.25}, {"loss": 0.125, "val_loss": float("inf")}]]),
    "csv again": ({}, [few[:1], few[1:]]),
    "csv append": ({"append": True}, [few[:1], few[1:]]),
    "csv quoted": ({"separator": "_"}, [[{"my_loss": 0.25, 'a"b': 1.0, "a,b": -0.0}]]),
}


def model():
    m = tf_keras.Sequential([tf_keras.layers.Dense(1, use_bias=False, input_shape=(1,))])
    m.compile(tf_keras.optimizers.SGD(0.1), "mse")
    m.stop_training = False
    return m


def number(x):
    return x.numpy().item() if isinstance(x, tf.Tensor) else x.item() if hasattr(x, "item") else x


def main():
    out = {"cases": {}, "csv": {}}
    for name, (cls, args, logs) in CASES.items():
        m = model()
        kwargs = dict(args)
        if "schedule" in kwargs:
            kwargs["schedule"] = SCHEDULES[kwargs["schedule"]]
        callback = getattr(callbacks, cls)(**kwargs)
        callback.set_model(m)
        case = {"class": cls, "args": args, "logs": logs, "began": [], "ended": [], "after": [], "stopped": -1}
        text = io.StringIO()
        rate = lambda: float(m.optimizer.lr.numpy())
        with contextlib.redirect_stdout(text):
            callback.on_train_begin()
            for epoch, given in enumerate(logs):
                given = dict(given)
                m.set_weights([tf.fill([1, 1], epoch + 1.0).numpy()])
                if cls == "TerminateOnNaN":
                    callback.on_train_batch_end(epoch, given)
                else:
                    callback.on_epoch_begin(epoch)
                    case["began"].append(rate())
                    callback.on_epoch_end(epoch, given)
                    case["ended"].append(rate())
                case["after"].append({k: number(v) for k, v in given.items()})
                if m.stop_training:
                    case["stopped"] = epoch
                    break
            callback.on_train_end()
        case["weight"] = m.get_weights()[0].item()
        case["printed"] = text.getvalue()
        out["cases"][name] = case
    for name, (args, runs) in CSV.items():
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "log.csv")
            callback = callbacks.CSVLogger(path, **args)
            files = []
            for run in runs:
                callback.on_train_begin()
                for epoch, logs in enumerate(run):
                    import numpy as np

                    callback.on_epoch_end(epoch, {k: np.float32(v.split()[1]) if isinstance(v, str) else v for k, v in logs.items()})
                callback.on_train_end()
                with open(path, newline="") as f:
                    files.append(f.read())
            out["csv"][name] = {"args": args, "runs": runs, "files": files}
    with open("callbacks.json", "w") as file:
        json.dump(out, file, indent=1)
        file.write("\n")


main()

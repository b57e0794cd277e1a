"""Writes the fixtures of the application models: the outputs of tf_keras 2.21 for each.

Run in this directory, with TensorFlow 2.21 and tf_keras 2.21, for all cases or some:

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_models.py [NAME ...]

models.json has for each case the arguments, the SHA-256 of the config and of the variables'
names and shapes, and outputs. Weights and inputs aren't stored: values() makes them here and
in the test. configs/NAME.json.gz has the config, so that a difference can be shown. helpers.json has results
of preprocess_input and decode_predictions.
"""
import gzip
import hashlib
import json
import os
import sys

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
import tf_keras as keras
from tf_keras.src.saving import serialization_lib
from tf_keras.src.saving.legacy.saved_model import json_utils

A = keras.applications
SMALL = dict(input_shape=[32, 32, 3], classes=5, classifier_activation=None)


def case(function, name=None, pixels=False, compare=True, gain=1, **kwargs):
    """A row: the constructor, whether inputs are pixels and outputs are compared, a
    factor of the kernels that lets the input matter to the output, and the arguments."""
    return dict(name=name or function, function=function, pixels=pixels, compare=compare, gain=gain, kwargs={**SMALL, **kwargs})


PROBABILITIES = dict(classifier_activation="softmax")
CASES = [
    case("MobileNet", input_shape=[33, 47, 3]),
    case("MobileNet", "MobileNet_features", input_shape=[None, None, 1], include_top=False, pooling="max", alpha=0.25),
    case("MobileNetV2", **PROBABILITIES),
    case("MobileNetV2", "MobileNetV2_wide", compare=False, alpha=1.4, input_shape=[33, 47, 3]),
    case("MobileNetV2", "MobileNetV2_features", input_shape=None, include_top=False, pooling="avg", alpha=0.35),
    case("MobileNetV3Small", pixels=True),
    case("MobileNetV3Small", "MobileNetV3Small_minimalistic", input_shape=None, minimalistic=True, alpha=0.75, include_preprocessing=False),
    case("MobileNetV3Large", pixels=True, input_shape=[45, 33, 3]),
    case("ResNet50"),
    case("ResNet50V2", input_shape=[64, 48, 3]),
    case("ResNet50V2", "ResNet50V2_features", compare=False, input_shape=None, include_top=False),
    case("ResNet101", compare=False),
    case("ResNet152", compare=False),
    case("ResNet101V2", compare=False),
    case("ResNet152V2", compare=False),
    case("VGG16", **PROBABILITIES),
    case("VGG19", compare=False, include_top=False, pooling="avg"),
    case("DenseNet121"),
    case("DenseNet169", compare=False),
    case("DenseNet201", compare=False, include_top=False, pooling="max"),
    case("Xception", input_shape=[71, 71, 3]),
    case("InceptionV3", input_shape=[75, 75, 3]),
    case("InceptionV3", "InceptionV3_features", compare=False, input_shape=None, include_top=False, pooling="max"),
    case("EfficientNetB0", pixels=True, gain=1.2),
    case("EfficientNetB1", compare=False, input_shape=[35, 44, 3]),
    case("EfficientNetB2", compare=False, **PROBABILITIES),
    case("EfficientNetB3", compare=False),
    case("EfficientNetB4", compare=False, include_top=False, pooling="avg"),
    case("EfficientNetB5", compare=False),
    case("EfficientNetB6", compare=False),
    case("EfficientNetB7", compare=False),
    case("EfficientNetV2B0", pixels=True),
    case("EfficientNetV2B0", "EfficientNetV2B0_gray", compare=False, input_shape=[32, 32, 1], include_top=False, pooling="avg"),
    case("EfficientNetV2B1", compare=False, include_preprocessing=False),
    case("EfficientNetV2B2", compare=False),
    case("EfficientNetV2B3", compare=False),
    case("EfficientNetV2S", compare=False),
    case("EfficientNetV2M", compare=False, include_top=False),
    case("EfficientNetV2L", compare=False),
    case("ResNetRS50", pixels=True),
    case("ResNetRS101", compare=False, include_top=False, pooling="max"),
    case("ResNetRS152", compare=False, include_preprocessing=False),
    case("ResNetRS200", compare=False),
    case("ResNetRS270", compare=False, input_shape=[32, 32, 1]),
    case("ResNetRS350", compare=False),
    case("ResNetRS420", compare=False),
    case("RegNetX002", pixels=True),
    case("RegNetY002", pixels=True),
    case("RegNetX004", compare=False),
    case("RegNetX006", compare=False),
    case("RegNetX008", compare=False),
    case("RegNetX016", compare=False),
    case("RegNetX032", compare=False),
    case("RegNetX040", compare=False),
    case("RegNetX064", compare=False),
    case("RegNetX080", compare=False),
    case("RegNetX120", compare=False),
    case("RegNetX160", compare=False),
    case("RegNetX320", compare=False),
    case("RegNetY004", compare=False),
    case("RegNetY006", compare=False),
    case("RegNetY008", compare=False),
    case("RegNetY016", compare=False),
    case("RegNetY032", compare=False),
    case("RegNetY040", compare=False),
    case("RegNetY064", compare=False),
    case("RegNetY080", compare=False),
    case("RegNetY120", compare=False),
    case("RegNetY160", compare=False),
    case("RegNetY320", compare=False),
    case("RegNetY002", "RegNetY002_features", compare=False, input_shape=None, include_top=False, include_preprocessing=False, pooling="avg"),
    case("NASNetMobile", input_shape=[47, 32, 3]),
    case("NASNetMobile", "NASNetMobile_features", compare=False, input_shape=None, include_top=False, pooling="max"),
    case("NASNetLarge", compare=False),
    case("ConvNeXtTiny", pixels=True, **PROBABILITIES),
    case("ConvNeXtTiny", "ConvNeXtTiny_features", compare=False, input_shape=None, include_top=False, include_preprocessing=False, pooling="avg"),
    case("ConvNeXtTiny", "ConvNeXtTiny_gray", compare=False, input_shape=[32, 32, 1], include_top=False),
    case("ConvNeXtSmall", compare=False),
    case("ConvNeXtBase", compare=False),
    case("ConvNeXtLarge", compare=False),
    case("ConvNeXtXLarge", compare=False),
]


def values(n, seed):
    """n numbers from -1 to 1 for a seed."""
    h = np.arange(n, dtype=np.uint32) * np.uint32(2654435761) + np.uint32((seed * 40503 + 12345) % (1 << 32))
    h ^= h >> np.uint32(16)
    h *= np.uint32(0x85EBCA6B)
    h ^= h >> np.uint32(13)
    h *= np.uint32(0xC2B2AE35)
    h ^= h >> np.uint32(16)
    return h.astype(np.float64) / (1 << 31) - 1


def weight(w, seed, gain):
    kind = w.name.split("/")[-1].split(":")[0]
    shape = tuple(w.shape)
    u = values(int(np.prod(shape)), seed)
    if kind == "count":
        u = np.zeros(1)
    elif kind == "depthwise_kernel":
        u = u * (gain * np.sqrt(6 / (shape[0] * shape[1])))
    elif kind.endswith("kernel"):
        u = u * (gain * np.sqrt(6 / np.prod(shape[:-1])))
    elif kind == "gamma":
        u = 1 + 0.1 * u
    elif kind.endswith("variance"):
        u = 1 + 0.25 * u
    else:
        u = 0.1 * u
    return u.reshape(shape).astype(w.dtype.as_numpy_dtype)


def canonical(data):
    return json.dumps(data, sort_keys=True, separators=(",", ":"))


def sha(text):
    return hashlib.sha256(text.encode()).hexdigest()


def make(c):
    keras.backend.clear_session()
    m = getattr(A, c["function"])(weights=None, **{k: tuple(v) if k == "input_shape" and v else v for k, v in c["kwargs"].items()})
    config = json.loads(json.dumps(serialization_lib.serialize_keras_object(m), default=json_utils.get_json_type))
    with open(f"configs/{c['name']}.json.gz", "wb") as f:
        f.write(gzip.compress(canonical(config).encode(), 9, mtime=0))
    row = dict(c, config=sha(canonical(config)), weights=len(m.weights), parameters=m.count_params(),
               shapes=sha("\n".join(f"{w.name} {list(w.shape)}".replace(" ", "") for w in m.weights)))
    if c["compare"]:
        shape = [1] + [s or 32 for s in m.input_shape[1:]]
        x = values(int(np.prod(shape)), 999).reshape(shape)
        x = ((x + 1) * 127.5 if c["pixels"] else x).astype("float32")
        for i, w in enumerate(m.weights):
            w.assign(weight(w, i, c["gain"]))
        for l in m.layers:
            if isinstance(l, keras.layers.Normalization):
                l.finalize_state()
        y = m(tf.constant(x), training=False).numpy()
        row.update(input=shape, shape=list(y.shape), output=[float(v) for v in y.ravel()[:2000]])
    return row


def helpers():
    """preprocess_input and decode_predictions."""
    x = np.array([[[0, 10, 255], [30, 128, 77]], [[1, 2, 3], [250, 200, 99]]], "float32")
    utils = keras.src.applications.imagenet_utils
    utils.CLASS_INDEX = {str(i): [f"n{i}", f"class {i}"] for i in range(1000)}
    scores = values(2000, 5).reshape(2, 1000).astype("float32")
    return {
        "pixels": x.tolist(),
        "modes": {mode: A.imagenet_utils.preprocess_input(x.copy(), mode=mode).tolist() for mode in ("caffe", "tf", "torch")},
        "decoded": [[[a, b, float(c)] for a, b, c in row] for row in A.imagenet_utils.decode_predictions(scores, top=4)],
    }


def main():
    with open("helpers.json", "w") as f:
        json.dump(helpers(), f)
    rows = {}
    if os.path.exists("models.json"):
        rows = {r["name"]: r for r in json.load(open("models.json"))}
    os.makedirs("configs", exist_ok=True)
    chosen = set(sys.argv[1:])
    for c in CASES:
        if not chosen or c["name"] in chosen or c["function"] in chosen:
            rows[c["name"]] = make(c)
            print(c["name"], rows[c["name"]].get("output", [])[:5], flush=True)
            write(rows)


def write(rows):
    with open("models.json", "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(rows[c["name"]]) for c in CASES if c["name"] in rows) + "\n]\n")


main()

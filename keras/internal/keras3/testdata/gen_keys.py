"""Writes keys.json: the configs that Keras makes of an object of each class, with its default settings.

    python gen_keys.py           (Keras 3.15, TensorFlow 2.21)
"""
import inspect, json, os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import keras

l = keras.layers
# The arguments that an object needs besides its default settings.
wants = {
    "Activation": dict(activation="relu"), "CategoryEncoding": dict(num_tokens=3), "CenterCrop": dict(height=2, width=2),
    "Dense": dict(units=2), "Discretization": dict(num_bins=3), "Dot": dict(axes=1), "Dropout": dict(rate=0.5),
    "AlphaDropout": dict(rate=0.5), "GaussianDropout": dict(rate=0.5), "GaussianNoise": dict(stddev=0.5),
    "SpatialDropout1D": dict(rate=0.5), "SpatialDropout2D": dict(rate=0.5), "SpatialDropout3D": dict(rate=0.5),
    "EinsumDense": dict(equation="ab,bc->ac", output_shape=3), "Embedding": dict(input_dim=2, output_dim=2),
    "HashedCrossing": dict(num_bins=3), "Hashing": dict(num_bins=3), "InputLayer": dict(shape=(2,)),
    "MultiHeadAttention": dict(num_heads=2, key_dim=2), "Permute": dict(dims=(2, 1)), "RandomBrightness": dict(factor=0.1),
    "RandomContrast": dict(factor=0.1), "RandomCrop": dict(height=2, width=2), "RandomRotation": dict(factor=0.1),
    "RandomTranslation": dict(height_factor=0.1, width_factor=0.1), "RandomZoom": dict(height_factor=0.1),
    "RepeatVector": dict(n=2), "Rescaling": dict(scale=2.0), "Reshape": dict(target_shape=(2,)), "Resizing": dict(height=2, width=2),
    "Bidirectional": dict(layer=l.LSTM(2)), "RNN": dict(cell=l.LSTMCell(2)), "StackedRNNCells": dict(cells=[l.LSTMCell(2)]),
    "SpectralNormalization": dict(layer=l.Dense(2)), "TimeDistributed": dict(layer=l.Dense(2)), "Wrapper": dict(layer=l.Dense(2)),
    "CosineDecay": dict(initial_learning_rate=0.1, decay_steps=2), "CosineDecayRestarts": dict(initial_learning_rate=0.1, first_decay_steps=2),
    "ExponentialDecay": dict(initial_learning_rate=0.1, decay_steps=2, decay_rate=0.5),
    "InverseTimeDecay": dict(initial_learning_rate=0.1, decay_steps=2, decay_rate=0.5),
    "PiecewiseConstantDecay": dict(boundaries=[2], values=[1.0, 0.5]), "PolynomialDecay": dict(initial_learning_rate=0.1, decay_steps=2),
    "MeanMetricWrapper": dict(fn=keras.metrics.mean_squared_error), "IoU": dict(num_classes=2, target_class_ids=[0]),
    "BinaryIoU": {}, "MeanIoU": dict(num_classes=2), "OneHotIoU": dict(num_classes=2, target_class_ids=[0]), "OneHotMeanIoU": dict(num_classes=2),
    "PrecisionAtRecall": dict(recall=0.5), "RecallAtPrecision": dict(precision=0.5), "SensitivityAtSpecificity": dict(specificity=0.5),
    "SpecificityAtSensitivity": dict(sensitivity=0.5), "SeparableConv1D": dict(filters=2, kernel_size=2), "SeparableConv2D": dict(filters=2, kernel_size=2),
    "DepthwiseConv1D": dict(kernel_size=2), "DepthwiseConv2D": dict(kernel_size=2),
    "Lambda": dict(function=keras.activations.relu),
}
for c in (1, 2, 3):
    wants[f"AveragePooling{c}D"] = wants[f"MaxPooling{c}D"] = dict(pool_size=2)
    for name in (f"Conv{c}D", f"Conv{c}DTranspose", f"ConvLSTM{c}D"):
        wants[name] = dict(filters=2, kernel_size=2)
for name in ("GRU", "GRUCell", "LSTM", "LSTMCell", "SimpleRNN", "SimpleRNNCell"):
    wants[name] = dict(units=2)

out = {}
for module in ("layers", "initializers", "regularizers", "constraints", "optimizers", "optimizers.schedules", "losses", "metrics"):
    at = keras
    for part in module.split("."):
        at = getattr(at, part)
    for name in sorted(dir(at)):
        cls = getattr(at, name)
        if not inspect.isclass(cls) or cls.__name__ != name:
            continue
        try:
            obj = cls(**wants.get(name, {}))
            data = keras.saving.serialize_keras_object(obj)
        except (TypeError, ImportError, NotImplementedError) as e:  # bases, and classes that Keras 2 lacks
            print("left out:", module, name, str(e)[:80].replace("\n", " "))
            continue
        config = data["config"]
        for key in list(config):
            if key == "name" or key in wants.get(name, {}):
                config[key] = None
        out[f"{data['module']}.{name}"] = config
here = os.path.dirname(os.path.abspath(__file__))


def plain(v):
    """The setting in short: objects are their classes."""
    if isinstance(v, dict) and "class_name" in v:
        return v["class_name"]
    return v


with open(os.path.join(here, "keys.json"), "w") as f:
    lines = [json.dumps(k) + ": " + json.dumps({key: plain(v) for key, v in c.items()}) for k, c in sorted(out.items())]
    f.write("{\n" + ",\n".join(lines) + "\n}\n")

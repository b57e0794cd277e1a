"""Cases of Dense, Activation, Dropout, Flatten."""
import numpy as np
from tf_keras import constraints, initializers, layers, regularizers

x = (4, 3)
seq = (2, 3, 4)
mask = np.array([[True, True, False], [True, False, False]])

CASES = [
    dict(name="dense", layer=lambda: layers.Dense(5), inputs=[x]),
    dict(name="dense_relu_no_bias", layer=lambda: layers.Dense(2, activation="relu", use_bias=False), inputs=[x]),
    dict(name="dense_masked_sequence", layer=lambda: layers.Dense(3, activation="tanh"), inputs=[seq], mask=[mask]),
    dict(
        name="dense_everything",
        layer=lambda: layers.Dense(
            3, activation="softmax", kernel_initializer=initializers.HeNormal(seed=0), bias_initializer="ones",
            kernel_regularizer=regularizers.L1L2(0.1, 0.2), bias_regularizer="l2",
            activity_regularizer=regularizers.L1(0.3), kernel_constraint=constraints.MaxNorm(3, axis=[0, 1]),
            bias_constraint="non_neg", name="head"),
        inputs=[x]),
    dict(name="dense_initializers", layer=lambda: layers.Dense(
        3, kernel_initializer=initializers.RandomUniform(0.0, 1.0, seed=3),
        bias_initializer=initializers.VarianceScaling(2.0, "fan_out", "uniform")), inputs=[x]),
    dict(name="dense_orthogonal", layer=lambda: layers.Dense(
        3, kernel_initializer=initializers.Orthogonal(0.0), kernel_regularizer=regularizers.OrthogonalRegularizer(0.5, "columns"),
        kernel_constraint=constraints.MinMaxNorm(0.1, 0.9, 0.5, 1), bias_constraint=constraints.UnitNorm(0)), inputs=[x]),
    dict(name="dense_float64", layer=lambda: layers.Dense(2, dtype="float64"), inputs=[x]),
    dict(name="dense_mixed_bfloat16", layer=lambda: layers.Dense(2, dtype="mixed_bfloat16"), inputs=[x]),
    dict(name="dense_frozen", layer=lambda: layers.Dense(2, trainable=False), inputs=[x]),
    dict(name="dense_input_shape", layer=lambda: layers.Dense(2, input_shape=(3,)), inputs=[x]),
    dict(name="dense_vector_shape", layer=lambda: layers.Dense(2), inputs=[(2, 1, 2, 3)]),
    dict(name="activation_gelu", layer=lambda: layers.Activation("gelu"), inputs=[x]),
    dict(name="activation_masked", layer=lambda: layers.Activation("hard_sigmoid"), inputs=[seq], mask=[mask]),
    dict(name="dropout", layer=lambda: layers.Dropout(0.5, noise_shape=(None, 1, 4), seed=0), inputs=[seq], mask=[mask], training=[False]),
    dict(name="dropout_zero", layer=lambda: layers.Dropout(0.0), inputs=[x]),
    dict(name="flatten", layer=lambda: layers.Flatten(), inputs=[seq], mask=[mask]),
    dict(name="flatten_channels_first", layer=lambda: layers.Flatten(data_format="channels_first"), inputs=[(2, 3, 4, 5)]),
    dict(name="flatten_vector", layer=lambda: layers.Flatten(), inputs=[(3,)]),
]

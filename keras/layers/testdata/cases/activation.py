"""Cases of the activation layers."""
import numpy as np
from tf_keras import constraints, layers

x = (2, 3, 4)
wide = np.random.RandomState(2).uniform(-8, 8, (2, 3, 4)).astype("float32")
mask = np.array([[True, True, False], [True, False, False]])
full = np.random.RandomState(3).uniform(size=(2, 3, 4)) > 0.4
full[..., 0] = True

CASES = [
    dict(name="relu", layer=layers.ReLU, inputs=[wide], mask=[mask]),
    dict(name="relu_six", layer=lambda: layers.ReLU(6.0), inputs=[wide]),
    dict(name="relu_max", layer=lambda: layers.ReLU(2.5), inputs=[wide]),
    dict(name="relu_zero_max", layer=lambda: layers.ReLU(0.0), inputs=[wide]),
    dict(name="relu_slope", layer=lambda: layers.ReLU(negative_slope=0.1), inputs=[wide]),
    dict(name="relu_threshold", layer=lambda: layers.ReLU(threshold=1.1), inputs=[wide]),
    dict(name="relu_all", layer=lambda: layers.ReLU(6.0, 0.1, 1.1), inputs=[wide]),
    dict(name="relu_slope_max", layer=lambda: layers.ReLU(6.0, 0.1), inputs=[wide]),
    dict(name="relu_float64", layer=lambda: layers.ReLU(2.5, 0.1, dtype="float64"), inputs=[wide]),
    dict(name="relu_mixed", layer=lambda: layers.ReLU(2.5, 0.1, dtype="mixed_float16"), inputs=[wide]),
    dict(name="leaky_relu", layer=layers.LeakyReLU, inputs=[wide], mask=[mask]),
    dict(name="leaky_relu_alpha", layer=lambda: layers.LeakyReLU(0.05), inputs=[wide]),
    dict(name="leaky_relu_zero", layer=lambda: layers.LeakyReLU(0.0), inputs=[wide]),
    dict(name="elu", layer=layers.ELU, inputs=[wide], mask=[mask]),
    dict(name="elu_alpha", layer=lambda: layers.ELU(0.7, dtype="float64"), inputs=[wide]),
    dict(name="elu_zero", layer=lambda: layers.ELU(0.0), inputs=[wide]),
    dict(name="thresholded_relu", layer=layers.ThresholdedReLU, inputs=[wide], mask=[mask]),
    dict(name="thresholded_relu_theta", layer=lambda: layers.ThresholdedReLU(0.3), inputs=[wide]),
    dict(name="prelu", layer=layers.PReLU, inputs=[wide], mask=[mask]),
    dict(name="prelu_shared", layer=lambda: layers.PReLU(
        "ones", "l2", constraints.NonNeg(), shared_axes=[1]), inputs=[wide]),
    dict(name="prelu_one_axis", layer=lambda: layers.PReLU(shared_axes=2), inputs=[wide]),
    dict(name="prelu_mixed", layer=lambda: layers.PReLU(dtype="mixed_bfloat16"), inputs=[wide]),
    dict(name="softmax", layer=layers.Softmax, inputs=[x]),
    dict(name="softmax_time", layer=lambda: layers.Softmax(axis=1), inputs=[wide]),
    dict(name="softmax_two", layer=lambda: layers.Softmax(axis=[1, 2]), inputs=[wide]),
    dict(name="softmax_masked", layer=layers.Softmax, inputs=[wide], mask=[full]),
    dict(name="softmax_two_masked", layer=lambda: layers.Softmax(axis=[1, 2]), inputs=[wide], mask=[full]),
    dict(name="softmax_float64", layer=lambda: layers.Softmax(axis=(0, 2), dtype="float64"), inputs=[wide], mask=[full]),
    dict(name="softmax_robust", layer=lambda: layers.Softmax(robust_masking=True), inputs=[wide], mask=[full]),
    dict(name="softmax_half", layer=lambda: layers.Softmax(dtype="mixed_float16"), inputs=[wide], mask=[full]),
]

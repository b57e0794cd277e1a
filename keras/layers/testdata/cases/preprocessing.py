"""Cases of Lambda, Rescaling and Normalization."""
import numpy as np
from tf_keras import layers

x = (2, 3, 4)
ints = np.array([[1, 0, 2], [0, 4, 255]], "uint8")
mask = np.array([[True, True, False], [True, False, False]])
N = layers.Normalization
batches = np.random.RandomState(5).normal(2, 3, (3, 4, 3, 2)).astype("float32")

CASES = [
    dict(name="lambda_abs", layer=lambda: layers.Lambda(abs), inputs=[x], mask=[mask]),
    dict(name="lambda_shape", layer=lambda: layers.Lambda(abs, output_shape=(3, 4), name="size"), inputs=[x]),
    dict(name="rescaling", layer=lambda: layers.Rescaling(1 / 127.5, offset=-1.0), inputs=[ints]),
    dict(name="rescaling_floats", layer=lambda: layers.Rescaling(0.5), inputs=[x], mask=[mask]),
    dict(name="rescaling_channels", layer=lambda: layers.Rescaling([0.5, 1.5, 2.0, 1.0], [0.0, 1.0, 2.0, 3.0], dtype="float64"), inputs=[x]),
    dict(name="normalization", layer=N, inputs=[x]),
    dict(name="normalization_ints", layer=N, inputs=[ints]),
    dict(name="normalization_axes", layer=lambda: N(axis=(1, -1)), inputs=[x]),
    dict(name="normalization_all", layer=lambda: N(axis=None), inputs=[x]),
    dict(name="normalization_mean", layer=lambda: N(mean=1.5, variance=2.0), inputs=[x]),
    dict(name="normalization_means", layer=lambda: N(mean=[1.5, 0.0, 1.0, 2.0], variance=[2.0, 1.0, 0.5, 0.0], dtype="float64"), inputs=[x]),
    dict(name="normalization_inverse", layer=lambda: N(invert=True, mean=1.5, variance=2.0), inputs=[x]),
    dict(name="normalization_inverse_adapted", layer=lambda: N(invert=True), inputs=[x]),
    *[dict(name=f"normalization_adapted_{n}", layer=lambda k=k: N(**k), inputs=[batches[0]], adapt=batches) for n, k in [
        ("last", {}), ("all", {"axis": None}), ("axes", {"axis": (1, 2)}), ("inverse", {"invert": True}), ("float64", {"dtype": "float64"}), ("mixed", {"dtype": "mixed_float16"})]],
    dict(name="normalization_adapted_ints", layer=N, inputs=[ints], adapt=np.array([[[1, 5], [2, 9]], [[7, 7], [0, 3]]])[:, :, [0, 1, 1]].copy()),
    dict(name="normalization_adapted_vectors", layer=lambda: N(axis=None), inputs=[np.array([1.0, 2.0], "float32")], adapt=np.array([[1, 5], [2, 9.5]], "float32")),
]

"""Cases of the merging layers."""
import numpy as np
from tf_keras import layers

x = (2, 3, 4)
mask = np.array([[True, True, False], [True, False, False]])
other = np.array([[True, False, True], [True, True, False]])


def rows(name, cls):
    return [
        dict(name=name, layer=cls, inputs=[x, x]),
        dict(name=name + "_masks", layer=cls, inputs=[x, x], mask=[mask, other]),
        dict(name=name + "_one_mask", layer=cls, inputs=[x, x], mask=[mask, None]),
        dict(name=name + "_ranks", layer=cls, inputs=[(2, 3, 4), (2, 4)]),
        dict(name=name + "_broadcast", layer=lambda: cls(dtype="float64"), inputs=[(2, 3, 1), (2, 1, 4)]),
    ]


CASES = [
    *rows("subtract", layers.Subtract),
    dict(name="add_three", layer=layers.Add, inputs=[x, x, (2, 4)], mask=[mask, None, None]),
    *rows("add", layers.Add),
    *rows("multiply", layers.Multiply),
    *rows("average", layers.Average),
    dict(name="average_three", layer=layers.Average, inputs=[x, x, x]),
    *rows("maximum", layers.Maximum),
    *rows("minimum", layers.Minimum),
    dict(name="add_ints", layer=layers.Add, inputs=[np.array([[1, 2]], "int32"), np.array([[3, 4]], "int32")]),
    dict(name="add_mixed", layer=lambda: layers.Add(dtype="mixed_bfloat16"), inputs=[x, x]),
    dict(name="concatenate", layer=layers.Concatenate, inputs=[x, (2, 3, 2), (2, 3, 1)]),
    dict(name="concatenate_masks", layer=layers.Concatenate, inputs=[x, (2, 3, 2)], mask=[mask, other]),
    dict(name="concatenate_one_mask", layer=layers.Concatenate, inputs=[x, (2, 3, 2)], mask=[None, other]),
    dict(name="concatenate_time", layer=lambda: layers.Concatenate(axis=1), inputs=[x, (2, 2, 4)]),
    dict(name="concatenate_time_masks", layer=lambda: layers.Concatenate(axis=1), inputs=[x, x], mask=[mask, other]),
    dict(name="concatenate_batch", layer=lambda: layers.Concatenate(axis=0), inputs=[x, (1, 3, 4)]),
    dict(name="dot", layer=lambda: layers.Dot(axes=1), inputs=[(3, 4), (3, 4)]),
    dict(name="dot_normalized", layer=lambda: layers.Dot(axes=-1, normalize=True), inputs=[(3, 4), (3, 4)]),
    dict(name="dot_axes", layer=lambda: layers.Dot(axes=(1, 2)), inputs=[(2, 3, 4), (2, 5, 3)], mask=[mask, None]),
    dict(name="dot_last", layer=lambda: layers.Dot(axes=-1), inputs=[(2, 3, 4), (2, 5, 4)]),
    dict(name="dot_matrix_vector", layer=lambda: layers.Dot(axes=(2, 1)), inputs=[(2, 3, 4), (2, 4)]),
    dict(name="dot_vector_matrix", layer=lambda: layers.Dot(axes=(1, -2)), inputs=[(2, 3), (2, 3, 4)]),
    dict(name="dot_four", layer=lambda: layers.Dot(axes=(3, 2), normalize=True), inputs=[(2, 3, 2, 4), (2, 5, 4)]),
]

"""Cases of the layers that only the ConvNeXt models have."""
from tf_keras.src.applications.convnext import LayerScale, StochasticDepth

image = (2, 3, 2, 4)

CASES = [
    dict(name="scale", layer=lambda: LayerScale(1e-6, 4), inputs=[image]),
    dict(name="scale_options", layer=lambda: LayerScale(0.5, 4, name="s", dtype="float64", trainable=False), inputs=[(2, 4)]),
    dict(name="scale_mixed", layer=lambda: LayerScale(0.5, 4, dtype="mixed_float16"), inputs=[image]),
    dict(name="depth", layer=lambda: StochasticDepth(0.25), inputs=[image], training=[False]),
    dict(name="depth_none", layer=lambda: StochasticDepth(0.0, name="d"), inputs=[(2, 4)]),
    dict(name="depth_float64", layer=lambda: StochasticDepth(0.5, dtype="float64"), inputs=[(3,)], training=[False]),
]

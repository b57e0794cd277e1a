"""Cases of convolutions, transposed, depthwise, separable and local ones."""
from tf_keras import layers as L

line, image, volume = (2, 6, 2), (2, 5, 6, 2), (2, 4, 4, 3, 2)
first = {"data_format": "channels_first"}
regular = dict(kernel_regularizer="l2", bias_regularizer="l1", activity_regularizer="l2", kernel_constraint="max_norm",
               bias_constraint="non_neg", kernel_initializer="he_normal", bias_initializer="ones")


def moved(shape):
    return (shape[0], shape[-1], *shape[1:-1])


CASES = []
for n, shape in [("1D", line), ("2D", image), ("3D", volume)]:
    conv, rank = getattr(L, "Conv" + n), int(n[0])

    def make(layer=conv, filters=2, size=3, **kw):
        return lambda: layer(filters, size, **kw)

    # TensorFlow adds up bfloat16 products of volumes in bfloat16, which is too coarse to compare.
    mixed = "mixed_float16" if rank == 3 else "mixed_bfloat16"
    small = dict(filters=2, size=2)
    CASES += [
        dict(name=f"conv{n}", layer=make(), inputs=[shape]),
        dict(name=f"conv{n}_strides_same", layer=make(strides=2, padding="same", activation="tanh"), inputs=[shape]),
        dict(name=f"conv{n}_dilation", layer=make(size=2, dilation_rate=2, use_bias=False), inputs=[shape]),
        dict(name=f"conv{n}_dilation_same", layer=make(**small, dilation_rate=2, padding="SAME"), inputs=[shape]),
        dict(name=f"conv{n}_groups", layer=make(size=2, groups=2), inputs=[shape]),
        dict(name=f"conv{n}_options", layer=make(**small, name="c", **regular), inputs=[shape]),
        dict(name=f"conv{n}_first", layer=make(size=2, activation="softmax", use_bias=False, **first), inputs=[moved(shape)]),
        dict(name=f"conv{n}_first_strides", layer=make(strides=2, padding="same", **first), inputs=[moved(shape)]),
        dict(name=f"conv{n}_batches", layer=make(**small), inputs=[(2, *shape)]),
        dict(name=f"conv{n}_float64", layer=make(**small, dtype="float64"), inputs=[shape]),
        dict(name=f"conv{n}_mixed", layer=make(**small, dtype=mixed), inputs=[shape]),
        dict(name=f"conv{n}_frozen", layer=make(**small, trainable=False), inputs=[shape]),
    ]
    turned = getattr(L, f"Conv{n}Transpose")
    CASES += [
        dict(name=f"turned{n}", layer=make(turned), inputs=[shape]),
        dict(name=f"turned{n}_strides", layer=make(turned, strides=3, size=2, activation="tanh"), inputs=[shape]),
        dict(name=f"turned{n}_strides_same", layer=make(turned, strides=2, padding="same"), inputs=[shape]),
        dict(name=f"turned{n}_more", layer=make(turned, strides=2, output_padding=1, use_bias=False), inputs=[shape]),
        dict(name=f"turned{n}_more_same", layer=make(turned, strides=3, padding="same", output_padding=0), inputs=[shape]),
        dict(name=f"turned{n}_options", layer=make(turned, **small, name="c", **regular), inputs=[shape]),
        dict(name=f"turned{n}_first", layer=make(turned, **small, strides=2, activation="softmax", use_bias=False, **first), inputs=[moved(shape)]),
        dict(name=f"turned{n}_float64", layer=make(turned, **small, dtype="float64"), inputs=[shape]),
        dict(name=f"turned{n}_mixed", layer=make(turned, **small, dtype=mixed), inputs=[shape]),
    ]
    if rank < 3:
        CASES += [
            dict(name=f"turned{n}_dilation", layer=make(turned, dilation_rate=2), inputs=[shape]),
            dict(name=f"turned{n}_dilation_same", layer=make(turned, dilation_rate=2, padding="same"), inputs=[shape]),
        ]
        depthwise = getattr(L, "DepthwiseConv" + n)
        separable = getattr(L, "SeparableConv" + n)
        each = dict(depthwise_regularizer="l1", depthwise_constraint="max_norm", depthwise_initializer="he_uniform", bias_regularizer="l2",
                    activity_regularizer="l1", bias_constraint="unit_norm", bias_initializer="ones")

        CASES += [
            dict(name=f"depthwise{n}", layer=lambda depthwise=depthwise: depthwise(3), inputs=[shape]),
            dict(name=f"depthwise{n}_strides_same", layer=lambda depthwise=depthwise: depthwise(3, strides=2, padding="same", depth_multiplier=2, activation="relu"), inputs=[shape]),
            dict(name=f"depthwise{n}_dilation", layer=lambda depthwise=depthwise: depthwise(2, dilation_rate=2, use_bias=False), inputs=[shape]),
            dict(name=f"depthwise{n}_options", layer=lambda depthwise=depthwise, each=each: depthwise(2, name="d", **each), inputs=[shape]),
            dict(name=f"depthwise{n}_first", layer=lambda depthwise=depthwise: depthwise(2, depth_multiplier=2, activation="softmax", use_bias=False, **first), inputs=[moved(shape)]),
            dict(name=f"depthwise{n}_float64", layer=lambda depthwise=depthwise: depthwise(2, dtype="float64"), inputs=[shape]),
            dict(name=f"depthwise{n}_mixed", layer=lambda depthwise=depthwise: depthwise(2, dtype="mixed_float16"), inputs=[shape]),
            dict(name=f"separable{n}", layer=make(separable), inputs=[shape]),
            dict(name=f"separable{n}_strides_same", layer=make(separable, strides=2, padding="same", depth_multiplier=2, activation="relu"), inputs=[shape]),
            dict(name=f"separable{n}_dilation", layer=make(separable, **small, dilation_rate=2, use_bias=False), inputs=[shape]),
            dict(name=f"separable{n}_options", layer=make(separable, **small, name="d", pointwise_regularizer="l2", pointwise_constraint="non_neg", pointwise_initializer="ones", **each), inputs=[shape]),
            dict(name=f"separable{n}_first", layer=make(separable, **small, activation="softmax", use_bias=False, **first), inputs=[moved(shape)]),
            dict(name=f"separable{n}_float64", layer=make(separable, **small, dtype="float64"), inputs=[shape]),
        ]
        local = getattr(L, "LocallyConnected" + n)
        for i in (1, 2, 3):
            CASES += [
                dict(name=f"local{n}_{i}", layer=make(local, implementation=i), inputs=[shape]),
                dict(name=f"local{n}_{i}_strides", layer=make(local, **small, implementation=i, strides=2, use_bias=False, activation="tanh"), inputs=[shape]),
                dict(name=f"local{n}_{i}_first", layer=make(local, implementation=i, **first), inputs=[moved(shape)]),
                dict(name=f"local{n}_{i}_options", layer=make(local, **small, implementation=i, name="l", **regular), inputs=[shape]),
                dict(name=f"local{n}_{i}_float64", layer=make(local, **small, implementation=i, dtype="float64"), inputs=[shape]),
            ]
            if i > 1:
                CASES += [
                    dict(name=f"local{n}_{i}_same", layer=make(local, implementation=i, padding="same", strides=2), inputs=[shape]),
                    dict(name=f"local{n}_{i}_same_even", layer=make(local, **small, implementation=i, padding="same", **first), inputs=[moved(shape)]),
                ]
CASES += [
    dict(name="conv1D_causal", layer=lambda: L.Conv1D(3, 3, padding="causal", dilation_rate=2), inputs=[line]),
    dict(name="conv1D_causal_first", layer=lambda: L.Conv1D(3, 2, padding="causal", strides=2, **first), inputs=[moved(line)]),
    dict(name="conv1D_causal_batches", layer=lambda: L.Conv1D(3, 3, padding="causal"), inputs=[(2, *line)]),
    dict(name="conv1D_first_batches", layer=lambda: L.Conv1D(3, 3, **first), inputs=[(2, *moved(line))]),
    dict(name="conv2D_uneven", layer=lambda: L.Conv2D(3, (3, 2), strides=(1, 2), padding="same"), inputs=[image]),
    dict(name="conv2D_shape", layer=lambda: L.Conv2D(3, 2, input_shape=(None, None, 4)), inputs=[image]),
    dict(name="conv2D_float16", layer=lambda: L.Conv2D(3, 2, dtype="float16"), inputs=[image]),
    dict(name="turned2D_uneven", layer=lambda: L.Conv2DTranspose(3, (3, 2), strides=(1, 2), output_padding=(0, 1)), inputs=[image]),
    dict(name="separable1D_causal", layer=lambda: L.SeparableConv1D(3, 3, padding="causal", dilation_rate=2), inputs=[line]),
]
for case in CASES:
    if "options" not in case["name"]:
        case["training"] = [False]  # it changes nothing

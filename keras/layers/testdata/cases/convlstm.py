"""Cases of ConvLSTM1D, ConvLSTM2D and ConvLSTM3D."""
import numpy as np
from tf_keras import layers

mask = np.array([[True, True, False], [False, True, False]])
rng = np.random.RandomState(3)
line, image, volume = (2, 3, 5, 2), (2, 3, 4, 5, 2), (1, 2, 3, 4, 3, 2)


def state(*shape):
    return rng.uniform(-1, 1, shape).astype("float32")


C1, C2, C3 = layers.ConvLSTM1D, layers.ConvLSTM2D, layers.ConvLSTM3D
CASES = [
    dict(name="line", layer=lambda: C1(3, 2), inputs=[line]),
    dict(name="line_same", layer=lambda: C1(3, 3, padding="same", return_sequences=True, return_state=True, strides=2), inputs=[line], mask=[mask]),
    dict(name="line_first", layer=lambda: C1(2, 3, data_format="channels_first", return_sequences=True), inputs=[(2, 3, 2, 5)], mask=[mask]),
    dict(name="line_dilated", layer=lambda: C1(2, 2, dilation_rate=2), inputs=[line]),
    dict(name="image", layer=lambda: C2(3, (2, 3)), inputs=[image]),
    dict(name="image_options", layer=lambda: C2(
        2, 2, activation="relu", recurrent_activation="sigmoid", use_bias=False, unit_forget_bias=False, kernel_initializer="he_normal",
        kernel_regularizer="l1", recurrent_regularizer="l2", activity_regularizer="l2", recurrent_constraint="max_norm", name="c"), inputs=[image]),
    dict(name="image_masked", layer=lambda: C2(2, 2, go_backwards=True, return_sequences=True), inputs=[image], mask=[mask]),
    dict(name="image_last_masked", layer=lambda: C2(2, 2, zero_output_for_mask=True), inputs=[image], mask=[mask]),
    dict(name="image_first", layer=lambda: C2(2, 2, data_format="channels_first", strides=(1, 2), padding="same", return_state=True), inputs=[(2, 3, 2, 4, 5)]),
    dict(name="image_initial", layer=lambda: C2(2, 2), inputs=[image], args={"initial_state": [(2, 3, 4, 2), (2, 3, 4, 2)]}),
    dict(name="image_stateful", layer=lambda: C2(2, 2, stateful=True, batch_input_shape=image), inputs=[image], states=[state(2, 3, 4, 2), state(2, 3, 4, 2)]),
    dict(name="image_dropout", layer=lambda: C2(2, 2, dropout=0.5, recurrent_dropout=0.5), inputs=[image], training=[False]),
    dict(name="image_float64", layer=lambda: C2(2, 2, dtype="float64"), inputs=[image]),
    dict(name="image_frozen", layer=lambda: C2(2, 2, trainable=False), inputs=[image]),
    dict(name="image_both", layer=lambda: layers.Bidirectional(C2(2, 2, return_sequences=True)), inputs=[image], mask=[mask]),
    dict(name="volume", layer=lambda: C3(2, 2), inputs=[volume]),
    dict(name="volume_first", layer=lambda: C3(2, (1, 2, 3), data_format="channels_first", padding="same", return_sequences=True), inputs=[(1, 2, 2, 3, 4, 3)]),
]

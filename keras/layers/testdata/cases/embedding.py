"""Cases of Embedding, Masking, Identity, Reshape, Permute and RepeatVector."""
import numpy as np
from tf_keras import layers, regularizers

ids = np.array([[1, 0, 2], [0, 4, 4]], "int32")
x = (2, 3, 4)
mask = np.array([[True, True, False], [True, False, False]])
padded = np.random.RandomState(1).uniform(-1, 1, (2, 3, 2)).astype("float32")
padded[0, 2] = 0
padded[1, 0, 0] = 0
ones = padded.copy()
ones[1, 1:] = 1

CASES = [
    dict(name="embedding", layer=lambda: layers.Embedding(5, 3), inputs=[ids]),
    dict(name="embedding_masked", layer=lambda: layers.Embedding(5, 3, mask_zero=True), inputs=[ids]),
    dict(name="embedding_int64", layer=lambda: layers.Embedding(5, 3, mask_zero=True, input_length=3), inputs=[ids.astype("int64")]),
    dict(name="embedding_floats", layer=lambda: layers.Embedding(5, 2, input_length=3), inputs=[ids.astype("float32")]),
    dict(name="embedding_cube", layer=lambda: layers.Embedding(5, 2, input_length=(3, None)), inputs=[ids.reshape(1, 3, 2)]),
    dict(name="embedding_everything", layer=lambda: layers.Embedding(
        5, 3, embeddings_initializer="normal", embeddings_regularizer="l2", activity_regularizer=regularizers.L1(0.2),
        embeddings_constraint="unit_norm", mask_zero=True, input_length=3, name="words"), inputs=[ids]),
    dict(name="embedding_mixed", layer=lambda: layers.Embedding(5, 3, dtype="mixed_bfloat16"), inputs=[ids]),
    dict(name="embedding_batch_shape", layer=lambda: layers.Embedding(5, 3, batch_input_shape=(2, 3)), inputs=[ids]),
    dict(name="masking", layer=layers.Masking, inputs=[padded]),
    dict(name="masking_value", layer=lambda: layers.Masking(1.0), inputs=[ones], mask=[mask]),
    dict(name="masking_float64", layer=lambda: layers.Masking(dtype="float64"), inputs=[padded.astype("float64")]),
    dict(name="masking_mixed", layer=lambda: layers.Masking(0.1, dtype="mixed_float16"), inputs=[padded]),
    dict(name="identity", layer=layers.Identity, inputs=[x]),
    dict(name="identity_masked", layer=layers.Identity, inputs=[x], mask=[mask]),
    dict(name="identity_two", layer=layers.Identity, inputs=[x, (2, 1)]),
    dict(name="reshape", layer=lambda: layers.Reshape((2, 6)), inputs=[x], mask=[mask]),
    dict(name="reshape_rest", layer=lambda: layers.Reshape((-1, 2)), inputs=[x]),
    dict(name="reshape_flat", layer=lambda: layers.Reshape((12,), input_shape=(3, 4)), inputs=[x]),
    dict(name="reshape_ints", layer=lambda: layers.Reshape((3, 1)), inputs=[ids]),
    dict(name="permute", layer=lambda: layers.Permute((2, 1)), inputs=[x], mask=[mask]),
    dict(name="permute_four", layer=lambda: layers.Permute((3, 1, 2)), inputs=[(2, 3, 4, 5)]),
    dict(name="repeat_vector", layer=lambda: layers.RepeatVector(3), inputs=[(2, 4)]),
    dict(name="activity_regularization", layer=lambda: layers.ActivityRegularization(0.1, 0.2), inputs=[x], mask=[mask]),
    dict(name="activity_regularization_l2", layer=lambda: layers.ActivityRegularization(l2=0.3), inputs=[(4, 3)]),
    dict(name="spatial_dropout1d", layer=lambda: layers.SpatialDropout1D(0.3, seed=4), inputs=[x], mask=[mask], training=[False]),
    dict(name="spatial_dropout2d", layer=lambda: layers.SpatialDropout2D(0.3), inputs=[(2, 3, 4, 5)], training=[False]),
    dict(name="spatial_dropout3d", layer=lambda: layers.SpatialDropout3D(0.3, data_format="channels_first"), inputs=[(2, 1, 2, 3, 2)], training=[False]),
    dict(name="spatial_dropout_zero", layer=lambda: layers.SpatialDropout1D(0.0), inputs=[x]),
    dict(name="gaussian_dropout", layer=lambda: layers.GaussianDropout(0.3, seed=1), inputs=[x], mask=[mask], training=[False]),
    dict(name="gaussian_dropout_zero", layer=lambda: layers.GaussianDropout(0.0), inputs=[x]),
    dict(name="gaussian_noise", layer=lambda: layers.GaussianNoise(0.3, seed=1), inputs=[x], mask=[mask], training=[False]),
    dict(name="gaussian_noise_zero", layer=lambda: layers.GaussianNoise(0.0), inputs=[x]),
    dict(name="alpha_dropout", layer=lambda: layers.AlphaDropout(0.3, noise_shape=(2, 1, 4), seed=1), inputs=[x], mask=[mask], training=[False]),
    dict(name="alpha_dropout_zero", layer=lambda: layers.AlphaDropout(0.0), inputs=[x]),
]

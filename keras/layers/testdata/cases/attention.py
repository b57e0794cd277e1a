"""Cases of EinsumDense, the attention layers and RandomFourierFeatures."""
import numpy as np
from tf_keras import initializers, layers, regularizers
from tf_keras.src.layers.kernelized import RandomFourierFeatures

q, v = (2, 3, 4), (2, 5, 4)
qmask = np.array([[True, True, False], [True, False, False]])
vmask = np.array([[True, True, False, True, True], [True, False, True, False, False]])
amask = np.random.RandomState(5).uniform(size=(2, 3, 5)) > 0.4
amask[..., 0] = True
M = layers.MultiHeadAttention
E = layers.EinsumDense

CASES = [
    dict(name="einsum", layer=lambda: E("ab,bc->ac", output_shape=3, bias_axes="c"), inputs=[(2, 4)]),
    dict(name="einsum_no_bias", layer=lambda: E("ab,bc->ac", 3, activation="relu"), inputs=[(2, 4)]),
    dict(name="einsum_sequence", layer=lambda: E("abc,cd->abd", (None, 5), bias_axes="d"), inputs=[q], mask=[qmask]),
    dict(name="einsum_bias_two", layer=lambda: E("abc,cd->abd", (3, 5), bias_axes="bd"), inputs=[q]),
    dict(name="einsum_bias_middle", layer=lambda: E("abc,cd->abd", (3, 5), bias_axes="b"), inputs=[q]),
    dict(name="einsum_left", layer=lambda: E("...x,xy->...y", 5, bias_axes="y"), inputs=[(2, 3, 2, 4)]),
    dict(name="einsum_left_two", layer=lambda: E("...bx,xy->...by", (3, 5), bias_axes="by"), inputs=[(2, 3, 4)]),
    dict(name="einsum_right", layer=lambda: E("ab...,bc->ac...", 5, bias_axes="c"), inputs=[q]),
    dict(name="einsum_heads", layer=lambda: E("abc,cde->abde", (None, 2, 3), bias_axes="de"), inputs=[q]),
    dict(name="einsum_reduce", layer=lambda: E("abcd,cde->abe", (None, 5), bias_axes="e"), inputs=[(2, 3, 2, 4)]),
    dict(name="einsum_everything", layer=lambda: E(
        "ab,bc->ac", 3, activation="tanh", bias_axes="c", kernel_initializer="he_normal", bias_initializer="ones",
        kernel_regularizer="l2", bias_regularizer="l1", activity_regularizer=regularizers.L2(0.3),
        kernel_constraint="unit_norm", bias_constraint="non_neg", name="head"), inputs=[(2, 4)]),
    dict(name="einsum_mixed", layer=lambda: E("ab,bc->ac", 3, bias_axes="c", dtype="mixed_bfloat16"), inputs=[(2, 4)]),
    dict(name="attention", layer=layers.Attention, inputs=[q, v]),
    dict(name="attention_key", layer=layers.Attention, inputs=[q, (2, 5, 2), v]),
    dict(name="attention_masks", layer=layers.Attention, inputs=[q, v], mask=[qmask, vmask]),
    dict(name="attention_value_mask", layer=layers.Attention, inputs=[q, v, v], mask=[None, vmask, None]),
    dict(name="attention_scale", layer=lambda: layers.Attention(use_scale=True), inputs=[q, v], kwargs={"return_attention_scores": True}),
    dict(name="attention_concat", layer=lambda: layers.Attention(score_mode="concat"), inputs=[q, v]),
    dict(name="attention_concat_scale", layer=lambda: layers.Attention(True, "concat"), inputs=[q, v], mask=[qmask, vmask]),
    dict(name="attention_causal", layer=layers.Attention, inputs=[q, v], mask=[None, vmask],
         kwargs={"use_causal_mask": True, "return_attention_scores": True}),
    dict(name="attention_dropout", layer=lambda: layers.Attention(dropout=0.4), inputs=[q, v], training=[False]),
    dict(name="attention_half", layer=lambda: layers.Attention(True, dtype="mixed_float16"), inputs=[q, v], mask=[None, vmask]),
    dict(name="additive_attention", layer=layers.AdditiveAttention, inputs=[q, v]),
    dict(name="additive_attention_masks", layer=layers.AdditiveAttention, inputs=[q, v], mask=[qmask, vmask], kwargs={"return_attention_scores": True}),
    dict(name="additive_attention_plain", layer=lambda: layers.AdditiveAttention(use_scale=False, dropout=0.2), inputs=[q, v], kwargs={"use_causal_mask": True}, training=[False]),
    dict(name="multi_head", layer=lambda: M(2, 3), inputs=[q], tensors={"value": v}),
    dict(name="multi_head_key", layer=lambda: M(2, 3, value_dim=5), inputs=[q], tensors={"value": (2, 5, 2), "key": (2, 5, 6)}),
    dict(name="multi_head_scores", layer=lambda: M(2, 3), inputs=[q], tensors={"value": v}, kwargs={"return_attention_scores": True}),
    dict(name="multi_head_masks", layer=lambda: M(2, 3), inputs=[q], mask=[qmask], tensors={"value": v}, tensor_masks={"value": vmask}),
    dict(name="multi_head_causal", layer=lambda: M(2, 3), inputs=[q], tensors={"value": v, "attention_mask": amask},
         kwargs={"use_causal_mask": True, "return_attention_scores": True}),
    dict(name="multi_head_attention_mask", layer=lambda: M(2, 3, softmax_robust_masking=True), inputs=[q], tensors={"value": v, "attention_mask": amask}),
    dict(name="multi_head_int_mask", layer=lambda: M(2, 3), inputs=[q], tensors={"value": v, "attention_mask": amask.astype("int32")}),
    dict(name="multi_head_output", layer=lambda: M(2, 3, output_shape=7, use_bias=False), inputs=[q], tensors={"value": v}),
    dict(name="multi_head_output_two", layer=lambda: M(2, 3, output_shape=(7, 2)), inputs=[q], tensors={"value": v}),
    dict(name="multi_head_axes", layer=lambda: M(2, 3, attention_axes=(2,)), inputs=[(2, 3, 2, 4)], tensors={"value": (2, 3, 5, 4)}),
    dict(name="multi_head_two_axes", layer=lambda: M(2, 3), inputs=[(2, 3, 2, 4)], tensors={"value": (2, 2, 3, 4)}),
    dict(name="multi_head_dropout", layer=lambda: M(2, 3, dropout=0.3), inputs=[q], tensors={"value": v}, training=[False]),
    dict(name="multi_head_everything", layer=lambda: M(
        2, 3, kernel_initializer="he_normal", bias_initializer="ones", kernel_regularizer="l2", bias_regularizer="l1",
        kernel_constraint="non_neg", bias_constraint="non_neg", name="heads"), inputs=[q], tensors={"value": v}),
    dict(name="multi_head_float64", layer=lambda: M(2, 3, dtype="float64"), inputs=[q], tensors={"value": v}),
    dict(name="fourier", layer=lambda: RandomFourierFeatures(5), inputs=[(2, 4)]),
    dict(name="fourier_laplacian", layer=lambda: RandomFourierFeatures(5, "laplacian", trainable=True), inputs=[(2, 4)]),
    dict(name="fourier_scale", layer=lambda: RandomFourierFeatures(5, initializers.HeNormal(seed=2), scale=2.5, trainable=True, dtype="float64"), inputs=[(2, 4)]),
]

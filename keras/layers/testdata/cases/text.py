"""Cases of TextVectorization."""
import numpy as np
import tensorflow as tf
from tf_keras import layers as L

texts = np.array(["The cat, the DOG!", "", "a  cat_is\tan Ünder-dog; é"], np.str_)
texts = np.char.encode(texts, "utf-8")
column = texts[:, None].copy()
tokens = np.array([[b"cat", b"dog", b"x"], [b"ant", b"", b"cat"]], np.bytes_)
vocab = ["cat", "dog", "the", "a"]
idf = [0.5, 1.5, 0.25, 1.0]


def T(**kw):
    return lambda: L.TextVectorization(**kw)


batches = np.array([[b"the cat and the dog", b"a cat"], [b"The dog; the cow.", b"[UNK] a b c d"]], np.bytes_)

CASES = [
    dict(name="words", layer=T(vocabulary=vocab), inputs=[texts]),
    dict(name="column", layer=T(vocabulary=vocab), inputs=[column]),
    dict(name="cube", layer=T(vocabulary=vocab, ragged=True), inputs=[texts[:2].reshape(1, 2, 1)]),
    dict(name="scalar", layer=T(vocabulary=vocab), inputs=[np.array(texts[0], np.bytes_)]),
    dict(name="scalar_length", layer=T(vocabulary=vocab, output_sequence_length=6), inputs=[np.array(texts[0], np.bytes_)]),
    dict(name="length", layer=T(vocabulary=vocab, output_sequence_length=2), inputs=[texts]),
    dict(name="longer", layer=T(vocabulary=vocab, output_sequence_length=9), inputs=[column]),
    *[dict(name=f"standardize_{m}", layer=T(vocabulary=vocab, standardize=m), inputs=[texts]) for m in ["lower", "strip_punctuation", None]],
    dict(name="characters", layer=T(vocabulary=["c", "a", "é"], split="character"), inputs=[texts]),
    dict(name="characters_scalar", layer=T(vocabulary=["c", "a", "é"], split="character"), inputs=[np.array(texts[2], np.bytes_)]),
    dict(name="tokens", layer=T(vocabulary=vocab, split=None), inputs=[tokens]),
    dict(name="tokens_length", layer=T(vocabulary=vocab, split=None, output_sequence_length=5), inputs=[tokens]),
    dict(name="tokens_count", layer=T(vocabulary=vocab, split=None, output_mode="count"), inputs=[tokens]),
    dict(name="ngrams", layer=T(vocabulary=vocab + ["the cat", "cat the"], ngrams=2), inputs=[texts]),
    dict(name="ngrams_only", layer=T(vocabulary=["the cat", "cat the", "cat the dog"], ngrams=(2, 3)), inputs=[texts]),
    dict(name="ngrams_tokens", layer=T(vocabulary=["cat dog", "dog x"], split=None, ngrams=(2,)), inputs=[tokens]),
    dict(name="strings", layer=T(output_mode=None), inputs=[texts]),
    dict(name="strings_scalar", layer=T(output_mode=None, split="character"), inputs=[np.array(texts[2], np.bytes_)]),
    dict(name="strings_whole", layer=T(output_mode=None, split=None), inputs=[column]),
    dict(name="strings_ngrams", layer=T(output_mode=None, ngrams=3), inputs=[texts]),
    dict(name="ragged", layer=T(vocabulary=vocab, ragged=True), inputs=[texts]),
    *[dict(name=m, layer=T(vocabulary=vocab, output_mode=m), inputs=[texts]) for m in ["multi_hot", "count"]],
    dict(name="sparse", layer=T(vocabulary=vocab, output_mode="count", sparse=True), inputs=[texts]),
    dict(name="padded", layer=T(vocabulary=vocab, output_mode="multi_hot", max_tokens=8, pad_to_max_tokens=True), inputs=[texts]),
    dict(name="tf_idf", layer=T(vocabulary=vocab, idf_weights=idf, output_mode="tf-idf"), inputs=[texts]),
    dict(name="adapted", layer=T(), inputs=[texts], adapt=batches),
    dict(name="adapted_column", layer=T(max_tokens=5, ngrams=2), inputs=[column], adapt=batches[:, :, None].copy()),
    dict(name="adapted_count", layer=T(output_mode="count"), inputs=[texts], adapt=batches),
    dict(name="adapted_tf_idf", layer=T(output_mode="tf_idf"), inputs=[texts], adapt=batches),
    dict(name="adapted_tf_idf_padded", layer=T(output_mode="tf_idf", max_tokens=6, pad_to_max_tokens=True, split="character"), inputs=[texts], adapt=batches),
]

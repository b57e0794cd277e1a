"""Writes the fixtures of the ops that TensorFlow Text adds: tokens.json and
programs/tokens.json.

    pip install tensorflow-text==2.21.1
    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_tokens.py
"""
import glob
import os
import sys

import tensorflow as tf
import tensorflow_text
from tensorflow.python.framework import load_library

import gen_programs
import recorder
from recorder import case, one, s

OPS = {}
for so in glob.glob(os.path.join(os.path.dirname(tensorflow_text.__file__), "python/ops/*.so")):
    OPS.update(vars(load_library.load_op_library(so)))
wordpiece = OPS["wordpiece_tokenize_with_offsets"]

TEXTS = s("", "plain ASCII", "ÄÅ ﬁ Ⅷ ⅷ", "A\u030a e\u0301\u0323", "Straße İstanbul ΣΊΣΥΦΟΣ", "soft\u00adhy\u200bphen\ufeff", "ﷺ ㌀ ½", "한국어 \u1112\u1161\u11ab", "日本語ｶﾞ",
          b"a\xff\xfeb\xc3", b"\xed\xa0\x80x\xf0\x9f\x98", b"A\xcc", "\u0345\u0387\u1f80", "𝔘𝔫𝔦 \U0001d15e", "\u034fa\u0301\u0327", "ẞ ŉ ǰ", "\ufe0f\u2060x\u180e")
for form in ["NFC", "nfkc", "NFD", "NfKd"]:
    case("tokens", "NormalizeUTF8", [("input", TEXTS)], {"normalization_form": form}, raw=OPS["normalize_utf8"])
case("tokens", "NormalizeUTF8", [("input", one("Å"))], {"normalization_form": "NFD"}, raw=OPS["normalize_utf8"])
case("tokens", "NormalizeUTF8", [("input", s(shape=(0, 2)))], {"normalization_form": "NFC"}, raw=OPS["normalize_utf8"])
for x in [TEXTS, one("ÀB"), s(shape=(2, 0))]:
    case("tokens", "CaseFoldUTF8", [("input", x)], raw=OPS["case_fold_utf8"])
# Every letter of some scripts, and characters with more than one kind of mapping.
for lo, hi in [(0x80, 0x600), (0x1c90, 0x2100), (0x2100, 0x2200), (0x2460, 0x2500), (0xa640, 0xa7c0), (0xab30, 0xabc0), (0x13a0, 0x1400), (0xf900, 0xfb50), (0xff00, 0x10000), (0x10400, 0x10450), (0x1e900, 0x1e944), (0xe0000, 0xe0100)]:
    case("tokens", "CaseFoldUTF8", [("input", s(*[chr(r) for r in range(lo, hi)]))], raw=OPS["case_fold_utf8"])
    case("tokens", "NormalizeUTF8", [("input", s(*[chr(r) for r in range(lo, hi)]))], {"normalization_form": "NFKC"}, raw=OPS["normalize_utf8"])


def split(x, delim, keep=""):
    case("tokens", "RegexSplitWithOffsets", [("input", x), ("delim_regex_pattern", one(delim)), ("keep_delim_regex_pattern", one(keep))], raw=OPS["regex_split_with_offsets"])


WORDS = s("a b  c ", "", " ", "no-break", "x,y;  z!")
for d, k in [(r"(\s)", ""), (r"(\s)", r"(\s)"), (r"\s", ""), (r"(\s)+", ""), (r"(\s+|[,;!])", r"([,;!])"), (r"(\s+|(?:[,;!]))", r"\W"), (r"([a-z])", ""), (r"(\pL)", r"[ab]"), (r"(^[ab])", "")]:
    split(WORDS, d, k)
split(s("xa--by", b"x\xff-y\xff"), r"-(-)")
split(s("a1b22", shape=(1, 1)), r"()(\d)")
split(one("日本 語"), r"(\s|\p{Han})", r"\p{Han}")
split(s(), r"(a)")

tf.raw_ops.WordpieceTokenizeWithOffsets = wordpiece
VOCAB = ["[UNK]", "wa", "##nt", "##ed", "want", "un", "##a", "a", "##ff", "##able", "é", "##é", "b", "日"]
WORDS = ["wanted", "unaffable", "xyz", "", "wantéz", b"a\xffb", b"a\xe2\x82b", "日本a", "é"]


def pieces(name, words, **k):
    p = gen_programs.P(tf.string)
    h = p.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64, shared_name="t")
    import numpy as np
    init = p.InitializeTableV2(h, np.array([w.encode() for w in VOCAB], object), np.arange(len(VOCAB), dtype=np.int64) - (1 if k.pop("minus", False) else 0))
    attrs = dict(suffix_indicator="##", max_bytes_per_word=100, max_chars_per_token=0, use_unknown_token=True, unknown_token="[UNK]", split_unknown_characters=False, output_row_partition_type="row_lengths")
    attrs.update(k)
    p.ret(*p.WordpieceTokenizeWithOffsets(p.args[0], h, control=[init], **attrs))
    gen_programs.program("tokens", "wordpieces " + name, p, *[[w] for w in words])


ALL = [[w if isinstance(w, bytes) else w.encode() for w in WORDS]]
pieces("plainly", ALL + [[], b"wanted", [[b"un", b"wanted"]]])
pieces("splits", ALL + [[]], output_row_partition_type="row_splits")
for unknown in (True, False):
    pieces("of unknown characters %s" % unknown, ALL, split_unknown_characters=True, use_unknown_token=unknown)
    pieces("of short words %s" % unknown, ALL, max_bytes_per_word=5, use_unknown_token=unknown)
    pieces("or whole words %s" % unknown, ALL, use_unknown_token=unknown)
for n in (1, 2, 3, -1):
    pieces("of %d characters" % n, ALL, max_chars_per_token=n)
pieces("without a suffix", ALL, suffix_indicator="")
pieces("whose first has no number", ALL + [["[UNK]"]], minus=True)
gen_programs.write()
recorder.write()

"""Writes the fixtures of the kernels of strings: text.json.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_text.py
"""
from recorder import *  # noqa: F403


def text(op, *inputs, **attrs):
    names = [a.name for a in op_def_registry.get(op).input_arg]
    case("text", op, list(zip(names, inputs)), attrs)


def i32(*v):
    return np.array(v, np.int32)


def i64(*v):
    return np.array(v, np.int64)


ODD = s("", " a\tB \n", "Größe", "日本語", "😀x", "İΣΑΣ ΣΑ", "ßŉ ﬁ ı", "A\0B", shape=(2, 4))
BAD = s(b"a\xffB", b"\xe2\x82", b"\xe2\x82a", b"\xf0\x9f\x98", b"\xf0\x9f\x98\xf0\x9f\x98\x80", b"\xed\xa0\x80x", b"\xc0\x80", b"\xf4\x90\x80\x80",
        b"a\0b", b"\x01\x1f ", b"\xef\xbb\xbfa", b"\x80\x80")
for op in ["StringLower", "StringUpper"]:
    for e in ["", "utf-8"]:
        text(op, ODD, encoding=e)
        text(op, BAD, encoding=e)
    text(op, one("aZ"))
text("StringStrip", s(" a ", "\t\v\fx y\r\n", "", "  ", "\u00a0a", shape=(5, 1)))
for u in ["BYTE", "UTF8_CHAR"]:
    text("StringLength", ODD, unit=u)
    text("StringLength", BAD, unit=u)
    x = s("hello", "日本語x", "Größe", "abcde")
    for d in [i32, i64]:
        text("Substr", x, d(1, 2, 0, -2), d(2, 1, 9, 1), unit=u)
        text("Substr", x, np.array(1, d().dtype), np.array(3, d().dtype), unit=u)
    text("Substr", one("hello"), i32(0, -5, 5), i32(5, 1, 2), unit=u)
    text("Substr", s("hello", "world", shape=(2, 1)), i32(0, 1, 2), i32(1, 2, 3), unit=u)
    text("Substr", s("hello", "world"), np.array([[0, 1], [2, 3]], np.int32), np.array([[0, 1], [2, -1]], np.int32), unit=u)

case("text", "StringJoin", [("inputs", [s("a", "b", "c"), one("-x")])], {"separator": "/"})
case("text", "StringJoin", [("inputs", [one("a"), one("b")])])
case("text", "StringJoin", [("inputs", [s("a", "b", shape=(2, 1)), s("c", "d", shape=(2, 1)), one("")])], {"separator": ", "})
M = s(*"abcdefghijkl", shape=(2, 3, 2))
for axes in [[0], [1], [-1], [0, 2], [2, 0], [2, 1, 0], []]:
    for keep in [False, True]:
        text("ReduceJoin", M, i32(*axes), keep_dims=keep, separator=".")
text("ReduceJoin", M, np.int32(1))
text("ReduceJoin", np.zeros((0, 2), object), i32(0), separator=",")
for d in [i32, i64]:
    text("UnsortedSegmentJoin", s("a", "b", "c", "d"), d(2, 0, 2, 0), np.array(4, d().dtype), separator=":")
    text("UnsortedSegmentJoin", s("a", "b", "c", "d", shape=(2, 2)), d(1, 1), np.int32(2))
    text("UnsortedSegmentJoin", s("a", "b", "c", "d", shape=(2, 2)), np.array([[1, 0], [1, 1]], d().dtype), np.int64(2), separator=" ")


def fmt(inputs, **attrs):
    case("text", "StringFormat", [("inputs", inputs)], attrs)


fmt([np.array([[1.5, 2], [3, 4]], np.float32)], template="a {} b", placeholder="{}")
fmt([one("x"), s("p", 'q"\n\'\\\x01ü')], template="%s %s")
fmt([np.arange(10, dtype=np.int32)], template="%s")
fmt([np.arange(10, dtype=np.int64)], template="%s", summarize=-1)
fmt([np.arange(24, dtype=np.int32).reshape(2, 3, 4)], template="%s|", summarize=1)
fmt([np.arange(24, dtype=np.int32).reshape(2, 3, 4)], template="|%s", summarize=2)
fmt([np.array([True, False]), np.array(1.5), np.zeros((0, 2), np.float32)], template="%s%s%s")
fmt([np.zeros((2, 0), np.float32)], template="%s")
fmt([np.arange(7, dtype=np.uint8), np.arange(6, dtype=np.int32)], template="%s %s")
fmt([np.array([1e-10, 123456789., np.inf, np.nan], np.float32)], template="%s", summarize=9)
fmt([np.arange(4, dtype=np.int32)], template="%s", summarize=0)
fmt([], template="plain")

ODDF = [np.inf, -np.inf, np.nan, 1.5, -0.0, 1e20, 1e-5, 123456.789]
for d in F:
    for k in [{}, {"scientific": True}, {"shortest": True}, {"precision": 2}, {"precision": 0, "shortest": True}, {"precision": 3, "scientific": True}]:
        text("AsString", np.array([v for v in ODDF if d not in ("float16",) or abs(v) < 6e4 or abs(v) == np.inf], np_of(d)), **k)
for f in ["", "0", " ", "+", "-", "#"]:
    for w in [-1, 10]:
        for k in [{}, {"shortest": True, "precision": 0}, {"scientific": True, "precision": 2}]:
            text("AsString", np.array(ODDF, np.float32), fill=f, width=w, **k)
        if f != "#":
            text("AsString", np.array([3, -4, 0], np.int32), fill=f, width=w)
for d in I + U:
    text("AsString", np.array([[0, 1], [100, np.iinfo(np_of(d)).max]], np_of(d)))
for d in C:
    text("AsString", rand(d, (3,)), precision=2, width=7)
    text("AsString", rand(d, (3,)))
text("AsString", np.array([True, False]), width=9)
text("AsString", s("x", "yz"), width=9)
text("AsString", s("x", "yz"), width=4, fill="-")

NUM = ["1", " 1 ", "+1", "-0", "12345", "\t7\n"]
for d in ["float32", "float64", "int32", "int64", "uint32", "uint64"]:
    text("StringToNumber", s(*[n for n in NUM if n != "-0" or d[0] != "u"]), out_type=tf.as_dtype(d))
for d in ["float32", "float64"]:
    text("StringToNumber", s("0x1p3", "0x10", "inf", "-Infinity", "1e40", "1e-50", "1.", ".5", "infinity", "INF", "-1.5e-3", "3.4028235e38", "0.1", "16777217", "1e-45"),
         out_type=tf.as_dtype(d))
    text("StringToNumber", s("nan", "NAN", "-nan", "+nan"), out_type=tf.as_dtype(d))
text("StringToNumber", s("2147483647", "-2147483648"), out_type=tf.int32)
text("StringToNumber", s("9223372036854775807", "-9223372036854775808"), out_type=tf.int64)
text("StringToNumber", s("18446744073709551615"), out_type=tf.uint64)
text("StringToNumber", one("3"))

for p, strs in [("a+", s("", "a", "aaa", "aab", "ba")), (".*", s("", "x", "a\nb", "日本")), ("^(s3://.*|gs://.*)$", s("s3://b", "gs://", "/tmp/x")), ("a|ab", s("ab", "a", "b")),
                ("(?i)ABC", s("abC", "abd")), (r"\d{2,3}\pL\x{65E5}?", s("12a", "123é日", "1b")), (r"\Qa.b\E\b", s("a.b", "axb")), (".", s(b"\xff", "ü")), ("(?s).", s("\n", "\r")), ("", s("", "a"))]:
    text("StaticRegexFullMatch", strs, pattern=p)
    text("RegexFullMatch", strs.reshape(1, -1), one(p))
for p, r, strs in [("b", "[\\0]", s("abcb", "", "xyz")), ("(a)(b)?", "\\2\\1\\\\", s("abab", "aab", "c")), ("x*", "-", s("abc", "xxa", "")), ("[^a-z ]+", "", s("Hello, World 12", "ok")),
                   ("^a|b$", "#", s("aab", "bab")), (r"\s+", " ", s(" a \t\n b ", "日本 \u3000語")), ("(?m)^", "> ", s("a\nb")), ("a", "\\1x", s("aba")), ("a", "p\\xq", s("aba")),
                   ("a", "q\\", s("aba")), ("", ".", s("日本")), (r"(\d+)-(\d+)", r"\2-\1", s("12-34 5-6"))]:
    for g in [True, False]:
        text("StaticRegexReplace", strs, pattern=p, rewrite=r, replace_global=g)
        text("RegexReplace", strs, one(p), one(r), replace_global=g)

for x in [s("a b,c,,d", "", ",", "abc"), s(), s("日本 語")]:
    for d in [" ,", "", ",", "c,"]:
        for skip in [True, False]:
            text("StringSplit", x, one(d), skip_empty=skip)
for x in [s("a b  c", "", "  ", " x\ty\n"), s(",a,,b", "", ",", "a<>b<>c<>"), s()]:
    for d in ["", ",", "<>"]:
        for m in [-1, 0, 1, 2]:
            text("StringSplitV2", x, one(d), maxsplit=m)

for d in [i32, i64]:
    for w, p, short in [([2], 0, False), ([2, 3], -1, False), ([3], 0, True), ([4], 1, True), ([1, 2], 1, False), ([5], 2, True), ([2], 9, False), ([], 0, False)]:
        text("StringNGrams", s("a", "bb", "c", "d", "e"), d(0, 2, 2, 5), separator="|", ngram_widths=w, left_pad="L", right_pad="RR", pad_width=p, preserve_short_sequences=short)
text("StringNGrams", s(), i64(0), separator=" ", ngram_widths=[2], left_pad="", right_pad="", pad_width=0, preserve_short_sequences=False)

WORDS = s(*["x" * n for n in (0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 129, 300)], "Hello", "日本語", b"\xff\0\x01", "abcdefgh" * 9)
for n in [1, 10, 1 << 40, (1 << 63) - 1]:
    text("StringToHashBucketFast", WORDS, num_buckets=n)
    text("StringToHashBucketStrong", WORDS, num_buckets=n, key=[1, -2])
    text("StringToHashBucket", WORDS, num_buckets=n)
text("StringToHashBucketStrong", one("x"), num_buckets=1000, key=[123, 4567890123])

for pad in [True, False]:
    text("EncodeBase64", s("", "a", "ab", "abc", b"\xfb\xff\xfe\0"), pad=pad)
text("DecodeBase64", s("", "YQ", "YQ==", "YR", "-_8", "YWI=", "YWJj", shape=(7, 1)))

for e in ["replace", "ignore"]:
    for k in [{}, {"replacement_char": 63}, {"replace_control_characters": True}]:
        for op in ["UnicodeDecode", "UnicodeDecodeWithOffsets"]:
            text(op, BAD, input_encoding="UTF-8", errors=e, **k)
text("UnicodeDecode", ODD, input_encoding="UTF-8", errors="strict")
for x, e in [(b"\xd8\x3d\xde\x00", "UTF-16-BE"), (b"\xd8\x3d", "UTF-16-BE"), (b"\xd8\x3d\x00a", "UTF-16-BE"), (b"\xde\x00\x00a", "UTF-16-BE"), (b"\x00", "UTF-16-BE"), (b"\xfe\xff\x00a", "UTF-16"),
             (b"\xff\xfea\0", "UTF-16"), (b"a\0", "UTF-16"), (b"\x00a", "UTF-16-LE"), (b"\0\0\0a\0\x11\0\0\0", "UTF-32-BE"), (b"a\0\0\0", "UTF-32-LE"), (b"\xff\x81", "latin1"), (b"\xff\x81", "ISO-8859-1"),
             (b"\x81\x80", "windows-1252"), (b"\xe0\xc1", "KOI8-R"), (b"a\xff", "US-ASCII"), (b"\xfe\xff\x00a", "UTF-16-BE"), (b"", "UTF-8"), (b"\xa4\xff", "ISO-8859-15"), (b"\xe0\x98", "windows-1251"), (b"\xff\xfe\0\0a\0\0\0", "UTF-32")]:
    text("UnicodeDecodeWithOffsets", s(x), input_encoding=e)
    for o in ["UTF-8", "UTF-16-BE", "UTF-32-BE"]:
        text("UnicodeTranscode", s(x), input_encoding=e, output_encoding=o)
for e in ["replace", "ignore"]:
    for o in ["UTF-8", "UTF-16-BE", "UTF-32-BE"]:
        text("UnicodeEncode", i32(97, 0xd800, 0x110000, -1, 0xffff, 0xfdd0, 0x1f600, 0xfeff), i64(0, 5, 5, 8), errors=e, output_encoding=o)
        text("UnicodeTranscode", BAD, input_encoding="UTF-8", output_encoding=o, errors=e, replacement_char=45, replace_control_characters=True)
text("UnicodeEncode", i32(97), i32(0, 1), output_encoding="UTF-8", replacement_char=33, errors="strict")
text("UnicodeScript", np.array([[65, 0x3b1, 0x431, 0x5d0, 0x627, 0x4e00, 0x3042, 0x30a2, 0xac00], [48, 0x301, 0x1f600, 0x378, -1, 0x110000, 0xd800, 0xe000, 0x10ffff]], np.int32))
write()

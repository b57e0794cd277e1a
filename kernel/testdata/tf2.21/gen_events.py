"""Writes the fixtures of writers of summaries, programs/events.json: the contents of
their files without the times.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_events.py
"""
import os
import struct
import tempfile

import gen_programs
from gen_programs import *  # noqa: F403
from gen_programs import P, program
from tensorflow.core.framework import graph_pb2, summary_pb2
from tensorflow.core.util import event_pb2

A = np.array
FAMILY = "events"
os.chdir(tempfile.mkdtemp())
L = lambda v: A(v, np.int64)


def written(folder, writes, places):
    """A program that writes and returns the file's length and parts of it."""
    p = P()
    w = p.SummaryWriter(shared_name=folder, container="")
    last = [p.CreateSummaryFileWriter(w, folder, A(1, np.int32), A(1 << 20, np.int32), ".v2")]
    for op, inputs, attrs in writes:
        last = [getattr(p, op)(w, *[p.const(x, x.dtype if x.dtype.kind not in "OSU" else None) for x in inputs], control=last, **attrs)]
    last = [p.FlushSummaryWriter(w, control=last)]
    last = [p.CreateSummaryFileWriter(w, folder, A(1, np.int32), A(1, np.int32), ".again", control=last)]  # is left alone
    last = [p.CloseSummaryWriter(w, control=last)]
    files = p.MatchingFiles(A(b"%s/*.v2" % folder.encode()), control=last)
    all_ = p.ReadFile(p.Reshape(files, A([], np.int32)))
    out = [p.StringLength(all_, unit="BYTE"), p.Size(p.MatchingFiles(A(b"%s/*" % folder.encode()), control=last), out_type=I32)] + [p.EncodeBase64(p.Substr(all_, p.const(at, np.int32), p.const(n, np.int32), unit="BYTE")) for at, n in places]
    return p.ret(*out, *([] if places else [p.EncodeBase64(all_, pad=True)]))


def files(name, *writes):
    folder = name.replace(" ", "_")
    program("first", folder + "0", written(folder + "0", writes, []), [])
    b = base64.urlsafe_b64decode(base64.b64decode(families.pop("first")[0]["runs"][0]["out"][2]["data"][0]))
    places, at = [], 0
    while at < len(b):
        n = struct.unpack_from("<Q", b, at)[0]
        places += [(at, 12), (at + 12 + (9 if b[at + 12] == 9 else 0), n - (9 if b[at + 12] == 9 else 0))]  # behind the time
        at += n + 16
    program(FAMILY, name, written(folder + "1", writes, places), [])


t = lambda v: A(v.encode())
files("an empty file of events")
files("scalars", *[("WriteScalarSummary", (L(step), t(tag), A(v, d)), {}) for step, tag, v, d in
                   [(5, "x", 2.5, np.float32), (0, "", 0, np.float64), (-3, "größe", 7, np.int64), (1 << 40, "y", [1, 2], np.int8), (1, "h", 0.1, np.float16), (2, "u", 200, np.uint8), (3, "w", -70000, np.int32),
                    (4, "v", 60000, np.uint16), (4, "q", 1 << 31, np.uint32), (4, "r", 1 << 63, np.uint64), (4, "n", np.nan, np.float32)]])
files("histograms", *[("WriteHistogramSummary", (L(1), t("h"), A(v, d)), {}) for v, d in [([1, 2, 2, -3], np.float32), ([], np.float32), ([[1e-30, 1e30], [0, 7]], np.float64), ([1, 2, 200], np.int32)]])
metadata = summary_pb2.SummaryMetadata(display_name="dn", summary_description="sd")
metadata.plugin_data.plugin_name = "scalars"
files("tensors", *[("WriteSummary", (L(3), v, t(tag), A(m)), {}) for v, tag, m in
                   [(A([[1, 2]], np.float32), "t", metadata.SerializeToString()), (A([b"a", b"bc"]), "t", b""), (A(4, np.float32), "s", b"\xff"), (np.zeros((0, 2), np.int64), "", b""), (A([True, False]), "b", b""),
                    (A(1 + 2j, np.complex64), "c", b""), (A([1.5, -2], np.float16), "f", b"")]])
rng = np.random.default_rng(9)
pixels = lambda *shape: rng.integers(0, 256, shape).astype(np.uint8)
red = A([255, 0, 0, 255], np.uint8)
files("images", *[("WriteImageSummary", (L(4), t("im"), v, red), {"max_images": most}) for v, most in
                  [(pixels(2, 2, 3, 3), 3), (pixels(2, 2, 3, 1), 1), (rng.uniform(-1, 1, (1, 3, 2, 4)).astype(np.float32), 3), (A([np.nan, 1, 2, 3], np.float32).reshape(1, 2, 2, 1), 2)]])
files("sounds", *[("WriteAudioSummary", (L(4), t("au"), v, A(8000, np.float32)), {"max_outputs": most}) for v, most in
                  [(A([[0.1, 0.2, 0.3], [0, 1, -1]], np.float32), 1), (rng.uniform(-1, 1, (2, 5, 2)).astype(np.float32), 3)]])
one = summary_pb2.Summary(value=[summary_pb2.Summary.Value(tag="r", simple_value=1)]).SerializeToString()
graph = graph_pb2.GraphDef()
graph.node.add(name="n", op="NoOp")
files("messages", ("WriteRawProtoSummary", (L(9), A(one)), {}), ("WriteRawProtoSummary", (L(9), A([one, b"", one], object)), {}), ("WriteGraphSummary", (L(2), A(graph.SerializeToString())), {}),
      ("ImportEvent", (A(event_pb2.Event(wall_time=3, step=77, file_version="x").SerializeToString()),), {}))

for name, op, inputs in [("a bad summary", "WriteRawProtoSummary", (L(1), A(b"\xff\xff"))), ("a bad graph", "WriteGraphSummary", (L(1), A(b"\xff\xff"))), ("a bad event", "ImportEvent", (A(b"\xff\xff"),)),
                         ("a histogram of what is no number", "WriteHistogramSummary", (L(1), t("h"), A([1, np.nan], np.float32)))]:
    p = P(I32)
    w = p.SummaryWriter(shared_name=name, container="")
    c = p.CreateSummaryFileWriter(w, name.replace(" ", "_"), A(1, np.int32), A(1, np.int32), "")
    p.ret(p.Identity(p.args[0], control=[getattr(p, op)(w, *inputs, control=[c])]))
    program(FAMILY, name, p, ([1], "Nan in" if "histogram" in name else "Bad tf"))
p = P(I32)
w = p.SummaryWriter(shared_name="none", container="")
p.ret(p.Identity(p.args[0], control=[p.FlushSummaryWriter(w)]))
program(FAMILY, "a writer without a file", p, ([1], "does not exist"))
gen_programs.write()

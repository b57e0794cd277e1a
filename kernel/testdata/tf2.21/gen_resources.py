"""Writes the fixtures of resources in TensorFlow 1's training graphs besides variables
and queues: readers, barriers, accumulators, mutexes: programs/resources.json.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_resources.py
"""
import os
import tempfile
import zlib

import gen_programs
from gen_programs import *  # noqa: F403
from gen_programs import P, fn, program

A = np.array
L = lambda v: A(v, np.int64)
FAMILY = "resources"
os.chdir(tempfile.mkdtemp())


class Ops:
    """Ops one after the other."""

    def __init__(self, p, last=()):
        self.p, self.last = p, list(last)

    def __call__(self, op, *a, **kw):
        r = getattr(self.p, op)(*a, control=self.last, **kw)
        self.last = [r[0] if isinstance(r, list) else r]
        return r if isinstance(r, list) else [r]


NAMES = dict(container="", shared_name="")


def reader(name, op, texts, attrs, steps, runs=([],), v2=False):
    """steps: calls of the reader: 0 reads one, n > 0 up to n, and names are ops."""
    p = P()
    o = Ops(p)
    for i, t in enumerate(texts):
        o("WriteFile", A(b"file%d" % i), A(t))
    suffix = "V2" if v2 else ""
    q = getattr(p, "FIFOQueue" + suffix)(component_types=[STR], shapes=[[]], capacity=10, **NAMES)
    r = getattr(p, op + suffix)(**attrs, **NAMES)
    o("QueueEnqueueMany" + suffix, q, [A([b"file%d" % i for i in range(len(texts))])], timeout_ms=-1)
    o("QueueClose" + suffix, q, cancel_pending_enqueues=False)
    out = []
    for s in steps:
        if s == 0:
            out += o("ReaderRead" + suffix, r, q)
        elif isinstance(s, int):
            out += o("ReaderReadUpTo" + suffix, r, q, L(s))
        elif s == "ReaderReset":
            o(s + suffix, r)
        elif s == "ReaderRestoreState":
            o(s + suffix, r, state)
        else:
            got = o(s + suffix, r)
            if s == "ReaderSerializeState":
                state = got[0]
            out += got
    p.ret(*out)
    program(FAMILY, name + suffix, p, *runs, producer=None if v2 else 25)


counts = ["ReaderNumRecordsProduced", "ReaderNumWorkUnitsCompleted"]
record = lambda *v: b"".join(frame(x) for x in v)


def frame(v):
    with tf.io.TFRecordWriter("one") as w:
        w.write(v)
    return open("one", "rb").read()


for v2 in (False, True):
    reader("TextLineReader", "TextLineReader", [b"a\nb\r\n\nc", b"", b"x\ny\n"], dict(skip_header_lines=0), [0, 0] + counts + [0, 0, 0] + counts + [0], v2=v2)
    reader("TextLineReader with headers", "TextLineReader", [b"h\na\nb", b"h", b"h\nx"], dict(skip_header_lines=1), [0, 0, 0] + counts, v2=v2)
    reader("lines at once", "TextLineReader", [b"a\nb\nc", b"x\ny\n"], dict(skip_header_lines=0), [2, 2] + counts + [5] + counts, v2=v2)
    reader("lines after a reset", "TextLineReader", [b"a\nb\nc", b"x\ny\n"], dict(skip_header_lines=0), [0, "ReaderReset", 0] + counts, v2=v2)
    reader("too many lines", "TextLineReader", [b"a"], dict(skip_header_lines=0), [0, 0], runs=[([], "OutOfRange" if False else "closed")], v2=v2)
    reader("state of lines", "TextLineReader", [b"a"], dict(skip_header_lines=0), [0, "ReaderSerializeState"], runs=[([], "SerializeState")], v2=v2)
    reader("TFRecordReader", "TFRecordReader", [record(b"one", b"", b"three"), record(b"x" * 99)], dict(compression_type=""), [0, 0, 0, 0] + counts, v2=v2)
    reader("packed TFRecordReader", "TFRecordReader", [zlib.compress(record(b"one", b"", b"three"))], dict(compression_type="ZLIB"), [3] + counts, v2=v2)
    more = dict(encoding="") if v2 else {}
    for h, n, f, hop in [(0, 2, 0, 0), (1, 2, 1, 0), (2, 3, 0, 1), (0, 2, 1, 4), (1, 3, 2, 2)]:
        if v2:  # TensorFlow 2.21 has no attribute for the other one that its kernel looks for
            reader("FixedLengthRecordReader %d %d %d %d" % (h, n, f, hop), "FixedLengthRecordReader", [b"0123456789"], dict(header_bytes=h, record_bytes=n, footer_bytes=f, hop_bytes=hop, **more), [99] + counts, v2=v2)
    reader("WholeFileReader", "WholeFileReader", [b"abc", b"", b"\x00\n"], {}, [0, 0] + counts + ["ReaderSerializeState", 0] + counts, v2=v2)
    reader("IdentityReader", "IdentityReader", [b"", b"", b""], {}, [0] + counts + ["ReaderSerializeState", 5] + counts + ["ReaderRestoreState"] + counts + [0], v2=v2)
reader("packed FixedLengthRecordReader", "FixedLengthRecordReader", [zlib.compress(b"0123456789")], dict(header_bytes=1, record_bytes=2, footer_bytes=2, hop_bytes=0, encoding="ZLIB"), [99] + counts, v2=True)

# Barriers.
B = dict(component_types=[F32, STR], shapes=[[2], []], capacity=-1, **NAMES)
p = P()
o, h = Ops(p), p.Barrier(**B)
both = dict(component_types=[F32, STR], allow_small_batch=False, wait_for_incomplete=False, timeout_ms=-1)
s = lambda *v: A([x.encode() for x in v], object)
o("BarrierInsertMany", h, s("a", "b", "c"), A([[1, 2], [3, 4], [5, 6]], np.float32), component_index=0)
out = o("BarrierReadySize", h) + o("BarrierIncompleteSize", h)
o("BarrierInsertMany", h, s("c", "a"), s("C", "A"), component_index=1)
out += o("BarrierReadySize", h) + o("BarrierIncompleteSize", h)
out += o("BarrierTakeMany", h, 1, **both) + o("BarrierTakeMany", h, 1, **both)
o("BarrierInsertMany", h, s("d", "b"), s("D", "B"), component_index=1)
out += o("BarrierTakeMany", h, 1, **both)
o("BarrierClose", h, cancel_pending_enqueues=False)
o("BarrierInsertMany", h, s("d"), A([[7, 8]], np.float32), component_index=0)
out += o("BarrierReadySize", h) + o("BarrierIncompleteSize", h)
out += o("BarrierTakeMany", h, 5, **dict(both, allow_small_batch=True))
p.ret(*out)
program(FAMILY, "Barrier", p)
for name, error, steps in [
    ("twice the same", "already has a value", [("BarrierInsertMany", (s("a", "a"), A([[1, 2], [3, 4]], np.float32)), dict(component_index=0))]),
    ("a new key after the end", "closed", [("BarrierInsertMany", (s("a"), A([[1, 2]], np.float32)), dict(component_index=0)), ("BarrierClose", (), dict(cancel_pending_enqueues=False)), ("BarrierInsertMany", (s("b"), s("B")), dict(component_index=1))]),
    ("more than there are", "closed", [("BarrierClose", (), dict(cancel_pending_enqueues=False)), ("BarrierTakeMany", (1,), both)]),
    ("no component", "out of range", [("BarrierInsertMany", (s("a"), A([[1, 2]], np.float32)), dict(component_index=2))]),
]:
    p = P()
    o, h = Ops(p), p.Barrier(**B)
    for op, a, kw in steps:
        got = o(op, h, *a, **kw)
    p.ret(*got)
    program(FAMILY, "Barrier with " + name, p, ([], error))

# Accumulators.
for d in (F32, T.float64, T.half):
    for how in ("MEAN", "SUM"):
        for kind in ("", "Resource"):
            p = P(d, d)
            o, h = Ops(p), getattr(p, kind + "ConditionalAccumulator")(dtype=d, shape=[2], reduction_type=how, **NAMES)
            ask = lambda op, *a, **kw: o(kind + "Accumulator" + op, h, *a, **kw)
            ask("ApplyGradient", L(0), p.args[0])
            ask("ApplyGradient", L(0), p.args[1])
            out = ask("NumAccumulated") + ask("TakeGradient", 2, dtype=d) + ask("NumAccumulated")
            ask("ApplyGradient", L(0), p.args[0])  # late
            ask("ApplyGradient", L(1), p.args[1])
            out += ask("NumAccumulated") + ask("TakeGradient", 1, dtype=d)
            ask("SetGlobalStep", L(9))
            ask("ApplyGradient", L(8), p.args[0])
            ask("ApplyGradient", L(9), p.args[0])
            ask("ApplyGradient", L(10), p.args[0])
            out += ask("NumAccumulated") + ask("TakeGradient", 1, dtype=d)
            p.ret(*out)
            program(FAMILY, "%sConditionalAccumulator of %s, %s" % (kind, d.name, how), p, [[1.1, 2.3], [4.2, -5.7]], *([([1.0], [2.0], "shape")] if False else []))
        p = P(d, d)
        o, h = Ops(p), p.SparseConditionalAccumulator(dtype=d, shape=[5, 2], reduction_type=how, **NAMES)
        put = lambda step, at, v: o("SparseAccumulatorApplyGradient", h, L(step), L(at), v, L([5, 2]), has_known_shape=True)
        put(0, [1, 3], p.args[0])
        put(0, [0, 3], p.args[1])
        put(0, [1, 3], p.args[1])
        out = o("AccumulatorNumAccumulated", h) + o("SparseAccumulatorTakeGradient", h, 3, dtype=d)
        put(0, [1, 3], p.args[0])
        put(1, [2, 4], p.args[0])
        out += o("SparseAccumulatorTakeGradient", h, 1, dtype=d)
        p.ret(*out)
        program(FAMILY, "SparseConditionalAccumulator of %s, %s" % (d.name, how), p, [[[1.1, 2.3], [3.1, 4.4]], [[5.5, 6.1], [-7.2, 8.3]]])
p = P(F32)
h = p.ConditionalAccumulator(dtype=F32, shape=[2], reduction_type="MEAN", **NAMES)
p.ret(p.AccumulatorNumAccumulated(h, control=[p.AccumulatorApplyGradient(h, L(0), p.args[0])]))
program(FAMILY, "a gradient of another shape", p, [[1, 2]], ([[1, 2, 3]], "hape"))
p = P(F32, I64)
h = p.SparseConditionalAccumulator(dtype=F32, shape=[3, 1], reduction_type="MEAN", **NAMES)
p.ret(p.AccumulatorNumAccumulated(h, control=[p.SparseAccumulatorApplyGradient(h, L(0), p.args[1], p.args[0], L([3, 1]), has_known_shape=True)]))
program(FAMILY, "rows of a gradient", p, [[[1], [2]], [0, 2]], ([[[1], [2]], [0]], "non-empty input"), ([[[1]], [3]], "ind"))

# A mutex around a variable.
p = P(F32)
o = Ops(p)
m = p.MutexV2(container="", shared_name="m")
v = p.VarHandleOp(dtype=F32, shape=[], container="", shared_name="v", debug_name="", allowed_devices=[])
lock = o("MutexLock", m)[0]
o("AssignVariableOp", v, p.args[0], validate_shape=False)
read = o("ReadVariableOp", v, dtype=F32)[0]
done = o("ConsumeMutexLock", lock)[0]
again = o("MutexLock", m)[0]
o("ConsumeMutexLock", again)
p.ret(p.Identity(read, control=o.last))
program(FAMILY, "MutexLock", p, [1.5], [2.5])
gen_programs.write()
